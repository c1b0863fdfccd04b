"""Elements, unknown forces, definitions and constraints laid over a mechanism.

Constraints are conditions on coordinates and rates other than the joints, and quasi-velocities.

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

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import inf
from typing import Self, cast

from chainform.expressions import CONSTANTS, FUNCTIONS, symbols_of
from chainform.given import Given
from chainform.mechanism.components import (
    Constraint,
    ConstraintKind,
    Definition,
    QuasiVelocity,
)
from chainform.mechanism.data import MechanismData
from chainform.mechanism.element_chain import GEOMETRY
from chainform.mechanism.element_reader import ElementReader
from chainform.mechanism.element_references import check_references
from chainform.mechanism.laws import LawReader, group_of, meanings_of, nonlinear_part
from chainform.mechanism.numbers import symbols_in
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import GROUND, ZERO, Coordinate, Number, Segment
from chainform.mechanism.tables import COORDINATE_FIELDS

KINDS = {"holonomic": ("q", "t"), "nonholonomic": ("q", "qd", "t"), "unilateral": ("q", "t")}
"""The kinds of constraints, and what their laws may depend on."""
CONTACT_FIELDS = ("restitution", "friction")
CONSTRAINT_FIELDS = frozenset({"name", "kind", "law", *CONTACT_FIELDS})
QUASI_FIELDS = frozenset({"name", "law"})


def constraints_from(tables: Sequence[object], laws: LawReader) -> tuple[Constraint, ...]:
    """Return the checked constraints, in the order given."""
    made = tuple(_constraint(table, number, laws) for number, table in enumerate(tables, 1))
    laws.reader.check_distinct([constraint.name for constraint in made], "constraint")
    return made


def _constraint(value: object, number: int, laws: LawReader) -> Constraint:
    name, table = laws.reader.named(value, "constraint", number, CONSTRAINT_FIELDS)
    kind = cast("ConstraintKind", table["kind"].choice(tuple(KINDS), "constraint of the kind"))
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
    groups: set[str] = set()
    if isinstance(law, Fraction):
        return groups
    for name in symbols_of(law):
        group = group_of(name, laws.coordinates, laws.rates)
        if group is not None:
            groups.add(group)
        elif name in laws.further:
            groups.add("definition")
    return groups


def _check_linear(law: Number, given: Given, laws: LawReader) -> None:
    def is_rate(name: str) -> bool:
        return group_of(name, laws.coordinates, laws.rates) == "qd"

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


# --- coordinates, unknown forces, definitions -----------------------------------------------


UNITS = ("", "rad", "m")


def coordinates_from(
    value: object, segments: Sequence[Segment], reader: Reader
) -> tuple[tuple[Coordinate, ...], tuple[Coordinate, ...]]:
    """Return the coordinates and rates that belong to no joint: names, or {name, unit, rate}.

    A mechanism with segments has none.
    """
    given = reader.given(value, "coordinates")
    if segments:
        remedy = "remove 'coordinates': in a mechanism with segments they are those of the joints"
        raise given.error("coordinates are declared in a mechanism with segments", remedy)
    coordinates: list[Coordinate] = []
    rates: list[Coordinate] = []
    for number, entry in enumerate(given.entries(), 1):
        own = entry.value if entry.is_table else {"name": entry.value}
        table = entry.at(f"coordinate {number}").holding(own).table(COORDINATE_FIELDS)
        name = table["name"].name()
        unit = table["unit"].choice(UNITS, "unit", "it is rad or m") if table.has("unit") else ""
        rate = table["rate"].name() if table.has("rate") else name
        coordinates.append(Coordinate(name, GROUND, unit))
        rates.append(Coordinate(rate, GROUND, unit))
        for one in (name, rate):
            if one in reader.values:
                where = f"coordinate {one!r}"
                raise reader.error("a parameter has the same name", where, "rename one of them")
    reader.check_distinct([coordinate.name for coordinate in coordinates], "coordinate")
    reader.check_distinct([rate.name for rate in rates], "rate")
    owners = {coordinate.name: k for k, coordinate in enumerate(coordinates)}
    for k, rate in enumerate(rates):
        if owners.get(rate.name, k) != k:
            where = f"rate {rate.name!r}"
            raise reader.error("another coordinate has this name", where, "rename one of them")
    return tuple(coordinates), tuple(rates)


def unknowns_from(value: object, laws: LawReader) -> tuple[str, ...]:
    """Return the names of unknown forces."""
    names = [entry.name() for entry in laws.reader.given(value or [], "unknowns").entries()]
    for name in names:
        check_name(name, laws.reader.given(name, f"unknown {name!r}"), laws)
    laws.reader.check_distinct(names, "unknown")
    return tuple(names)


def definitions_from(
    table: Mapping[str, object], laws: LawReader, unknowns: Collection[str]
) -> tuple[Definition, ...]:
    """Return the definitions in the order given; they may name one another."""
    reader = laws.reader
    given = {name: reader.given(law, f"definition {name[:60]!r}") for name, law in table.items()}
    for name, law in given.items():
        check_name(name, law, laws)
        if name in unknowns:
            raise law.error("an unknown force has this name", "rename one of them")
    inner = replace(laws, further=tuple(table))
    read = {name: inner.law(law, GEOMETRY) for name, law in given.items()}
    needs = {name: symbols_in(law) & read.keys() for name, law in read.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = " -> ".join(str(name) for name in error.args[1])
        message = f"definitions name one another in a circle: {circle}"
        raise reader.error(message, "definitions", "write one of them out") from error
    return tuple(Definition(name, law) for name, law in read.items())


def check_name(name: str, given: Given, laws: LawReader) -> None:
    """Refuse a name that cannot stand in an expression, or that means something already."""
    is_word = re.fullmatch(r"[^\W\d]\w*", name) is not None
    if not is_word or name in FUNCTIONS or name in CONSTANTS:
        remedy = "use letters, digits and underscores, and no name of a function"
        raise given.error("the name cannot stand in an expression", remedy)
    if meanings_of(name, laws.coordinates, laws.rates) or _is_input(name):
        message = "the name belongs to a coordinate, a rate or time"
        raise given.error(message, "choose another name")
    if name in laws.reader.values:
        raise given.error("a parameter has this name", "rename one of them")


def _is_input(name: str) -> bool:
    return re.fullmatch(r"(q|qd|qdd|tau|sigma|wrench|x|u|force)[0-9]+", name) is not None


# --- the model, and its methods of the builder ----------------------------------------------


@dataclass(slots=True)
class ElementSpecification:
    """The content of an element model, unchecked."""

    coordinates: list[object] = field(default_factory=list[object])
    unknowns: list[object] = field(default_factory=list[object])
    definitions: dict[str, object] = field(default_factory=dict[str, object])
    elements: list[object] = field(default_factory=list[object])
    constraints: list[object] = field(default_factory=list[object])
    quasi: list[object] = field(default_factory=list[object])
    is_declared: bool = False
    """Whether coordinates were declared; a list of expressions may have none."""

    def define(self, model: Mapping[str, object]) -> None:
        """Add definitions; a later one of the same name takes the place of an earlier one."""
        self.definitions.update(model)


def with_elements(
    mechanism: MechanismData, model: ElementSpecification, reader: Reader
) -> MechanismData:
    """Return the mechanism with an element model, checked."""
    plain = LawReader(reader, mechanism.coordinates, mechanism.rates)
    named = (ElementReader(plain).frame_name(one, k) for k, one in enumerate(model.elements, 1))
    frames = (*mechanism.frame_names, *(name for name in named if name is not None))
    plain = replace(plain, frames=frames)
    unknowns = unknowns_from(model.unknowns, plain)
    definitions = definitions_from(model.definitions, plain, unknowns)
    laws = replace(plain, further=tuple(definition.name for definition in definitions))
    inner = ElementReader(laws, unknowns)
    elements = tuple(inner.element(one, k) for k, one in enumerate(model.elements, 1))
    check_references(elements, replace(mechanism, definitions=definitions), reader)
    constraints = constraints_from(model.constraints, laws)
    return replace(
        mechanism,
        unknowns=unknowns,
        definitions=definitions,
        elements=elements,
        constraints=constraints,
        quasi=quasi_from(model.quasi, laws, constraints),
    )


class ElementMethods:
    """Collects coordinates, unknown forces, definitions, elements and constraints."""

    def __init__(self) -> None:
        self._model = ElementSpecification()

    def coordinates(self, *coordinates: object) -> Self:
        """Declare the coordinates of a model without segments: names, or {name, unit, rate}.

        Without any it has parameters alone, as a file of expressions may have.
        """
        self._model.coordinates += coordinates
        self._model.is_declared = True
        return self

    def unknowns(self, *names: object) -> Self:
        """Name forces and moments that are not known, in which components may be linear.

        They are inputs of the equations, and what `unknown_forces` solves for.
        """
        self._model.unknowns += names
        return self

    def define(self, table: Mapping[str, object] | None = None, **laws: object) -> Self:
        """Give names to laws of coordinates, time and parameters, for use in other laws."""
        given = Given({} if table is None else table, "definitions").table()
        self._model.define({**given.value, **laws})
        return self

    def element(self, given: object = None, **fields: object) -> Self:
        """Add an element: fields of the native file, or a body or frame in short form.

        element("P~K: Sz(d), Rx(phi); m, Jx, Jy, Jz")
        element(kind="moment", name="drive", moment="M", along="phi")
        """
        self._model.elements.append(fields if given is None else given)
        return self

    def constraint(self, kind: object, law: object, **fields: object) -> Self:
        """Add a constraint, `holonomic`, `nonholonomic` or `unilateral`; also name and so on."""
        return self.constraint_table({"kind": kind, "law": law, **fields})

    def constraint_table(self, table: object) -> Self:
        """Add a constraint given as a table of the native file."""
        self._model.constraints.append(table)
        return self

    def quasi(self, name: object, law: object) -> Self:
        """Add a quasi-velocity: a law linear in the rates."""
        return self.quasi_table({"name": name, "law": law})

    def quasi_table(self, table: object) -> Self:
        """Add a quasi-velocity given as a table {name, law}."""
        self._model.quasi.append(table)
        return self
