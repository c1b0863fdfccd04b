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
from chainform.simulation.machine.constrained import constrained_acceleration
from chainform.simulation.machine.layout import SystemLayout
from chainform.simulation.machine.machine import given_functions
from chainform.simulation.machine.records import (
    EVENT,
    PAUSED,
    REACHED,
    EventMark,
    Integration,
    room_for,
)
from chainform.simulation.solvers import adaptive, runge_kutta
from chainform.simulation.solvers.events import first_event, roots
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


def test_forces_of_constraints_as_they_stand_in_python() -> None:
    """One row of three follows from the others."""
    rng, n, m = np.random.default_rng(5), 4, 3
    layout, p = SystemLayout(), np.zeros(400)
    lengths = {"mask": m, "multipliers": m, "H": n * n, "r": n, "J": m * n, "gamma": m}
    lengths |= {"Y": m * n, "S": m * m, **dict.fromkeys(("right", "weights", "scales"), m)}
    lengths |= {"squares": m, "largest": m, "diagonal": 2 * n, "spread": 2 * m * m + m + n}
    lengths |= {"order": m, "groups": m, "redundant": m}
    parts: dict[str, Any] = {}
    layout.n, layout.m, layout.always = n, m, m
    for place, (name, length) in zip(
        np.cumsum([0, *lengths.values()]), lengths.items(), strict=False
    ):
        setattr(layout, name, place)
        parts[name] = p[place : place + length]
    half, rows = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    rows[2] = rows[0] - 2 * rows[1]
    H, wanted, r = half @ half.T + np.eye(n), rows @ rng.normal(size=n), rng.normal(size=n)
    for name, value in {
        "mask": 1.0,
        "H": H.ravel(),
        "r": r,
        "J": rows.ravel(),
        "gamma": wanted,
    }.items():
        parts[name][:] = value
    parts["groups"].view(np.int64)[:] = range(m)
    acceleration = np.zeros(n)
    assert constrained_acceleration(p, layout, acceleration) == 2
    np.testing.assert_allclose(rows @ acceleration, wanted, atol=1e-10)
    forces = H @ acceleration - r
    np.testing.assert_allclose(rows.T @ parts["multipliers"], forces, atol=1e-9)
    np.testing.assert_allclose(parts["multipliers"], np.linalg.pinv(rows.T) @ forces, atol=1e-9)


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
