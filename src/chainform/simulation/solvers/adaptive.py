"""Runge-Kutta with step control, events and output at given times, as one procedure.

Between two steps nothing returns to Python. The procedure comes back at the end, at an event, and
after a number of steps, so that the caller can show progress or stop.

Many motions go one after the other, or several in lanes side by side. In lanes all of them have the
same steps, so the steps are fixed: nothing that a state decides can differ from lane to lane. What
would look at states is left out there (`WITHOUT_DECISIONS`): the estimate of the error, events, and
the test whether all is finite.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime import Floats, Number, Structs, fmin
from chainform.simulation.machine.records import (
    EPSILON,
    EVENT,
    NO_VALUE,
    PAUSED,
    REACHED,
    TOO_SMALL,
    Integration,
    OutputRows,
    lay_out,
    note_failure,
    rhs,
)
from chainform.simulation.solvers.events.first_event import (
    first_event,
    mark_events,
    mark_found,
    pass_values,
)
from chainform.simulation.solvers.runge_kutta import (
    AGAIN,
    TAKEN,
    after_failure,
    choose_step,
    end_of,
    first_step,
    judged,
    trial,
)


def sample(t: Floats, y: Floats, p: Floats, into: Floats) -> None:
    """Stand for the forces that are held from one sample to the next."""


def arrive(integration: Integration) -> None:
    """Pass jumps, take the sample that is due now, and put the present state out, if that is
    wanted.

    What is put out has the efforts that act from now on.
    """
    step = integration.step
    now = integration.time
    hold = integration.hold
    step.clock[0] = now
    while (
        integration.next_break < integration.break_count
        and integration.breaks[integration.next_break] <= now
    ):
        integration.next_break += 1
    if hold > 0.0 and integration.start + integration.ticks * hold <= now:
        sample(step.clock, step.y, step.p, step.p)
        integration.ticks += 1
    hand_over(integration)


def settle(t: Floats, y: Floats, p: Floats, into: Floats) -> int:
    """Stand for what keeps a state where it belongs: unit quaternions, closed loops."""
    raise NotImplementedError


def deliver(integration: Integration) -> int:
    """Write the states at all output times before the present one, the end of an accepted step.

    They come from a shorter step of the same method from the same start, as accurate as the method
    itself. Behind each come numbers of p that stay the same over a step, such as efforts that are
    held. What is returned is below zero where one of them failed.
    """
    step = integration.step
    output = integration.output
    after = integration.time
    # What differs from the end by rounding only is at the end.
    before = after - 4.0 * EPSILON * fabs(after)
    while output.next < output.count and output.times[output.next] < before:
        row = output.rows[output.next * (step.size + output.tail) :]
        now = output.times[output.next]
        status = trial(step, now - step.t, step.at)
        if status < 0:
            return status
        step.clock[0] = now
        status = settle(step.clock, step.at, step.p, row)
        if status < 0:
            return status
        put_tail(output, step.p, row, step.size)
    return 0


def hand_over(integration: Integration) -> None:
    """Write the present state at all output times up to now."""
    step = integration.step
    output = integration.output
    n = step.size
    while output.next < output.count and output.times[output.next] <= integration.time:
        row = output.rows[output.next * (n + output.tail) :]
        for e in range(n):
            row[e] = step.y[e]
        put_tail(output, step.p, row, n)


def put_tail(output: OutputRows, p: Floats, row: Floats, n: int) -> None:
    """Write what goes out behind a state, and go to the next output time."""
    for e in range(output.tail):
        row[n + e] = p[output.tail_from + e]
    output.next += 1


def begin(integration: Integration) -> int:
    """Compute the first stage of a step; below zero where that fails."""
    step = integration.step
    step.clock[0] = integration.time
    integration.calls += 1
    return rhs(step.clock, step.y, step.p, step.k)


def first_stage(integration: Integration) -> int:
    """Compute the first stage of the first step, and choose its length; below zero: a failure."""
    status = begin(integration)
    if status >= 0 and integration.control.length <= 0.0 and integration.time < integration.end:
        status = first_step(integration)
    if status >= 0:
        status = integration.step.failed
    return status


def attempted(integration: Integration) -> int:
    """Make a step; tell whether it is taken, or must be made again, or why the motion ends."""
    step = integration.step
    calls = trial(step, step.h, step.new)
    if calls < 0:
        return after_failure(integration, calls)
    step.calls = calls
    integration.calls += calls
    return judged(integration)


def look_ahead(integration: Integration) -> int:
    """Compute y' at the end of a step; if nothing comes between, the next one begins with it."""
    step = integration.step
    more = step.h - integration.lost
    step.clock[0] = fmin(integration.time + more, step.latest)
    integration.calls += 1
    return rhs(step.clock, step.new, step.p, step.slope)


def part_to_event(integration: Integration) -> Number:
    """Return the part of a step up to the first event in it, as `first_event` does."""
    step = integration.step
    note_failure(step, look_ahead(integration))
    is_end = 0
    if step.is_last == 1 and integration.stop == integration.end:
        is_end = 1
    return first_event(step, is_end)


def reason_of(part: Number) -> int:
    """Return why a step ends after a part of it, as `first_event` has it."""
    if part < 0.0:
        return NO_VALUE
    if part <= 1.0:
        return EVENT
    return REACHED


def shorten(integration: Integration, part: Number) -> None:
    """Let a step end after a part of it, as `first_event` has it."""
    step = integration.step
    share = part
    if share < 0.0:
        share = -1.0 - share
    if share < 1.0:
        step.is_last = 0
        step.h = share * step.h
        note_failure(step, trial(step, step.h, step.new))


def pass_time(integration: Integration) -> None:
    """Let the time go on by a step; what rounding loses comes back later (Kahan)."""
    more = integration.step.h - integration.lost
    after = integration.time + more
    integration.lost = (after - integration.time) - more
    integration.time = after
    if integration.step.is_last == 1:
        integration.time = integration.stop
        integration.lost = 0.0


def put_state(integration: Integration) -> int:
    """Put the state at the end of a step where it belongs; below zero: a failure on the way."""
    step = integration.step
    step.clock[0] = integration.time
    status = settle(step.clock, step.new, step.p, step.y)
    if status >= 0:
        status = step.failed
    return status


def is_same(y: Floats, other: Floats, n: int) -> int:
    """Tell whether two states are the same to the last bit."""
    for e in range(n):
        if y[e] != other[e]:
            return 0
    return 1


def copy(given: Floats, into: Floats, n: int) -> None:
    """Take a state over."""
    for e in range(n):
        into[e] = given[e]


def go_on(integration: Integration) -> int:
    """Compute the first stage of the next step, unless it is known; below zero: a failure."""
    step = integration.step
    is_known = 0
    if step.watch.count > 0 and step.is_last == 0:
        is_known = is_same(step.y, step.new, step.size)
    if is_known == 0:
        return begin(integration)
    copy(step.slope, step.k, step.size)
    return 0


def integrate(integration: Integration) -> int:
    """Integrate from the present time to the end; return why it ended."""
    step = integration.step
    done = 0
    lay_out(integration)
    arrive(integration)
    status = first_stage(integration)
    if status < 0:
        return end_of(step, status)
    while integration.time < integration.end:
        if done >= integration.limit:
            return PAUSED
        done += 1
        choose_step(integration)
        if step.h <= 16.0 * EPSILON * fabs(step.t) and step.is_last == 0:
            return TOO_SMALL
        verdict = attempted(integration)
        part: Number = 2.0
        if verdict == TAKEN and step.watch.count > 0:
            part = part_to_event(integration)
            if step.failed < 0:
                verdict = after_failure(integration, step.failed)
        if verdict == AGAIN:
            continue
        if verdict != TAKEN:
            return verdict
        reason = reason_of(part)
        shorten(integration, part)
        pass_time(integration)
        if reason == EVENT:
            mark_found(step, integration.time)
        status = deliver(integration)
        if status >= 0:
            status = put_state(integration)
        if status < 0:
            return end_of(step, status)
        arrive(integration)
        integration.accepted += 1
        if reason != REACHED:
            return reason
        pass_values(step.watch)
        status = go_on(integration)
        if status < 0:
            return end_of(step, status)
    return REACHED


# --- many motions -----------------------------------------------------------------------------


PROCEDURES = (integrate, mark_events)
"""What a method with steps of its own is compiled with."""
EVENTLESS = (("part_to_event", 2.0), ("mark_found", None), ("mark_zeros", None))
"""What stands in the place of procedures where there are no events."""
WITHOUT_DECISIONS = {
    "error_of": 0.0,
    "lasting_error": 0.0,
    "first_event": 2.0,
    "is_finite": 1,
    "first_step": 0,
    "mark_found": None,
    "mark_zeros": None,
    "is_same": 0,
}
"""What stands in lanes in the place of procedures that decide."""


def prepare(t: Floats, y: Floats, p: Floats, into: Floats) -> None:
    """Stand for what depends on parameters only, which is computed once for each motion."""


def integrate_each(first: int, last: int, motions: Structs[Integration]) -> None:
    """Integrate motions from the one numbered `first` to the one before `last`.

    They may share the room for a step.
    """
    for i in range(first, last):
        motion = motions[i]
        step = motion.step
        prepare(motion.work, step.y, step.p, step.p)
        if step.watch.count > 0 and motion.calls == 0:
            mark_events(motion)
        motion.status = integrate(motion)
