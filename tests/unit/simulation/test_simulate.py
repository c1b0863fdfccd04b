"""Motions of trees: forces in every form, events, output, quaternions, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import chainform as cf
from chainform.simulation import MotionError, simulate
from chainform.simulation.solvers import integrator

G = 9.81


def pendulum(length: str = "1") -> cf.Mechanism:
    builder = cf.Mechanism.builder("pendulum", gravity=(0, 0, "-9.81"))
    builder.segment("bob", joint="revolute", axis="y", mass=1, com=[0, 0, f"-{length}"])
    return builder.build()


def cart() -> cf.Mechanism:
    builder = cf.Mechanism.builder("cart", gravity=(0, 0, 0))
    builder.segment("a", joint="prismatic", axis="x", mass=2)
    builder.segment("b", parent="a", joint="prismatic", axis="y", mass=1)
    return builder.build()


def test_events_are_located_to_the_accuracy_of_the_method() -> None:
    """A pendulum from 2 rad at rest: a quarter of the period is K(sin^2(1)) / sqrt(g)."""
    quarter = float(ellipk(np.sin(1.0) ** 2)) / np.sqrt(G)
    run = simulate(
        pendulum(), q0=[2.0], t=10.0, rtol=1e-12, events={"down": "q1", "turn": "der(q1)"}
    )
    times = {"down": [1, 3, 5], "turn": [2, 4, 6]}
    for name, numbers in times.items():
        found = [h.t for h in run.events if h.name == name][: len(numbers)]
        np.testing.assert_allclose(found, [n * quarter for n in numbers], rtol=1e-10)


def test_directions_and_the_end_by_an_event() -> None:
    events = {
        "up": {"law": "q1", "direction": "rising"},
        "half": {"law": "q1 - 0.5", "direction": "falling", "stop": True},
    }
    run = simulate(pendulum(), q0=[1.0], t=10.0, events=events)
    assert [h.name for h in run.events] == ["half"]
    assert run.t[-1] <= run.events[0].t
    assert run.events[0].q[0] == pytest.approx(0.5, abs=1e-12)


def thrown_back(_: float, q: Any, qd: Any) -> Any:
    return q, -qd


def test_an_event_may_change_the_state() -> None:
    """A point that is thrown back at the wall has the speed it came with."""
    events = {"wall": {"law": "q1 - 1", "change": thrown_back}}
    run = simulate(cart(), qd0=[2.0, 0.5], t=2.0, events=events)
    assert [h.name for h in run.events] == ["wall"]
    np.testing.assert_allclose(run.q[-1], [1 - 3.0, 0.5 * 0.5 - 0.5 * 1.5], atol=1e-9)


def growing(t: float, *_: Any) -> float:
    return 3 * t


def both(t: float, q: Any, _: Any) -> Any:
    return np.array([3 * t, -2 * q[1]])


@pytest.mark.parametrize(
    "forces",
    [
        {"a": "3*t", "b": "-2*b"},
        {"a": growing, "b": "-2*b"},
        both,
        {"a": {"t": [0, 1, 2], "values": [0, 3, 6]}, "b": "-2*q2"},
        {"a": [{"until": 1, "law": "3*t"}, {"law": "3*t"}], "b": "-2*b"},
    ],
)
def test_forces_in_every_form_give_the_same_motion(forces: Any) -> None:
    run = simulate(cart(), q0={"b": 1.0}, t=2.0, t_eval=[0.5, 1.0, 2.0], forces=forces, rtol=1e-11)
    t, frequency = run.t, np.sqrt(2.0)
    np.testing.assert_allclose(run.q[:, 0], t**3 / 6, rtol=1e-9)
    np.testing.assert_allclose(run.q[:, 1], np.cos(frequency * t), atol=1e-9)
    np.testing.assert_allclose(run.tau, np.stack([3 * t, -2 * run.q[:, 1]], axis=1), atol=1e-12)


def test_held_forces_are_sampled_at_the_start_of_each_interval() -> None:
    """With the force t held for h the speed after n intervals is the sum of k h^2 / 3."""
    run = simulate(cart(), t=1.0, t_eval=[1.0], forces={"a": "t"}, hold=0.1)
    assert run.qd[0, 0] == pytest.approx(sum(0.1 * k for k in range(10)) * 0.1 / 3, rel=1e-12)


@pytest.mark.parametrize("method", ["verner65", "rk4", "gauss4", "cvode", "ida"])
def test_output_at_a_sample_has_the_effort_that_acts_from_then_on(method: str) -> None:
    """Three times 0.1 is a little more than 0.3: what differs by rounding is at the sample."""
    times = [0.0, 0.05, 0.1, 0.15, 0.3, 0.35, 0.4]
    how: dict[str, Any] = {"step": 0.01} if method in ("rk4", "gauss4") else {}
    given: dict[str, Any] = {"t": 0.4, "t_eval": times, "forces": {"a": "1+t"}, "method": method}
    run = simulate(cart(), hold=0.1, **given, **how)
    samples = np.array([1, 1, 1.1, 1.1, 1.3, 1.3, 1.4])
    np.testing.assert_allclose(run.tau[:, 0], samples, atol=1e-12)
    np.testing.assert_allclose(run.qdd[:, 0], samples / 3, atol=1e-12)
    pieces = [{"until": 0.1 * k, "law": f"1 + 0.1*{k - 1}"} for k in range(1, 5)]
    same = simulate(cart(), **{**given, "forces": {"a": [*pieces, {"law": "1.4"}]}}, **how)
    np.testing.assert_allclose(run.q, same.q, atol=1e-9)


def test_a_jump_of_a_force_costs_no_accuracy() -> None:
    forces = {"a": [{"until": 0.3, "law": "0"}, {"until": 0.70001, "law": "30"}, {"law": "0"}]}
    run = simulate(cart(), t=1.0, t_eval=[1.0], forces=forces, rtol=1e-10)
    assert run.qd[0, 0] == pytest.approx(10 * 0.40001, rel=1e-12)
    assert run.q[0, 0] == pytest.approx(10 * 0.40001 * (1 - 0.500005), rel=1e-12)


def test_a_free_top_turns_as_euler_says() -> None:
    """Body rates of a symmetric body without moments go round with (C - A)/A w3."""
    builder = cf.Mechanism.builder("top", gravity=(0, 0, 0))
    builder.segment("top", joint="free", mass=1, inertia=[1, 1, 2])
    top = builder.build()
    run = simulate(top, qd0=[0.1, 0, 0, 0.3, 0, 1.5], t=20.0, rtol=1e-11)
    angle = (2 - 1) / 1 * 1.5 * run.t
    np.testing.assert_allclose(run.qd[:, 3], 0.3 * np.cos(angle), atol=1e-8)
    np.testing.assert_allclose(run.qd[:, 4], 0.3 * np.sin(angle), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:], axis=1), 1, atol=1e-14)
    moments = cf.derive(top, ["momentum"]).evaluate(q=run.q, qd=run.qd)["momentum"]
    np.testing.assert_allclose(moments, np.broadcast_to(moments[0], moments.shape), atol=1e-9)


def test_energy_is_kept_in_proportion_to_the_tolerance() -> None:
    arm = cf.read("examples/six_axis_arm.toml")
    drifts: list[float] = []
    for rtol in (1e-6, 1e-8, 1e-10):
        run = simulate(arm, q0=[0.3] * 6, t=3.0, rtol=rtol, method="dopri853")
        scale = float(np.max(run.kinetic_energy))
        drifts.append(float(np.max(np.abs(run.energy - run.energy[0]))) / scale)
        assert drifts[-1] < 100 * rtol
    assert drifts[2] < 1e-2 * drifts[0]


def test_output_times_do_not_change_the_motion() -> None:
    few = simulate(pendulum(), q0=[1.0], t=2.0, t_eval=[2.0])
    many = simulate(pendulum(), q0=[1.0], t=2.0, t_eval=np.linspace(0, 2, 1001))
    assert few.q[-1, 0] == many.q[-1, 0]
    assert few.statistics.steps == many.statistics.steps
    assert len(many.t) == 1001
    assert many.q[0, 0] == 1.0


def test_an_error_in_a_function_comes_through() -> None:
    def broken(t: float, q: Any, _: Any) -> Any:
        if t > 0.5:
            raise ValueError("no torque left")
        return 0 * q

    with pytest.raises(ValueError, match="no torque left"):
        simulate(pendulum(), q0=[1.0], t=1.0, forces=broken)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"t": (1.0, 0.0)}, "time cannot go"),
        ({"t": float("nan")}, "time cannot go"),
        ({"t": "now"}, "not an array of real numbers"),
        ({"t_eval": [0.5, 0.1]}, "must grow"),
        ({"t_eval": [2.0]}, "between"),
        ({"method": "euler"}, "step"),
        ({"method": "rk5"}, "rk5"),
        ({"rtol": -1.0}, "rtol"),
        ({"step": 0.0, "method": "rk4"}, "step"),
        ({"q0": [1, 2]}, "shape"),
        ({"q0": [float("inf")]}, "finite"),
        ({"q0": {"elbow": 1}}, "elbow"),
        ({"forces": {"elbow": "t"}}, "forces, elbow, joint: there is no rate named 'elbow'"),
        ({"forces": {"elbow": lambda *_: 1}}, "forces, elbow: there is no rate named 'elbow'"),
        ({"forces": {"bob": []}}, "forces, bob: a force cannot have 0 pieces"),
        ({"forces": {"bob": "x + 1"}}, "x"),
        ({"forces": 3}, "forces"),
        ({"forces": {"bob": {"t": [0, 0], "values": [1, 2]}}}, "grow"),
        ({"events": {"a": "banana"}}, "banana"),
        ({"events": {"a": {"law": "q1", "direction": "left"}}}, "left"),
        ({"hold": -0.1}, "hold"),
        ({"forces": {"bob": "sqrt(0.5 - t)"}}, "the force on bob has no finite value at t = 0.5 s"),
        ({"forces": {"bob": "log(-t)"}}, "the force on bob has no finite value at t = 0 s"),
        ({"forces": lambda *_: None}, "returned NoneType in place of a number"),
        ({"forces": lambda *_: [1, 2]}, r"returned the shape \(2,\) in place of a number"),
        ({"forces": {"bob": lambda *_: "much"}}, "returned str in place of a number"),
    ],
)
def test_wrong_input_is_refused(arguments: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"t": 1.0, **arguments}
    with pytest.raises(cf.Error, match=words):
        simulate(pendulum(), **given)


def test_a_motion_that_ends_in_infinity_says_when() -> None:
    with pytest.raises(cf.Error, match=r"t = (0\.\d+|1)"):
        simulate(cart(), q0=[1.0, 0.0], t=5.0, forces={"a": "1/(1 - t)"}, rtol=1e-6)


def test_a_motion_that_runs_away_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel turns faster and faster, and its steps become shorter with every turn."""
    monkeypatch.setattr(integrator, "SHORT", 0.0)
    monkeypatch.setattr(integrator, "TOO_MANY", 1e4)
    builder = cf.Mechanism.builder("wheel", gravity=(0, 0, "-9.81"))
    wheel = builder.segment("wheel", axis="y", mass=1, com=["0.1", 0, 0], inertia=[1, 1, 1]).build()
    with pytest.raises(MotionError, match=r"the rest would take .* the rate of wheel is ") as e:
        simulate(wheel, t=1e4, forces={"q1": "0.5"})
    assert 0 < e.value.run.t[-1] < 1e4


def test_a_model_is_no_file() -> None:
    model: Any = cf.derive(pendulum(), ["mass_matrix"])
    with pytest.raises(cf.Error, match="got a Model") as caught:
        simulate(model)
    assert caught.value.remedy == "give its .mechanism"


def test_a_run_is_told_in_a_line() -> None:
    run = simulate(pendulum(), q0=[1], events={"down": {"law": "q1", "stop": True}})
    assert repr(run).startswith("<Run of pendulum: 1")
    assert repr(run).endswith(" s by verner65, 1 event, ended by down>")
