"""Dry friction and stops where loops dictate the motion: cranks through their dead centres."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import chainform as cf
from chainform.errors import RunError
from chainform.simulation import simulate

CRANK, ROD = 0.4, 1.0


def slider_crank(*coulomb: float, gravity: float = 0) -> cf.Mechanism:
    """A crank a, a rod b and a slide s along x, with dry friction each."""
    builder = cf.Mechanism.builder("slider_crank", gravity=(0, 0, gravity))
    joints: list[dict[str, Any]] = [
        {"name": name, "type": sort, "friction": {"coulomb": size}}
        for name, sort, size in zip(
            "abs", ("revolute", "revolute", "prismatic"), coulomb, strict=True
        )
    ]
    inertia = ["0.1", "0.1", "0.1"]
    builder.segment("a", joint=joints[0], axis="y", mass=1, com=["0.2", 0, 0], inertia=inertia)
    builder.segment(
        "b",
        parent="a",
        joint=joints[1],
        axis="y",
        position=[CRANK, 0, 0],
        mass=1,
        com=["0.5", 0, 0],
        inertia=inertia,
    )
    builder.segment("s", parent="ground", joint=joints[2], axis="x", mass=1)
    ends = {"segment": "b", "point": [1, 0, 0]}, {"segment": "s", "point": [0, 0, 0]}
    return builder.loop("pin", "point", *ends).build()


def inertia_of(a: complex) -> tuple[complex, complex]:
    """Return the inertia of the whole about the crank, and ds/da, by hand."""
    sine = -CRANK * np.sin(a)
    cosine = np.sqrt(1 - sine**2)
    turn = -CRANK * np.cos(a) / cosine
    slide = -CRANK * np.sin(a) - sine * turn
    between = np.cos(a) * cosine + np.sin(a) * sine
    rod = CRANK**2 + 0.25 * turn**2 + CRANK * turn * between
    return 0.1 + 0.2**2 + rod + 0.1 * turn**2 + slide**2, slide


def crank_after(friction: float, a: float, rate: float, t: float) -> tuple[float, float]:
    """Integrate M a'' + M' a'^2 / 2 = - f |ds/da| from one dead centre to the next."""

    def change(_: float, y: np.ndarray) -> list[float]:
        M, slide = inertia_of(y[0])
        bent = inertia_of(y[0] + 1e-30j)[0].imag / 1e-30
        return [y[1], -(bent * y[1] ** 2 / 2 + friction * abs(slide)) / M]

    def dead(_: float, y: np.ndarray) -> float:
        return y[0] - (np.floor(a / np.pi) + 1) * np.pi

    dead.terminal = True  # type: ignore[attr-defined]
    now = 0.0
    while now < t:
        part = solve_ivp(
            change, (now, t), [a, rate], method="DOP853", rtol=1e-12, atol=1e-12, events=dead
        )
        now, a, rate = float(part.t[-1]), float(part.y[0, -1]) + 1e-14, float(part.y[1, -1])
    return a, rate


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.01, 1.0])
def test_a_dry_slide_goes_through_dead_centres(friction: float) -> None:
    """The slide stands still there, and no friction holds it: its acceleration is dictated."""
    run = simulate(slider_crank(0, 0, friction), q0={"a": 1.0}, qd0={"a": 10}, t=2.0, rtol=1e-11)
    assert run.q[-1, 0] > 5 * np.pi
    a, rate = crank_after(friction, 1.0, 10.0, 2.0)
    assert run.q[-1, 0] == pytest.approx(a, abs=1e-7)
    assert run.qd[-1, 0] == pytest.approx(rate, abs=1e-7)
    assert np.ptp(run.balance) < 1e-8
    assert not run.events
    way = np.abs(np.diff(run.q[:, 2])).sum()
    assert run.losses[-1] == pytest.approx(friction * way, rel=2e-2)


def test_a_crank_comes_to_rest_by_the_friction_of_its_slide() -> None:
    run = simulate(slider_crank(0, 0, 5), q0={"a": 1.0}, qd0={"a": 4}, t=6.0)
    assert np.abs(run.qd[-1]).max() < 1e-9
    assert run.events[-1].name == "s: sticks"
    assert run.losses[-1] == pytest.approx(run.energy[0])
    assert np.ptp(run.balance) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("method", ["verner65", "dopri853", "rk4"])
def test_stops_just_at_the_dead_centres_are_not_hit(method: str) -> None:
    stops = {"s": {"lower": "0.6", "upper": "1.4", "restitution": 0.5}}
    step = 1e-3 if method == "rk4" else None
    start: dict[str, Any] = {"q0": {"a": 1.0}, "qd0": {"a": 10}, "t": 1.0, "step": step}
    run = simulate(slider_crank(0, 0, 0), method=method, stops=stops, **start)
    free = simulate(slider_crank(0, 0, 0), method=method, **start)
    assert run.q[-1] == pytest.approx(free.q[-1], abs=1e-7)
    assert not run.events


def test_a_stop_a_little_before_the_dead_centre_is_hit() -> None:
    stops = {"s": {"upper": 1.4 - 1e-6, "restitution": 1}}
    run = simulate(slider_crank(0, 0, 0), q0={"a": 1.0}, qd0={"a": 10}, t=2.0, stops=stops)
    assert {event.name for event in run.events} == {"s upper: impact"}
    assert run.q[:, 2].max() < 1.4 - 1e-6 + 1e-9
    assert np.ptp(run.energy) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coulomb", "size", "pace"),
    [((0.2, 0.2, 0), 20, 5), ((0.2, 0.2, 1), 8, 5), ((0.2, 0.2, 1), 15, 2), ((0, 0, 1), 20, 5)],
)
def test_dry_joints_and_a_stop_share_a_load(
    coulomb: tuple[float, float, float], size: float, pace: float
) -> None:
    """With one freedom all come to rest together, and any of them may hold."""
    run = simulate(
        slider_crank(*coulomb, gravity=-9),
        q0={"a": -1.0, "b": 1.3, "s": 1.2},
        t=3.0,
        stops={"s": {"lower": 0.8, "upper": 1.35, "restitution": 0.5}},
        forces={"a": f"{size}*sin({pace}*t)"},
    )
    assert np.ptp(run.balance) < 1e-6 * np.abs(run.work).max()
    assert np.all(np.diff(run.losses) > -1e-9)
    assert run.q[:, 2].max() < 1.35 + 2e-9
    assert run.q[:, 2].min() > 0.8 - 2e-9
    for name, bound in zip("abs", coulomb, strict=True):
        if bound:
            assert np.abs(run.friction_forces[name]).max() <= bound * (1 + 1e-8)


def test_what_holds_together_breaks_loose_together() -> None:
    """Three dry joints hold a crank that one after the other could not hold."""
    run = simulate(slider_crank(1, 1, 1), q0={"a": 1.0}, t=3.0, forces={"a": "2*t"}, rtol=1e-10)
    (*_, last) = [event for event in run.events if event.name.endswith("slides")]
    # All rates are proportional to that of the crank: their friction adds up.
    _, slide = inertia_of(1.0)
    cosine = np.sqrt(1 - (CRANK * np.sin(1.0)) ** 2)
    bend = 1 + CRANK * np.cos(1.0) / cosine
    assert last.t == pytest.approx((1 + bend + abs(slide)) / 2, rel=1e-7)
    assert np.abs(run.q[run.t < last.t] - run.q[0]).max() < 1e-9
    assert run.qd[-1, 0] > 0.5
    assert np.ptp(run.balance) < 1e-6 * np.abs(run.work).max()


def test_stops_against_each_other_are_named() -> None:
    """A body between two walls that come together."""
    builder = cf.Mechanism.builder("press", gravity=(0, 0, 0))
    builder.segment("x", joint={"name": "x", "type": "prismatic"}, axis="x", mass=1)
    builder.constraint("unilateral", "x", name="wall")
    builder.constraint("unilateral", "1 - t - x", name="ram")
    with pytest.raises(RunError, match=r"ram.*t = 1|t = 1.*ram"):
        simulate(builder.build(), q0=[0.5], t=2.0)
