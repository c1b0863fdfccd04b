"""Where numbers stand that go into the loops and come out of them."""

from __future__ import annotations

TIME, END, STEP, RTOL, ATOL, LARGEST, EXPONENT, HOLD, START, LOST = range(10)
"""Places in `control`: present time, end, next step (0: to be chosen), tolerances, largest step,
-1/order, the time between two samples of held forces (0: none), the time of the first, and what
the present time has lost by rounding."""

SIZE, STAGES, LIMIT, TIMES, NEXT, ACCEPTED, REJECTED, CALLS = range(8)
EVENTS, FOUND, TWICE, FIXED, BREAKS, BREAK, TICK, TAIL, TAIL_AT = range(8, 17)
ROWS, COORDINATES, RATES, BOOKS, ARMED_AT, ARMED, TURNING, FAILED, PUTTING = range(17, 26)
"""Places in `counts`: length of the state, stages, most steps before a pause, number of output
times and the next of them, steps accepted and rejected, calls of the equations; number of events
and the one found, whether there are two estimates of the error, whether the step is fixed, number
of times where forces jump and the next of them, samples taken, how many numbers of p are put out
behind each state and where they begin; how many states the room for stages holds, numbers of
coordinates and of rates in a state, how many entries at its end only add up; the first event that
ends a state of affairs, the number of them, and how many of these, the first ones, have a rate;
what a function that could not do its work returned, 0 while there is none; whether steps end on
constraints."""

COUNTS = 26
CONTROLS = 10

DIRECTION, BEFORE, AFTER, PART = range(4)
"""Places in `marks`, for each event: see events.py."""
PER_EVENT = 4

REACHED, PAUSED, EVENT, TOO_SMALL, NOT_FINITE, NOT_SOLVED, NO_VALUE, NO_MASS = range(8)
"""Why a loop came back."""

NO_SOLUTION, NO_NUMBER, UNRESISTED = -1, -2, -3
"""What a function returns that cannot do its work, and nothing below zero otherwise: equations have
no solution; something is not a number; nothing resists a rate, UNRESISTED less its number."""

EPSILON = 2.220446049250313e-16
