"""Matrices of small motions as formulas: those of linearise, and exactly those of textbooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from bases import on_moving_base
from chainform.analysis import linearise
from chainform.errors import DeriveError
from chainform.graph import EXACT, Angle, evaluate
from chainform.readers import read_text
from driven import driven_tree
from unit.analysis.test_linearisation import driven_bar, state_of
from unit.simulation.linkages import ladder, parallelogram, slider_crank
from zoo import random_tree

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> cf.Mechanism:
    return cf.read(EXAMPLES / f"{name}.toml")


def named(mechanism: cf.Mechanism, *joints: str) -> cf.Mechanism:
    """Return a mechanism whose loops have basic joints: all of them, or each its own."""
    places = [mechanism.coordinate_index(joint) for joint in joints]
    each = [(place,) for place in places] if len(places) > 1 else [tuple(places)] * 9
    pairs = zip(mechanism.loops, each, strict=False)
    return replace(mechanism, loops=tuple(replace(loop, basic=basic) for loop, basic in pairs))


def check(
    mechanism: cf.Mechanism,
    outputs: Sequence[str],
    state: dict[str, Any],
    wrenches: Sequence[str] = (),
) -> None:
    """Compare A, B, C and D with those of linearise, in the same order of states and inputs."""
    at = linearise(mechanism, outputs=outputs, wrenches=wrenches, **state)
    texts = [f"{letter}({text})" for letter in ("Cz", "Dz") for text in outputs]
    model = cf.derive(mechanism, ["Az", "Bz", *texts], wrenches=wrenches)
    groups = {item.group for item in model.graph.inputs.values()} - {"parameter"}
    given: dict[str, Any] = {g: at.point[g][0] if g == "t" else at.point[g] for g in groups}
    A, B, *rows = model.evaluate(**given).values()
    C, D = np.concatenate(rows[: len(outputs)]), np.concatenate(rows[len(outputs) :])
    for found, wanted in zip((A, B, C, D), (at.A, at.B, at.C, at.D), strict=True):
        assert found.shape == wanted.shape
        error = np.max(np.abs(found - wanted), initial=0.0)
        assert error < 1e-9 * max(1.0, np.max(np.abs(wanted), initial=0.0))


# --- against linearise ----------------------------------------------------------------------------


def test_a_free_body_and_its_arm_agree_with_linearise() -> None:
    mechanism = random_tree(2, quaternions=True)
    check(mechanism, ["qdd", "kinetic_energy", "tau"], state_of(mechanism, 1))


@pytest.mark.parametrize("seed", [0, 3, 7])
def test_actuators_agree_with_linearise(seed: int) -> None:
    m, rng = driven_tree(seed).mechanism, np.random.default_rng(seed)
    q, qd, u = (rng.uniform(-1, 1, size) for size in (m.nq, m.nv, len(m.signals)))
    check(m, ["q", "x", "drives", "qdd", "complete_model"], {"q": q, "qd": qd, "u": u})


def bead() -> cf.Mechanism:
    """On a sphere, which is said twice in other sizes, and held in one direction."""
    builder = cf.Mechanism.builder("beads", gravity=(0, 0, "-9.81"))
    for name, parent in (("x", "ground"), ("y", "x"), ("z", "y")):
        builder.segment(name, parent=parent, joint="prismatic", axis=name, mass=1)
    builder.constraint("holonomic", "1e-9*(x^2 + y^2 + z^2 - 1)")
    builder.constraint("holonomic", "1000*(x^2 + y^2 + z^2 - 1)")
    builder.constraint("nonholonomic", "der(x) - y*der(z)")
    return builder.build()


def carried_by(count: int, law: str = "b - 2*a") -> cf.Mechanism:
    """A slide with mass, one or more without, and a law that holds some of them."""
    builder = cf.Mechanism.builder("slides", gravity=(0, 0, "-9.81"))
    builder.segment("a", joint="prismatic", axis="z", mass=2)
    for name in ("b", "c")[:count]:
        builder.segment(name, parent="ground", joint="prismatic", axis="z")
    builder.constraint("holonomic", law)
    return builder.build()


BOUND: dict[str, tuple[Callable[[], cf.Mechanism], Any, tuple[str, ...]]] = {
    "four_bar": (lambda: example("four_bar"), [0.3, 0.5, 1.2], ("q", "qdd", "pose(rocker)[1:2,4]")),
    "slider-crank": (
        lambda: named(slider_crank(), "crank"),
        [0.7, -0.5, 0.9],
        ("tau", "drives", "reaction(rod)[1]", "derivative(T,qd)"),
    ),
    "law of time": (lambda: named(slider_crank("crank - 2*t"), "crank"), [0.2, -0.2, 1.0], ("q",)),
    "three cranks": (lambda: named(ladder(2), "c0"), [0.5] * 5, ("q", "qdd", "T")),
    "moving base": (
        lambda: named(on_moving_base(slider_crank(), 1), "crank"),
        [0.7, -0.5, 0.9],
        ("qdd", "velocity(rod)"),
    ),
    "knife_edge": (lambda: example("knife_edge"), None, ("q", "qd", "qdd", "multipliers")),
    "rolling_disc": (lambda: example("rolling_disc"), [0.1, 0.2, 0.3, 0.2, 0.4], ("qd", "qdd")),
    "laws that say the same": (bead, [0.4, 0.5, 0.6], ("qdd",)),
    "without mass": (lambda: carried_by(1), [0.2, 0.4], ("qdd",)),
}


@pytest.mark.parametrize("name", BOUND)
def test_loops_and_constraints_agree_with_linearise_at_rest_and_in_motion(name: str) -> None:
    build, start, outputs = BOUND[name]
    mechanism = build()
    state = state_of(mechanism, 1, start, t=0.1)
    check(mechanism, outputs, state)
    if name != "law of time":
        check(mechanism, outputs, {**state, "qd": np.zeros(mechanism.nv)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "joints", "start"),
    [
        ("squeezer", ["beta"], "neutral"),
        ("biped", [], {"knee": 0.4, "swing_knee": 0.5, "hip": -0.1}),
        ("stewart", [f"leg{k + 1}" for k in range(6)], "neutral"),
    ],
)
def test_large_mechanisms_agree_with_linearise(name: str, joints: list[str], start: Any) -> None:
    mechanism = example(name)
    mechanism = named(mechanism, *joints) if joints else mechanism
    q0 = mechanism.neutral() if isinstance(start, str) else start
    check(mechanism, ["qdd"], state_of(mechanism, 1, q0))


@pytest.mark.parametrize("prescribed", [False, True])
def test_actuators_on_loops_agree_with_linearise(prescribed: bool) -> None:
    bar = driven_bar(prescribed)
    state: dict[str, Any] = {"q": {"crank": 0.4}, "qd": {"crank": 0.9}, "u": [0.7]}
    check(bar, ["q", "x", "drives", "qdd", "pose(coupler)"], {**state, "x": {"motor.x3": 0.1}})


def test_wrenches_and_unknown_forces_are_inputs() -> None:
    state: dict[str, Any] = {"q": {"crank": 0.4}, "qd": {"crank": 2}, "wrench": [1, 2, 3, 4, 5, 6]}
    check(example("four_bar"), ["qdd"], state, wrenches=["coupler"])
    check(example("portal_crane"), ["qdd"], {"q": [4.0], "qd": [0.3], "force": [2.0]})


# --- exactly --------------------------------------------------------------------------------------


def test_a_pendulum_in_fractions() -> None:
    """phi'' = (tau - c phi' - m g l sin(phi)) / (m l^2), exactly, at a rational angle."""
    builder = cf.Mechanism.builder("pendulum", gravity=(0, 0, -10))
    builder.segment("bob", axis="y", mass=3, com=[0, 0, "-1/2"], inertia=[0, 0, 0])
    pendulum = builder.build().with_forces({"bob": "-2*der(bob)"})
    graph = cf.derive(pendulum, ["state_matrix", "input_matrix"]).graph
    # cos = 3/5 where the tangent of half the angle is 1/2
    values = {"q1": Angle.from_tangent(Fraction(1, 2)), "qd1": Fraction(5, 7), "tau1": Fraction(2)}
    found = evaluate(graph, values, EXACT)
    wanted = [[0, 1], [-Fraction(15 * 4, 3) * Fraction(3, 5), Fraction(-8, 3)]]
    assert found["state_matrix"].tolist() == wanted
    assert found["input_matrix"].ravel().tolist() == [0, Fraction(4, 3)]


def test_a_parallelogram_in_fractions() -> None:
    """J phi'' = tau_a - tau_b + tau_c - K cos(phi), exactly, in motion, at a rational angle."""
    heavy = replace(named(parallelogram(), "a"), gravity=(Fraction(0), Fraction(-10), Fraction(0)))
    outputs = ["Az", "Bz", "Cz(q)", "Dz(qdd[3])", "Cz(V)"]
    graph = cf.derive(heavy, outputs).graph
    phi, rate = Angle.from_tangent(Fraction(1, 2)), Fraction(5, 7)
    back = Angle.from_tangent(Fraction(-1, 2))
    values: dict[str, Any] = {"q1": phi, "q2": back, "q3": phi}
    values |= {"qd1": rate, "qd2": -rate, "qd3": rate}
    values |= {"tau1": Fraction(3), "tau2": Fraction(-1, 3), "tau3": Fraction(2, 7)}
    A, B, C, D, V = (array.tolist() for array in evaluate(graph, values, EXACT).values())
    # Cranks of 2/5 m and 1 kg, 1/50 kg m^2 about their centres, and a coupler of 1 kg.
    J = 2 * (Fraction(1, 50) + Fraction(1, 5) ** 2) + Fraction(2, 5) ** 2
    K, sine, cosine = 10 * (2 * Fraction(1, 5) + Fraction(2, 5)), Fraction(4, 5), Fraction(3, 5)
    assert [[0, 1], [K * sine / J, 0]] == A
    assert B == [[0, 0, 0], [1 / J, -1 / J, 1 / J]]
    assert C == [[1, 0], [-1, 0], [1, 0]]
    assert D == [[1 / J, -1 / J, 1 / J]]
    assert [[K * cosine, 0]] == V


# --- what is refused, and noted -------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], cf.Mechanism], str, str, str]] = {
    "no basic joints": (slider_crank, "Az", "names no basic joints", "linearise"),
    "nothing holds": (lambda: carried_by(1, "b^2 + 1"), "Az", "no position was found", "values"),
    "no inertia": (lambda: carried_by(2, "c - 2*b"), "Az", "nothing resists", "give what"),
    "forces of loops": (
        lambda: named(slider_crank(), "crank"),
        "Dz(reactions)",
        "reactions depends on forces of loops that are not determined",
        "fewer equations",
    ),
    "no output": (lambda: carried_by(1), "Cz", "none is named", "output_matrix(q)"),
    "two outputs": (lambda: carried_by(1), "Dz(q, qd)", "names 2 outputs", "OUTPUT"),
    "unknown": (lambda: carried_by(1), "Cz(gravty)", "'gravty'", "did you mean 'gravity'"),
    "weights": (
        lambda: carried_by(1),
        "Cz(weights*d(tau)/d(qdd))",
        "which no state has",
        "multiply its rows",
    ),
    "entries": (lambda: carried_by(1), "Cz(q)[3,1]", "there is no such entry", "count from 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    build, text, message, remedy = REFUSED[name]
    with pytest.raises(cf.Error, match=message) as caught:
        cf.derive(build(), [text])
    assert remedy in str(caught.value.remedy)


def test_signals_that_prescribe_what_is_bound_are_refused() -> None:
    text = (EXAMPLES / "four_bar.toml").read_text()
    for joint in ("crank", "rocker"):
        text += f'[[actuators]]\nname = "{joint}_motor"\njoint = "{joint}"\n'
        text += "A = [[0, 1], [-4, -1]]\nb = [0, 1]\nf = [0, 0]\n"
        text += "position = [1, 0]\nvelocity = [0, 1]\n"
    with pytest.raises(DeriveError, match="rocker_motor"):
        cf.derive(read_text(text, "toml"), ["Az"])


def test_other_methods_are_refused() -> None:
    with pytest.raises(DeriveError, match="newton_euler does not give"):
        cf.derive(EXAMPLES / "six_axis_arm.toml", ["Az"], formulation="newton_euler")


def test_jumps_and_corners_are_noted() -> None:
    rough = example("driven_arm").with_forces({"elbow": "-3*sign(der(elbow))"})
    notes = cf.derive(rough, ["Az", "Cz(qdd)"]).notes
    assert any(note.startswith("state_matrix: sign(qd3) has a jump or corner") for note in notes)
    assert any(note.startswith("output_matrix(forward_dynamics): ") for note in notes)
    assert cf.derive(example("four_bar"), ["Az"]).notes == ()


# --- outputs like any other -----------------------------------------------------------------------


def test_they_are_outputs_like_any_other(tmp_path: Path) -> None:
    bar = example("four_bar")
    outputs = ["Az", "Bz[2,1]", "Cz(pose(coupler)[1:2,4])", "Dz(qdd)", "d(Az[2,1])/d(crank_mass)"]
    model = cf.derive(bar, outputs, parameters=["crank_mass"])
    at = linearise(bar, q={"crank": 0.4}, qd={"crank": 1.5}).point
    given: dict[str, Any] = {group: at[group] for group in ("q", "qd", "tau")}
    whole = model.evaluate(**given)
    reduced = model.reduce("fast")
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(reduced, "bar")
        loaded = store.load("bar")
    for other in (reduced, loaded):
        for name, value in other.evaluate(**given).items():
            assert value == pytest.approx(whole[name], rel=1e-9, abs=1e-9)
    program = loaded.compile()
    found = program["Cz(T(coupler)[1:2,4])"](*(given[g] for g in ("q",)))
    assert found == pytest.approx(whole["output_matrix(pose(coupler)[1:2,4])"])
    assert "output_matrix" in loaded.emit("python")
    h = 1e-4
    aside = [
        model.evaluate(**given, values={"crank_mass": 0.4 + s})["state_matrix"] for s in (h, -h)
    ]
    slope = (aside[0] - aside[1])[1, 0] / (2 * h)
    assert whole["derivative(state_matrix[2,1],crank_mass)"] == pytest.approx(slope, rel=1e-6)
