"""Which contacts push and what friction holds: forces within bounds, and the motion they allow.

    w = S s + b

S is symmetric and positive, perhaps only just: J H^-1 J^T of rows that may depend on each other.
For accelerations, s are forces and w relative accelerations; for impacts, impulses and relative
speeds. The rows:

    lasting     no bounds, w = 0 whatever it takes
    push        a gap: s >= 0, w >= 0, one of them zero
    joint       dry friction in a joint: |s| <= f; where w is not zero, s = -f sign w
    plane       dry friction in the plane of a contact, one or two rows: |s| <= mu s_n, the force
                of its gap; where w is not zero, s = -mu s_n w / |w| (Coulomb's cone)

Lasting rows are eliminated first. A row that follows from them moves as they dictate, whatever
force acts on it, as a slide in the dead centre of its crank does: friction is against that motion.

Without planes the solution is the least of s.S s/2 + b.s within the bounds, and is found by going
from bound to bound. With planes at their bounds the force of a gap brings that of the plane along,
so that the matrix is not symmetric any more and there may be no solution, as for rough ground under
a leaning rod (Painleve's paradox).

The direction in which a contact begins to slide is not known beforehand: -s and w are parallel,

    w = -k s,    |s| = mu s_n,    k >= 0

which Newton's method solves. Across the direction of the last round, w + k s = 0 with the k of the
last round; what force there is across turns the direction for the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.solvers.contact.force_rows import (
    JOINT,
    LASTING,
    PUSH,
    SMALL,
    ForceRow,
    Plane,
    Reduced,
    RowForces,
    least_solution,
    planes_of,
    relaxed,
    solve,
)

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SHARED = 1e-3
"""The share of the rounding of one row that others may have."""

SWEEPS = ((0, 1.0), (20, 1.0), (80, 0.5), (320, 0.2), (1280, 0.05))
"""How many sweeps of projections come before each search, and how far each goes.

Where friction is strong, only short ones come near the solution."""
INSIDE = 1e-9
"""The share of a bound by which a force is within it that was found by projections."""

TURNS = 40
"""How often directions of sliding are corrected, up to the angle `NEAR`."""
NEAR = 1e-10


@dataclass(frozen=True)
class Change:
    """What is wrong, by how much, and what shall be otherwise: rows that hold or not, sides."""

    size: float
    rows: list[int]
    holds: list[bool]
    sides: list[float]


@dataclass
class Balancing:
    """Looks for the forces of rows, one change after the other."""

    S: Array
    b: Array
    rows: list[ForceRow]
    is_held: bool = False
    """Whether everything holds at first, so that what could hold as well as not does hold."""
    parts: Array | None = None
    """The sizes of the numbers of which b is the sum, where they are known."""
    holds: Flags = field(init=False)
    sides: Array = field(init=False)

    def __post_init__(self) -> None:
        # Forces are not known better than the bounds of friction that were added to others.
        bounds = np.array([row.bound if row.sort == JOINT else 0.0 for row in self.rows])
        parts = np.abs(self.b) if self.parts is None else self.parts
        lasting = np.array([row.sort == LASTING for row in self.rows], dtype=np.bool_)
        self.left = Reduced(
            self.S, self.b, np.flatnonzero(lasting).tolist(), parts + np.abs(self.S) @ bounds
        )
        own = np.sqrt(np.maximum(np.diag(self.S), 0.0))
        self.sizes = np.where(own > 0, own, 1.0)
        # What is left of a row that nothing moves, or that follows from lasting ones, is rounding.
        is_free = np.diag(self.left.S) > SMALL * own**2
        self.moved = is_free & (own > 1e-12 * np.max(own, initial=1e-300))
        self.moved &= np.array([not row.is_spare for row in self.rows], dtype=np.bool_)
        self.holds = lasting | (self.moved & self.is_held)
        self.sides = np.array([-row.way for row in self.rows])
        self.planes = planes_of(self.rows)
        for plane in self.planes.values():
            if plane.is_moving or plane.is_loose:
                self.holds[plane.rows] = False
        self.steady = 5 * len(self.rows) + 5 + TURNS * len(self.planes)
        self.s = np.zeros(len(self.b))

    def found(self) -> RowForces | None:
        """Return forces that fit, or None.

        Changes of the worst first are few as a rule, but may lead in circles. So they are bounded,
        and begin again where successive projections have come near the solution.
        """
        for sweeps, share in SWEEPS:
            if sweeps:
                left = self.left
                self._start_from(relaxed(left.S, left.b, self.rows, self.s, sweeps, share))
            forces = self._refined()
            if forces is not None:
                return forces
        return None

    def _refined(self) -> RowForces | None:
        """Return forces that fit, found by changing the worst, or None after too many changes."""
        for _ in range(self.steady):
            s, endless = self._forces()
            w = self.left.S @ s + self.left.b
            noise = self._noise(s)
            changes = self._yielding(endless) if endless is not None else self._changes(s, w, noise)
            if not changes:
                if endless is not None:
                    return None
                if self._turn(s, w, noise):
                    continue
                w[self.holds] = 0.0
                return RowForces(self.left.whole(s), w, self.holds, self.sides, noise)
            chosen = max(changes, key=lambda change: change.size)
            self.holds[chosen.rows], self.sides[chosen.rows] = chosen.holds, chosen.sides
            for plane in self.planes.values():
                if plane.rows == chosen.rows:
                    plane.stiffness, plane.turns = None, 0
        return None

    def _noise(self, s: Array) -> Array:
        """Return below what accelerations are rounding: that of their sums, and of all others.

        The forces of all rows come from one system of equations.
        """
        noise = SMALL * (self.left.S_parts @ np.abs(s) + self.left.b_parts) + 1e-300
        return np.maximum(noise, SHARED * self.sizes * np.max(noise / self.sizes, initial=0.0))

    def _start_from(self, s: Array) -> None:
        """Let hold what has forces within its bounds, and friction be at its bound elsewhere."""
        self.s, inside = s, 1 - INSIDE
        for place, row in enumerate(self.rows):
            if row.sort == PUSH:
                self.holds[place] = self.moved[place] and s[place] > 0
            elif row.sort == JOINT:
                self.holds[place] = self.moved[place] and abs(s[place]) < row.bound * inside
                self.sides[place] = 0.0 if self.holds[place] else np.sign(s[place])
        for plane in self.planes.values():
            plane.stiffness, plane.turns = None, 0
            if plane.is_moving:
                continue
            force, rows = float(np.hypot.reduce(s[plane.rows])), plane.rows
            is_inside = force < plane.friction * s[plane.gap] * inside and not plane.is_loose
            self.holds[rows] = self.moved[rows] & is_inside & self.holds[plane.gap]
            if not is_inside and force > 0:
                self.sides[rows] = s[rows] / force
            elif not plane.is_loose:
                self.sides[rows] = 0.0

    # --- forces of a state of affairs ----------------------------------------------------

    def _forces(self) -> tuple[Array, Array | None]:
        """Return the forces that keep at rest what holds, with friction at its bound elsewhere.

        Where none do, how they would grow without end comes with them.
        """
        columns, rows, yields = self._unknowns()
        fixed = np.zeros(len(self.b))
        for place, row in enumerate(self.rows):
            if row.sort == JOINT and not self.holds[place]:
                fixed[place] = self.sides[place] * row.bound
        if not len(yields):
            return fixed, None
        left = self.left
        matrix = rows @ left.S @ columns.T + np.diag(yields)
        right = -rows @ (left.S @ fixed + left.b)
        sizes = np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", rows, left.S, rows), 0.0) + yields)
        found = solve(matrix, right, np.where(sizes > 0, sizes, 1.0))
        endless = None if found.endless is None else columns.T @ found.endless
        return columns.T @ found.x + fixed, endless

    def _unknowns(self) -> tuple[Array, Array, Array]:
        """Return what forces the unknowns are, what they keep at rest, and how far these yield."""
        columns: list[Array] = []
        rows: list[Array] = []
        yields: list[float] = []
        unit = np.eye(len(self.b))
        for place, row in enumerate(self.rows):
            if row.sort == LASTING or not self.holds[place]:
                continue
            column = unit[place].copy()
            plane = self.planes.get(place)
            if plane is not None and not np.any(self.holds[plane.rows]):
                column[plane.rows] += plane.friction * self.sides[plane.rows]
            columns.append(column)
            rows.append(unit[place])
            yields.append(0.0)
        for plane in self.planes.values():
            if plane.stiffness is not None and self.holds[plane.gap]:
                first, second = plane.rows
                turned = self.sides[first] * unit[second] - self.sides[second] * unit[first]
                columns.append(turned)
                rows.append(turned)
                yields.append(plane.stiffness)
        empty = np.zeros((0, len(self.b)))
        return np.array([*columns, *empty]), np.array([*rows, *empty]), np.array(yields)

    # --- what is wrong ------------------------------------------------------------------

    def _changes(self, s: Array, w: Array, noise: Array) -> list[Change]:
        """Return what is wrong."""
        changes: list[Change] = []
        for place, row in enumerate(self.rows):
            wrong = None
            if row.sort == PUSH and self.moved[place]:
                wrong = self._wrong_push(place, s, w, noise)
            elif row.sort == JOINT:
                wrong = self._wrong_joint(place, s, w, noise)
            if wrong is not None:
                changes.append(wrong)
        for plane in self.planes.values():
            wrong = self._wrong_plane(plane, s, w, noise)
            if wrong is not None:
                changes.append(wrong)
        return changes

    def _wrong_push(self, place: int, s: Array, w: Array, noise: Array) -> Change | None:
        if self.holds[place]:
            is_wrong, size = s[place] < 0, -s[place] * self.sizes[place]
        else:
            is_wrong, size = w[place] < -noise[place], -w[place] / self.sizes[place]
        return Change(float(size), [place], [not self.holds[place]], [0.0]) if is_wrong else None

    def _wrong_joint(self, place: int, s: Array, w: Array, noise: Array) -> Change | None:
        bound, size = self.rows[place].bound, self.sizes[place]
        if self.holds[place]:
            over = abs(s[place]) - bound
            if over > SMALL * abs(s[place]):
                return Change(over * size, [place], [False], [float(np.sign(s[place]))])
        elif abs(w[place]) > noise[place] and self.sides[place] * w[place] >= 0:
            speed = abs(float(w[place])) / size
            if self.moved[place]:
                return Change(speed, [place], [True], [0.0])
            return Change(speed, [place], [False], [-float(np.sign(w[place]))])
        return None

    def _wrong_plane(self, plane: Plane, s: Array, w: Array, noise: Array) -> Change | None:
        rows, force = plane.rows, s[plane.rows]
        if plane.is_moving or plane.is_loose:
            return None
        if not self.holds[plane.gap]:
            # Without a push there is nothing to hold with, and nothing to slide against.
            is_set = np.any(self.holds[rows]) or np.any(self.sides[rows])
            return self._plane_change(plane, 0.0, [False] * len(rows)) if is_set else None
        if np.any(self.sides[rows]):
            back = float(self.sides[rows] @ w[rows])
            if back > float(np.max(noise[rows])):
                size = back / float(np.max(self.sizes[rows]))
                return self._plane_change(plane, size, self.moved[rows].tolist())
            return None
        size = float(np.hypot.reduce(force))
        over = size - plane.friction * max(float(s[plane.gap]), 0.0)
        if over > SMALL * size:
            sides = (force / size).tolist()
            return Change(over * float(np.max(self.sizes[rows])), rows, [False] * len(rows), sides)
        return self._wrong_rest(plane, w, noise)

    def _wrong_rest(self, plane: Plane, w: Array, noise: Array) -> Change | None:
        """Return which row of a contact that does not slide must be held, too."""
        left = [row for row in plane.rows if not self.holds[row] and not self.rows[row].is_spare]
        loose = [row for row in left if abs(w[row]) > noise[row]]
        if not loose:
            return None
        worst = max(loose, key=lambda row: abs(w[row]) / self.sizes[row])
        size = abs(float(w[worst])) / float(self.sizes[worst])
        if self.moved[worst]:
            return self._plane_change(
                plane, size, [bool(self.holds[r] or r == worst) for r in plane.rows]
            )
        against = -w[plane.rows] / float(np.hypot.reduce(w[plane.rows]))
        return Change(size, plane.rows, [False] * len(plane.rows), against.tolist())

    def _plane_change(self, plane: Plane, size: float, holds: list[bool]) -> Change:
        return Change(size, plane.rows, holds, [0.0] * len(plane.rows))

    def _yielding(self, endless: Array) -> list[Change]:
        """Return what cannot take forces that grow without end."""
        changes: list[Change] = []
        least = 1e-6 * float(np.max(np.abs(endless * self.sizes), initial=0.0))
        for place, row in enumerate(self.rows):
            size = abs(float(endless[place] * self.sizes[place]))
            if not self.holds[place] or size <= least:
                continue
            side = float(np.sign(endless[place]))
            if row.sort == JOINT:
                changes.append(Change(size, [place], [False], [side]))
            elif row.sort == PUSH and side < 0:
                changes.append(Change(size, [place], [False], [0.0]))
        for plane in self.planes.values():
            force = endless[plane.rows]
            size = float(np.hypot.reduce(force))
            if np.any(self.holds[plane.rows]) and size > plane.friction * max(
                float(endless[plane.gap]), 0.0
            ):
                sides = (force / size).tolist()
                changes.append(
                    Change(
                        size * float(np.max(self.sizes[plane.rows])),
                        plane.rows,
                        [False] * len(plane.rows),
                        sides,
                    )
                )
        return changes

    def _turn(self, s: Array, w: Array, noise: Array) -> bool:
        """Turn contacts that begin to slide towards their ways; tell whether one was turned."""
        is_turned = False
        for plane in self.planes.values():
            rows = plane.rows
            push = plane.friction * float(s[plane.gap])
            is_sliding = self.holds[plane.gap] and bool(np.any(self.sides[rows]))
            if plane.is_moving or not is_sliding or len(rows) < 2 or push <= 0:
                continue
            size = float(np.hypot.reduce(s[rows]))
            if plane.stiffness is not None:
                self.sides[rows] = s[rows] / size
            first, second = self.sides[rows]
            across = abs(first * w[rows[1]] - second * w[rows[0]])
            along = max(-float(self.sides[rows] @ w[rows]), 0.0)
            is_off = across > float(np.max(noise[rows])) + NEAR * along or size > (1 + NEAR) * push
            if is_off and plane.turns < TURNS:
                plane.stiffness = along / push
                plane.turns += 1
                is_turned = True
        return is_turned


def depends(S: Array, holding: Flags, row: int, share: float = 1e-9) -> bool:
    """Tell whether a row follows from the rows that hold, so that it needs no force of its own.

    `share` of what it takes to move the row may be left.
    """
    chosen = np.flatnonzero(holding)
    if S[row, row] <= 0:
        return True
    if not len(chosen):
        return False
    part = least_solution(S[np.ix_(chosen, chosen)], S[chosen, row])
    return bool(S[row, row] - S[row, chosen] @ part <= share * S[row, row])
