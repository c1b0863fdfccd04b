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
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import DeriveError, RunError
from chainform.expressions import (
    Binary,
    Identifier,
    Negate,
    format_expression,
    symbols_of,
    value_of,
)
from chainform.given import argument
from chainform.mechanism.checks import names_in
from chainform.mechanism.data import MechanismData
from chainform.mechanism.dynamic_parameters import (
    INERTIAL,
    DynamicParameter,
    body_of,
    dynamic_parameters_of,
)
from chainform.mechanism.exact_fields import Polynomials, reduced
from chainform.mechanism.numbers import (
    difference,
    numbers_in,
    plain_number,
    product_of,
    quotient_of,
    short_text,
    sum_of,
)
from chainform.mechanism.parameter_groups import ColumnDependence, Form, Grouping
from chainform.mechanism.records import (
    ONE,
    ZERO,
    Friction,
    Number,
    Parameter,
    Segment,
    Spring,
)

Described = TypeVar("Described", bound=MechanismData)


@dataclass(frozen=True, slots=True, repr=False)
class BaseParameter(Displayed):
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


@dataclass(frozen=True, repr=False)
class BaseParameters(Displayed):
    """The base parameters of a mechanism, in the order of the columns of `base_regressor`."""

    parameters: tuple[DynamicParameter, ...]
    """The dynamic parameters they are made of."""
    entries: tuple[BaseParameter, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[BaseParameter]:
        return iter(self.entries)

    def __getitem__(self, name: str) -> BaseParameter:
        """Return the base parameter of this name, with its formula and value."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise argument("base parameters", name).unknown("base parameter", self.names)

    def __repr__(self) -> str:
        return f"<BaseParameters: {len(self)} of {len(self.parameters)} dynamic parameters>"

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
    def mixed(self) -> tuple[BaseParameter, ...]:
        """Those in which springs or friction are grouped with bodies: gravity may act alike."""
        passive = {p.name for p in self.parameters if p.is_passive}
        inertial = {p.name for p in self.parameters if not p.is_passive}
        return tuple(
            e for e in self.entries if passive & e.formula.keys() and inertial & e.formula.keys()
        )

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

    def describe(self) -> dict[str, Any]:
        """Return all of it as plain data: `chainform parameters --json` prints them.

        Numbers are ints and floats where these are exact, else texts.
        """
        dynamic = [
            {
                "name": p.name,
                "value": plain_number(p.value),
                "unit": p.unit,
                "groups": list(self.groups.get(p.name, ())),
            }
            for p in self.parameters
        ]
        base = [
            {
                "name": entry.name,
                "value": plain_number(entry.value),
                "unit": entry.leader.unit,
                "formula": {name: plain_number(k) for name, k in entry.formula.items()},
            }
            for entry in self.entries
        ]
        return {"dynamic": dynamic, "base": base, "without_effect": list(self.without_effect)}

    def vector(self, values: Mapping[str, Any] | None = None) -> NDArray[np.float64]:
        """Return the values of the base parameters in doubles; `values` has those of symbols."""
        return np.array([_double(entry.value, values or {}) for entry in self.entries])

    def matrix(self, values: Mapping[str, Any] | None = None) -> NDArray[np.float64]:
        """Return K with base = K theta in doubles; `values` has the lengths that are symbols."""
        places = {p.name: k for k, p in enumerate(self.parameters)}
        result = np.zeros((len(self.entries), len(places)))
        for i, entry in enumerate(self.entries):
            for name, factor in entry.formula.items():
                result[i, places[name]] = _double(factor, values or {})
        return result


def _double(number: Number, values: Mapping[str, Any]) -> float:
    if isinstance(number, Fraction):
        return float(number)
    lacking = [name for name in symbols_of(number) if name not in values]
    if lacking:
        raise RunError(
            f"{lacking[0]} is a symbol and has no value here",
            element="values",
            remedy=f"give it: {{{lacking[0]!r}: ...}}, or take base_parameters() with numbers",
        )
    return float(value_of(number, {name: Fraction(str(v)) for name, v in values.items()}))


def base_parameters_of(mechanism: MechanismData, without: Collection[str] = ()) -> BaseParameters:
    """Return the base parameters of a mechanism; its own parameters are symbols in the formulas."""
    parameters = dynamic_parameters_of(mechanism, without)
    _check_base(mechanism)
    field = Polynomials(_geometry(mechanism))
    grouping = Grouping(mechanism, parameters, field)
    candidates = grouping.candidates()
    dependence = ColumnDependence(mechanism, [leader for leader, _ in candidates], field)
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
    if mechanism.base.has_laws:
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
        parameters[k].name: quotient_of(field.expression(n), field.expression(d))
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
        if isinstance(factor, Fraction) and factor < 0:
            value = difference(value, product_of(-factor, values[name]))
        else:
            value = sum_of(value, product_of(factor, values[name]))
    name = leader.name if is_single else f"{leader.name}R"
    return BaseParameter(name, leader, formula, value)


def _add_form(total: dict[int, tuple[Any, Any]], form: Form, share: tuple[Any, Any]) -> None:
    """Add a form times a fraction to fractions."""
    for k, value in form.terms.items():
        n, d = total.get(k, (value * 0, share[1]))
        total[k] = reduced(n * share[1] + value * share[0] * d, d * share[1])


# --- mechanisms written in base parameters ---------------------------------------------------


def in_base_parameters(mechanism: Described) -> Described:
    """Return a mechanism with the same inverse dynamics whose free parameters these are.

    Its bodies have the base parameters for mass, first moment and inertia about the origin, and
    zero for what is grouped with others. Lengths and gravity stay as they are.
    """
    base = base_parameters_of(mechanism)
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
    return replace(spring, stiffness=stiffness, rest=ZERO, damping=damping, preload=preload)
