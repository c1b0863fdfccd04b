"""Dynamic parameters that have the same effect as others: by rules, and by elimination.

By rules they move to the limb before. Each limb, a moving segment with what is fixed to it,
collects parameters in the frame of its first body with inertia (base_parameters.py).

Elimination modulo a prime at random states finds which columns of the regressor are combinations of
columns before them; the coefficients are then solved for in rational numbers, or in polynomials of
the parameters, and compared with those of the elimination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq, nmod_mat

from chainform.errors import DeriveError
from chainform.mechanism.data import MechanismData
from chainform.mechanism.dynamic_parameters import (
    INERTIAL,
    PAIRS,
    DynamicParameter,
    moved_inertia,
)
from chainform.mechanism.exact_fields import PRIME, Polynomials, Residues, reduced
from chainform.mechanism.exact_regressor import ExactRegressor
from chainform.mechanism.numbers import quotient_of
from chainform.mechanism.records import (
    GROUND,
    ONE,
    ZERO,
    JointKind,
)
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    matrix,
    product,
    transpose,
)

STATES, MORE_STATES = 8, 4
"""States at which columns are computed first, and then again until the rank does not grow."""
LARGEST_SHARE = 10**10
"""With larger ones the drives would be differences of numbers that are nearly equal."""
ATTEMPTS = 40
"""States that are tried for the coefficients of one column."""


class Form:
    """A sum of dynamic parameters with coefficients, by their numbers."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[int, Any]) -> None:
        self.terms = terms

    def __add__(self, other: Any) -> Form:
        if not isinstance(other, Form):
            return self
        total = dict(self.terms)
        for k, value in other.terms.items():
            total[k] = total[k] + value if k in total else value
        return Form({k: value for k, value in total.items() if value != 0})

    __radd__ = __add__

    def __neg__(self) -> Form:
        return Form({k: -value for k, value in self.terms.items()})

    def __sub__(self, other: Any) -> Form:
        return self + -other

    def __mul__(self, factor: Any) -> Form:
        if factor == 0:
            return Form({})
        return Form({k: value * factor for k, value in self.terms.items()})

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True)
class _Inertia:
    """Mass, first moment and inertia; entries are forms, or numbers of one body."""

    mass: Any
    moment: Vector
    inertia: Matrix

    def moved(self, rotation: Matrix, position: Vector) -> _Inertia:
        return _Inertia(*moved_inertia(self.mass, self.moment, self.inertia, rotation, position))

    def plus(self, other: _Inertia) -> _Inertia:
        inertia = matrix(lambda i, k: self.inertia[i][k] + other.inertia[i][k])
        return _Inertia(self.mass + other.mass, add(self.moment, other.moment), inertia)

    def times(self, factor: Any) -> _Inertia:
        x, y, z = (factor * entry for entry in self.moment)
        inertia = matrix(lambda i, k: factor * self.inertia[i][k])
        return _Inertia(factor * self.mass, (x, y, z), inertia)

    @property
    def entries(self) -> tuple[Any, ...]:
        return (self.mass, *self.moment, *(self.inertia[i][k] for i, k in PAIRS))


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where a segment sits on its limb, the moving segment before it or itself."""

    limb: int
    rotation: Matrix
    position: Vector


class Grouping:
    """Moves parameters inward; each limb collects them in the frame of its first body."""

    def __init__(
        self,
        mechanism: MechanismData,
        parameters: Sequence[DynamicParameter],
        field: Polynomials,
    ) -> None:
        self.mechanism = mechanism
        self.parameters = parameters
        self.field = field
        self.one, self.zero = field.number(ONE), field.number(ZERO)
        self.axes = matrix(lambda i, k: self.one if i == k else self.zero)
        self.none: Vector = (self.zero, self.zero, self.zero)
        empty: Vector = (Form({}), Form({}), Form({}))
        self.nothing = _Inertia(Form({}), empty, (empty, empty, empty))
        self.seats: dict[int, _Seat] = {GROUND: _Seat(GROUND, self.axes, self.none)}
        self.bodies: dict[int, int] = {}
        """The segment in whose frame the parameters of each limb are collected."""
        self.joints: dict[int, _Seat] = {}
        """Where the joint of each limb sits on the limb before, at zero coordinate."""
        self.totals: dict[int, _Inertia] = {}
        for j, segment in enumerate(mechanism.segments):
            seat = self._behind(self.seats[segment.parent], segment.rotation, segment.position)
            if segment.coordinate is not None:
                self.joints[j] = seat
                seat = _Seat(j, self.axes, self.none)
            self.seats[j] = seat
            if not segment.body.is_massless and seat.limb != GROUND:
                self.bodies.setdefault(seat.limb, j)

    def _behind(self, seat: _Seat, rotation: Any, position: Any) -> _Seat:
        number = self.field.number
        turn = matrix(lambda i, k: number(rotation[i][k]))
        x, y, z = map(number, position)
        place = add(seat.position, apply(seat.rotation, (x, y, z)))
        return _Seat(seat.limb, product(seat.rotation, turn), place)

    def candidates(self) -> list[tuple[DynamicParameter, Form]]:
        """Return the parameters that the rules leave, each with all that is grouped with it."""
        for limb in self.bodies:
            self.totals[limb] = self._of_limb(limb)
        for limb in sorted(self.bodies, reverse=True):
            self._move(limb)
        found: list[tuple[DynamicParameter, Form]] = []
        for limb in sorted(self.bodies):
            forms: dict[str, Form] = dict(zip(INERTIAL, self.totals[limb].entries, strict=True))
            # Moments of inertia lead, so that the length of an arm never stands below a line.
            order = (*INERTIAL[4:], *INERTIAL[1:4], INERTIAL[0])
            leaders = [DynamicParameter(kind, self.bodies[limb], ZERO) for kind in order]
            found += [(p, forms[p.kind]) for p in leaders if forms[p.kind].terms]
        others = [(p, k) for k, p in enumerate(self.parameters) if not p.is_inertial]
        return found + [(p, Form({k: self.one})) for p, k in others]

    def _of_limb(self, limb: int) -> _Inertia:
        total = self.nothing
        numbers = {(p.place, p.kind): k for k, p in enumerate(self.parameters)}
        for j, seat in self.seats.items():
            if seat.limb == limb and (j, "m") in numbers:
                m, x, y, z, xx, xy, yy, xz, yz, zz = (
                    Form({numbers[j, kind]: self.one}) for kind in INERTIAL
                )
                own = _Inertia(m, (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
                total = total.plus(self._between(own, seat, self.seats[self.bodies[limb]]))
        return total

    def _between(self, inertia: _Inertia, near: _Seat, far: _Seat) -> _Inertia:
        """Return an inertia in the frame of a seat in that of another on the same limb."""
        if near == far:
            return inertia
        outside = inertia.moved(near.rotation, near.position)
        back = apply_transposed(far.rotation, far.position)
        return outside.moved(transpose(far.rotation), (-back[0], -back[1], -back[2]))

    def _move(self, limb: int) -> None:
        """Move what has the same effect on the limb before; nothing where no body is there."""
        joint = self.joints[limb]
        if joint.limb != GROUND and joint.limb not in self.bodies:
            return
        total = self.totals[limb]
        moved = self.nothing
        for index, unit_inertia in self._invariants(limb):
            own = self._between(unit_inertia, _Seat(limb, self.axes, self.none), self._seat(limb))
            share = total.entries[index] * _inverse(own.entries[index])
            total = total.plus(own.times(-share))
            moved = moved.plus(unit_inertia.times(share))
        self.totals[limb] = total
        if joint.limb != GROUND:
            outside = moved.moved(joint.rotation, joint.position)
            root = _Seat(joint.limb, self.axes, self.none)
            inside = self._between(outside, root, self._seat(joint.limb))
            self.totals[joint.limb] = self.totals[joint.limb].plus(inside)

    def _seat(self, limb: int) -> _Seat:
        return self.seats[self.bodies[limb]]

    def _invariants(self, limb: int) -> Iterator[tuple[int, _Inertia]]:
        """Yield what a joint does not move, in limb axes, and the entry that it takes to zero.

        Those that follow have no share in the entries before.
        """
        segment = self.mechanism.segments[limb]
        flat = (self.none, self.none, self.none)
        turn = self._seat(limb).rotation
        if segment.joint.kind in (JointKind.REVOLUTE, JointKind.SPHERICAL):
            yield 0, _Inertia(self.one, self.none, flat)
        if segment.joint.kind == JointKind.REVOLUTE:
            x, y, z = map(self.field.number, segment.joint.axis)
            e: Vector = (x, y, z)
            # The axis in the frame of the body says which entries can be taken to zero.
            own = [_fraction(entry) for entry in apply_transposed(turn, e)]
            main = max(range(3), key=lambda i: (abs(own[i]), i))
            last = max(i for i in range(3) if i != main)
            yield 1 + main, _Inertia(self.zero, e, flat)
            across = matrix(lambda i, k: self.axes[i][k] - e[i] * e[k])
            yield 4 + PAIRS.index((last, last)), _Inertia(self.zero, self.none, across)
        elif segment.joint.kind == JointKind.PRISMATIC:
            for index, (i, k) in enumerate(PAIRS):
                pair = {i, k}
                own_axes = matrix(lambda a, b, pair=pair: self.one if {a, b} == pair else self.zero)
                tensor = product(product(turn, own_axes), transpose(turn))
                yield 4 + index, _Inertia(self.zero, self.none, tensor)


def _fraction(value: Any) -> Fraction:
    """Return an entry of a rotation, which has no parameters in it."""
    exact = value if isinstance(value, fmpq) else value.leading_coefficient() if value else fmpq(0)
    return Fraction(int(exact.p), int(exact.q))


def _inverse(value: Any) -> Any:
    """Return the reciprocal of a number that is no polynomial."""
    return 1 / value if isinstance(value, fmpq) else value**0 * (1 / value.leading_coefficient())


class ColumnDependence:
    """Which columns are combinations of those before them, found modulo a prime."""

    def __init__(
        self, mechanism: MechanismData, columns: Sequence[DynamicParameter], field: Polynomials
    ) -> None:
        self.mechanism = mechanism
        self.columns = columns
        self.field = field
        self.leaders, self.residues = self._eliminate()
        self.shares = {j: self._shares(j) for j in range(len(columns)) if j not in self.leaders}

    def followers(self, leader: int) -> Iterator[tuple[int, tuple[Any, Any]]]:
        """Yield the columns that have a share in a leader, with the share as a fraction."""
        for column, shares in self.shares.items():
            if leader in shares:
                yield column, shares[leader]

    def _rows(self, states: range) -> list[list[int]]:
        rows: list[list[int]] = []
        for state in states:
            exact = ExactRegressor(self.mechanism, Residues(state))
            columns = [exact.column(parameter) for parameter in self.columns]
            rows += [[int(column[i]) for column in columns] for i in range(self.mechanism.nv)]
        return rows

    def _eliminate(self) -> tuple[list[int], dict[int, dict[int, int]]]:
        """Return the columns that are no combinations, and the shares of these in all others."""
        rows, states, rank = self._rows(range(STATES)), STATES, -1
        while True:
            flat = [entry for row in rows for entry in row]
            reduced, found = nmod_mat(len(rows), len(self.columns), flat, PRIME).rref()
            if found == rank:
                break
            rank = found
            rows += self._rows(range(states, states + MORE_STATES))
            states += MORE_STATES
        table = [[int(reduced[i, k]) for k in range(len(self.columns))] for i in range(rank)]
        leaders = [next(k for k, entry in enumerate(row) if entry) for row in table]
        others = [k for k in range(len(self.columns)) if k not in leaders]
        shares = {
            k: {leader: row[k] for leader, row in zip(leaders, table, strict=True) if row[k]}
            for k in others
        }
        return leaders, shares

    def _shares(self, column: int) -> dict[int, tuple[Any, Any]]:
        """Solve for the shares of leaders in a column, and compare them with the residues."""
        support = list(self.residues[column])
        if not support:
            return {}
        found = self._solve(column, support)
        for leader, (n, d) in zip(support, found, strict=True):
            value = self.field.residue(n) * pow(self.field.residue(d), -1, PRIME) % PRIME
            if value != self.residues[column][leader]:
                raise self._unsolved(column)
            share = quotient_of(self.field.expression(n), self.field.expression(d))
            if isinstance(share, Fraction) and abs(share) > LARGEST_SHARE:
                raise self._rounded(column, leader, share)
        return dict(zip(support, found, strict=True))

    def _solve(self, column: int, support: list[int]) -> list[tuple[Any, Any]]:
        """Return the coefficients by elimination without fractions."""
        rows: list[list[Any]] = []
        size, last, seed = len(support), self.field.number(ONE), 0
        names = [self.columns[k] for k in (*support, column)]
        for step in range(size):
            while not any(row[step] != 0 for row in rows[step:]):
                if seed >= ATTEMPTS + size:
                    raise self._unsolved(column)
                rows += self._exact_rows(names, seed, rows[:step])
                seed += 1
            first = next(i for i in range(step, len(rows)) if rows[i][step] != 0)
            rows[step], rows[first] = rows[first], rows[step]
            pivot = rows[step]
            for i, row in enumerate(rows):
                if i != step:
                    rows[i] = [
                        (pivot[step] * a - row[step] * b) / last
                        for a, b in zip(row, pivot, strict=True)
                    ]
            last = pivot[step]
        return [reduced(rows[i][-1], rows[i][i]) for i in range(size)]

    def _exact_rows(
        self, names: Sequence[DynamicParameter], seed: int, done: Sequence[Sequence[Any]]
    ) -> list[list[Any]]:
        """Return the columns at another state, after the steps of elimination that are done."""
        self.field.seed = seed
        exact = ExactRegressor(self.mechanism, self.field)
        columns = [exact.column(parameter) for parameter in names]
        rows = [[column[i] for column in columns] for i in range(self.mechanism.nv)]
        if not done:
            return rows
        # All rows that are done have the same pivot by now.
        pivot = done[0][0]
        return [
            [
                pivot * entry - sum((row[i] * done[i][k] for i in range(len(done))), entry * 0)
                for k, entry in enumerate(row)
            ]
            for row in rows
        ]

    def _rounded(self, column: int, leader: int, share: Fraction) -> DeriveError:
        return DeriveError(
            f"{self.columns[column].name} has the share {float(share):.2g} in "
            f"{self.columns[leader].name}: directions are parallel or at right angles but for "
            "the rounding of angles",
            file=self.mechanism.file,
            element=self.columns[column].name,
            remedy="give orientations as axes, rotation matrices of short numbers or multiples of "
            "pi/2, so that they are exact; the output regressor takes any",
        )

    def _unsolved(self, column: int) -> DeriveError:
        return DeriveError(
            f"the share of {self.columns[column].name} in other parameters has no exact form",
            file=self.mechanism.file,
            element=self.columns[column].name,
            remedy='give the lengths numbers: base_parameters() with parameters="numeric"',
        )
