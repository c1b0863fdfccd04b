"""Models at the edge: tiny and empty ones, text that lacks outputs, values that are not finite."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import Graph
from chainform.readers import native_text, read_text
from chainform.verification.deviation import deviation_of
from chainform.verification.motion.motion_variants import shaken_mechanism
from chainform.verification.state_samples import sample_of

EXAMPLES = Path(__file__).parents[3] / "examples"
OUTPUTS = ["mass_matrix", "gravity", "inverse_dynamics", "kinetic_energy"]


def arm(size: float, mass: float, joint: str = "revolute") -> cf.Mechanism:
    """Return two equal bodies in a row, of a length and a mass."""
    body = {"mass": mass, "com": [size / 2, 0, size / 8]}
    body |= {"inertia": {"xx": mass * size**2, "yy": mass * size**2, "zz": mass * size**2}}
    moving = {"type": joint, "axis": [0, 1, 0]}
    first = {"name": "a", "parent": "ground", "joint": {"name": "j1", **moving, "dof": 1}}
    other = {"name": "b", "parent": "a", "joint": {"name": "j2", **moving, "dof": 2}}
    if joint == "fixed":
        first["joint"], other["joint"] = {"type": "fixed"}, {"type": "fixed"}
    table = {"format": "native", "name": "arm", "gravity": [0, 0, -9.81]}
    table |= {"segments": [{**first, **body}, {**other, **body, "position": [size, 0, 0]}]}
    return read_text(json.dumps(table), "json")


def scaled(graph: Graph, output: str, factor: Fraction) -> Graph:
    """Return a graph in which one term of an output is so many times as large."""
    v = next(
        v for v in graph.block(output).variables if graph.term_start[v + 1] > graph.term_start[v]
    )
    t = graph.term_start[v]
    coefficients = (*graph.coefficients, graph.coefficients[graph.coefficient[t]] * factor)
    chosen = graph.coefficient.copy()
    chosen[t] = len(graph.coefficients)
    return replace(graph, coefficients=coefficients, coefficient=chosen)


def test_the_energy_of_a_dead_point_is_not_held_against_rounding() -> None:
    """A slide that a rod, square to it, holds in the one pose that it can have."""
    joint = {"name": "z", "type": "prismatic", "axis": "-z"}
    table: dict[str, Any] = {"format": "native", "name": "held", "gravity": [0, 0, -9.81]}
    table["segments"] = [{"name": "b", "parent": "ground", "joint": joint, "mass": 2.82}]
    ends = {"closing": {"segment": "b", "point": [0.04, 0.15, -0.3]}}
    ends["target"] = {"segment": "ground", "point": [-0.17, -0.13, -0.7]}
    table["loops"] = [{"name": "rod", "kind": "distance", "length": 0.35, **ends}]
    found = cf.verify(read_text(json.dumps(table), "json"), only="laws", states=1)
    assert found.holds, str(found)
    assert found.checks[-1].figure.startswith("singular position")


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("size", [(1e-3, 1e-7), (1.0, 1.0), (1e3, 1e9)])
def test_a_wrong_term_of_a_tiny_or_huge_mechanism_fails(
    output: str, size: tuple[float, float]
) -> None:
    model = cf.derive(arm(*size), OUTPUTS)
    assert cf.verify(model, only="reference", states=3).holds
    wrong = model.with_graph(scaled(model.graph, output, 1 + Fraction(1, 1000)))
    found = cf.verify(wrong, only="reference", states=3)
    assert [output in check.figure for check in found.failed] == [True], str(found)


def test_text_that_lacks_an_output_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity", "mass_matrix"])
    one = model.with_graph(cf.derive(EXAMPLES / "four_bar.toml", ["gravity"]).graph)
    text = one.emit("python")
    monkeypatch.setattr(cf.Model, "emit", lambda _self, _language: text)
    found = cf.verify(model, only="text", states=2)
    (check,) = found.failed
    assert "mass_matrix is missing" in check.figure


def test_outputs_without_entries_are_not_compared() -> None:
    model = cf.derive(arm(1.0, 1.0, "fixed"), ["mass_matrix"])
    assert model.graph.block("mass_matrix").shape == (0, 0)
    found = cf.verify(model, only=["reference", "program", "rows"])
    assert not found.compared
    assert "mass_matrix has no entries" in found.checks[0].figure


def test_formulas_without_inputs_hold(tmp_path: Path) -> None:
    (tmp_path / "numbers.expr").write_text("f = 1\ng = sin(2)/7")
    found = cf.verify(tmp_path / "numbers.expr", states=2)
    assert found.holds
    assert {check.kind for check in found.compared} == {"program", "text", "rows"}


def test_an_expectation_that_is_not_finite_decides_nothing_by_itself() -> None:
    values, sure = np.ones((1, 2)), np.array([True])
    off = deviation_of("x", values, np.array([[1.0, np.nan]]), np.nan, sure)
    assert off.fails
    assert off.largest == np.inf


def test_an_output_without_a_value_fails_where_the_reference_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, evaluate = cf.derive(EXAMPLES / "four_bar.toml", OUTPUTS), cf.Model.evaluate

    def without_gravity(self: cf.Model, **given: Any) -> dict[str, Any]:
        found = evaluate(self, **given)
        return {**found, "gravity": np.full_like(found["gravity"], np.nan)}

    monkeypatch.setattr(cf.Model, "evaluate", without_gravity)
    (check,) = cf.verify(model, only="reference", states=2).failed
    assert "gravity has no finite value" in check.figure


def test_coordinates_reach_beyond_half_a_turn() -> None:
    model = cf.derive(EXAMPLES / "six_axis_arm.toml", ["gravity"])
    reach = np.abs(sample_of(model, 6, seed=0).states["q"]).max(axis=1)
    assert (reach > np.pi).any()
    assert (reach <= 1.5).any()


def test_parameters_that_are_zero_are_drawn_beyond_zero() -> None:
    table: dict[str, Any] = {"parameters": {"mass": 2, "offset": 0}}
    table |= json.loads(native_text(arm(1.0, 1.0)))
    changed = {"mass": "mass", "com": [0.5, 0, "offset"]}
    table["segments"] = [{**table["segments"][0], **changed}, *table["segments"][1:]]
    model = cf.derive(read_text(json.dumps(table), "json"), ["gravity"], parameters="symbolic")
    drawn = sample_of(model, 4, seed=0).values
    assert (drawn["offset"] == 0).tolist() == [True, False, True, False]
    assert cf.verify(model, only=["reference", "rows"], states=4).holds


def test_small_forces_on_tiny_mechanisms_are_not_zero() -> None:
    table = {**json.loads(native_text(arm(1e-4, 1e-10))), "gravity": [0, 0, 0]}
    still = read_text(json.dumps(table), "json")
    moving = shaken_mechanism(still, {"j1": 1e-25, "j2": 1e-3}, (0.0, 1.0), "phase")
    model, rest = cf.derive(moving, ["inverse_dynamics"]), [0.0, 0.0]
    found = [
        model.evaluate(q=rest, qd=rest, qdd=rest, t=0.25, values={"phase": phase})
        for phase in (0.0, 1.5)
    ]
    sizes = np.max([np.abs(one["inverse_dynamics"]) for one in found], axis=0)
    assert 1e-26 < sizes[0] <= 1e-25
    assert 1e-4 < sizes[1] <= 1e-3


@pytest.fixture(scope="module")
def run() -> cf.Run:
    """A motion of an arm; nothing is wrong with it."""
    return cf.simulate(arm(1.0, 1.0), q0=[0.3, 0.4], t=0.2)


@pytest.mark.parametrize("column", ["tau", "t"])
@pytest.mark.parametrize("value", [1e-3, np.nan])
def test_a_changed_column_of_a_run_fails(run: cf.Run, column: str, value: float) -> None:
    changed = getattr(run, column).copy()
    changed[len(changed) // 2] += value
    assert cf.verify(run).holds
    assert not cf.verify(replace(run, **{column: changed})).holds


def test_laws_and_formulations_in_doubles_suit_tiny_and_huge_mechanisms() -> None:
    """A joint that follows another one by 0.7 has angles without rational sines."""
    for size in ((1e-3, 1e-7), (1e3, 1e9)):
        table = json.loads(native_text(arm(*size)))
        follower = {"name": "j2", "type": "revolute", "axis": [0, 1, 0]}
        follower |= {"mimic": {"joint": "j1", "ratio": 0.7}}
        table["segments"] = [table["segments"][0], {**table["segments"][1], "joint": follower}]
        model = cf.derive(read_text(json.dumps(table), "json"), ["gravity", "mass_matrix"])
        only = ["laws", "formulations"]
        assert cf.verify(model, only=only, states=2).holds
        wrong = model.with_graph(scaled(model.graph, "gravity", 1 + Fraction(1, 1000)))
        found = cf.verify(wrong, only=only, states=2)
        assert {check.kind for check in found.failed} == {*only}, str(found)


FORCES = ("multipliers", "sigma", "energy_balance", "pose(rocker)", "motion_force(crank)")


@pytest.mark.slow
def test_a_changed_column_of_the_file_of_a_run_fails() -> None:
    """Forces of loops and drives, work and losses, and outputs that were written with it."""
    record = cf.simulate(EXAMPLES / "scenarios" / "four_bar_drive.toml", t=1.0).record(
        ["pose(rocker)"]
    )
    arrays = dict(record.arrays)
    assert cf.verify(cf.Run.from_record(arrays, record.outputs, record.about)).holds
    for name in FORCES:
        changed = arrays[name].copy()
        changed[len(changed) // 2] += 1e-3 * np.abs(changed).max()
        arrays[name] = changed
    (check,) = cf.verify(cf.Run.from_record(arrays, record.outputs, record.about)).failed
    *_, words = check.figure.partition("DIFFERENT: ")
    assert {*words.split(", ")} == {*FORCES, "work", "losses"} - {"energy_balance"}


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("t", 0.1, "are not between 0 and 0.2 s"),
        ("q", np.inf, "are not finite"),
        ("qd", np.nan, "are not finite"),
    ],
)
def test_numbers_that_no_motion_has_fail(
    run: cf.Run, column: str, value: float, words: str
) -> None:
    (check,) = cf.verify(replace(run, **{column: getattr(run, column) + value})).failed
    assert words in check.figure


def test_a_run_without_its_end_or_its_beginning_says_so(run: cf.Run) -> None:
    half = len(run.t) // 2
    for part, words in ((slice(half), "from 0 to 0.0"), (slice(half, None), "to 0.2 s only")):
        columns = {name: getattr(run, name)[part] for name in ("t", "q", "qd", "tau")}
        balance = None if run.energy_balance is None else run.energy_balance[part]
        found = cf.verify(replace(run, **columns, energy_balance=balance))
        (missing,) = [check for check in found.checks if check.law == "the motion from 0 to 0.2 s"]
        assert missing.holds is None
        assert words in missing.figure
    assert all(check.law != "the motion from 0 to 0.2 s" for check in cf.verify(run).checks)


@pytest.mark.slow
def test_a_run_with_unknown_forces_is_computed_again() -> None:
    run = cf.simulate(EXAMPLES / "scenarios" / "stanford_tracking.toml", t=0.5)
    found = cf.verify(run)
    assert found.holds
    assert any(check.law.startswith("the run is the motion") for check in found.compared)
