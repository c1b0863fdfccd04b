"""Events: several at once, two zeros in a step, poles, laws without a value, changed states."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.simulation import (
    Interrupted,
    MotionError,
    execution,
    motion,
    simulate,
    simulate_batch,
)
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from chainform.simulation.machine import pauses
from chainform.simulation.machine.method import CONTROLLED
from chainform.simulation.machine.pauses import InterruptFlag
from chainform.simulation.solvers import SOLVERS
from chainform.simulation.solvers.events.samples import PLACES, is_rough, next_dip
from unit.simulation.small_machines import BALL, machine
from unit.simulation.swings import example, rods, spinning_top

KINDS = ["verner65", "dopri853", "rk4", "semi_implicit", "gauss4", "cvode", "ida"]
G = 9.81


def cart() -> cf.Mechanism:
    """A point that goes along x without any force."""
    builder = cf.Mechanism.builder("cart", gravity=(0, 0, 0))
    joint = {"name": "x", "type": "prismatic"}
    return builder.segment("cart", joint=joint, axis=[1, 0, 0], mass=1).build()


def how(method: str, step: float = 0.01) -> dict[str, Any]:
    return {"method": method, **({} if CONTROLLED in SOLVERS[method].steps else {"step": step})}


def met(run: cf.Run) -> list[tuple[str, float]]:
    return [(event.name, round(event.t, 9)) for event in run.events]


# --- several at once --------------------------------------------------------------------------


@pytest.mark.parametrize("method", SOLVERS)
def test_all_that_happens_at_once_happens_and_a_stop_is_obeyed(method: str) -> None:
    events = {"b": "t - 0.5", "a": {"law": "x - 0.5", "stop": True}, "c": "t - 0.5", "d": "x - 0.6"}
    run = simulate(cart(), qd0=[1.0], t=1, events=events, **how(method))
    assert met(run) == [("b", 0.5), ("a", 0.5), ("c", 0.5)]
    assert run.about.ending == "a"
    assert run.t[-1] == 0.5


@pytest.mark.parametrize("method", KINDS)
def test_events_at_the_end_and_at_a_seam(method: str) -> None:
    events = {"a": "t - 0.5", "b": "x - 0.5"}
    half = simulate(cart(), qd0=[1.0], t=0.5, events=events, **how(method))
    assert met(half) == [("a", 0.5), ("b", 0.5)]
    whole = simulate(cart(), t=1, events=events, resume=half, **how(method))
    assert met(whole) == [("a", 0.5), ("b", 0.5)]
    early = simulate(cart(), qd0=[1.0], t=0.3, events=events, **how(method))
    assert met(early) == []
    assert met(simulate(cart(), t=1, events=events, resume=early, **how(method))) == met(half)


def faster(_t: float, q: Any, qd: Any) -> Any:
    return q, 2 * qd


def back(_t: float, q: Any, qd: Any) -> Any:
    return q, -qd


@pytest.mark.parametrize("method", KINDS)
def test_changes_at_once_are_made_one_after_the_other(method: str) -> None:
    events: dict[str, Any] = {
        "faster": {"law": "x - 0.5", "change": faster},
        "back": {"law": "t - 0.5", "change": back},
        "seen": "2*x - 1",
    }
    run = simulate(cart(), qd0=[1.0], t=0.9, events=events, **how(method))
    assert [event.name for event in run.events] == ["faster", "back", "seen"]
    rates = [event.qd[0] for event in run.events]
    assert rates == pytest.approx([1, 2, -2])
    assert run.q[-1, 0] == pytest.approx(0.5 - 2 * 0.4, abs=1e-9)


@pytest.mark.parametrize("method", KINDS)
def test_a_change_happens_once(method: str) -> None:
    """Between two walls: at each of them the law stays at zero while the speed turns."""
    walls: dict[str, Any] = {
        "right": {"law": "x - 1", "change": back},
        "left": {"law": "x + 0.3", "change": back},
    }
    run = simulate(cart(), qd0=[1.0], t=5, events=walls, **how(method))
    times = [("right", 1.0), ("left", 2.3), ("right", 3.6), ("left", 4.9)]
    assert met(run) == times
    assert run.q[-1, 0] == pytest.approx(-0.3 + 0.1, abs=1e-9)


# --- at the start -----------------------------------------------------------------------------

ZERO_AT_THE_START = [
    (0.3, "x - 0.3"),
    (0.1 + 0.2, "x - 0.3"),
    (0.3, "x - 0.1 - 0.2"),
    (np.pi / 2, "cos(x)"),
    (0.0, "t"),
    (0.3, "(x - 0.3)*(x + 5)"),
]


@pytest.mark.parametrize("method", SOLVERS)
def test_a_law_that_is_zero_at_the_start_has_no_event_there(method: str) -> None:
    for speed in (1.0, -1.0):
        for x, law in ZERO_AT_THE_START:
            events = {"e": {"law": law, "stop": True}}
            run = simulate(cart(), q0=[x], qd0=[speed], t=1, events=events, **how(method, 0.1))
            assert met(run) == []
            assert run.about.ending == "end"
    # It has one where it comes back, and a start near zero is no start at zero.
    run = simulate(cart(), qd0=[1.0], t=1, events={"e": "sin(7*x)"}, **how(method, 0.1))
    assert [t for _, t in met(run)] == pytest.approx([np.pi / 7, 2 * np.pi / 7])
    events = {"e": {"law": "x - 0.3", "stop": True}}
    run = simulate(cart(), q0=[0.3 + 1e-13], qd0=[-1.0], t=1, events=events, **how(method, 0.1))
    assert run.about.ending == "e"


@pytest.mark.slow
@pytest.mark.parametrize("method", KINDS)
def test_in_a_batch_events_at_the_start_are_the_same(method: str) -> None:
    starts = {"q0": [[0.3], [0.1 + 0.2], [0.5]], "qd0": [[1.0], [-1.0], [-1.0]]}
    for stop in (True, False):
        events = {"e": {"law": "x - 0.3", "stop": stop}}
        batch = simulate_batch(cart(), t=1, events=events, **starts, **how(method))
        assert batch.endings == ("end", "end", "e" if stop else "end")
        if not stop:
            assert [len(run.events) for run in batch.runs] == [0, 0, 1]


def moved(_t: float, q: Any, qd: Any) -> Any:
    """Return the state at which another event has its zero."""
    return q * 0 + 0.1 + 0.2, qd


@pytest.mark.parametrize("method", KINDS)
def test_after_a_change_it_is_as_at_the_start(method: str) -> None:
    events: dict[str, Any] = {"away": {"law": "t - 0.5", "change": moved}, "e": "x - 0.3"}
    run = simulate(cart(), q0=[2.0], qd0=[-1.0], t=1, events=events, **how(method))
    assert met(run) == [("away", 0.5)]
    assert run.q[-1, 0] == pytest.approx(-0.2)


# --- output at the time of an event -----------------------------------------------------------


@pytest.mark.parametrize("method", KINDS)
def test_output_at_the_time_of_a_change_is_the_state_after_it(method: str) -> None:
    events: dict[str, Any] = {"wall": {"law": "t - 0.5", "change": back}}
    times = [0, 0.25, 0.5, 0.5, 0.75]
    for end in (1.0, 0.5):
        listed = [t for t in times if t <= end]
        run = simulate(cart(), qd0=[1.0], t=end, t_eval=listed, events=events, **how(method))
        (event,) = run.events
        assert event.t == 0.5
        assert event.qd[0] == pytest.approx(1)
        assert run.t.tolist() == listed
        np.testing.assert_allclose(run.qd[:, 0], [1, 1, -1, -1, -1][: len(listed)])
        np.testing.assert_allclose(run.q[:, 0], [0, 0.25, 0.5, 0.5, 0.25][: len(listed)])
    batch = simulate_batch(
        cart(), qd0=[[1.0], [2.0]], t=1, t_eval=times, events=events, **how(method)
    )
    np.testing.assert_allclose(batch.qd[0, :, 0], [1, 1, -1, -1, -1])
    with_stop: dict[str, Any] = {"wall": {"law": "t - 0.5", "change": back, "stop": True}}
    run = simulate(cart(), qd0=[1.0], t=1, t_eval=times, events=with_stop, **how(method))
    np.testing.assert_allclose(run.qd[:, 0], [1, 1, -1, -1])


@pytest.mark.parametrize("method", ["verner65", "rk4", "semi_implicit"])
def test_output_at_the_time_of_an_impact_is_the_state_after_it(method: str) -> None:
    """A point runs against a wall after 0.5 s, and gives back half of its speed."""
    stops = {"x": {"upper": 0.5, "restitution": 0.5}}
    options: dict[str, Any] = {"stops": stops, **how(method, 0.125)}
    struck = simulate(cart(), qd0=[1.0], t=1, **options).events[0]
    assert struck.t == pytest.approx(0.5)
    assert struck.qd[0] == pytest.approx(1)
    run = simulate(cart(), qd0=[1.0], t=1, t_eval=[struck.t, 1], **options)
    assert run.events[0].t == struck.t
    np.testing.assert_allclose(run.qd[:, 0], [-0.5, -0.5])
    assert run.losses[0] == pytest.approx(0.375)
    # A wall that is touched at the start is run against at once.
    run = simulate(cart(), q0=[0.5], qd0=[1.0], t=1, **options)
    np.testing.assert_allclose(run.qd[0], -0.5)


@pytest.mark.parametrize("method", SOLVERS)
def test_output_at_a_jump_and_at_a_sample_has_the_effort_from_then_on(method: str) -> None:
    pieces = [{"until": 0.5, "law": "1"}, {"law": "3"}]
    for hold in (None, 0.25):
        run = simulate(
            cart(), t=1, t_eval=[0, 0.5, 1], forces={"x": pieces}, hold=hold, **how(method, 0.125)
        )
        np.testing.assert_allclose(run.tau[:, 0], [1, 3, 3])
        np.testing.assert_allclose(run.qdd[:, 0], [1, 3, 3], rtol=1e-6)


# --- zeros within a step ----------------------------------------------------------------------


@pytest.mark.parametrize("method", KINDS)
def test_a_law_that_goes_over_zero_and_back_within_a_step(method: str) -> None:
    """A ball thrown up just touches a height: two zeros, close together near its highest point."""
    highest = 25 / (2 * G)
    for depth in (0.1, 1e-3, 1e-6):
        aside = np.sqrt(2 * depth / G)
        events = {"a": f"height - ({highest - depth!r})"}
        run = simulate(machine(BALL), qd0=[5.0], t=1.2, events=events, **how(method, 0.1))
        times = [5 / G - aside, 5 / G + aside]
        close = 0.2 if SOLVERS[method].order == 1 else 1e-6
        found = [event.t for event in run.events]
        if SOLVERS[method].order > 1:
            np.testing.assert_allclose(found, times, atol=close)
        one = {"a": {"law": events["a"], "direction": "falling"}}
        down = simulate(machine(BALL), qd0=[5.0], t=1.2, events=one, **how(method, 0.1))
        assert [event.t for event in down.events] == pytest.approx(found[1:], abs=1e-9)


@pytest.mark.parametrize("method", ["verner65", "rk4", "euler", "cvode"])
@pytest.mark.parametrize("turns", [3, 20 * np.pi, 100])
def test_laws_of_time_are_followed_though_the_state_barely_changes(
    method: str, turns: float
) -> None:
    """Steps are a tenth of the whole: a law may go through zero three times in each."""
    rng = np.random.default_rng(round(turns))
    phase, offset = rng.uniform(0, 6), rng.uniform(-0.9, 0.9)
    law = f"sin({turns!r}*t + {phase!r}) - ({offset!r})"
    run = simulate(cart(), qd0=[1.0], t=1, t_eval=[1], events={"a": law}, **how(method, 0.1))
    angles = np.array([np.arcsin(offset), np.pi - np.arcsin(offset)])
    zeros = (angles - phase + 2 * np.pi * np.arange(-2, turns)[:, None]).ravel() / turns
    exact = np.sort(zeros[(zeros > 0) & (zeros < 1)])
    np.testing.assert_allclose([event.t for event in run.events], exact, atol=1e-12)


@pytest.mark.parametrize("end", [1, 100])
def test_nothing_passes_through_a_wall_that_moves(end: float) -> None:
    """A body at rest, and a wall that comes to it and goes back: 0.4 = 0.5 sin(6 t)."""
    builder = cf.Mechanism.builder("wall", gravity=(0, 0, 0))
    builder.segment("m", joint={"name": "x", "type": "prismatic"}, axis=[1, 0, 0], mass=1)
    builder.constraint("unilateral", "x - 0.5*sin(6*t)")
    run = simulate(builder.build(), q0=[0.4], t=end)
    (hit,) = run.events
    assert hit.t == pytest.approx(np.arcsin(0.8) / 6, abs=1e-12)
    assert run.qd[-1, 0] == pytest.approx(3 * np.cos(np.arcsin(0.8)))


def test_output_does_not_bound_the_steps() -> None:
    few, many = (simulate(cart(), qd0=[1.0], t=5, t_eval=n) for n in ([5], np.linspace(0, 5, 999)))
    assert few.statistics == many.statistics
    assert few.statistics.steps >= 10
    assert np.array_equal(few.q[-1], many.q[-1])
    assert few.about.settings["largest"] is None


# --- how a function goes ----------------------------------------------------------------------


def five(function: Callable[[float], float]) -> list[float]:
    return [function(place) for place in PLACES]


def test_five_values_tell_what_happens_between_them_or_do_not() -> None:
    for turns in (0.1, 0.5, 2, 7, 40):
        fast = is_rough(five(lambda x, w=turns: np.sin(2 * np.pi * w * x + 0.3)), 0, 1)
        assert bool(fast) == (turns > 0.6)
    assert not is_rough(five(lambda x: 90 + np.sin(99 * x)), 0, 1)
    assert next_dip(five(lambda x: (x - 0.6) ** 2 - 1e-4), 0, 1, 0) > 0
    assert next_dip(five(lambda x: -((x - 0.02) ** 2) - 1e-4), 0, 1, 0) > 0
    assert next_dip(five(lambda x: (x - 0.6) ** 2 + 0.1), 0, 1, 0) == 0
    assert next_dip(five(lambda x: x + 0.01), 0, 1, 0) == 0


# --- laws that are not zero, or nothing -------------------------------------------------------


@pytest.mark.parametrize("method", KINDS)
def test_a_pole_is_no_zero_and_a_jump_is(method: str) -> None:
    events = {"pole": "1/(x - 0.52345)", "jump": "step(x - 0.7) - 0.5", "tan": "tan(3*x)"}
    run = simulate(cart(), qd0=[1.0], t=1, t_eval=[1], events=events, **how(method))
    assert met(run) == [("jump", 0.7)]


@pytest.mark.parametrize("method", KINDS)
def test_a_law_without_a_value_ends_the_motion_by_its_name(method: str) -> None:
    events: dict[str, Any] = {"b": "x - 0.1", "root": "sqrt(0.52345 - x) - 0.01"}
    with pytest.raises(MotionError, match=r"no value after t = 0\.52345 s") as caught:
        simulate(cart(), qd0=[1.0], t=1, events=events, **how(method))
    assert caught.value.element == "event 'root'"
    assert caught.value.remedy is not None
    assert met(caught.value.run) == [("b", 0.1), ("root", 0.52335)]
    assert caught.value.run.t[-1] == pytest.approx(0.52)
    events["before"] = {"law": "x - 0.52", "stop": True}
    assert simulate(cart(), qd0=[1.0], t=1, events=events, **how(method)).about.ending == "before"
    with pytest.raises(MotionError, match="no value after t = 0 s"):
        simulate(cart(), qd0=[1.0], t=1, events={"log": "log(-1 - x)"}, **how(method))


# --- changes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["verner65", "cvode", "ida"])
@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda q, qd: (q[:1], qd[:1]), r"the shapes \(1,\) and \(1,\)"),
        (lambda q, qd: (q[:0], qd), r"the shapes \(0,\)"),
        (lambda _q, qd: (np.ones(1000), qd), r"the shapes \(1000,\)"),
        (lambda q, qd: (q[None], qd), r"the shapes \(1, 2\)"),
        (lambda *_: (1.0, 2.0), r"the shapes \(\)"),
        (lambda q, qd: (q * np.nan, qd), "not finite"),
        (lambda *_: None, "returned None"),
        (lambda q, qd: (q, qd, q), "returned"),
        (lambda *_: ("a", "b"), "returned"),
        (lambda *_: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_what_is_no_state_is_refused(
    method: str, made: Callable[[Any, Any], Any], words: str
) -> None:
    event = {"law": "t - 0.3", "change": lambda _t, q, qd: made(q, qd)}
    with pytest.raises(MotionError, match=words) as caught:
        simulate(rods(2), q0=[1.0, 0.2], t=1, events={"a": event}, **how(method))
    assert caught.value.element == "event 'a', change"
    assert caught.value.remedy
    assert caught.value.run.t[-1] <= 0.3 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("method", ["verner65", "ida"])
def test_after_a_change_loops_are_closed(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def moved(_t: float, q: Any, qd: Any) -> Any:
        return q + 0.01, qd

    options: dict[str, Any] = {"q0": [1.0, 0.5, 1.5], "t": 0.4, **how(method)}
    options |= {"events": {"a": {"law": "t - 0.2", "change": moved}}}
    run = simulate(example("four_bar"), **options)
    gaps = ConstraintResiduals(run.mechanism)
    assert max(np.abs(gaps.at(q)).max() for q in run.q) < 1e-9
    after = run.q[np.searchsorted(run.t, 0.2) + 1] - run.events[0].q
    assert np.abs(after).max() > 1e-3
    monkeypatch.setattr(motion, "CLOSED", 0.0)
    with pytest.raises(MotionError, match="do not close") as caught:
        simulate(example("four_bar"), **options)
    assert caught.value.element == "event 'a', change"


def test_after_a_change_quaternions_have_the_length_1() -> None:
    event = {"law": "t - 0.01", "change": lambda _t, q, qd: (3 * q, qd)}
    start: dict[str, Any] = {"q0": [0.1, 0, 0, 1], "qd0": [0, 0.5, 30], "t": 0.05}
    run = simulate(spinning_top(), events={"a": event}, **start)
    free = simulate(spinning_top(), **start)
    np.testing.assert_allclose(run.q, free.q, atol=1e-8)


def test_a_change_lifts_a_ball_off_the_ground() -> None:
    event = {"law": "t - 0.5", "change": lambda _t, q, qd: (q + 1, qd)}
    run = simulate(machine(BALL), t=0.8, events={"a": event}, stops={"height": {"lower": 0}})
    assert [e.name for e in run.events] == ["height lower: rests", "a", "height lower: leaves"]
    assert run.q[-1, 0] == pytest.approx(1 - G * 0.3**2 / 2)


# --- pauses -----------------------------------------------------------------------------------


class Counting(InterruptFlag):
    """Hears Ctrl-C after so many pauses."""

    def __init__(self, pauses: int) -> None:
        super().__init__()
        self.left = pauses

    def check(self) -> None:
        self.left -= 1
        self.came = self.left <= 0
        super().check()


@pytest.mark.parametrize(
    ("method", "law"),
    [
        ("verner65", "sin(200*t)"),
        *(("cvode", law) for law in (None, "sin(200*t)")),
        *(("ida", law) for law in (None, "sin(200*t)")),
    ],
)
def test_progress_and_ctrl_c_are_heard_between_events_and_outputs(
    monkeypatch: pytest.MonkeyPatch, method: str, law: str | None
) -> None:
    monkeypatch.setattr(pauses, "BETWEEN", 0.0)
    told: list[float] = []
    given: dict[str, Any] = {"t": 1, "t_eval": [1.0], "forces": {"x": "-900*x"}, **how(method)}
    given |= {} if law is None else {"events": {"a": law}}
    whole = simulate(cart(), qd0=[1.0], progress=told.append, **given)
    assert len(told) > 20
    assert told == sorted(told)
    monkeypatch.setattr(execution, "interrupt_flag", lambda: _opened(Counting(20)))
    with pytest.raises(Interrupted) as caught:
        simulate(cart(), qd0=[1.0], **given)
    monkeypatch.undo()
    part = caught.value.run
    assert part.about.bookmark is not None
    assert 0 < part.about.bookmark.t < 1
    done = simulate(cart(), resume=part, **given)
    assert len(done.events) == len(whole.events)
    if method == "verner65":
        assert np.array_equal(done.q, whole.q)
        assert done.statistics == whole.statistics
    np.testing.assert_allclose(done.q, whole.q, atol=1e-5)


def _opened(interrupt: InterruptFlag) -> Any:
    return nullcontext(interrupt)
