"""Controllers with samples, delay and resolutions, against loops written out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import chainform as cf
from chainform.simulation import simulate_batch

pytestmark = pytest.mark.any_processor

Array = NDArray[np.float64]
INERTIA, WEIGHT = 0.35, 9.81 * 0.5


def pendulum() -> cf.Mechanism:
    builder = cf.Mechanism.builder("pendulum").parameter("blank")
    joint = {"name": "q1", "type": "revolute", "axis": "y"}
    builder.segment("rod", joint=joint, mass=1, com=[0, 0, "-0.5"], inertia=[0, "0.1", 0])
    return builder.build()


PID = {"type": "pid", "kp": 40, "kd": 6, "ki": 30, "target": "0.5*sin(2*t)", "limit": 15}


def by_hand(control: dict[str, Any], end: float, q0: float = 0.0) -> tuple[Array, Array]:
    """Return the state at the end, and the efforts from sample to sample."""
    T, r, s = control["sample"], control.get("resolution", 0), control.get("output_resolution", 0)
    waiting = [0.0] * round(control.get("delay", 0) / T)
    y, integral, before, efforts = np.array([q0, 0.0]), 0.0, None, list[float]()
    for k in range(round(end / T)):
        t = k * T
        q, v = (r * np.rint(y[0] / r), 0.0) if r else (y[0], y[1])
        if r and before is not None:
            v = (q - before) / T
        before = q
        error, rate = 0.5 * np.sin(2 * t) - q, np.cos(2 * t) - v
        result = np.clip(40 * error + 6 * rate + 30 * integral, -15, 15)
        integral += T * error
        waiting.append(s * np.rint(result / s) if s else result)
        effort = waiting.pop(0)
        efforts.append(effort)

        def slope(t: float, y: Array, effort: float = effort) -> list[float]:
            return [y[1], (effort - WEIGHT * np.sin(y[0])) / INERTIA]

        found = solve_ivp(slope, (t, t + T), y, "DOP853", rtol=1e-11, atol=1e-13)
        y = found.y[:, -1]
    return y, np.array(efforts)


CASES: dict[str, dict[str, Any]] = {
    "plain": {"sample": 0.01},
    "delay": {"sample": 0.01, "delay": 0.02},
    "resolutions": {
        "sample": 0.02,
        "delay": 0.02,
        "resolution": 0.0013,
        "output_resolution": 0.037,
    },
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", ["verner65", "rk4"])
def test_a_loop_by_hand_gives_the_same(case: str, method: str) -> None:
    """Rounding could go the other way only within 1e-9 of the middle between two steps."""
    control: dict[str, Any] = {**PID, **CASES[case]}
    y, efforts = by_hand(control, 1.0)
    step: dict[str, Any] = {"step": 1e-3} if method == "rk4" else {}
    times = np.arange(2 * len(efforts) + 1) * control["sample"] / 2
    run = cf.simulate(
        pendulum(), t=1, controllers={"q1": control}, t_eval=times, method=method, **step
    )
    assert np.abs(run.tau[0:-1:2, 0] - efforts).max() < 1e-7
    # From one sample to the next nothing changes.
    assert np.abs(run.tau[1::2, 0] - efforts).max() < 1e-7
    assert np.abs([run.q[-1, 0], run.qd[-1, 0]] - y).max() < 1e-7
    made = INERTIA * run.qdd[:, 0] + WEIGHT * np.sin(run.q[:, 0])
    assert np.allclose(made, run.tau[:, 0], atol=1e-9)


def test_cvode_begins_anew_at_samples() -> None:
    control = {**PID, "sample": 0.01, "delay": 0.01}
    y, efforts = by_hand(control, 1.0)
    times = np.arange(101) * 0.01
    run = cf.simulate(
        pendulum(), t=1, controllers={"q1": control}, t_eval=times, method="cvode", rtol=1e-9
    )
    assert np.abs(run.tau[:-1, 0] - efforts).max() < 1e-4
    assert np.abs([run.q[-1, 0], run.qd[-1, 0]] - y).max() < 1e-5


def test_controllers_have_their_own_sample_times_beside_hold() -> None:
    """Held forces change at their times, two sampled controllers at theirs; all add up."""
    arm = cf.read("examples/driven_arm.toml")
    control: dict[str, Any] = {
        "waist": {"type": "pd", "kp": 300, "target": 0.5, "sample": 0.002},
        "shoulder": {"type": "pd", "kp": 300, "kd": 5, "target": -0.4, "sample": 0.005},
        "elbow": {"type": "pd", "kp": 300, "kd": 5, "target": 0.8},
    }
    times = np.arange(81) * 0.00025
    run = cf.simulate(
        arm, t=0.02, controllers=control, signals={"waist": "7*t"}, hold=0.003, t_eval=times
    )
    assert run.u is not None

    def at(period: float) -> NDArray[np.intp]:
        """Return the rows of the samples that hold at each time."""
        rows = np.round(period / 0.00025)
        return np.asarray(np.arange(81) // rows * rows, dtype=np.intp)

    sampled, slow, held = at(0.002), at(0.005), at(0.003)
    waist = 300 * (0.5 - run.q[sampled, 0]) + 7 * times[held]
    shoulder = 300 * (-0.4 - run.q[slow, 1]) - 5 * run.qd[slow, 1]
    elbow = 300 * (0.8 - run.q[held, 2]) - 5 * run.qd[held, 2]
    assert np.allclose(run.u, np.stack([waist, shoulder, elbow], axis=1), atol=1e-9)


def test_computed_torque_and_feedback_of_states_are_sampled_too() -> None:
    arm = cf.read("examples/driven_arm.toml")
    gains = np.hstack([40 * np.eye(3), 4 * np.eye(3), np.eye(3)])
    lqr = {"lqr": {"type": "state_feedback", "K": gains, "sample": 0.001, "x_ref": [0.1] * 9}}
    times = np.arange(21) * 0.0005
    run = cf.simulate(arm, t=0.01, controllers=lqr, t_eval=times)
    assert run.u is not None
    assert run.x is not None
    z = np.concatenate([run.q, run.qd, run.x[:, 2::3]], axis=1)[::2]
    assert np.allclose(run.u[:-1:2], -(z[:-1] - 0.1) @ gains.T, atol=1e-9)
    bare = pendulum()
    law = {"type": "computed_torque", "kp": 100, "kd": 20, "targets": {"q1": "0.3*t^2"}}
    run = cf.simulate(bare, t=1, controllers={"c": {**law, "sample": 0.001}}, q0=[0.1])
    exact = cf.simulate(bare, t=1, controllers={"c": law}, q0=[0.1])
    assert 1e-6 < np.abs(run.q[-1] - exact.q[-1]).max() < 1e-3


def test_batches_have_a_memory_for_each_motion() -> None:
    control = {"q1": {**PID, "sample": 0.01, "delay": 0.01, "resolution": 0.0013}}
    starts = [0.0, 0.4]
    batch = simulate_batch(pendulum(), t=0.5, controllers=control, q0=[[q] for q in starts])
    for k, q in enumerate(starts):
        y, _ = by_hand(control["q1"], 0.5, q)
        assert abs(batch.q[k, -1, 0] - y[0]) < 1e-7


@pytest.mark.parametrize("stops", [None, {"table": {"lower": -0.2, "upper": 0.2}}])
def test_samples_of_one_controller_are_those_of_hold(stops: Any) -> None:
    """Dry friction sticks and slips, the stop is hit: what happens on the way is the same, too."""
    builder = cf.Mechanism.builder("table", gravity=[0, 0, 0])
    joint = {"name": "table", "type": "revolute", "axis": "z"}
    dry = {"coulomb": 0.8, "viscous": 0.1}
    builder.segment("table", joint={**joint, "friction": dry}, mass=1, inertia=[0, 0, 0.5])
    table, pd = builder.build(), {"type": "pd", "kp": 20, "kd": 1, "target": "0.3*sin(2*t)"}
    times = np.arange(801) * 0.005
    options: dict[str, Any] = {"t": 4, "t_eval": times, "stops": stops}
    held = cf.simulate(table, controllers={"table": pd}, hold=0.01, **options)
    sampled = cf.simulate(table, controllers={"table": {**pd, "sample": 0.01}}, **options)
    assert len(held.events) >= 4
    assert [e.name for e in held.events] == [e.name for e in sampled.events]
    for name in ("q", "qd", "qdd", "tau", "work"):
        assert np.allclose(getattr(held, name), getattr(sampled, name), atol=1e-9), name


def test_a_resolution_finer_than_numbers_changes_nothing() -> None:
    control = {**PID, "sample": 0.05}
    fine = {**control, "output_resolution": 1e-320}
    runs = [cf.simulate(pendulum(), t=0.2, controllers={"q1": c}) for c in (control, fine)]
    assert np.array_equal(runs[0].q, runs[1].q)


def test_loops_take_sampled_controllers() -> None:
    linkage = cf.read("examples/four_bar.toml")
    control = {"crank": {"type": "pd", "kp": 10, "kd": 1, "sample": 0.01, "delay": 0.01}}
    times = np.arange(51) * 0.01
    run = cf.simulate(linkage, t=0.5, t_eval=times, controllers=control)
    k = linkage.rate_index("crank")
    wanted = -10 * run.q[:-2, k] - run.qd[:-2, k]
    assert np.allclose(run.tau[1:-1, k], wanted, atol=1e-9)
    assert run.tau[0, k] == 0


def test_events_and_stops_work_between_samples() -> None:
    control = {"q1": {**PID, "target": 1, "sample": 0.02}}
    run = cf.simulate(
        pendulum(),
        t=1,
        controllers=control,
        events={"up": "q1 - 0.3"},
        stops={"q1": {"upper": 0.5}},
    )
    assert next(event.name for event in run.events) == "up"
    assert run.q.max() < 0.5 + 1e-9
    assert any("q1" in event.name for event in run.events[1:])


def test_motions_do_not_go_on_without_what_controllers_remember(tmp_path: Path) -> None:
    control = {"q1": {**PID, "sample": 0.01}}
    run = cf.simulate(pendulum(), t=0.5, controllers=control)
    run.save(tmp_path / "run.npz")
    again = cf.Run.load(tmp_path / "run.npz")
    assert np.array_equal(again.tau, run.tau)
    with pytest.raises(cf.Error, match="sampled controllers remember"):
        cf.simulate(pendulum(), t=1, controllers=control, resume=run)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no time": ({"delay": 0.01}, "sampled"),
    "not a multiple": ({"sample": 0.01, "delay": 0.015}, "multiple"),
    "zero": ({"sample": 0}, ""),
    "negative": ({"sample": 0.1, "delay": -0.1}, ""),
    "not a number": ({"sample": "x"}, ""),
    "text": ({"sample": 0.1, "resolution": "fine"}, ""),
    "too many": ({"sample": 1e-9}, "too many samples"),
    "a delay of too many": ({"sample": 1e-3, "delay": 1e12}, "too many samples"),
    "no value": ({"sample": 0.1, "feedforward": "blank"}, "blank has no value"),
    "unknown": ({"sample": 0.1, "quantum": 1}, "quantum"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_named(case: str) -> None:
    fields, words = WRONG[case]
    with pytest.raises(cf.Error) as caught:
        cf.simulate(pendulum(), t=1, controllers={"q1": {**PID, **fields}})
    assert words in f"{caught.value.element} {caught.value.message} {caught.value.remedy}"
    assert caught.value.remedy
