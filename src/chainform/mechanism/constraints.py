"""Constraints: conditions on coordinates and rates beside the joints, and quasi-velocities.

| kind           | condition                          | law of                    |
|----------------|------------------------------------|---------------------------|
| `holonomic`    | f(q, t) = 0                        | coordinates, time         |
| `nonholonomic` | f(q, qd, t) = 0, linear in rates   | coordinates, rates, time  |
| `unilateral`   | g(q, t) >= 0                       | coordinates, time         |

A unilateral constraint is described for a simulation: no equation of motion contains it. Its
restitution is the share of the closing speed that is left after an impact, its friction the
coefficient between the bodies that touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Literal, TypeAlias, cast

from chainform.expressions import symbols_of
from chainform.given import Given
from chainform.mechanism.elements.names import check_name
from chainform.mechanism.laws import LawReader, meaning_of
from chainform.mechanism.linearity import nonlinear_part
from chainform.mechanism.reader import Reader
from chainform.mechanism.types import ZERO, Number

Kind: TypeAlias = Literal["holonomic", "nonholonomic", "unilateral"]

KINDS = {"holonomic": ("q", "t"), "nonholonomic": ("q", "qd", "t"), "unilateral": ("q", "t")}
"""The kinds of constraints, and what their laws may depend on."""

CONTACT_FIELDS = ("restitution", "friction")
CONSTRAINT_FIELDS = frozenset({"name", "kind", "law", *CONTACT_FIELDS})
QUASI_FIELDS = frozenset({"name", "law"})


@dataclass(frozen=True, slots=True)
class Constraint:
    """A law that is to be zero, or not negative (unilateral)."""

    name: str
    kind: Kind
    law: Number
    restitution: Number = ZERO
    friction: Number = ZERO


@dataclass(frozen=True, slots=True)
class QuasiVelocity:
    """A name for a law that is linear in the rates: v = cos(phi) der(x) + sin(phi) der(y)."""

    name: str
    law: Number


def constraints_from(tables: Sequence[object], laws: LawReader) -> tuple[Constraint, ...]:
    """Return the checked constraints, in the order given."""
    made = tuple(_constraint(table, number, laws) for number, table in enumerate(tables, 1))
    laws.reader.check_distinct([constraint.name for constraint in made], "constraint")
    return made


def _constraint(value: object, number: int, laws: LawReader) -> Constraint:
    name, table = laws.reader.named(value, "constraint", number, CONSTRAINT_FIELDS)
    kind = cast("Kind", table["kind"].choice(tuple(KINDS), "constraint of the kind"))
    law = _law(table, kind, laws)
    restitution, friction = (_contact(table[f], kind, laws.reader) for f in CONTACT_FIELDS)
    return Constraint(name, kind, law, restitution, friction)


def _law(table: Given, kind: str, laws: LawReader) -> Number:
    """Return a law; one that binds nothing, or that is not linear in the rates, is refused."""
    given = table.required("law", 'write law = "..."')
    law = laws.law(given, KINDS[kind])
    groups = _groups_in(law, laws)
    wanted = "qd" if kind == "nonholonomic" else "q"
    if wanted not in groups and not groups & {"definition"}:
        what = "rate" if wanted == "qd" else "coordinate"
        remedy = f"write a condition on {what}s; a {kind} constraint needs one"
        raise given.error(f"the law names no {what}", remedy)
    _check_linear(law, given, laws)
    return law


def _groups_in(law: Number, laws: LawReader) -> set[str]:
    found: set[str] = set()
    if isinstance(law, Fraction):
        return found
    for name in symbols_of(law):
        meaning = meaning_of(name, laws.coordinates, laws.rates)
        if meaning is not None:
            found.add(meaning.group)
        elif name in laws.further:
            found.add("definition")
    return found


def _check_linear(law: Number, given: Given, laws: LawReader) -> None:
    def is_rate(name: str) -> bool:
        meaning = meaning_of(name, laws.coordinates, laws.rates)
        return meaning is not None and meaning.group == "qd"

    part = nonlinear_part(law, is_rate)
    if part is not None:
        remedy = "write it as a sum of rates, each times a law of coordinates and time"
        raise given.error(f"{part} is not linear in the rates", remedy)


def _contact(given: Given, kind: str, reader: Reader) -> Number:
    """Return restitution or friction, which only a unilateral constraint has."""
    field = given.element.rpartition(", ")[2]
    if given.is_given and kind != "unilateral":
        raise given.error(f"a {kind} constraint has no {field}", "leave it out")
    return reader.number(given, ZERO, least=0, most=1 if field == "restitution" else inf)


def quasi_from(
    tables: Sequence[object], laws: LawReader, constraints: Sequence[Constraint]
) -> tuple[QuasiVelocity, ...]:
    """Return the quasi-velocities: with the constraints as many as there are rates."""
    made = tuple(_quasi(table, number, laws) for number, table in enumerate(tables, 1))
    if not made:
        return made
    reader, count = laws.reader, len(laws.rates)
    reader.check_distinct([quasi.name for quasi in made], "quasi-velocity")
    bound = sum(constraint.kind != "unilateral" for constraint in constraints)
    if len(made) + bound != count:
        left = max(count - bound, 0)
        message = f"constraints leave {left} of {count} freedoms, and quasi-velocities: {len(made)}"
        remedy = "give one quasi-velocity for each freedom that is left"
        raise reader.error(message, "quasi", remedy)
    return made


def _quasi(value: object, number: int, laws: LawReader) -> QuasiVelocity:
    given = laws.reader.given(value, f"quasi-velocity {number}").table(QUASI_FIELDS)
    name = given["name"].name()
    table = given.at(f"quasi-velocity {name!r}")
    check_name(name, table, laws)
    return QuasiVelocity(name, _law(table, "nonholonomic", laws))
