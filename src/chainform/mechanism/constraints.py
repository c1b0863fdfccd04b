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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from chainform.expressions import symbols_of
from chainform.mechanism.elements.names import check_name
from chainform.mechanism.intake import Intake
from chainform.mechanism.laws import LawIntake, meaning_of
from chainform.mechanism.linearity import nonlinear_part
from chainform.mechanism.numbering import check_distinct
from chainform.mechanism.tables import check_fields, table_of
from chainform.mechanism.types import ONE, ZERO, Number

KINDS = {"holonomic": ("q", "t"), "nonholonomic": ("q", "qd", "t"), "unilateral": ("q", "t")}
"""The kinds of constraints, and what their laws may depend on."""

CONSTRAINT_FIELDS = frozenset({"name", "kind", "law", "restitution", "friction"})
QUASI_FIELDS = frozenset({"name", "law"})


@dataclass(frozen=True, slots=True)
class Constraint:
    """A law that is to be zero, or not negative (unilateral)."""

    name: str
    kind: Literal["holonomic", "nonholonomic", "unilateral"]
    law: Number
    restitution: Number = ZERO
    friction: Number = ZERO


@dataclass(frozen=True, slots=True)
class QuasiVelocity:
    """A name for a law that is linear in the rates: v = cos(phi) der(x) + sin(phi) der(y)."""

    name: str
    law: Number


def constraints_from(said: Sequence[object], laws: LawIntake) -> tuple[Constraint, ...]:
    """Return the checked constraints, in the order given."""
    made = tuple(_constraint(table, number, laws) for number, table in enumerate(said, 1))
    check_distinct([constraint.name for constraint in made], "constraint", laws.intake)
    return made


def _constraint(said: object, number: int, laws: LawIntake) -> Constraint:
    intake = laws.intake
    table = table_of(said, intake.file, f"constraint {number}")
    name = f"constraint{number}"
    if table.get("name") is not None:
        name = intake.text(table["name"], f"constraint {number}, name")
    where = f"constraint {name!r}"
    check_fields(table, CONSTRAINT_FIELDS, intake.file, where)
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in ("holonomic", "nonholonomic", "unilateral"):
        remedy = "kinds are " + ", ".join(KINDS)
        raise intake.error(f"there is no constraint of the kind {kind!r}", where, remedy)
    law = _law(table, laws, where, KINDS[kind])
    _check_law(law, kind, laws, f"{where}, law")
    restitution = _contact(table, "restitution", kind, intake, where)
    return Constraint(
        name, kind, law, restitution, _contact(table, "friction", kind, intake, where)
    )


def _law(table: Mapping[str, object], laws: LawIntake, where: str, groups: Sequence[str]) -> Number:
    if table.get("law") is None:
        raise laws.intake.error("'law' is missing", where, 'write law = "..."')
    return laws.law(table["law"], f"{where}, law", groups)


def _check_law(law: Number, kind: str, laws: LawIntake, where: str) -> None:
    """Refuse a law that binds nothing, or that is not linear in the rates."""
    groups = _groups_in(law, laws)
    wanted = "qd" if kind == "nonholonomic" else "q"
    if wanted not in groups and not groups & {"definition"}:
        what = "rate" if wanted == "qd" else "coordinate"
        remedy = f"write a condition on {what}s; a {kind} constraint needs one"
        raise laws.intake.error(f"the law names no {what}", where, remedy)
    _check_linear(law, laws, where)


def _groups_in(law: Number, laws: LawIntake) -> set[str]:
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


def _check_linear(law: Number, laws: LawIntake, where: str) -> None:
    def is_rate(name: str) -> bool:
        meaning = meaning_of(name, laws.coordinates, laws.rates)
        return meaning is not None and meaning.group == "qd"

    part = nonlinear_part(law, is_rate)
    if part is not None:
        remedy = "write it as a sum of rates, each times a law of coordinates and time"
        raise laws.intake.error(f"{part} is not linear in the rates", where, remedy)


def _contact(
    table: Mapping[str, object], field: str, kind: str, intake: Intake, where: str
) -> Number:
    """Return restitution or friction, which only a unilateral constraint has."""
    if table.get(field) is None:
        return ZERO
    here = f"{where}, {field}"
    if kind != "unilateral":
        raise intake.error(f"a {kind} constraint has no {field}", here, "leave it out")
    number = intake.number(table[field], here)
    known = intake.known(number, here)
    if known is not None and (known < 0 or (field == "restitution" and known > ONE)):
        remedy = "restitution lies between 0 and 1, friction is not negative"
        raise intake.error("the number cannot be so", here, remedy)
    return number


def quasi_from(
    said: Sequence[object], laws: LawIntake, constraints: Sequence[Constraint]
) -> tuple[QuasiVelocity, ...]:
    """Return the quasi-velocities: with the constraints as many as there are rates."""
    made = tuple(_quasi(table, number, laws) for number, table in enumerate(said, 1))
    if not made:
        return made
    intake, count = laws.intake, len(laws.rates)
    check_distinct([quasi.name for quasi in made], "quasi-velocity", intake)
    bound = sum(constraint.kind != "unilateral" for constraint in constraints)
    if len(made) + bound != count:
        left = max(count - bound, 0)
        message = f"constraints leave {left} of {count} freedoms, and quasi-velocities: {len(made)}"
        remedy = "give one quasi-velocity for each freedom that is left"
        raise intake.error(message, "quasi", remedy)
    return made


def _quasi(said: object, number: int, laws: LawIntake) -> QuasiVelocity:
    intake = laws.intake
    table = table_of(said, intake.file, f"quasi-velocity {number}")
    check_fields(table, QUASI_FIELDS, intake.file, f"quasi-velocity {number}")
    name = intake.text(table.get("name"), f"quasi-velocity {number}, name")
    where = f"quasi-velocity {name!r}"
    check_name(name, laws, where)
    law = _law(table, laws, where, KINDS["nonholonomic"])
    _check_law(law, "nonholonomic", laws, f"{where}, law")
    return QuasiVelocity(name, law)
