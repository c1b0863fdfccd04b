"""Lyapunov exponents and limits of stability, against closed forms and independent integrations."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import mathieu_a

import chainform as cf
from chainform.analysis import TaskInterrupted
from chainform.analysis.periodic import lyapunov
from chainform.analysis.periodic.lyapunov import kaplan_yorke
from unit.analysis.oscillators import TOP, top

G = 9.81
EXAMPLES = Path(__file__).parents[3] / "examples"


@cache
def mass(law: str) -> cf.Mechanism:
    """Return a turning mass of 1 kg m^2 under a law."""
    builder = cf.Mechanism.builder("mass", gravity=(0, 0, 0)).parameter("c", "0.5")
    builder.segment("x", axis="z", mass=0, inertia=[0, 0, 1])
    return builder.force("x", law).build()


CHAOTIC = "-sin(x) - c*der(x) + 1.15*cos(2*t/3)"
"""The driven pendulum with damping 0.5, in one of its chaotic regimes (Baker and Gollub)."""


# --- Lyapunov exponents ---------------------------------------------------------------------------


def test_exponents_of_a_damped_oscillator() -> None:
    """Both are the real part of the poles; their sum is the divergence, exactly."""
    found = cf.lyapunov_exponents(mass("-4*x - c*der(x) + sin(t)"), t=100, blocks=20)
    facts = found.facts
    assert facts["exponents"] == pytest.approx([-0.25, -0.25], abs=5e-3)
    assert facts["sum"] == pytest.approx(-0.5, abs=1e-8)
    assert facts["divergence"] == pytest.approx(-0.5, abs=1e-13)
    assert found["exponents"].shape == (20, 2)
    assert facts["dimension"] == 0


def test_two_different_poles() -> None:
    """The error shrinks with time: the first direction has to turn to where it belongs."""
    found = cf.lyapunov_exponents(mass("-2*x - 3*der(x)"), q0=[1.0], t=40, settle=20)
    assert found.facts["exponents"] == pytest.approx([-1, -2], abs=0.1)
    assert found["block_exponents"][-1] == pytest.approx([-1, -2], abs=1e-6)


@pytest.mark.slow
def test_exponents_of_a_chaotic_pendulum() -> None:
    """The mean growth of the distance of two motions, computed on its own, is the largest one."""
    found = cf.lyapunov_exponents(mass(CHAOTIC), q0=[0.2], t=800, settle=100, blocks=70)
    largest, error = found.facts["exponents"][0], found.facts["errors"][0]
    assert found.facts["sum"] == pytest.approx(-0.5, abs=1e-7)
    assert largest > 3 * error > 0

    def rates(t: float, y: np.ndarray) -> list[float]:
        drive = 1.15 * np.cos(2 * t / 3)
        return [y[1], -np.sin(y[0]) - y[1] / 2 + drive, y[3], -np.sin(y[2]) - y[3] / 2 + drive]

    one = solve_ivp(rates, (0, 100), [0.2, 0, 0.2, 0], method="DOP853", rtol=1e-11).y[:2, -1]
    size, total, steps, length = 1e-8, 0.0, 700, 1.0
    apart = np.array([size, 0.0])
    for k in range(steps):
        span = (100 + k * length, 100 + (k + 1) * length)
        y = solve_ivp(rates, span, [*one, *(one + apart)], method="DOP853", rtol=1e-11).y[:, -1]
        one, apart = y[:2], y[2:] - y[:2]
        grown = float(np.linalg.norm(apart))
        total, apart = total + np.log(grown / size), apart * (size / grown)
    assert total / (steps * length) == pytest.approx(largest, abs=4 * error)


def test_a_double_pendulum_conserves_volume() -> None:
    """In coordinates and momenta volume stays; in rates it changes by the mass matrix."""
    builder = cf.Mechanism.builder("double", gravity=(0, "-9.81", 0))
    builder.segment("upper", axis="z", mass=1, com=[0, -1, 0])
    builder.segment("lower", parent="upper", axis="z", position=[0, -1, 0], mass=1, com=[0, -1, 0])
    double, start = builder.build(), [2.0, 2.5]
    found = cf.lyapunov_exponents(double, q0=start, t=40, blocks=20)
    values, facts = found.facts["exponents"], found.facts
    masses = cf.derive(double, ["mass_matrix"]).evaluate(q=[start, found["q"][-1]])["mass_matrix"]
    first, last = np.linalg.det(masses)
    assert facts["sum"] == pytest.approx(np.log(first / last) / 40, abs=1e-8)
    assert facts["sum"] == pytest.approx(facts["divergence"], abs=1e-8)
    assert values[0] > 1
    assert values[0] + values[3] == pytest.approx(0, abs=0.05 + 4 * facts["errors"][0])
    assert {2, 3} <= set(facts["unsettled"])
    assert any(line.startswith("not settled: 2, 3") for line in found.report)
    assert any("is 0 in the end" in line for line in found.report)


def test_exponents_through_impacts() -> None:
    """A ball on a plate that moves: each bounce multiplies the volume by e^2, the stop's e."""
    e = 0.6
    builder = cf.Mechanism.builder("ball", gravity=(0, 0, "-9.81"))
    joint = {"type": "prismatic", "axis": "z", "limits": {"lower": 0, "upper": 100}}
    builder.segment("z", joint=joint, mass=1)
    found = cf.lyapunov_exponents(
        builder.build(), q0=[1.0], t=(0, 1.3), blocks=4, stops={"z": {"restitution": e}}
    )
    first = np.sqrt(2 / G)
    bounces, t, step = 0, first, 2 * first * e
    while t < 1.3:
        bounces, t, step = bounces + 1, t + step, step * e
    assert bounces >= 2
    assert found.facts["divergence"] is None
    # Of a bounce: position and rate are both multiplied by -e.
    assert found.facts["sum"] * 1.3 == pytest.approx(bounces * np.log(e * e), abs=1e-6)


def test_the_dimension_of_kaplan_and_yorke() -> None:
    assert kaplan_yorke([0.9, 0.0, -14.57]) == pytest.approx(2 + 0.9 / 14.57)
    assert kaplan_yorke([-1, -2]) == 0
    assert kaplan_yorke([1, 0, -1]) == 3


def test_an_interruption_leaves_the_blocks() -> None:
    def stop(done: int, total: int) -> None:
        assert total == 20
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(TaskInterrupted) as caught:
        cf.lyapunov_exponents(mass("-x - c*der(x)"), q0=[1.0], t=20, blocks=20, progress=stop)
    assert len(caught.value.result) == 6
    assert caught.value.result.report[-1] == "interrupted: 6 of 20 are done"


def test_an_interruption_in_the_middle_of_a_block_leaves_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths: list[float] = []
    whole = lyapunov._Chain._grow  # pyright: ignore[reportPrivateUsage]

    def grow(self: Any, path: Any, length: float) -> None:
        whole(self, path, length)
        lengths.append(length)
        if len(lengths) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(lyapunov._Chain, "_grow", grow)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(TaskInterrupted) as caught:
        cf.lyapunov_exponents(mass("-x - c*der(x)"), q0=[1.0], t=20, blocks=20)
    assert {len(array) for array in caught.value.result.arrays.values()} == {3}


def nothing(t: float, q: Any, qd: Any) -> float:
    del t, q, qd
    return 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t": 5, "settle": 5}, "nothing is left of 5 s"),
        ({"t": 5, "settle": -1}, "negative"),
        ({"t": 5, "blocks": 2}, "whole number"),
        ({"t": 5, "forces": {"x": nothing}}, "no derivatives"),
        ({"t": 9, "q0": [1.0], "events": {"down": {"law": "x", "stop": True}}}, "ends by down"),
    ],
)
def test_what_has_no_exponents(options: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error, match=message):
        cf.lyapunov_exponents(mass("-x"), **options)


# --- limits of stability --------------------------------------------------------------------------


def column() -> cf.Mechanism:
    """Return an inverted pendulum on a spring: it stands while k > m g l."""
    builder = cf.Mechanism.builder("column", gravity=(0, 0, -10)).parameter("m", 1)
    builder.segment("lean", axis="y", mass="m", com=[0, 0, 0.5])
    return builder.spring(joint="lean", stiffness=8).build()


def test_the_weight_that_buckles_a_column() -> None:
    found = cf.stability_limit(column(), "m", (1, 3), of={"task": "modes"}, tolerance=1e-8)
    facts = found.facts
    assert facts["limit"] == pytest.approx(8 / 5, abs=2e-8)
    assert facts["low"] < facts["limit"] < facts["high"]
    assert facts["high"] - facts["low"] <= 2e-8
    assert facts["growth_low"] < 1e-6 < facts["growth_high"]
    assert facts["unstable_above"]
    assert np.all(np.diff(found["parameter"]) > 0)
    assert not np.any(np.diff(found["stable"]) > 0)


def test_a_limit_of_a_steady_motion() -> None:
    """A disc rolls upright where 3 v^2 > g r, and a top sleeps where (C n)^2 > 4 A m g l."""
    disc = EXAMPLES / "rolling_disc.toml"
    found = cf.stability_limit(disc, "r", (0.1, 0.2), of={"task": "modes", "qd": {"x": 0.7}})
    assert found.facts["limit"] == pytest.approx(3 * 0.49 / G, abs=1e-6)
    spin = {"task": "modes", "qd": [0, 0, 40.0]}
    found = cf.stability_limit(top("cardan"), "m", (1, 4), of=spin, tolerance=1e-9)
    roots = np.roots([0.09 * G * 0.3, 0.02 * G * 0.3, -((TOP["C"] * 40) ** 2) / 4])
    assert found.facts["limit"] == pytest.approx(max(roots), abs=1e-9)
    assert found["qd"][0] == pytest.approx([0, 0, 40])


def test_a_limit_of_an_equilibrium_aside_of_the_state() -> None:
    builder = cf.Mechanism.builder("lean", gravity=(0, 0, -10)).parameter("c", 0.5)
    builder.segment("q", axis="y", mass=1, com=[0, 0, -0.5])
    lean = builder.force("q", "2 - (c - 0.2)*der(q)").build()
    of = {"task": "modes", "search": True, "q": [0.1]}
    found = cf.stability_limit(lean, "c", (0, 1), of=of, tolerance=1e-8)
    assert found.facts["limit"] == pytest.approx(0.2, abs=1e-7)


def test_a_limit_of_a_driven_pendulum() -> None:
    """The boundary of Mathieu's first region, with a period that goes with the parameter."""
    builder = cf.Mechanism.builder("driven", gravity=(0, "-9.81", 0)).parameter("w", 5)
    builder.segment("pivot", axis="y", joint="prismatic", mass=1)
    builder.segment("rod", parent="pivot", axis="z", mass=1, com=[0, -1, 0])
    w = 2 * np.sqrt(G / float(mathieu_a(1, 0.2)))
    motion = {"task": "periodic_motion", "period": "2*pi/w", "motion": {"pivot": "0.1*cos(w*t)"}}
    span = (w - 0.1, w + 0.1)
    found = cf.stability_limit(builder.build(), "w", span, of=motion, tolerance=1e-5)
    assert found.facts["limit"] == pytest.approx(w, abs=1e-5)
    assert found.facts["unstable_above"]


def test_a_limit_cycle_loses_its_stability() -> None:
    """x'' = (c - 0.5) (1 - x^2) x' - x: the cycle is stable while c > 0.5."""
    law = "(c - 0.5)*(1 - x^2)*der(x) - x"
    cycle = {"task": "periodic_motion", "q0": [2.0], "period": 6.3}
    found = cf.stability_limit(mass(law), "c", (0.3, 0.8), of=cycle, tolerance=1e-2)
    assert found.facts["limit"] == pytest.approx(0.5, abs=1e-2)
    assert not found.facts["unstable_above"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"span": (1, 1)}, "the span is empty"),
        ({"span": (1, 1.5)}, "at both ends the motion is not unstable"),
        ({"span": (2, 3)}, "at both ends the motion is unstable"),
        ({"parameter": "n"}, "n"),
        ({"of": {"task": "walk"}}, "there is no task"),
        ({"of": {}}, "is missing"),
        ({"of": {"task": "modes", "values": {"m": 1}}}, "m has a value"),
        ({"of": {"task": "modes", "q": [0.3]}}, "no equilibrium"),
        ({"of": {"task": "modes", "odd": 1}}, "odd"),
        ({"of": {"task": "periodic_motion"}}, "neither period nor section"),
        ({"tolerance": 1e-18}, "doubles are not as dense"),
        ({"tolerance": 0}, "not positive"),
    ],
)
def test_a_limit_that_is_not_there(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"parameter": "m", "span": (1, 3), "of": {"task": "modes"}, **options}
    with pytest.raises(cf.Error, match=message):
        cf.stability_limit(column(), **given)
