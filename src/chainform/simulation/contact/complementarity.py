"""Which contacts push and what friction holds: forces within bounds, and the motion they allow.

    w = S s + b,    -bound <= s <= bound

    w = 0 where s lies between its bounds, w <= 0 at the upper one, w >= 0 at the lower one

S is symmetric and positive, perhaps only just: J H^-1 J^T of rows that may depend on each other.
For accelerations, s are forces and w relative accelerations; for impacts, impulses and relative
speeds. The rows:

    lasting     no bounds, w = 0 whatever it takes
    push        a gap: 0 <= s, no upper bound
    joint       dry friction in a joint: |s| <= f
    plane       dry friction in the plane of a contact: |s| <= mu s_n, the force of its gap

Without planes the solution is the least of s.S s/2 + b.s within the bounds, and is found by going
from bound to bound. With planes at their bounds the force of a gap brings that of the plane along,
so that the matrix is not symmetric any more and there may be no solution, as for rough ground under
a leaning rod (Painleve's paradox).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SMALL = 1e-11
"""What counts as zero, against the size of the numbers that were added up."""

MORE = 400
"""How many changes are tried by chance when the worst ones lead in circles."""

LASTING, PUSH, JOINT, PLANE = "lasting", "push", "joint", "plane"


@dataclass(frozen=True)
class Row:
    """One row: its sort, the bound of friction or its coefficient, and the place of its gap.

    `way` is 1 or -1 for friction that slides in any case, whose force goes against it.
    """

    sort: str
    bound: float = 0.0
    gap: int = -1
    way: float = 0.0


@dataclass
class Forces:
    """Forces s and accelerations w; rows that hold; the sides of rows at a bound of friction.

    A side is 1 or -1, the sign of the force; 0 where friction is not at its bound.
    """

    s: Array
    w: Array
    holds: Flags
    sides: Array


@dataclass
class Balancing:
    """Looks for the forces of rows, one change after the other."""

    S: Array
    b: Array
    rows: list[Row]
    is_held: bool = False
    """Whether everything holds at first, so that what could hold as well as not does hold."""
    holds: Flags = field(init=False)
    sides: Array = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.rows)
        held = [self.is_held or row.sort == LASTING for row in self.rows]
        self.holds = np.array(held, dtype=np.bool_)
        self.sides = np.array([-row.way for row in self.rows])
        self.sizes = np.sqrt(np.maximum(np.diag(self.S), 0.0))
        # A row that nothing moves needs no force; what is left is rounding.
        self.moved = self.sizes > 1e-12 * np.max(self.sizes, initial=1e-300)
        self.holds &= self.moved
        self.steady = 5 * count + 5

    def found(self) -> Forces | None:
        """Return forces that fit, or None."""
        random: np.random.Generator | None = None
        for turn in range(self.steady + MORE):
            s = self._forces()
            w = self.S @ s + self.b
            noise = SMALL * (np.abs(self.S) @ np.abs(s) + np.abs(self.b)) + 1e-300
            changes = self._changes(s, w, noise)
            if not changes:
                return Forces(s, np.where(self.holds, 0.0, w), self.holds, self.sides)
            # The worst first; if that goes round in circles, any.
            chosen = max(changes)
            if turn >= self.steady:
                random = random or np.random.default_rng(0)
                chosen = changes[int(random.integers(len(changes)))]
            _, place, holds, side = chosen
            self.holds[place], self.sides[place] = holds, side
        return None

    def _forces(self) -> Array:
        """Return the forces that keep at rest what holds, with friction at its bound elsewhere."""
        matrix, fixed = self.S.copy(), np.zeros(len(self.b))
        for place, row in enumerate(self.rows):
            if self.holds[place] or not self.sides[place]:
                continue
            if row.sort == JOINT:
                fixed[place] = self.sides[place] * row.bound
            elif row.sort == PLANE:
                matrix[:, row.gap] += self.sides[place] * row.bound * self.S[:, place]
        free, s = np.flatnonzero(self.holds), fixed.copy()
        if len(free):
            right = -(self.S[free] @ fixed + self.b[free])
            s[free] = _solution(matrix[np.ix_(free, free)], right)
        for place, row in enumerate(self.rows):
            if row.sort == PLANE and not self.holds[place]:
                s[place] = self.sides[place] * row.bound * s[row.gap]
        return s

    def _changes(self, s: Array, w: Array, noise: Array) -> list[tuple[float, int, bool, float]]:
        """Return what is wrong: how much, which row, whether it shall hold, and its side."""
        changes: list[tuple[float, int, bool, float]] = []
        for place, row in enumerate(self.rows):
            if row.sort == LASTING or not self.moved[place] or row.way:
                continue
            if self.holds[place]:
                bound = row.bound if row.sort == JOINT else row.bound * s[row.gap]
                over = -s[place] if row.sort == PUSH else abs(s[place]) - max(bound, 0.0)
                if over > SMALL * abs(s[place]):
                    side = 0.0 if row.sort == PUSH else float(np.sign(s[place]))
                    changes.append((over * self.sizes[place], place, False, side))
                continue
            pace = w[place] / self.sizes[place]
            if row.sort == PUSH:
                is_wrong, pace = w[place] < -noise[place], -pace
            elif row.sort == PLANE and not self.holds[row.gap]:
                # Without a push there is nothing to hold with, and nothing to slide against.
                continue
            else:
                is_wrong = abs(w[place]) > noise[place] and self.sides[place] * w[place] >= 0
            if is_wrong:
                changes.append((abs(float(pace)), place, True, 0.0))
        return changes


def depends(S: Array, holding: Flags, row: int) -> bool:
    """Tell whether a row follows from the rows that hold, so that it needs no force of its own."""
    chosen = np.flatnonzero(holding)
    if S[row, row] <= 0:
        return True
    if not len(chosen):
        return False
    part = _solution(S[np.ix_(chosen, chosen)], S[chosen, row])
    return bool(S[row, row] - S[row, chosen] @ part <= 1e-9 * S[row, row])


def _solution(matrix: Array, right: Array) -> Array:
    """Return the solution of least size; where there is none, what comes nearest."""
    if len(right) == 1 and matrix[0, 0] != 0:
        return right / matrix[0]
    found = np.linalg.lstsq(matrix, right, rcond=SMALL)
    return np.asarray(found[0], dtype=np.float64)
