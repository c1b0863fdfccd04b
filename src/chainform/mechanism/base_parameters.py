"""Base parameters: the fewest combinations of dynamic parameters that inverse dynamics depends on.

They are found in two steps, both exact.

Grouping goes from the tips to the base. What can be moved to the limb before without any effect is
moved there: of a limb on a revolute joint the mass, the first and the second moment along the axis,
on a prismatic joint all moments of inertia, on a spherical joint the mass at its centre; of what is
fixed to a limb everything. The rules hold for any state of all other joints, and for lengths that
are symbols. They are the closed forms of Gautier, Khalil and Mayeda.

They leave more than there has to be where the limbs before cannot move in every way: near a fixed
base, for axes along gravity, for coupled joints. So the columns that are left are computed at
random states modulo a large prime (exact_regressor.py), where elimination shows which of them are
combinations of columns before them. The coefficients of these are then solved for in rational
numbers, or in polynomials of the lengths, and compared with those of the elimination. This step is
right for every mechanism, whatever the reason for a dependence; alone it would need long
solutions where the rules have short ones. Its rank is the rank of the regressor at states in
general position, but for a chance of about one in the prime.

With loops and constraints the parameters are those of the tree that the loops close: fewer may do
along motions that the loops permit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from flint import fmpq, nmod_mat
from numpy.typing import NDArray

from chainform.errors import DeriveError
from chainform.expressions import (
    Binary,
    Identifier,
    Negate,
    format_expression,
    symbols_of,
    value_of,
)
from chainform.expressions import Number as NumberExpression
from chainform.mechanism.checks import names_in
from chainform.mechanism.data import MechanismData
from chainform.mechanism.dynamic_parameters import (
    INERTIAL,
    PAIRS,
    DynamicParameter,
    body_of,
    dynamic_parameters,
    moved_inertia,
)
from chainform.mechanism.exact_regressor import PRIME, ExactRegressor, Polynomials, Residues
from chainform.mechanism.numbers import (
    difference,
    numbers_in,
    product_of,
    quotient_of,
    short_text,
    sum_of,
)
from chainform.mechanism.records import (
    GROUND,
    ONE,
    ZERO,
    Friction,
    JointKind,
    Number,
    Parameter,
    Segment,
    Spring,
    is_law_of_time,
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

Described = TypeVar("Described", bound=MechanismData)

STATES, MORE_STATES = 8, 4
"""States at which columns are computed first, and then again until the rank does not grow."""
ATTEMPTS = 40
"""States that are tried for the coefficients of one column."""


@dataclass(frozen=True, slots=True)
class BaseParameter:
    """A base parameter: the dynamic parameter it is named after, and those grouped with it.

    `formula` has the coefficient of each dynamic parameter in it, exact numbers or expressions of
    lengths; `value` is its value, exact as well.
    """

    name: str
    leader: DynamicParameter
    formula: Mapping[str, Number]
    value: Number

    def __str__(self) -> str:
        """Return the formula: Izz_1R = Izz_1 + Iyy_2 + 0.09*m_3."""
        text = ""
        for name, factor in self.formula.items():
            term, sign = _product_text(factor, name)
            text += f" {sign} {term}" if text else f"{'-' if sign == '-' else ''}{term}"
        return f"{self.name} = {text}"


def _product_text(factor: Number, name: str) -> tuple[str, str]:
    """Return a product and its sign."""
    if isinstance(factor, Fraction):
        size = abs(factor)
        return name if size == 1 else f"{short_text(size)}*{name}", "-" if factor < 0 else "+"
    is_negative = isinstance(factor, Negate)
    size = factor.operand if is_negative else factor
    return format_expression(Binary("*", size, Identifier(name))), "-" if is_negative else "+"


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a mechanism, in the order of the columns of `base_regressor`."""

    parameters: tuple[DynamicParameter, ...]
    """The dynamic parameters they are made of."""
    entries: tuple[BaseParameter, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[BaseParameter]:
        return iter(self.entries)

    def __str__(self) -> str:
        lines = [str(entry) for entry in self.entries]
        if self.without_effect:
            lines.append(f"without effect: {', '.join(self.without_effect)}")
        return "\n".join(lines)

    @property
    def names(self) -> tuple[str, ...]:
        """Their names; one that stands for several parameters ends in R."""
        return tuple(entry.name for entry in self.entries)

    @property
    def values(self) -> dict[str, Number]:
        """Their exact values: numbers, or expressions of parameters."""
        return {entry.name: entry.value for entry in self.entries}

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """For each dynamic parameter with an effect the base parameters that it is part of."""
        found: dict[str, tuple[str, ...]] = {}
        for entry in self.entries:
            for name in entry.formula:
                found[name] = (*found.get(name, ()), entry.name)
        return {p.name: found[p.name] for p in self.parameters if p.name in found}

    @property
    def without_effect(self) -> tuple[str, ...]:
        """The dynamic parameters on which inverse dynamics does not depend."""
        return tuple(p.name for p in self.parameters if p.name not in self.groups)

    def matrix(self, values: Mapping[str, Any] | None = None) -> NDArray[np.float64]:
        """Return K with base = K theta in doubles; `values` has the lengths that are symbols."""
        known = {name: Fraction(str(value)) for name, value in (values or {}).items()}
        places = {p.name: k for k, p in enumerate(self.parameters)}
        result = np.zeros((len(self.entries), len(places)))
        for i, entry in enumerate(self.entries):
            for name, factor in entry.formula.items():
                number = factor if isinstance(factor, Fraction) else value_of(factor, known)
                result[i, places[name]] = float(number)
        return result


def base_parameters(mechanism: MechanismData, without: Collection[str] = ()) -> BaseParameters:
    """Return the base parameters of a mechanism; its own parameters are symbols in the formulas."""
    parameters = dynamic_parameters(mechanism, without)
    _check_base(mechanism)
    field = Polynomials(_geometry(mechanism))
    grouping = _Grouping(mechanism, parameters, field)
    candidates = grouping.candidates()
    dependence = _Dependence(mechanism, [leader for leader, _ in candidates], field)
    forms = [form for _, form in candidates]
    entries: list[BaseParameter] = []
    for leader in dependence.leaders:
        total = {k: (value, field.number(ONE)) for k, value in forms[leader].terms.items()}
        for follower, share in dependence.followers(leader):
            _add_form(total, forms[follower], share)
        entries.append(_entry(candidates[leader][0], total, parameters, field))
    return BaseParameters(parameters, tuple(entries))


def _geometry(mechanism: MechanismData) -> Iterator[Number]:
    """Yield the numbers that the columns of the regressor depend on."""
    yield from mechanism.gravity
    for segment in mechanism.segments:
        yield from (*segment.position, segment.offset, segment.joint.gear_ratio)
    yield from numbers_in((mechanism.base, tuple(spring.ends for spring in mechanism.springs)))


def _check_base(mechanism: MechanismData) -> None:
    base = mechanism.base
    if base.rpy is not None or base.quaternion is not None or is_law_of_time(base.numbers):
        raise DeriveError(
            "the base turns by a parameter or moves by a law of time, so that exact states of it "
            "are not known",
            file=mechanism.file,
            element="base",
            remedy="give its motion as numbers, or put joints between the ground and the first "
            "body; the output regressor takes any base",
        )


def _entry(
    leader: DynamicParameter,
    total: Mapping[int, tuple[Any, Any]],
    parameters: Sequence[DynamicParameter],
    field: Polynomials,
) -> BaseParameter:
    formula = {
        parameters[k].name: quotient_of(_number(field, n), _number(field, d))
        for k, (n, d) in sorted(total.items())
        if n != 0
    }
    # The parameter that gives the name stands first.
    own = {leader.name: formula.pop(leader.name)} if leader.name in formula else {}
    formula = {**own, **formula}
    is_single = formula == {leader.name: ONE}
    values = {p.name: p.value for p in parameters}
    value: Number = ZERO
    for name, factor in formula.items():
        value = sum_of(value, product_of(factor, values[name]))
    name = leader.name if is_single else f"{leader.name}R"
    return BaseParameter(name, leader, formula, value)


# --- mechanisms written in base parameters ---------------------------------------------------


def in_base_parameters(mechanism: Described) -> Described:
    """Return a mechanism with the same inverse dynamics whose free parameters these are.

    Its bodies have the base parameters for mass, first moment and inertia about the origin, and
    zero for what is grouped with others. Lengths and gravity stay as they are.
    """
    base = base_parameters(mechanism)
    taken = {parameter.name for parameter in mechanism.parameters} & set(base.names)
    if taken:
        raise DeriveError(
            f"the parameter {min(taken)!r} has the name of a base parameter",
            file=mechanism.file,
            element=f"parameter {min(taken)!r}",
            remedy="rename the parameter in the file",
        )
    symbols: dict[tuple[str, int], Number] = {
        (entry.leader.kind, entry.leader.place): Identifier(entry.name) for entry in base
    }
    changed = replace(
        mechanism,
        segments=tuple(
            _segment_in(symbols, j, segment) for j, segment in enumerate(mechanism.segments)
        ),
        springs=tuple(_spring_in(symbols, j, s) for j, s in enumerate(mechanism.springs)),
    )
    known = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    made = tuple(
        Parameter(e.name, _known_value(e.value, known), e.leader.unit, str(e)) for e in base
    )
    used = names_in(changed)
    return replace(
        changed, parameters=(*(p for p in mechanism.parameters if p.name in used), *made)
    )


def _known_value(value: Number, known: Mapping[str, Fraction]) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    return value_of(value, known) if symbols_of(value) <= known.keys() else None


Symbols: TypeAlias = Mapping[tuple[str, int], Number]


def _segment_in(symbols: Symbols, j: int, segment: Segment) -> Segment:
    joint = segment.joint
    friction = joint.friction and Friction(
        symbols.get(("viscous", j), ZERO), symbols.get(("coulomb", j), ZERO)
    )
    return replace(
        segment,
        body=body_of(tuple(symbols.get((kind, j), ZERO) for kind in INERTIAL)),
        joint=replace(joint, friction=friction, rotor_inertia=symbols.get(("rotor", j), ZERO)),
    )


def _spring_in(symbols: Symbols, j: int, spring: Spring) -> Spring:
    kinds = ("stiffness", "preload", "damping")
    stiffness, preload, damping = (symbols.get((kind, j), ZERO) for kind in kinds)
    rest = ZERO if preload == ZERO else quotient_of(preload, stiffness)
    return replace(spring, stiffness=stiffness, rest=rest, damping=damping)


# --- forms: linear combinations of parameters ------------------------------------------------


class _Form:
    """A sum of dynamic parameters with coefficients, by their numbers."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[int, Any]) -> None:
        self.terms = terms

    def __add__(self, other: Any) -> _Form:
        if not isinstance(other, _Form):
            return self
        total = dict(self.terms)
        for k, value in other.terms.items():
            total[k] = total[k] + value if k in total else value
        return _Form({k: value for k, value in total.items() if value != 0})

    __radd__ = __add__

    def __neg__(self) -> _Form:
        return _Form({k: -value for k, value in self.terms.items()})

    def __sub__(self, other: Any) -> _Form:
        return self + -other

    def __mul__(self, factor: Any) -> _Form:
        if factor == 0:
            return _Form({})
        return _Form({k: value * factor for k, value in self.terms.items()})

    __rmul__ = __mul__


def _add_form(total: dict[int, tuple[Any, Any]], form: _Form, share: tuple[Any, Any]) -> None:
    """Add a form times a fraction to fractions."""
    for k, value in form.terms.items():
        n, d = total.get(k, (value * 0, share[1]))
        total[k] = _reduced(n * share[1] + value * share[0] * d, d * share[1])


def _reduced(numerator: Any, denominator: Any) -> tuple[Any, Any]:
    """Return a fraction in lowest terms."""
    if isinstance(numerator, fmpq):
        return numerator / denominator, fmpq(1)
    divisor = numerator.gcd(denominator)
    numerator, denominator = numerator / divisor, denominator / divisor
    if denominator.is_constant():
        return numerator / denominator, denominator / denominator
    lead = denominator.leading_coefficient()
    return numerator / lead, denominator / lead


def _number(field: Polynomials, value: Any) -> Number:
    """Return a rational number or a polynomial as a number of the mechanism."""
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    total: Number = ZERO
    for powers, coefficient in value.to_dict().items():
        term: Number = _number(field, abs(coefficient))
        for atom, power in zip(field.atoms, powers, strict=True):
            if power:
                exponent = NumberExpression(Fraction(int(power)))
                term = product_of(term, atom if power == 1 else Binary("^", atom, exponent))
        total = sum_of(total, term) if coefficient > 0 else difference(total, term)
    return total


# --- grouping by rules ----------------------------------------------------------------------------


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


class _Grouping:
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
        self.empty = _Form({})
        self.nothing = _Inertia(self.empty, (self.empty,) * 3, ((self.empty,) * 3,) * 3)
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

    def candidates(self) -> list[tuple[DynamicParameter, _Form]]:
        """Return the parameters that the rules leave, each with all that is grouped with it."""
        for limb in self.bodies:
            self.totals[limb] = self._of_limb(limb)
        for limb in sorted(self.bodies, reverse=True):
            self._move(limb)
        found: list[tuple[DynamicParameter, _Form]] = []
        for limb in sorted(self.bodies):
            forms = dict(zip(INERTIAL, self.totals[limb].entries, strict=True))
            # Moments of inertia lead, so that the length of an arm never stands below a line.
            order = (*INERTIAL[4:], *INERTIAL[1:4], INERTIAL[0])
            leaders = [DynamicParameter(kind, self.bodies[limb], ZERO) for kind in order]
            found += [(p, forms[p.kind]) for p in leaders if forms[p.kind].terms]
        others = [(p, k) for k, p in enumerate(self.parameters) if not p.is_inertial]
        return found + [(p, _Form({k: self.one})) for p, k in others]

    def _of_limb(self, limb: int) -> _Inertia:
        total = self.nothing
        numbers = {(p.place, p.kind): k for k, p in enumerate(self.parameters)}
        for j, seat in self.seats.items():
            if seat.limb == limb and (j, "m") in numbers:
                m, x, y, z, xx, xy, yy, xz, yz, zz = (
                    _Form({numbers[j, kind]: self.one}) for kind in INERTIAL
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


# --- what is left: dependence between columns -----------------------------------------------------


class _Dependence:
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
            value = self._residue(n) * pow(self._residue(d), -1, PRIME) % PRIME
            if value != self.residues[column][leader]:
                raise self._unsolved(column)
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
        return [_reduced(rows[i][-1], rows[i][i]) for i in range(size)]

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

    def _residue(self, value: Any) -> int:
        if isinstance(value, fmpq):
            return int(value.p) * pow(int(value.q), -1, PRIME) % PRIME
        atoms = [int(Residues(0).number(atom)) for atom in self.field.atoms]
        total = 0
        for powers, coefficient in value.to_dict().items():
            term = self._residue(coefficient)
            for atom, power in zip(atoms, powers, strict=True):
                term = term * pow(atom, int(power), PRIME) % PRIME
            total += term
        return total % PRIME

    def _unsolved(self, column: int) -> DeriveError:
        return DeriveError(
            f"the share of {self.columns[column].name} in other parameters has no exact form",
            file=self.mechanism.file,
            element=self.columns[column].name,
            remedy='give the lengths numbers: base_parameters() with parameters="numeric"',
        )
