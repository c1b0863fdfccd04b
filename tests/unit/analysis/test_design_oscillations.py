"""Designs of modes and forced oscillations: derivatives against closed forms and differences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.analysis.optimisation.design_parameters import DesignParameters, differences
from chainform.analysis.optimisation.study import Study
from chainform.analysis.results.result import Result
from chainform.cli import main
from chainform.readers import read_text
from unit.analysis.oscillators import G, oscillator, pendulums

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).parents[3] / "examples"
POLES = ("pole_real", "pole_imag", "angular_frequency", "frequency", "growth", "damping_ratio")
DAMPED = {"crank": "-0.3*(crank - 0.5) - 0.1*der(crank)"}
FOUR = {"a": [0.15, 0.25], "b": [0.45, 0.55], "crank_mass": [0.2, 1], "g": [9, 10]}


def slides(count: int = 2, **parameters: float) -> cf.Mechanism:
    """Return masses of 2 kg on a line, without weight."""
    builder = cf.Mechanism.builder("slides", gravity=(0, 0, 0))
    for name, value in parameters.items():
        builder.parameter(name, value)
    for name in "xyz"[:count]:
        builder.segment(name, parent="ground", joint="prismatic", axis="x", mass=2)
    return builder.build()


def slopes(
    mechanism: cf.Mechanism,
    parameters: Mapping[str, Any],
    study: Mapping[str, Any],
    names: Sequence[str],
) -> tuple[Result, dict[str, Array], dict[str, Array]]:
    """Return a result, exact derivatives of some of its arrays, and differences."""
    chosen = DesignParameters.of(mechanism, parameters)
    own = Study.of(chosen, {"task": "modes", **study}, is_exact=True)
    result = own.find(chosen.start)
    exact = own.make_slopes().arrays(result, chosen.start, names)

    def flat(values: Array) -> Array:
        found = own.find(values)
        return np.concatenate([found[name].ravel() for name in names])

    other = differences(flat, chosen.start, chosen)
    ends = np.cumsum([result[name].size for name in names])[:-1]
    pairs = zip(names, np.split(other, ends), strict=True)
    return result, exact, {name: part.reshape(exact[name].shape) for name, part in pairs}


def test_a_damped_oscillator_has_its_closed_form() -> None:
    bounds = {"k": [10, 90], "d": [0, 4], "m_1": [1, 3]}
    _, exact, _ = slopes(oscillator(), bounds, {}, POLES)
    k, d, m = 50.0, 2.0, 2.0
    w = np.sqrt(k / m - (d / 2 / m) ** 2)
    fast = np.array([1 / m, -d / 2 / m**2, -k / m**2 + d**2 / 2 / m**3]) / 2 / w
    assert exact["pole_imag"][0] == pytest.approx(fast, rel=1e-11)
    assert exact["frequency"][0] == pytest.approx(fast / 2 / np.pi, rel=1e-11)
    assert exact["growth"][0] == pytest.approx([0, -1 / 2 / m, d / 2 / m**2], rel=1e-11, abs=1e-13)
    # D = d/(2 sqrt(k m))
    ratio = d / 2 / np.sqrt(k * m)
    parts = [-ratio / 2 / k, ratio / d, -ratio / 2 / m]
    assert exact["damping_ratio"][0] == pytest.approx(parts, rel=1e-11)


def test_a_chain_of_springs_has_its_closed_form() -> None:
    laws = {"x": "-k*x - k*(x - y)", "y": "-k*(y - x) - k*(y - z)", "z": "-k*(z - y) - k*z"}
    bounds = {"k": [1, 5], "m_1": [1, 3]}
    _, exact, _ = slopes(slides(3, k=3), bounds, {"forces": laws}, ["pole_imag"])
    wanted = np.sqrt(3 / 2) * np.sin(np.arange(1, 4) * np.pi / 8) / 3
    assert exact["pole_imag"][:, 0] == pytest.approx(wanted, rel=1e-11)
    # By the mass of an end: -w/2 v_1^2, with shapes of the generalised mass 1.
    shapes = np.sin(np.outer(np.arange(1, 4), np.arange(1, 4)) * np.pi / 4)
    first = shapes[:, 0] ** 2 / (2 * np.sum(shapes**2, axis=1))
    assert exact["pole_imag"][:, 1] == pytest.approx(-3 * wanted * first, rel=1e-11)


def test_a_pendulum_has_the_length_of_a_wanted_frequency() -> None:
    builder = cf.Mechanism.builder("pendulum", gravity=(0, 0, -G)).parameter("l", 0.5)
    builder.segment("p", axis="y", mass=1.5, com=[0, 0, "-l"])
    found = cf.design(
        builder.build(), {"l": [0.1, 2]}, {"task": "modes"}, goals={"frequency": 0.7}, starts=2
    )
    assert found["l"] == pytest.approx(G / (1.4 * np.pi) ** 2, rel=1e-9)
    assert found["converged"].all()
    assert found.facts["derivative_deviation"] < 1e-8


@pytest.mark.slow
def test_the_swing_of_the_example_has_its_frequency(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = EXAMPLES / "tasks" / "tuned_swing.toml"
    assert main(["analyse", str(file), "--out", str(tmp_path / "found.csv")]) == 0
    assert "derivatives are exact" in capsys.readouterr().out
    found = Result.load(tmp_path / "found.csv")
    k, angle = found["k"][0], found["q"][0, 0]
    moment, inertia = G * (2 * 0.2 + 3 * 0.4), 2 * 0.06 + 3 * 0.4**2
    assert k * angle + moment * np.cos(angle) == pytest.approx(0, abs=1e-9)
    assert k - moment * np.sin(angle) == pytest.approx(inertia * (2 * np.pi) ** 2, rel=1e-9)
    assert found["converged"].all()


@pytest.mark.slow
def test_modes_of_a_linkage_follow_its_equilibria() -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    rest = cf.equilibria(linkage, starts=6)
    for study in ({"state": rest}, {"q": rest["q"][0], "forces": DAMPED}):
        searched = {**study, "search": True}
        result, exact, other = slopes(linkage, FOUR, searched, [*POLES, "q"])
        assert np.max(np.abs(exact["q"])) > 1
        for name, found in exact.items():
            size = max(1.0, float(np.max(np.abs(other[name]))))
            assert np.max(np.abs(found - other[name])) < 1e-8 * size, name
        assert not exact["pole_imag"][result["kind"] == 3].any()


def test_a_forced_oscillation_has_its_closed_form() -> None:
    bounds = {"k": [10, 90], "d": [0, 4], "m_1": [1, 3]}
    study = {"task": "frequency_response", "frequencies": [0.3, 0.7, 2]}
    study |= {"inputs": {"x": [2, 0.5]}, "outputs": ["x", "der(x)", "pose(x)[1,4]"]}
    names = ["real", "imag", "amplitude", "phase"]
    _, exact, _ = slopes(oscillator(), bounds, study, names)
    s = 2j * np.pi * np.array([0.3, 0.7, 2])[:, None]
    answer = 2 * np.exp(0.5j) / (2 * s**2 + 2 * s + 50)
    by = -(answer**2) / (2 * np.exp(0.5j)) * np.concatenate([s**0, s, s**2], axis=1)
    found = exact["real"] + 1j * exact["imag"]
    for place, wanted in enumerate((by, s * by, by)):
        assert np.max(np.abs(found[:, place] - wanted)) < 1e-12 * np.max(np.abs(wanted))
    relative = by / answer
    assert exact["amplitude"][:, 0] == pytest.approx(np.abs(answer) * relative.real, rel=1e-9)
    assert exact["phase"][:, 0] == pytest.approx(relative.imag, rel=1e-9)


@pytest.mark.slow
def test_a_forced_oscillation_of_a_linkage() -> None:
    linkage = cf.read(EXAMPLES / "four_bar.toml")
    rest = cf.equilibria(linkage, starts=6)
    study = {
        "task": "frequency_response",
        "state": rest,
        "row": 1,
        "forces": DAMPED,
        "search": True,
    }
    study |= {"inputs": ["crank", "rocker"], "frequencies": [0.3, 2]}
    study |= {"outputs": ["coupler", "pose(coupler)[1:3,4]"]}
    _, exact, other = slopes(linkage, FOUR, study, ["real", "imag", "q"])
    for name, found in exact.items():
        assert np.max(np.abs(found - other[name])) < 1e-8 * np.max(np.abs(other[name])), name


def test_a_motor_with_a_state_of_its_own() -> None:
    arm = {"name": "arm", "parent": "ground", "joint": "revolute", "axis": "y"}
    motor = {"name": "drive", "joint": "arm", "type": "dc_motor", "inductance": 0.1}
    motor |= {"resistance": "R", "torque_constant": "kt", "gear_ratio": 2, "rotor_inertia": 0.01}
    table = {"name": "driven", "gravity": [0, 0, -G], "parameters": {"l": 0.5, "kt": 0.3, "R": 2}}
    table |= {"segments": [{**arm, "mass": 1, "com": [0, 0, "-l"]}], "actuators": [motor]}
    driven = read_text(json.dumps(table), "json")
    bounds = {"l": [0.3, 0.8], "kt": [0.1, 0.6], "R": [1, 4]}
    result, exact, other = slopes(
        driven, bounds, {"q": [0.1], "u": [0.5], "search": True}, [*POLES, "q"]
    )
    # The motor holds the arm: m g l sin(q) = 2 kt u/R.
    assert result["q"] == pytest.approx(np.full((2, 1), np.arcsin(0.15 / G / 0.5)), rel=1e-9)
    answer = {
        "task": "frequency_response",
        "q": [0.1],
        "u": [0.5],
        "search": True,
        "frequencies": [1, 2],
    }
    answer |= {"inputs": ["drive"], "outputs": ["arm", "der(arm)"]}
    _, more, others = slopes(driven, bounds, answer, ["real", "imag"])
    for name, found in (exact | more).items():
        wanted = (other | others)[name]
        assert np.max(np.abs(found - wanted)) < 1e-8 * max(1.0, np.max(np.abs(wanted))), name


def test_a_damper_brings_a_resonance_down() -> None:
    """The least damping with which the answer at the frequency of the spring is 0.05 m/N."""
    study = {"task": "frequency_response", "inputs": ["x"], "outputs": ["x"]}
    found = cf.design(
        oscillator(),
        {"d": [0.5, 20]},
        {**study, "frequencies": [5 / 2 / np.pi]},
        minimise="d",
        constraints={"amplitude[1,1]": {"upper": 0.05}},
        starts=1,
    )
    assert found["d"][0] == pytest.approx(1 / 0.05 / 5, rel=1e-8)


def test_poles_that_stay_the_same_have_derivatives() -> None:
    builder = cf.Mechanism.builder("bar", gravity=(0, 0, -G)).parameter("l", 0.5)
    builder.segment("u", axis="x")
    builder.segment("v", parent="u", axis="y", mass=1, com=[0, 0, "-l"])
    result, exact, _ = slopes(builder.build(), {"l": [0.3, 0.8]}, {}, ["pole_imag"])
    wanted = -np.sqrt(G / 0.5) / 2 / 0.5
    assert exact["pole_imag"] == pytest.approx(np.full((2, 1), wanted), rel=1e-9)
    assert result["pole_imag"] == pytest.approx(np.full(2, np.sqrt(G / 0.5)), rel=1e-12)


def test_free_motions_stay_free_where_equilibria_are_families() -> None:
    builder = cf.Mechanism.builder("governor", gravity=(0, 0, -G)).parameter("l", 0.5)
    builder.segment("turn", axis="z", mass=1, inertia=[0, 0, 1])
    builder.segment("swing", parent="turn", axis="y", mass=1, com=["l/5", 0, "-l"])
    given = {"q": {"turn": 0.3, "swing": 0.1}, "search": True}
    result, exact, other = slopes(builder.build(), {"l": [0.3, 0.8]}, given, ["pole_imag", "q"])
    assert result["kind"].tolist() == [0, 1]
    assert exact["pole_imag"] == pytest.approx(other["pole_imag"], rel=1e-8)
    assert np.isnan(exact["q"][:, 0]).all()
    assert exact["q"][:, 1] == pytest.approx(0, abs=1e-9)


def test_modes_of_one_kind_keep_their_rows() -> None:
    """A decay is slower than an oscillation at first, and faster then."""
    laws = {"x": "-25*2*x", "y": "-k*der(y)"}
    chosen = DesignParameters.of(slides(k=3), {"k": [1, 50]})
    study = Study.of(chosen, {"task": "modes", "forces": laws}, is_exact=True)
    for k in (3.0, 40.0):
        found = study.find(np.array([k]))
        assert found["pole_real"] == pytest.approx([0, -k / 2, 0], abs=1e-12)
        assert found["pole_imag"] == pytest.approx([0, 0, 5])
        assert found.facts["kinds"] == ["free motion", "decay", "oscillation"]


def test_modes_of_other_kinds_are_refused() -> None:
    chosen = DesignParameters.of(slides(1, k=3), {"k": [1, 50]})
    study = Study.of(chosen, {"task": "modes", "forces": {"x": "-k*x - 8*der(x)"}}, is_exact=True)
    study.find(np.array([3.0]))
    with pytest.raises(cf.Error, match=r"1 oscillation.*and .* at the first start"):
        study.find(np.array([40.0]))


def test_a_state_that_is_no_equilibrium_is_refused_unless_one_is_sought() -> None:
    study = {"q": [0.2], "search": True}
    found = slopes(pendulums(1), {"g": [9, 10]}, study, ["q"])[0]
    assert found["q"] == pytest.approx(np.zeros((1, 1)), abs=1e-9)
    for given in ({"q": [0.2]}, {"forces": {"p1": "100*g"}, "search": True}):
        with pytest.raises(cf.Error, match="no equilibrium and no steady motion"):
            slopes(pendulums(1), {"g": [9, 10]}, given, ["q"])


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "poles part": ({"forces": {"x": "-k*x", "y": "-3*y"}}, "pole_imag", "modes 1, 2 is multiple"),
    "poles meet": ({"forces": {"x": "-k*x - 2*sqrt(6)*der(x)", "y": "-9*y"}}, "growth", "multiple"),
    "no free motion": ({"forces": {"x": "-(k - 3)*x", "y": "-9*y"}}, "growth", "no free motion"),
    "family": ({"q": [0.3, 0], "forces": {"y": "-(k + x)*y", "x": "-y^2/2"}}, "growth", "family"),
    "shapes": ({"forces": {"x": "-k*x", "y": "-9*y"}}, "shape_real", "shape_real of modes"),
    "rates": ({"qd": [1, 0], "forces": {"y": "-k*y"}}, "growth", "rates of a steady motion"),
    "controllers": (
        {"controllers": {"x": {"type": "pid", "kp": "k", "ki": 0, "kd": 1}}},
        "growth",
        "'controllers'",
    ),
    "frequencies": (
        {
            "task": "frequency_response",
            "inputs": ["x"],
            "outputs": ["x"],
            "forces": {"x": "-k*x - der(x)", "y": "-y - der(y)"},
        },
        "amplitude",
        "frequencies that are not given",
    ),
    "drives": (
        {
            "task": "frequency_response",
            "inputs": ["x"],
            "outputs": ["drives"],
            "frequencies": [3],
            "forces": {"x": "-k*x"},
        },
        "amplitude",
        "drives",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_has_no_exact_derivative_is_refused(case: str) -> None:
    study, column, message = CASES[case]
    with pytest.raises(cf.Error, match=message) as raised:
        slopes(slides(k=3), {"k": [1, 5]}, study, [column])
    assert "differences" in (raised.value.remedy or "")


def test_the_pose_of_a_search_need_not_close_loops() -> None:
    linkage, near = cf.read(EXAMPLES / "four_bar.toml"), [-1.3, 0.9, -1.7]
    with pytest.raises(cf.Error, match="do not fit"):
        cf.modes(linkage, q=near)
    found = cf.modes(linkage, q=near, search=True)
    assert found["frequency"][0] == pytest.approx(1.1131549706096, rel=1e-9)
