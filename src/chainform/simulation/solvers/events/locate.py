"""The first events in a stretch of a step where something comes near zero, as procedures.

They are located by exact values, those of shorter steps of the method from the same start. Places
are parts of the step.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, fmax, fmin
from chainform.simulation.machine.records import EPSILON, EventWatch, TimeStep, functions_of
from chainform.simulation.solvers.events.evaluate import crossing, look, value_at
from chainform.simulation.solvers.events.grazing import (
    dip_by_rate,
    dip_by_shape,
    has_rate,
    place_of,
)
from chainform.simulation.solvers.events.sampling import LAST, PLACES
from chainform.simulation.solvers.events.zeros import zero_near

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
