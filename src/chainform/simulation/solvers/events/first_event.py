"""The first event in a step, as procedures.

Event functions are looked at in stretches of the step: at both ends of a stretch and at three
places between them, by the cubic between the ends of the step, which costs next to nothing. A
stretch whose values do not tell what a function does in between (course.py) is halved. Where one
goes through zero, or comes near it and turns back, all are looked at by shorter steps of the method
itself, and zeros are located by them (closer.py).
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Number, fmax, fmin
from chainform.simulation.machine.records import (
    EPSILON,
    EventWatch,
    Integration,
    TimeStep,
    functions_of,
    lay_out,
    note_failure,
)
from chainform.simulation.solvers.events.evaluate import crossing, events, glance, look
from chainform.simulation.solvers.events.grazing import has_rate, may_dip, place_of
from chainform.simulation.solvers.events.locate import NONE, closer, room_of, take, together
from chainform.simulation.solvers.events.sampling import LAST, PLACES, is_rough, next_dip

SHORTEST = 0.001
"""Stretches that are shorter parts of a step are not halved."""
BARELY = 1e-300
ROUNDING = 4.0 * EPSILON
"""The share by which rounding may have moved an entry of a state."""


def mark_events(integration: Integration) -> None:
    """Note the values of the event functions where a motion begins, or goes on after a change.

    A law that is zero there, up to rounding, has no event until it has left zero and comes back. A
    function that ends a state of affairs is not at its end while that lasts: whether it begins just
    above zero or just below is a matter of rounding.
    """
    lay_out(integration)
    step = integration.step
    watch = step.watch
    step.clock[0] = integration.time
    note_failure(step, events(step.clock, step.y, step.p, watch.values))
    for i in range(functions_of(watch)):
        watch.marks[i].before = watch.values[i]
    if watch.armed_from > 0:
        mark_zeros(step, integration.time)
    for i in range(watch.armed_from, watch.armed_from + watch.armed):
        watch.marks[i].before = fmax(watch.values[i], BARELY)


def mark_zeros(step: TimeStep, t: Number) -> None:
    """Note those laws as zero whose values are no more than rounding of the time and the state.

    The part of each law is room for what rounding makes of it.
    """
    watch = step.watch
    clock = step.clock
    laws = watch.armed_from
    other = watch.samples
    clock[0] = t + ROUNDING * t
    note_failure(step, events(clock, step.y, step.p, other))
    clock[0] = t
    for i in range(laws):
        watch.marks[i].part = fabs(other[i] - watch.values[i])
    for e in range(step.size):
        exact = step.y[e]
        step.y[e] = exact + ROUNDING * exact
        note_failure(step, events(clock, step.y, step.p, other))
        step.y[e] = exact
        for i in range(laws):
            watch.marks[i].part += fabs(other[i] - watch.values[i])
    # What else is computed with the events belongs to the state as it is.
    note_failure(step, events(clock, step.y, step.p, watch.values))
    for i in range(laws):
        mark = watch.marks[i]
        if fabs(watch.values[i]) <= mark.part:
            mark.before = 0.0
        mark.part = NONE


def pass_values(watch: EventWatch) -> None:
    """Let the values at the end of a step be those at the start of the next one."""
    for i in range(functions_of(watch)):
        watch.marks[i].before = watch.marks[i].after


def mark_found(step: TimeStep, t: Number) -> None:
    """Note the values at the state at which events were found.

    Those that happened have their zero just behind them, whatever rounding says.
    """
    watch = step.watch
    step.clock[0] = t
    note_failure(step, events(step.clock, step.new, step.p, watch.values))
    for i in range(functions_of(watch)):
        mark = watch.marks[i]
        value = watch.values[i]
        if mark.part <= 1.0:
            # From now on it has the sign that was noted when it was found.
            mark.before = BARELY * mark.after / fabs(mark.after)
            if value * mark.after > 0.0:
                mark.before = value
            mark.after = value
        else:
            mark.before = value
    for i in range(watch.armed_from, watch.armed_from + watch.armed):
        watch.marks[i].before = fmax(watch.marks[i].before, BARELY)


def first_event(step: TimeStep, is_end: int) -> float:
    """Return the part of a step up to the first event in it, and note which happen then.

    2 without one; -1 less that part where a function has no value any more. At the end of the
    motion events happen as well that rounding puts just behind it.
    """
    watch = step.watch
    part = search(step)
    room = room_of(step)
    if is_end == 0 or part < 1.0 - room:
        return part
    total = functions_of(watch)
    for i in range(watch.count):
        mark = watch.marks[i]
        value = watch.samples[LAST * total + i]
        rise = value - watch.samples[(LAST - 1) * total + i]
        # In the last stretch, which is no longer than the step, it changes by this.
        is_near = 0
        if mark.part > 1.0 and rise * value < 0.0 and fabs(value) <= room * fabs(rise):
            is_near = crossing(value, -value, mark.direction)
        if is_near == 1:
            mark.part = 1.0
            mark.after = -value
            part = 1.0
    return together(part, step)


def search(step: TimeStep) -> float:
    """Return the first event in a step as `first_event` does, apart from the end of a motion."""
    watch = step.watch
    start_search(step)
    width = 1.0
    while watch.low < 1.0:
        watch.high = fmin(watch.low + width, 1.0)
        sample_stretch(step)
        length = watch.high - watch.low
        if length > SHORTEST and any_rough(watch) == 1:
            width = 0.5 * length
            continue
        if any_near(length * step.h, watch) == 1:
            part = closer(step)
            if part < NONE:
                return part
            pass_stretch(watch)
        width = 2.0 * length
        watch.low = watch.high
        copy_samples(watch)
    return NONE


def start_search(step: TimeStep) -> None:
    """Note the values at both ends of a step, and begin at its start."""
    watch = step.watch
    look(1.0, step)
    for i in range(functions_of(watch)):
        mark = watch.marks[i]
        mark.after = watch.values[i]
        mark.part = NONE
        watch.samples[i] = mark.before
    watch.sure = 0.0
    watch.low = 0.0


def sample_stretch(step: TimeStep) -> None:
    """Set the values of all functions at the places of a stretch, but for its start."""
    watch = step.watch
    total = functions_of(watch)
    for j in range(1, LAST):
        peek(place_of(PLACES[j], watch), step)
        take(j, watch)
    if watch.high < 1.0:
        peek(watch.high, step)
        take(LAST, watch)
    else:
        for i in range(total):
            watch.samples[LAST * total + i] = watch.marks[i].after


def pass_stretch(watch: EventWatch) -> None:
    """Note the values at the end of a stretch, which are exact."""
    total = functions_of(watch)
    watch.sure = watch.high
    for i in range(total):
        watch.marks[i].before = watch.samples[LAST * total + i]


def copy_samples(watch: EventWatch) -> None:
    """Let the values at the end of a stretch be those at the start of the next one."""
    total = functions_of(watch)
    for i in range(total):
        watch.samples[i] = watch.samples[LAST * total + i]


def peek(part: float, step: TimeStep) -> None:
    """Set the values of all functions at a place in the cheapest way.

    Where a step does not evaluate the equations, nothing is cheaper than a step.
    """
    if step.calls == 0:
        look(part, step)
    else:
        glance(part, step)


def any_rough(watch: EventWatch) -> int:
    """Tell whether the values of a function do not tell what it does between them."""
    total = functions_of(watch)
    for i in range(watch.count):
        if is_rough(watch.samples, i, total) == 1:
            return 1
    return 0


def any_near(time: float, watch: EventWatch) -> int:
    """Tell whether a function goes through zero, or near it and back, or has no value.

    `time` is the length of the stretch (s).
    """
    total = functions_of(watch)
    for i in range(watch.count):
        for j in range(LAST + 1):
            value = watch.samples[j * total + i]
            if value != value:
                return 1
            if j < LAST and crossing(value, watch.samples[(j + 1) * total + i], 0.0) == 1:
                return 1
        if has_rate(i, watch) == 1:
            for j in range(LAST):
                if may_dip(i, j, 4.0 * time, watch) == 1:
                    return 1
        elif next_dip(watch.samples, i, total, 0) > 0:
            return 1
    return 0
