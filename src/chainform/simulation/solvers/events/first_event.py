"""The first event in a step, as procedures. Places are parts of the step.

Event functions are looked at in stretches of the step: at both ends of a stretch and at three
places between them, by the cubic between the ends of the step, which costs next to nothing. A
stretch whose values do not tell what a function does in between (samples.py) is halved. Where one
goes through zero, or comes near it and turns back, all are looked at by shorter steps of the method
from the same start, whose values are exact, and zeros are located by them.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime import Floats, Number, fmax, fmin
from chainform.simulation.machine.records import (
    EPSILON,
    EventWatch,
    Integration,
    TimeStep,
    functions_of,
    lay_out,
    note_failure,
)
from chainform.simulation.solvers.events.roots import (
    crossing,
    events,
    glance,
    look,
    value_at,
    zero_near,
)
from chainform.simulation.solvers.events.samples import (
    LAST,
    PLACES,
    any_near,
    any_rough,
    dip_by_rate,
    dip_by_shape,
    has_rate,
    place_of,
)

NONE = 2.0
"""The place of an event that is not in the step."""
AT_ONCE = 16.0
"""Events that are not so many rounding errors of the time apart happen at once."""
HALVINGS = 60


def take(place: int, watch: EventWatch) -> None:
    """Take the values of all functions over as those at one of the five places."""
    total = functions_of(watch)
    for i in range(total):
        watch.samples[place * total + i] = watch.values[i]


def closer(step: TimeStep) -> float:
    """Return the place of the first event in the stretch, as `first_event` does.

    The values are nearly right, but for those at the last place before it, which are exact. Those
    at the end of the stretch are exact from here on. What is exact beyond the first event may be
    far from anything: a stop that is struck there changes all that comes after. So one goes from
    place to place.
    """
    watch = step.watch
    if watch.low <= watch.sure and without_value(watch.samples, watch) >= 0:
        watch.first = without_value(watch.samples, watch)
        return -1.0 - watch.low
    if watch.high < 1.0:
        look(watch.high, step)
        take(LAST, watch)
    missing = bounded(step)
    best = NONE
    for i in range(watch.count):
        place = event_place(i, step)
        watch.marks[i].part = place
        best = fmin(best, place)
    if best > 1.0 and missing >= 0:
        watch.first = missing
        return -1.0 - watch.limit
    return together(best, step)


def bounded(step: TimeStep) -> int:
    """Set how far into the stretch functions have values; return the first without one, or -1.

    Behind that place the values are the last ones that there were.
    """
    watch = step.watch
    total = functions_of(watch)
    watch.limit = watch.high
    missing = -1
    for j in range(1, LAST + 1):
        if missing < 0 and without_value(watch.samples[j * total :], watch) >= 0:
            place = place_of(PLACES[j], watch)
            look(place, step)
            missing = without_value(watch.values, watch)
            if missing >= 0:
                watch.limit = edge_of(place_of(PLACES[j - 1], watch), place, step)
            take(j, watch)
        elif missing >= 0:
            take(j, watch)
    return missing


def without_value(values: Floats, watch: EventWatch) -> int:
    """Return the first event whose function has no value, or -1."""
    for i in range(watch.count):
        if values[i] != values[i]:
            return i
    return -1


def edge_of(first: float, last: float, step: TimeStep) -> float:
    """Return the last place at which all functions have values, and set them there."""
    good = first
    bad = last
    for _ in range(HALVINGS):
        place = 0.5 * (good + bad)
        look(place, step)
        if without_value(step.watch.values, step.watch) < 0:
            good = place
        else:
            bad = place
    look(good, step)
    return good


def room_of(step: TimeStep) -> float:
    """Return how far apart events may be that happen at once."""
    return AT_ONCE * EPSILON * fmax(fabs(step.t), fabs(step.h)) / fabs(step.h)


def together(best: float, step: TimeStep) -> float:
    """Keep the events that happen at once with the first one; return the place where all have."""
    if best > 1.0:
        return NONE
    watch = step.watch
    room = room_of(step)
    place = best
    watch.first = -1
    for i in range(watch.count):
        mark = watch.marks[i]
        if mark.part <= best + room and mark.part <= 1.0:
            place = fmax(place, mark.part)
            if watch.first < 0:
                watch.first = i
        else:
            mark.part = NONE
    return place


def event_place(i: int, step: TimeStep) -> float:
    """Return the first place in the stretch at which an event happens; 2 without one.

    The sign that its function has from there on is noted. Beyond the limit there are no values.
    """
    found = crossing_place(i, step)
    if step.watch.limit < step.watch.high:
        return found
    if has_rate(i, step.watch) == 1:
        return dip_by_rate(i, found, step)
    return dip_by_shape(i, found, step)


def crossing_place(i: int, step: TimeStep) -> float:
    """Return the first place at which a function is through zero, as its values tell; 2 if none."""
    watch = step.watch
    total = functions_of(watch)
    mark = watch.marks[i]
    here = watch.sure
    left = mark.before
    earlier = here
    for j in range(LAST + 1):
        there = fmin(place_of(PLACES[j], watch), watch.limit)
        right = watch.samples[j * total + i]
        if there > here:
            if crossing(left, right, mark.direction) == 1:
                mark.after = -left
                found = zero_near(earlier, here, there, left, right, i, step)
                if found <= 1.0:
                    return found
                # It is not through yet, or has a pole there.
                right = value_at(there, i, step)
            earlier = here
            here = there
            left = right
    return NONE


# --- search -----------------------------------------------------------------------------------


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
