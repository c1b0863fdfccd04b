"""Event functions at places within a step, their zeros and lowest points there, as procedures.

A place is a part of the step, from 0 to 1.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime import Floats, fmax, fmin
from chainform.simulation.machine.records import EPSILON, TimeStep, note_failure
from chainform.simulation.solvers.runge_kutta import trial


def events(t: Floats, y: Floats, p: Floats, value: Floats) -> int:
    """Stand for the functions whose zeros are events, which are compiled from a graph."""
    raise NotImplementedError


def look(part: float, step: TimeStep) -> None:
    """Set the values of all functions at a place, by a shorter step of the same method.

    They are as accurate as the method itself. A failure is noted in the step.
    """
    t = step.t
    h = step.h
    at = step.new
    if part < 1.0:
        at = step.at
        note_failure(step, trial(step, part * h, at))
    step.clock[0] = t + part * h
    note_failure(step, events(step.clock, at, step.p, step.watch.values))


def value_at(part: float, event: int, step: TimeStep) -> float:
    """Return the value of a function at a place, and set those of all."""
    look(part, step)
    return step.watch.values[event]


def glance(part: float, step: TimeStep) -> None:
    """Set the values of all functions at a place nearly, by the cubic between the ends of the step.

    It costs no evaluation of the equations of motion.
    """
    t = step.t
    h = step.h
    y = step.y
    k = step.k
    new = step.new
    at = step.at
    last = step.slope
    rest = 1.0 - part
    for e in range(step.size):
        from_start = y[e] + part * (2.0 * y[e] + h * k[e])
        from_end = new[e] + rest * (2.0 * new[e] - h * last[e])
        at[e] = rest * rest * from_start + part * part * from_end
    step.clock[0] = t + part * h
    note_failure(step, events(step.clock, at, step.p, step.watch.values))


def crossing(before: float, after: float, direction: float) -> int:
    """Tell whether a function went through zero in the direction that counts (0: in both)."""
    if before < 0.0 and after >= 0.0 and direction >= 0.0:
        return 1
    if before > 0.0 and after <= 0.0 and direction <= 0.0:
        return 1
    return 0


# --- zeros ------------------------------------------------------------------------------------


ROUNDS = 250
"""The most steps towards a zero."""
SLOW = 3
"""After so many steps that have not halved the bracket together it is halved."""
POLE = 1e3
"""What has grown so much towards the place where its sign changes has no zero there."""
NOTHING = 1e-290
"""A value below this is a sign only: nobody knows how far from there the zero is."""
FEW = 40
"""The most steps towards the zero of a cubic."""
NARROW = 1e-3
"""How well it is located, as a part of where it may be."""
ROUNDS_DOWN = 40
"""The most steps towards the value nearest to zero."""
SETTLED = 2
"""From so many of them on the parabola through the last three values is believed."""
PATIENT = 6
"""After so many of them a function that only falls, or rises, does not turn back there."""
LEAST = 1e-9
"""The least distance (parts of the step) between two places that are compared."""


def zero_of(
    first: float,
    last: float,
    before: float,
    after: float,
    event: int,
    step: TimeStep,
) -> float:
    """Return the place between two at which a function is at or just past its zero; 2 at a pole.

    False position, where the value at an end that stays is halved (Illinois), or bisection where
    that is slow: this never leaves the bracket.
    """
    low = first
    high = last
    left = before
    right = after
    value_low = before
    value_high = after
    side = 0
    slow = 0
    width = high - low
    least = 2.0 * EPSILON * fmax(fabs(step.t), fabs(step.h)) / fabs(step.h)
    for _ in range(ROUNDS):
        if high - low <= 2.0 * least:
            break
        part = high - right * (high - low) / (right - left)
        if slow >= SLOW or fabs(left) <= NOTHING or not part >= low or not part <= high:
            part = 0.5 * (low + high)
        # What is at an end already, but for rounding, is closed in from there.
        part = fmin(fmax(part, low + least), high - least)
        value = value_at(part, event, step)
        if crossing(before, value, 0.0) == 1:
            high = part
            right = value
            value_high = value
            if side == 1:
                left = 0.5 * left
            side = 1
        else:
            low = part
            left = value
            value_low = value
            if side == 2:
                right = 0.5 * right
            side = 2
        slow += 1
        if high - low <= 0.5 * width:
            width = high - low
            slow = 0
    largest = POLE * fmax(fabs(before), fabs(after))
    if fabs(value_low) > largest and fabs(value_high) > largest:
        return 2.0
    return high


def nearly_zero(
    first: float,
    last: float,
    before: float,
    after: float,
    event: int,
    step: TimeStep,
) -> float:
    """Return the place of a zero as the cubic between the ends of the step has it."""
    low = first
    high = last
    left = before
    right = after
    side = 0
    slow = 0
    for _ in range(FEW):
        if high - low <= NARROW * (last - first):
            break
        part = high - right * (high - low) / (right - left)
        if slow >= SLOW or fabs(left) <= NOTHING or not part > low or not part < high:
            part = 0.5 * (low + high)
            slow = 0
        slow += 1
        glance(part, step)
        value = step.watch.values[event]
        if crossing(before, value, 0.0) == 1:
            high = part
            right = value
            if side == 1:
                left = 0.5 * left
            side = 1
        else:
            low = part
            left = value
            if side == 2:
                right = 0.5 * right
            side = 2
    return 0.5 * (low + high)


def zero_near(
    earlier: float,
    here: float,
    there: float,
    before: float,
    after: float,
    event: int,
    step: TimeStep,
) -> float:
    """Return the zero of a function between two places where it is nearly known; 2 without one.

    It is sought around the place where the cubic has it, at first close by: beyond the zero the
    motion may become another one. It may be before `here`, but not before `earlier`, where forces
    may have jumped: what was before has the value `before`.
    """
    middle = nearly_zero(here, there, before, after, event, step)
    low = middle
    high = middle
    left = value_at(middle, event, step)
    right = left
    aside = NARROW * (there - here)
    if crossing(before, left, 0.0) == 1:
        while crossing(before, left, 0.0) == 1:
            high = low
            right = left
            low = fmax(middle - aside, earlier)
            aside = 10.0 * aside
            left = before
            if low > earlier:
                left = value_at(low, event, step)
    else:
        while crossing(before, right, 0.0) == 0:
            if high >= there:
                return 2.0
            low = high
            left = right
            high = fmin(middle + aside, there)
            aside = 10.0 * aside
            right = value_at(high, event, step)
    return zero_of(low, high, left, right, event, step)


def lowest_of(
    first: float,
    last: float,
    side: float,
    event: int,
    step: TimeStep,
) -> float:
    """Return a place between two at which a function that turns back there is past zero; 2 if none.

    `side` is 1 where it comes from above, -1 from below. Parabolas through three places lead to
    the value nearest to zero; where they lead nowhere the longer half is divided.
    """
    low = first
    mid = 0.5 * (first + last)
    high = last
    at_low = side * value_at(low, event, step)
    at_high = side * value_at(high, event, step)
    at_mid = side * value_at(mid, event, step)
    for k in range(ROUNDS_DOWN):
        if at_mid <= 0.0:
            return mid
        fall = (at_mid - at_low) / (mid - low)
        rise = (at_high - at_mid) / (high - mid)
        bend = (rise - fall) / (high - low)
        slope = fall + bend * (mid - low)
        place = mid
        if bend > 0.0:
            place = mid - 0.5 * slope / bend
            if k >= SETTLED and at_mid - 0.25 * slope * slope / bend > 0.5 * at_mid:
                return 2.0
        if k >= PATIENT and (at_mid >= at_low or at_mid >= at_high):
            return 2.0
        if not place > low or not place < high or fabs(place - mid) < LEAST:
            place = 0.5 * (mid + high)
            if mid - low > high - mid:
                place = 0.5 * (low + mid)
        value = side * value_at(place, event, step)
        if value <= at_mid:
            if place < mid:
                high = mid
                at_high = at_mid
            else:
                low = mid
                at_low = at_mid
            mid = place
            at_mid = value
        elif place < mid:
            low = place
            at_low = value
        else:
            high = place
            at_high = value
        if high - low < LEAST:
            return 2.0
    return 2.0
