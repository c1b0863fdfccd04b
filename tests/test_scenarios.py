"""Every scenario in examples/scenarios runs to its end, and obeys the laws that apply to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.analysis import analyse, complete, drives, inverse_dynamics, linearise
from chainform.mechanism.pose import float_vector
from chainform.simulation import BatchRun, Run, Scenario, simulate, simulate_batch
from zoo import reference_data

FOLDER = Path(__file__).parents[1] / "examples" / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
BATCHES = ("crane_loads",)
"""Scenarios of many motions."""
SINGLE = [name for name in NAMES if name not in BATCHES]

WITHOUT_BALANCE = ("driven_arm", "hydraulic_lift", "pneumatic_slide", "stanford_tracking")
"""Scenarios with actuators, or with elements that are driven."""


@cache
def run_of(name: str) -> Run:
    return simulate(FOLDER / f"{name}.toml")


@pytest.mark.parametrize("name", SINGLE)
def test_a_scenario_runs_to_its_end_and_its_energy_is_accounted_for(name: str) -> None:
    run = run_of(name)
    assert run.t[-1] == pytest.approx(run.about.span[1])
    assert np.all(np.isfinite(run.q))
    if name in WITHOUT_BALANCE:
        assert run.energy_balance is None
        return
    # Elements have no energy_balance; those that nothing drives keep their energy.
    kept = run.balance if run.energy_balance is not None else run.energy
    scale = max(1e-9, float(np.max(np.abs(run.kinetic_energy))), float(np.ptp(run.energy)))
    assert np.ptp(kept) <= max(1e-5 * scale, 1e-6 * float(np.max(np.abs(run.energy))))


@cache
def batch_of(name: str) -> BatchRun:
    return simulate_batch(FOLDER / f"{name}.toml")


@pytest.mark.parametrize("name", BATCHES)
def test_all_motions_of_a_batch_run_to_their_end(name: str) -> None:
    batch = batch_of(name)
    assert not batch.failed.any()
    assert batch.ended == {"end": len(batch)}
    assert batch.t[-1] == pytest.approx(batch.about.span[1])
    assert Scenario.read(FOLDER / f"{name}.toml").batch is not None


def test_loads_of_a_crane_swing_as_the_linear_theory_says() -> None:
    """After a push a for T and -a for T the swing has the size 4 a / g sin(w T / 2)^2."""
    batch = batch_of("crane_loads")
    w = np.sqrt(9.81 / batch.values["l"] * 1.01)
    left = batch.t > 4
    swing = np.hypot(batch.q[:, left, 1], batch.qd[:, left, 1] / w[:, None]).max(axis=1)
    expected = 4 / 9.81 * np.sin(w) ** 2
    np.testing.assert_allclose(swing, expected, atol=0.02)
    assert batch.values["l"][np.argmin(swing)] == pytest.approx(1.0, abs=0.05)


def squeezer(run: Run) -> None:
    """q(0.03) of the published solution."""
    published = reference_data("andrews_squeezer")["reference_t_0_03"]["q"]
    np.testing.assert_allclose(run.q[-1], published, atol=1e-6)


def sliding_links(run: Run) -> None:
    """The first stop of Korayem and Shafei, and rods that stay between their ends."""
    first = next(h for h in run.events if "impact" in h.name)
    assert first.t == pytest.approx(0.244380415735792, abs=1e-6)
    assert np.min(run.q[:, 3:]) > -1e-9
    assert np.max(run.q[:, 3:]) < 1 + 1e-9


def manipulator(run: Run) -> None:
    """The last row of Tables 5 and 6 of Obradović and Marković 1991."""
    printed = reference_data("manipulator_5dof")["printed_trajectory"]
    np.testing.assert_allclose(run.q[-1], printed["q"][-1], rtol=1e-5, atol=1e-6)


def knife_edge(run: Run) -> None:
    """The cycloid of a skate that turns evenly with w: x = g sin(a) sin(w t)^2 / (2 w^2)."""
    w, fall = 1.5, 9.81 * np.sin(0.2)
    np.testing.assert_allclose(run.q[:, 0], fall * np.sin(w * run.t) ** 2 / (2 * w**2), atol=1e-7)


def stanford_tracking(run: Run) -> None:
    """After the start the arm is where it is told to be."""
    t = run.t[-1]
    wanted = [0.6 * np.sin(1.5 * t), 0.3 + 0.2 * np.cos(t), 0.6 + 0.2 * np.sin(2 * t)]
    np.testing.assert_allclose(run.q[-1], wanted, atol=1e-6)


def cart_pole(run: Run) -> None:
    """The pole stands upright in the end."""
    assert abs(run.q[-1, 1]) < 1e-3


def bouncing_ball(run: Run) -> None:
    """From 1 m: the first bounce at sqrt(2 h / g), and rest after the sum of all bounces."""
    fall = np.sqrt(2 / 9.81)
    impacts = [h.t for h in run.events if "impact" in h.name]
    assert impacts[0] == pytest.approx(fall, rel=1e-9)
    assert impacts[1] == pytest.approx(fall * (1 + 2 * 0.8), rel=1e-9)
    resting = run.t > fall * (1 + 2 * 0.8 / (1 - 0.8)) + 0.05
    assert np.max(np.abs(run.q[resting])) < 1e-6


def gyroscope(run: Run) -> None:
    """The moment about the vertical and about the own axis stays what it is."""
    assert np.ptp(run.qd[:, 2]) < 1e-6 * 150
    assert np.ptp(run.output("momentum")[:, 5]) < 1e-7


def four_bar(run: Run) -> None:
    """The loop stays closed."""
    (loop,) = run.mechanism.loops
    known = {p.name: p.value for p in run.mechanism.parameters if p.value is not None}
    coupler, rocker = (
        run.output(f"pose({run.mechanism.segments[end.segment].name})")[:, :3]
        @ [*float_vector(end.point, known), 1.0]
        for end in (loop.closing, loop.target)
    )
    assert np.ptp(coupler[:, 0]) > 0.01
    np.testing.assert_allclose(coupler, rocker, atol=1e-8)
    assert run.multipliers.shape[1] == 3


def four_bar_drive(run: Run) -> None:
    """The torque is the one that inverse dynamics of the closed linkage asks for."""
    motion = complete(run.mechanism, {"crank": "6*t"}, t=run.t, start=run.q[0])
    bar = replace(run.mechanism, constraints=())
    found = drives(bar, motion.q, motion.qd, motion.qdd, ["crank"], t=run.t)
    np.testing.assert_allclose(run.motion_forces["crank"], found.tau[:, 0], atol=1e-8)


def crane_lift(run: Run) -> None:
    """The rope holds the weight at first; its force is along the rope, so that it shrinks it."""
    weight = 2000 * 9.81
    assert run.motion_forces["hoist"][0] == pytest.approx(-weight)
    assert run.motion_forces["hoist"].min() < -1.1 * weight
    assert run.work[-1] > weight * 7 * 0.99


def walker(run: Run) -> None:
    """Six steps: feet come down in turn where the other one does not stand, half a metre on."""
    steps = [event for event in run.events if "impact" in event.name]
    assert [step.name.partition("_")[0] for step in steps] == ["right", "left"] * 3
    places = [step.q[0] for step in steps]
    np.testing.assert_allclose(np.diff(places), 2 * np.sin(0.25), atol=0.01)
    assert min(force.min() for force in run.contact_forces.values()) > -1e-6


def hydraulic_lift(run: Run) -> None:
    """Fully open, both edges let through what the cylinder takes; at rest it carries the weight.

    A v = cv sqrt(ps - p), B v = cv sqrt(p'), A p - B p' = m g + friction; leakage is small.
    """
    assert run.x is not None
    A, B, cv, supply, weight = 1.257e-3, 6.41e-4, 1.8e-7, 20e6, 400 * 9.81
    rate = cv * np.sqrt((A * supply - weight - 150) / (A**3 + B**3))
    open_wide = (run.t > 0.5) & (run.t < 0.8)
    np.testing.assert_allclose(run.qd[open_wide, 0], rate, rtol=1e-3)
    at_rest = run.t > 3.5
    assert np.abs(run.q[at_rest, 0] - 0.2).max() < 2e-4
    force = A * run.x[at_rest, 1] - B * run.x[at_rest, 2]
    np.testing.assert_allclose(force, weight, atol=160)


def pneumatic_slide(run: Run) -> None:
    """The pressures at the end of the stroke are those of supply and air; then no gas is lost.

    A closed valve leaves p V of both chambers: a spring of A^2 p/V + B^2 p'/V' about rest.
    """
    assert run.x is not None
    push, pull, q = run.x[:, 0], run.x[:, 1], run.q[:, 0]
    ended = np.argmin(np.abs(run.t - 1.19))
    np.testing.assert_allclose([push[ended], pull[ended], q[ended]], [7e5, 1e5, 0.3], rtol=1e-3)
    closed = run.t > 1.505
    A, B = 8e-4, 6.9e-4
    volumes = 2e-5 + A * q, 2e-5 + B * (0.3 - q)
    for pressure, volume in zip((push, pull), volumes, strict=True):
        assert np.ptp((pressure * volume)[closed]) < 1e-6 * pressure[-1] * volume[-1]
    stiffness = A**2 * push[-1] / volumes[0][-1] + B**2 * pull[-1] / volumes[1][-1]
    x = run.x[-1]
    A_matrix = linearise(run.mechanism, q=run.q[-1], x=x, u=[0]).A
    np.testing.assert_allclose(A_matrix[1, 2:] @ A_matrix[2:, 1] * 6, -stiffness, rtol=1e-3)


CHECKS: dict[str, Callable[[Run], Any]] = {
    check.__name__: check
    for check in (
        squeezer,
        sliding_links,
        manipulator,
        knife_edge,
        stanford_tracking,
        cart_pole,
        bouncing_ball,
        gyroscope,
        four_bar,
        four_bar_drive,
        crane_lift,
        walker,
        hydraulic_lift,
        pneumatic_slide,
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_what_is_known_of_a_motion(name: str) -> None:
    CHECKS[name](run_of(name))


def test_every_scenario_has_its_picture_on_the_page() -> None:
    docs = FOLDER.parents[1] / "docs"
    page = (docs / "examples.md").read_text("utf-8")
    for name in NAMES:
        assert f"`{name}.toml`" in page
        pictures = [f"pictures/{name}{ending}" for ending in (".png", ".svg")]
        assert any(f"]({picture})" in page and (docs / picture).is_file() for picture in pictures)


def test_the_stanford_arm_writes_and_its_forces_give_the_first_stroke_back() -> None:
    """Nine strokes on the board; the open loop is unstable, so only the first is compared."""
    path = analyse(FOLDER.parent / "tasks" / "stanford_writing.toml")
    assert path["reached"].all()
    tip = path.run.output("pose(C)")[:, :3, 3]
    down = np.concatenate([[False], tip[:, 1] > 1.095, [False]])
    assert np.count_nonzero(np.diff(down.astype(int)) == 1) == 9
    assert tip[:, 1].max() < 1.105
    forces = inverse_dynamics(path.mechanism, path)
    assert abs(forces["residual"]).max() < 1e-8
    first = path["t"] <= 1
    again = forces.simulate(t=(0, 1), t_eval=path["t"][first])
    np.testing.assert_allclose(again.q, path["q"][first], atol=1e-3)
