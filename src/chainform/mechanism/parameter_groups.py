"""Dynamic parameters that have the same effect as others, moved to the limb before by rules.

Each limb, a moving segment with what is fixed to it, collects parameters in the frame of its first
body with inertia; see base_parameters.py for the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from chainform.mechanism.data import MechanismData
from chainform.mechanism.dynamic_parameters import (
    INERTIAL,
    PAIRS,
    DynamicParameter,
    moved_inertia,
)
from chainform.mechanism.exact_fields import Polynomials
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
