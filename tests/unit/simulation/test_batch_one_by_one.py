"""Every motion of a batch is the one that `simulate` gives, whatever is asked for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import cache
from threading import get_ident
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError, RunError
from chainform.readers import read_text
from chainform.runtime import cache as code_cache
from chainform.simulation import BatchInterrupted, BatchRun, MotionError, simulate_batch
from chainform.simulation.machine.machine import Machine
from unit.simulation.linkages import slider_crank
from unit.simulation.small_machines import BALL, BALLS, BLOCK, PENDULUM, TABLE, machine
from unit.simulation.swings import example, rods, spinning_top

TIMES = [0.0, 0.1, 0.25, 0.5]
SWEPT = """
name = "swept"
gravity = [0, 0, -9.81]
parameters = { k = 3, c = 0, l = 0.5 }
[[segments]]
name = "rod"
joint = { type = "revolute", axis = "y", name = "hinge", friction = { coulomb = "c" } }
mass = 2
com = [0, 0, "-l"]
inertia = [0.1, 0.1, 0]
"""
TORQUE = {"type": "computed_torque", "kp": 100, "kd": 20, "targets": {"hinge": "sin(t)"}}
PID = {"type": "pid", "kp": "10*l", "kd": "k", "ki": 3, "target": "sin(t)"}
LEFT_OUT: dict[str, Any] = {"without": ("friction",)}
LOW = {"low": {"law": "rod1", "stop": True}}


@cache
def some(count: int, size: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, (count, size))


def swept() -> cf.Mechanism:
    return machine(SWEPT)


def pull(_t: float, q: Any, _qd: Any) -> float:
    return -float(q[0])


def turned(_t: float, q: Any, qd: Any) -> Any:
    return q, -0.5 * qd


SIDE_BY_SIDE: dict[str, tuple[Any, dict[str, Any]]] = {
    "in lanes": (rods(2), {"q0": some(5, 2), "method": "rk4", "step": 1e-3}),
    "other numbers": (rods(2), {"q0": [0.5, 1], "values": {"m_2": [0.5, 1, 2], "g": 1.62}}),
    "events that end it": (rods(2), {"q0": some(4, 2), "events": LOW}),
    "law of an event": (
        swept(),
        {
            "q0": [1.0],
            "values": {"k": [0.1, 0.2, 9]},
            "events": {"low": {"law": "hinge - k", "stop": True}},
        },
    ),
    "symplectic": (rods(2), {"q0": some(3, 2), "method": "gauss4", "step": 1e-2}),
    "a quaternion": (
        spinning_top(),
        {"q0": [[0, 0, 0.1, 2], [0.3, 0, 0, 1]], "qd0": [1, 2, 9], "method": "rk4", "step": 1e-3},
    ),
    "a loop, by name": (example("four_bar"), {"q0": {"q1": [0.6, 0.8, 1.0]}}),
    "a loop, by rates": (
        slider_crank(),
        {"q0": {"crank": [0.5, 0.6]}, "qd0": {"crank": [1, 2]}},
    ),
    "a loop of other lengths": (
        example("four_bar"),
        {"q0": {"q1": 0.6}, "values": {"a": [0.2, 0.22], "c": [0.4, 0.5]}},
    ),
    "a loop that cannot be closed": (
        example("four_bar"),
        {"q0": {"q1": 0.6}, "values": {"a": [0.2, 9.0]}},
    ),
    "what stays when a loop is closed": (
        example("four_bar"),
        {"q0": [[0.6, 0.1, 0.2], [0.7, 0.1, 0.2]], "fixed": ["q1"]},
    ),
    "actuators": (
        example("driven_arm"),
        {
            "x0": {"waist_motor.current": [0.0, 1.0, 2.0]},
            "signals": {"waist_motor": "12*sin(9*t)"},
            "rtol": 1e-6,
            "t": 0.1,
            "t_eval": [0, 0.1],
        },
    ),
    "a parameter of a law": (
        swept(),
        {
            "q0": [1.0],
            "values": {"k": [1, 2, 3]},
            "forces": {"hinge": "-k*der(hinge)"},
            **LEFT_OUT,
        },
    ),
    "gains": (
        swept(),
        {"values": {"l": [0.4, 0.6], "k": [1, 2]}, "controllers": {"hinge": PID}, **LEFT_OUT},
    ),
    "functions": (swept(), {"q0": [[1.0], [2.0]], "forces": {"hinge": pull}, **LEFT_OUT}),
    "too much": (
        rods(2),
        {
            "q0": [[0, 0], [1.2, 0], [0.1, 0]],
            "forces": {"rod1": "exp(50*rod1^2)"},
            "t": 0.2,
            "t_eval": [0, 0.01, 0.02, 0.2],
            "method": "rk4",
            "step": 1e-2,
        },
    ),
}

ONE_BY_ONE: dict[str, tuple[Any, dict[str, Any]]] = {
    "sticking": (
        machine(BLOCK),
        {
            "qd0": [[1.0], [-3.0], [0.0]],
            "forces": {"slide": "4*sin(9*t)"},
            "friction": {"slide": 5},
        },
    ),
    "sticking, fixed step": (
        machine(BLOCK),
        {"qd0": [[1.0], [-3.0]], "method": "rk4", "step": 1e-3},
    ),
    "some with dry friction": (swept(), {"q0": [1.0], "values": {"c": [0, 1, 30]}}),
    "bouncing": (
        machine(BALL),
        {"q0": {"height": [0.1, 0.5]}, "stops": {"height": {"lower": 0, "restitution": 0.8}}},
    ),
    "beyond a stop": (
        machine(BALL),
        {"q0": {"height": [0.1, -0.5]}, "stops": {"height": {"lower": 0}}},
    ),
    "stiff": (
        machine(BALL),
        {
            "q0": {"height": [0.1, 0.5]},
            "stops": {"height": {"lower": 0, "stiffness": 1e4, "damping": 0.1}},
        },
    ),
    "constraints of the file": (
        machine(BALLS),
        {"q0": [0.0, 0.2, 0.4], "qd0": [[1, 0, 0], [3, 1, 0]]},
    ),
    "contacts": (
        machine(TABLE),
        {"q0": {"top_tz": [1.0, 0.7]}, "contacts": ["leg1", "leg2", "leg3", "leg4"]},
    ),
    "events on the way": (
        rods(2),
        {"q0": some(3, 2), "events": {"low": "rod1", "bent": {"law": "rod2", "stop": True}}},
    ),
    "events that change it": (
        rods(2),
        {"q0": some(2, 2), "events": {"turn": {"law": "rod1 - 0.1", "change": turned}}},
    ),
    "a controller that knows the values": (
        swept(),
        {"values": {"l": [0.4, 0.5]}, "controllers": {"a": TORQUE}, **LEFT_OUT},
    ),
    "functions and friction": (
        swept(),
        {"q0": [1.0], "values": {"c": [0, 1]}, "forces": {"hinge": pull}},
    ),
    "as asked for": (rods(2), {"q0": some(3, 2), "runs": True}),
}


def one_of(given: Any, motion: int) -> Any:
    """Return what one motion is told."""
    if isinstance(given, dict):
        return {name: value[motion] if np.ndim(value) else value for name, value in given.items()}
    array = np.asarray(given, dtype=float)
    return array[motion] if array.ndim == 2 else array


def compare(mechanism: Any, asked: dict[str, Any], close: float = 0.0) -> BatchRun:
    """Return a batch, each of whose motions is the one that is computed alone."""
    options: dict[str, Any] = {"t": 0.5, "t_eval": TIMES, **asked}
    batch = simulate_batch(mechanism, threads=2, **options)
    many = {n: options.pop(n) for n in ("q0", "qd0", "x0", "values") if n in options}
    options.pop("runs", None)
    for i in range(len(batch)):
        told = {name: one_of(given, i) for name, given in many.items()}
        try:
            alone, end = cf.simulate(mechanism, **told, **options), 0.0
        except MotionError as problem:
            alone, end = problem.run, np.nan
        except RunError:
            assert batch.endings[i] == "failed"
            assert np.isnan(batch.q[i]).all()
            continue
        assert alone.about.bookmark is not None
        rows = len(alone.t)
        np.testing.assert_allclose(batch.q[i, :rows], alone.q, rtol=close, atol=close)
        np.testing.assert_allclose(batch.qd[i, :rows], alone.qd, rtol=close, atol=10 * close)
        np.testing.assert_allclose(batch.energy[i, :rows], alone.energy, rtol=1e-10, atol=1e-10)
        assert np.isnan(batch.q[i, rows:]).all()
        assert batch.endings[i] == alone.about.ending
        np.testing.assert_allclose(batch.ends[i], alone.about.bookmark.t + end, rtol=close)
    return batch


@pytest.mark.parametrize("case", SIDE_BY_SIDE)
def test_side_by_side(case: str) -> None:
    mechanism, asked = SIDE_BY_SIDE[case]
    batch = compare(mechanism, asked, close=1e-13)
    assert batch.runs == ()
    assert len(batch) > 1


@pytest.mark.parametrize("case", ONE_BY_ONE)
def test_one_by_one(case: str) -> None:
    mechanism, asked = ONE_BY_ONE[case]
    batch = compare(mechanism, asked)
    assert len(batch.runs) == len(batch) > 1
    steps = sum(run.statistics.steps for run in batch.runs)
    assert batch.statistics.steps == steps > 0


@pytest.mark.parametrize("how", [{"method": "cvode"}, {"method": "ida", "rtol": 1e-7}])
def test_stiff_methods(how: dict[str, Any]) -> None:
    mechanism = rods(2) if how["method"] == "cvode" else example("four_bar")
    start: dict[str, Any] = {"q0": some(3, 2)} if mechanism is rods(2) else {"q0": {"q1": [0.6, 1]}}
    assert compare(mechanism, {**start, **how}).runs


def test_what_a_run_knows_is_known_of_all() -> None:
    mechanism, asked = ONE_BY_ONE["bouncing"]
    batch = simulate_batch(mechanism, t=0.5, t_eval=TIMES, **asked)
    assert [run.events[0].name for run in batch.runs] == ["height lower: impact"] * 2
    losses = batch.output("losses")
    assert losses.shape == (2, 4)
    np.testing.assert_array_equal(losses[1], batch.runs[1].losses)
    assert batch.output("reactions").shape == (2, 4, 1, 6)
    assert batch.output("pose(ball)").shape == (2, 4, 4, 4)
    with pytest.raises(RunError, match="losses is not known"):
        simulate_batch(rods(1), t=0.1).output("losses")


def test_a_motion_that_fails_leaves_the_others_alone() -> None:
    """One begins beyond the stop, and for one the friction is not what it can be."""
    ball = machine(BALL)
    batch = simulate_batch(
        ball, q0={"height": [0.2, -1, 0.3]}, t=0.5, stops={"height": {"lower": 0}}
    )
    assert batch.failed.tolist() == [False, True, False]
    assert list(batch.problems) == [1]
    assert "is passed by 1 at the start" in batch.problems[1]
    assert batch.runs[1].about.ending == "failed"
    assert np.isfinite(batch.q[[0, 2]]).all()
    bounds: dict[str, Any] = {"friction": {"hinge": 5}, "q0": [0.5], "t": 0.1}
    batch = simulate_batch(swept(), values={"c": [1, 9, 2]}, **bounds)
    assert batch.ended == {"end": 2, "failed": 1}
    assert "at least as much as sliding" in batch.problems[1]
    assert len(batch.runs[1].t) == 0
    with pytest.raises(RunError, match="at least as much as sliding"):
        simulate_batch(swept(), values={"c": [9, 1]}, **bounds)


def test_what_is_wrong_with_all_is_an_error() -> None:
    stopped: dict[str, Any] = {"stops": {"height": {"lower": 0}}, "q0": {"height": [1, 2]}}
    with pytest.raises(cf.Error, match="depth"):
        simulate_batch(machine(BALL), forces={"depth": "1"}, **stopped)
    with pytest.raises(DeriveError, match="there is no part 'gravity'"):
        simulate_batch(machine(BALL), without=("gravity",), **stopped)
    with pytest.raises(cf.Error, match="crank9"):
        simulate_batch(slider_crank(), q0={"crank": [0.5, 0.6]}, fixed=["crank9"])
    with pytest.raises(RunError, match="no state 'amps'"):
        simulate_batch(example("driven_arm"), x0={"amps": [1, 2]}, runs=True)

    def broken(_t: float, _q: Any, _qd: Any) -> float:
        raise ZeroDivisionError("no force")

    with pytest.raises(ZeroDivisionError):
        simulate_batch(machine(BALL), forces={"height": broken}, **stopped)


def test_coulomb_friction_sticks_and_is_quick_when_left_out() -> None:
    block = machine(BLOCK)
    held = simulate_batch(block, q0=[[0.0], [1.0]], t=1, forces={"slide": "2"})
    np.testing.assert_array_equal(held.q[:, 0, 0], [0, 1])
    free = simulate_batch(block, q0=[[0.0], [1.0]], t=1, forces={"slide": "2"}, **LEFT_OUT)
    assert free.runs == ()
    np.testing.assert_allclose(free.q[:, 0, 0], [0.5, 1.5])


def test_motions_with_other_values_have_the_same_machine_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []
    original = Machine.__init__

    def counted(self: Any, *given: Any, **named: Any) -> None:
        made.append(1)
        original(self, *given, **named)

    monkeypatch.setattr(Machine, "__init__", counted)
    text = PENDULUM.replace("inertia", "friction = { coulomb = 0.3 }\ninertia")
    rod = read_text(text, "toml")
    lengths = {"com_1_z": np.linspace(-0.9, -0.3, 9)}
    batch = simulate_batch(rod, q0=[1.0], values=lengths, t=0.2, threads=2)
    assert len(batch.runs) == 9
    assert len(made) == 1
    assert np.ptp(batch.q) > 1e-3


def test_a_sweep_of_dry_friction_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    original = code_cache.compiled

    def counted(text: str, target: Any) -> bytes:
        made.append(text)
        return original(text, target)

    monkeypatch.setattr(code_cache, "compiled", counted)
    hinge = read_text(SWEPT.replace("mass = 2", "mass = 2.25"), "toml")
    batch = simulate_batch(hinge, q0=[1.0], values={"c": [0.5, 1, 2, 3]}, t=0.3)
    assert len(batch.runs) == 4
    # The equations, and perhaps the loop around them.
    assert len(made) <= 2
    frictions = [np.abs(run.friction_forces["hinge"]).max() for run in batch.runs]
    np.testing.assert_allclose(frictions, [0.5, 1, 2, 3])


# --- progress and Ctrl-C ----------------------------------------------------------------------

WAYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "one by one": (rods(1), {"runs": True, "q0": some(40, 1)}),
    "each": (rods(1), {"q0": some(40, 1)}),
    "lanes": (rods(1), {"q0": some(2000, 1), "method": "rk4", "step": 1e-2}),
}


@pytest.mark.parametrize("way", WAYS)
def test_progress_is_told_in_the_thread_that_asked(way: str) -> None:
    mechanism, asked = WAYS[way]
    told: list[int] = []
    threads: set[int] = set()

    def progress(done: int) -> None:
        told.append(done)
        threads.add(get_ident())

    batch = simulate_batch(mechanism, t=0.2, progress=progress, threads=2, **asked)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, len(batch))
    assert threads == {get_ident()}


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C be heard, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_keeps_the_motions_that_are_finished(way: str) -> None:
    mechanism, asked = WAYS[way]
    pressed: list[int] = []

    def progress(done: int) -> None:
        if done and not pressed:
            pressed.append(done)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(BatchInterrupted) as caught:
        simulate_batch(mechanism, t=0.2, progress=progress, threads=1, **asked)
    batch = caught.value.batch
    done = ~batch.interrupted
    assert 0 < done.sum() < len(batch)
    assert batch.ended == {"interrupted": batch.interrupted.sum(), "end": done.sum()}
    assert not batch.about.is_complete
    whole = simulate_batch(mechanism, t=0.2, **asked)
    np.testing.assert_array_equal(batch.q[done], whole.q[done])
    assert np.isnan(batch.q[batch.interrupted]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
