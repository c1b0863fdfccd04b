"""Many motions, one after the other or several in lanes side by side, as a procedure.

In lanes all of them have the same steps, so the steps are fixed: nothing that a state decides can
differ from lane to lane. What would look at states is left out there (`WITHOUT_DECISIONS`): the
estimate of the error, events, and the test whether all is finite.
"""

from __future__ import annotations

from chainform.runtime.procedures import Floats, Ints, Numbers
from chainform.simulation.loops.adaptive import integrate
from chainform.simulation.loops.events import mark_events
from chainform.simulation.loops.places import CALLS, CONTROLS, COUNTS, EVENTS

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

STATE, GIVEN, OUT, MARKS = range(4)
"""Places in `lengths`: of a state, of p, of the output and of the marks of one motion."""


def prepare(t: Floats, y: Floats, p: Floats, into: Floats) -> None:
    """Stand for what depends on parameters only, which is computed once for each motion."""


def integrate_each(
    first: int,
    last: int,
    lengths: Ints,
    controls: Numbers,
    counts: Ints,
    tableau: Numbers,
    y: Floats,
    p: Floats,
    work: Floats,
    times: Numbers,
    out: Floats,
    marks: Floats,
    breaks: Numbers,
    status: Ints,
) -> None:
    """Integrate motions from the one numbered `first` to the one before `last`.

    Each has a state, p, control, counts, output and marks of its own; `work` is shared.
    """
    for i in range(first, last):
        given = p[i * lengths[GIVEN] :]
        state = y[i * lengths[STATE] :]
        own = counts[i * COUNTS :]
        prepare(work, state, given, given)
        if own[EVENTS] > 0 and own[CALLS] == 0:
            mark_events(
                controls[i * CONTROLS :],
                own,
                state,
                given,
                work,
                work[1:],
                marks[i * lengths[MARKS] :],
            )
        status[i] = integrate(
            controls[i * CONTROLS :],
            own,
            tableau,
            state,
            given,
            work,
            times,
            out[i * lengths[OUT] :],
            marks[i * lengths[MARKS] :],
            breaks,
        )
