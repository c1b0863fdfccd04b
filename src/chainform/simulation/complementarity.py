"""Which contacts push and which joints stick: forces within bounds, and the motion they allow.

    w = S s + b,    lower <= s <= upper

    w = 0 where s lies between its bounds, w >= 0 at the lower one, w <= 0 at the upper one

S is symmetric and positive, perhaps only just: J H^-1 J^T of rows that may depend on each other.
For accelerations, s are forces and w relative accelerations; for impacts, impulses and relative
speeds. A contact pushes, 0 <= s; a joint with dry friction holds with -f <= s <= f; a closed loop
has no bounds. These are the conditions for the least of s.S s/2 + b.s within the bounds, so a
solution is found by going downhill from bound to bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SMALL = 1e-11
"""What counts as zero, against the size of the numbers that were added up."""


@dataclass(frozen=True)
class Bounded:
    """A solution: the forces s, the accelerations w, and which rows hold (w = 0 by force)."""

    s: Array
    w: Array
    holds: Flags


def solve_bounded(S: Array, b: Array, lower: Array, upper: Array) -> Bounded:
    """Return forces within bounds, and the accelerations that they leave.

    Every row begins without force; those that would move the wrong way are made to hold, the worst
    first, so that of rows that depend on each other only some hold.
    """
    s = np.zeros(len(b))
    holds = np.zeros(len(b), dtype=np.bool_)
    if len(b) == 1 and S[0, 0] > 0:
        wanted = -b / S[0, 0]
        s = np.clip(wanted, lower, upper)
        holds = (s == wanted) & (wanted != 0)
        return Bounded(s, np.where(holds, 0.0, S[0] * s + b), holds)
    for _ in range(20 * len(b) + 20):
        w = S @ s + b
        wrong = _wrong(S, s, w, b, lower, upper, holds)
        worst = int(np.argmax(wrong)) if len(wrong) else 0
        if not len(wrong) or wrong[worst] <= 0:
            return Bounded(s, np.where(holds, 0.0, w), holds)
        holds[worst] = True
        _descend(S, b, s, holds, lower, upper)
    raise RunError(
        "no forces keep all contacts and sticking joints as they must be",
        element="stops",
        remedy="stops that work against each other cannot all be rigid: make one of them stiff",
    )


def solve_pivoting(
    M: Array, b: Array, lower: Array, upper: Array, start: Bounded
) -> Bounded | None:
    """Return forces within bounds for a matrix that is not symmetric, None if none are found.

    From the rows that hold at the start one after the other is let go or made to hold, the worst
    first. Without symmetry there may be no solution, or several.
    """
    s, holds = start.s.copy(), start.holds.copy()
    for _ in range(20 * len(b) + 20):
        free = np.flatnonzero(holds)
        if len(free):
            s[free] = 0.0
            s[free] = _solution(M[np.ix_(free, free)], -(M[free] @ s + b[free]))
        over = np.maximum(lower - s, s - upper)
        if np.any(over > 0):
            worst = int(np.argmax(over))
            s[worst] = np.clip(s[worst], lower[worst], upper[worst])
            holds[worst] = False
            continue
        w = M @ s + b
        wrong = _wrong(M, s, w, b, lower, upper, holds)
        worst = int(np.argmax(wrong))
        if wrong[worst] <= 0:
            return Bounded(s, np.where(holds, 0.0, w), holds)
        holds[worst] = True
    return None


def depends(S: Array, holding: Flags, row: int) -> bool:
    """Tell whether a row follows from the rows that hold, so that it needs no force of its own."""
    chosen = np.flatnonzero(holding)
    if S[row, row] <= 0:
        return True
    if not len(chosen):
        return False
    part = _solution(S[np.ix_(chosen, chosen)], S[chosen, row])
    return bool(S[row, row] - S[row, chosen] @ part <= 1e-9 * S[row, row])


def _wrong(
    S: Array, s: Array, w: Array, b: Array, lower: Array, upper: Array, holds: Flags
) -> Array:
    """Return how much each row that does not hold moves against its bound; none: at most zero."""
    size = np.sqrt(np.abs(np.diag(S)))
    noise = SMALL * (np.abs(S) @ np.abs(s) + np.abs(b)) + 1e-300
    down = np.where(s > lower, w, -np.inf)
    up = np.where(s < upper, -w, -np.inf)
    wrong = np.maximum(down, up) - noise
    return np.where(holds | (size == 0), -np.inf, wrong / np.where(size > 0, size, 1.0))


def _descend(S: Array, b: Array, s: Array, holds: Flags, lower: Array, upper: Array) -> None:
    """Move s to where all rows that hold are at rest; a row that meets its bound lets go."""
    while np.any(holds):
        free = np.flatnonzero(holds)
        matrix = S[np.ix_(free, free)]
        step = _solution(matrix, -(S[free] @ s + b[free]))
        bounds = np.where(step > 0, upper[free], lower[free])
        rooms = np.full(len(free), np.inf)
        np.divide(bounds - s[free], step, out=rooms, where=step != 0)
        nearest = int(np.argmin(rooms))
        if rooms[nearest] >= 1:
            s[free] += step
            return
        s[free] += max(float(rooms[nearest]), 0.0) * step
        s[free[nearest]] = bounds[nearest]
        holds[free[nearest]] = False


def _solution(matrix: Array, right: Array) -> Array:
    """Return the solution of least size; where there is none, what comes nearest."""
    if len(right) == 1 and matrix[0, 0] != 0:
        return right / matrix[0]
    found = np.linalg.lstsq(matrix, right, rcond=SMALL)
    return np.asarray(found[0], dtype=np.float64)
