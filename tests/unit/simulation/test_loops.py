"""The loop around the equations, as it stands in Python and as machine code, on one record."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from math import atan2, hypot, pi
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.runtime.engine import Library, compiled
from chainform.runtime.procedures import Structs, Translation
from chainform.runtime.target import target_for
from chainform.simulation.files.about import ResumePoint
from chainform.simulation.machine import constrained
from chainform.simulation.machine.constrained import constrained_acceleration
from chainform.simulation.machine.layout import SystemLayout
from chainform.simulation.machine.machine import given_functions
from chainform.simulation.machine.records import (
    EVENT,
    PAUSED,
    REACHED,
    UNRESISTED,
    EventMark,
    Integration,
    room_for,
)
from chainform.simulation.solvers import adaptive, runge_kutta
from chainform.simulation.solvers.events import first_event, roots
from chainform.simulation.solvers.events.first_event import BARELY
from chainform.simulation.solvers.explicit import METHODS
from unit.simulation.small_machines import PENDULUM, machine

LEVEL = 0.3

KERNELS = f"""define i64 @rhs(ptr %t, ptr %y, ptr %p, ptr %out) #0 {{
  %speed.at = getelementptr double, ptr %y, i64 1
  %x = load double, ptr %y
  %speed = load double, ptr %speed.at
  %pull = fneg double %x
  %pull.at = getelementptr double, ptr %out, i64 1
  store double %speed, ptr %out
  store double %pull, ptr %pull.at
  ret i64 0
}}
define i64 @settle(ptr %t, ptr %y, ptr %p, ptr %out) #0 {{
  %at = getelementptr double, ptr %y, i64 1
  %to = getelementptr double, ptr %out, i64 1
  %x = load double, ptr %y
  %v = load double, ptr %at
  store double %x, ptr %out
  store double %v, ptr %to
  ret i64 0
}}
define i64 @events(ptr %t, ptr %y, ptr %p, ptr %out) #0 {{
  %x = load double, ptr %y
  %left = fsub double %x, {LEVEL:e}
  store double %left, ptr %out
  ret i64 0
}}
define void @sample(ptr %t, ptr %y, ptr %p, ptr %out) #0 {{
  ret void
}}
define i64 @lasting(ptr %t, ptr %y, ptr %p, ptr %out) #0 {{
  ret i64 0
}}
attributes #0 = {{ nounwind }}
"""
"""x'' = -x, with an event where x passes a level."""


def rate(_t: Any, y: Any, _p: Any, out: Any) -> int:
    out[0], out[1] = y[1], -y[0]
    return 0


def taken(_t: Any, y: Any, _p: Any, out: Any) -> int:
    out[:2] = y[:2]
    return 0


def level(_t: Any, y: Any, _p: Any, out: Any) -> int:
    out[0] = y[0] - LEVEL
    return 0


def oscillator(end: float, direction: float) -> Integration:
    """Return the record of a motion from x = 1, at rest."""
    tableau, now = METHODS["verner65"], Integration()
    step, control, rows = now.step, now.control, now.output
    step.size, step.coordinates, step.rates = 2, 1, 1
    step.stages, step.rows, step.tableau = tableau.stages, tableau.stages, tableau.array()
    step.y, step.p = np.array([1.0, 0.0]), np.zeros(1)
    step.watch.count = step.watch.armed_from = 1
    step.watch.marks = Structs(EventMark, 1)
    step.watch.marks[0].direction = direction
    control.rtol, control.atol, control.longest = 1e-9, 1e-12, 0.5
    control.exponent = -1 / tableau.order
    rows.times, rows.rows, rows.count = np.array([0.5, 1.0]), np.zeros(6), 2
    now.end, now.limit, now.breaks = end, 1000, np.array([np.inf])
    now.work = np.zeros(room_for(2, tableau.stages, 1))
    return now


@pytest.fixture(scope="module")
def loop() -> tuple[Library, dict[str, Any]]:
    translation = Translation(given_functions(["rhs", "settle", "events", "sample", "lasting"]))
    translation.add(adaptive.integrate)
    translation.add(first_event.mark_events)
    names, address = list(translation.entries), ctypes.c_void_p
    library = Library(compiled(translation.text(KERNELS), target_for()), names)
    kinds = {"integrate": ctypes.c_int64, "mark_events": None}
    return library, {n: ctypes.CFUNCTYPE(kinds[n], address)(library.address(n)) for n in names}


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (adaptive, runge_kutta):
        monkeypatch.setattr(module, "rhs", rate)
    monkeypatch.setattr(adaptive, "settle", taken)
    for module in (first_event, roots):
        monkeypatch.setattr(module, "events", level)


@pytest.mark.parametrize(
    ("end", "direction", "status"), [(1.2, 0.0, REACHED), (3.0, 0.0, EVENT), (6.0, 1.0, EVENT)]
)
@pytest.mark.usefixtures("in_python")
def test_python_and_machine_code_go_the_same_way(
    loop: tuple[Library, dict[str, Any]], end: float, direction: float, status: int
) -> None:
    first, second = oscillator(end, direction), oscillator(end, direction)
    first_event.mark_events(first)
    loop[1]["mark_events"](second.address)
    assert adaptive.integrate(first) == loop[1]["integrate"](second.address) == status
    assert (first.accepted, first.rejected) == (second.accepted, second.rejected)
    assert first.calls == second.calls
    assert second.time == pytest.approx(first.time, rel=1e-12)
    np.testing.assert_allclose(second.step.y, first.step.y, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(second.output.rows, first.output.rows, rtol=1e-10)
    exact = [[np.cos(t), -np.sin(t)] for t in (0.5, 1.0)]
    np.testing.assert_allclose(np.reshape(second.output.rows[:4], (2, 2)), exact, atol=1e-8)
    falls = atan2((1 - LEVEL**2) ** 0.5, LEVEL)
    met = {(3.0, 0.0): falls, (6.0, 1.0): 2 * pi - falls}.get((end, direction), end)
    assert second.time == pytest.approx(met, abs=1e-8)
    assert hypot(*second.step.y) == pytest.approx(1.0, abs=1e-8)


def test_a_loop_that_pauses_goes_on(loop: tuple[Library, dict[str, Any]]) -> None:
    now = oscillator(1.2, 0.0)
    now.limit = 3
    loop[1]["mark_events"](now.address)
    statuses = [loop[1]["integrate"](now.address)]
    while statuses[-1] == PAUSED:
        assert now.accepted + now.rejected == 3 * len(statuses)
        statuses.append(loop[1]["integrate"](now.address))
    assert statuses[-1] == REACHED
    assert len(statuses) > 2
    np.testing.assert_allclose(now.step.y, [np.cos(1.2), -np.sin(1.2)], atol=1e-8)


@pytest.mark.parametrize(
    ("law", "is_past", "looks"),
    [
        (lambda x: (x - 0.3) ** 2 - 1e-9, True, None),
        (lambda x: (x - 0.3) ** 4 - 1e-7, True, None),
        (lambda x: (x - 0.3) ** 6 - 1e-8, True, None),
        # Three places, and the least value of two parabolas, of which the second is believed.
        (lambda x: (x - 0.3) ** 2 + 0.1, False, 5),
        (lambda x: 1.0 + x, False, None),
    ],
)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_where_a_function_turns_back_it_may_be_past_zero(
    monkeypatch: pytest.MonkeyPatch, law: Any, is_past: bool, looks: int | None, side: float
) -> None:
    seen: list[float] = []

    def value_at(place: float, _event: int, _step: Any) -> float:
        seen.append(place)
        return side * law(place)

    monkeypatch.setattr(roots, "value_at", value_at)
    found = roots.lowest_of(0.0, 1.0, side, 0, oscillator(1.0, 0.0).step)
    assert (law(found) <= 0) if is_past else found == 2.0
    assert looks is None or len(seen) == looks


def test_the_edge_of_what_has_values_is_found_by_halving(monkeypatch: pytest.MonkeyPatch) -> None:
    edge, now = 0.3178, oscillator(1.0, 0.0)
    watch = now.step.watch
    watch.values = np.zeros(1)

    def look(place: float, _step: Any) -> None:
        watch.values[0] = np.nan if place > edge else 1.0

    monkeypatch.setattr(first_event, "look", look)
    for first, last in ((0.0, 1.0), (0.25, 0.5), (edge, 1.0)):
        found = first_event.edge_of(first, last, now.step)
        assert found == pytest.approx(edge, abs=1e-9)
        assert found <= edge
        assert watch.values[0] == 1.0


@pytest.mark.parametrize(
    ("above", "expected"), [(0.25, 0.25), (0.0, BARELY), (-1e-9, BARELY), (-0.25, BARELY)]
)
@pytest.mark.usefixtures("in_python")
def test_what_lasts_is_not_at_its_end_where_a_motion_begins(above: float, expected: float) -> None:
    now = oscillator(1.2, -1.0)
    watch = now.step.watch
    watch.armed_from, watch.armed = 0, 1
    now.step.y[0] = LEVEL + above
    first_event.mark_events(now)
    assert watch.marks[0].before == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.usefixtures("in_python")
def test_the_first_step_is_as_long_as_the_book_says() -> None:
    """Hairer, Norsett, Wanner, II.4: by the sizes of the state, of its rate and of its bend."""
    now = oscillator(6.0, 0.0)
    now.control.rtol, now.control.atol, now.control.length = 1e-3, 1e-4, 0.0
    now.step.y[:] = 1.0, 0.5
    adaptive.lay_out(now)
    assert adaptive.first_stage(now) == 0
    y, f = np.array([1.0, 0.5]), np.array([0.5, -1.0])
    tolerated = 1e-4 + 1e-3 * y

    def size(x: np.ndarray) -> float:
        return float(np.sqrt(np.mean((x / tolerated) ** 2)))

    h = 0.01 * size(y) / size(f)
    bend = size(np.array([0.5 - h, -1.0 - 0.5 * h]) - f) / h
    longer = (0.01 / max(size(f), bend)) ** (1 / METHODS["verner65"].order)
    assert now.control.length == pytest.approx(min(100 * h, longer, 0.5), rel=1e-12)


def rows_of_three(rng: np.random.Generator, n: int) -> tuple[SystemLayout, Any, dict[str, Any]]:
    """The memory of a system, one row of three following from the others, and its parts."""
    m = 3
    layout, p = SystemLayout(), np.zeros(600)
    lengths = {"mask": m, "multipliers": m, "H": n * n, "r": n, "J": m * n, "gamma": m}
    lengths |= {"Y": m * n, "S": m * m, **dict.fromkeys(("right", "weights", "scales"), m)}
    lengths |= {"squares": m, "largest": m, "diagonal": 2 * n, "spread": 2 * m * m + m + n}
    lengths |= {"order": m, "groups": m, "redundant": m}
    lengths |= {"residuals": m, "speeds": m, "change": 4 * n}
    parts: dict[str, Any] = {}
    layout.nq, layout.n, layout.m, layout.always = n, n, m, m
    for place, (name, length) in zip(
        np.cumsum([0, *lengths.values()]), lengths.items(), strict=False
    ):
        setattr(layout, name, place)
        parts[name] = p[place : place + length]
    half, rows = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    rows[2] = rows[0] - 2 * rows[1]
    H = half @ half.T + np.eye(n)
    parts["mask"][:], parts["H"][:], parts["J"][:] = 1.0, H.ravel(), rows.ravel()
    parts["groups"].view(np.int64)[:] = range(m)
    return layout, p, {**parts, "rows": rows, "mass": H}


def test_forces_of_constraints_as_they_stand_in_python() -> None:
    """One row of three follows from the others."""
    rng, n = np.random.default_rng(5), 4
    layout, p, parts = rows_of_three(rng, n)
    rows, H = parts["rows"], parts["mass"]
    wanted, r = rows @ rng.normal(size=n), rng.normal(size=n)
    parts["r"][:], parts["gamma"][:] = r, wanted
    acceleration = np.zeros(n)
    assert constrained_acceleration(p, layout, acceleration) == 2
    np.testing.assert_allclose(rows @ acceleration, wanted, atol=1e-10)
    forces = H @ acceleration - r
    np.testing.assert_allclose(rows.T @ parts["multipliers"], forces, atol=1e-9)
    np.testing.assert_allclose(parts["multipliers"], np.linalg.pinv(rows.T) @ forces, atol=1e-9)


def rates_are_moved(_t: Any, y: Any, _p: Any, out: Any) -> None:
    out[:4] = y[4:8]


def test_what_lasts_of_a_change_obeys_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constrained, "moved", rates_are_moved)
    rng, n = np.random.default_rng(6), 4
    layout, p, parts = rows_of_three(rng, n)
    rows, H = parts["rows"], parts["mass"]
    given = rng.normal(size=2 * n)
    left = given.copy()
    assert constrained.lasting_change(np.zeros(1), np.ones(2 * n), p, left, layout) == 2
    # What goes is at right angles to all that the rows allow, in the metric H.
    allowed = np.linalg.svd(rows)[2][2:]
    for part in (slice(0, n), slice(n, 2 * n)):
        np.testing.assert_allclose(rows @ left[part], 0, atol=1e-10)
        np.testing.assert_allclose(allowed @ H @ (given - left)[part], 0, atol=1e-10)


def test_a_state_without_a_mass_matrix_is_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is told at once: as a number below zero, which no rank is."""
    monkeypatch.setattr(constrained, "moved", rates_are_moved)
    layout, p, parts = rows_of_three(np.random.default_rng(7), 4)
    parts["H"][:] = np.diag([1.0, 1.0, -1.0, 1.0]).ravel()
    parts["residuals"][:] = 1.0
    y = np.ones(8)
    assert constrained.project(np.zeros(1), y, p, layout) <= UNRESISTED
    np.testing.assert_array_equal(y, 1.0)


OLD = ResumePoint(
    1.0,
    np.array([-0.3969302290713741, 2.4525557133093283, 0.26031783603666514, 0.0]),
    {"tau": np.array([0.3969302290713741])},
    {
        "control": np.array([0.02289093420115644, 0.0, 0.0]),
        "counts": np.array([21.0, 62.0, 0.0, 519.0]),
        "marks": np.array([0.0, -0.3969302290713741, -0.3969302290713741, 2.0]),
    },
)
"""Where a pendulum stood that was stored before motions had records."""


def test_runs_that_were_stored_before_go_on() -> None:
    """The next step, samples and marks stand in a bookmark as they always did."""
    given: dict[str, Any] = {"q0": [0.7], "events": {"down": "hinge"}, "hold": 0.05}
    given["forces"] = {"hinge": "-hinge"}
    half = cf.simulate(machine(PENDULUM), t=1, **given)
    now = half.about.bookmark
    assert now is not None
    assert {n: v.shape for n, v in now.memory.items()} == {
        n: v.shape for n, v in OLD.memory.items()
    }
    for name, part in OLD.memory.items():
        np.testing.assert_allclose(now.memory[name], part, rtol=1e-6)
    stored = replace(half, about=replace(half.about, bookmark=OLD))
    done = cf.simulate(machine(PENDULUM), t=2, resume=stored, **given)
    whole = cf.simulate(machine(PENDULUM), t=2, **given)
    assert done.statistics.steps == pytest.approx(whole.statistics.steps, abs=2)
    np.testing.assert_allclose(done.q[-1], whole.q[-1], atol=1e-8)
    assert [e.t for e in done.events] == pytest.approx([e.t for e in whole.events])
