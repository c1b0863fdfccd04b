"""The names that an element model brings along: coordinates, unknown forces, definitions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from chainform.expressions import CONSTANTS, FUNCTIONS, symbols_of
from chainform.mechanism.elements.chain import GEOMETRY
from chainform.mechanism.elements.fields import COORDINATE_FIELDS
from chainform.mechanism.elements.types import Definition
from chainform.mechanism.intake import Intake
from chainform.mechanism.laws import LawIntake, meanings_of
from chainform.mechanism.numbering import check_distinct
from chainform.mechanism.tables import check_fields, is_table, list_of, table_of
from chainform.mechanism.types import GROUND, Coordinate, Number, Segment

UNITS = ("", "rad", "m")


def coordinates_from(
    value: object, segments: Sequence[Segment], intake: Intake
) -> tuple[tuple[Coordinate, ...], tuple[Coordinate, ...]]:
    """Return the coordinates and rates that belong to no joint: names, or {name, unit, rate}.

    A mechanism with segments has none.
    """
    if segments:
        remedy = "remove 'coordinates': in a mechanism with segments they are those of the joints"
        raise intake.error("coordinates are declared beside segments", "coordinates", remedy)
    coordinates: list[Coordinate] = []
    rates: list[Coordinate] = []
    for number, said in enumerate(list_of(value, intake.file, "coordinates"), 1):
        where = f"coordinate {number}"
        table = table_of(said, intake.file, where) if is_table(said) else {"name": said}
        check_fields(table, COORDINATE_FIELDS, intake.file, where)
        name = intake.text(table.get("name"), where)
        unit = table.get("unit", "")
        if unit not in UNITS:
            raise intake.error("the unit is rad or m", f"coordinate {name!r}", "correct it")
        rate = name if table.get("rate") is None else intake.text(table["rate"], f"{where}, rate")
        coordinates.append(Coordinate(name, GROUND, str(unit)))
        rates.append(Coordinate(rate, GROUND, str(unit)))
        for one in (name, rate):
            if one in intake.values:
                where = f"coordinate {one!r}"
                raise intake.error("a parameter has the same name", where, "rename one of them")
    check_distinct([coordinate.name for coordinate in coordinates], "coordinate", intake)
    check_distinct([rate.name for rate in rates], "rate", intake)
    owners = {coordinate.name: place for place, coordinate in enumerate(coordinates)}
    for place, rate in enumerate(rates):
        if owners.get(rate.name, place) != place:
            where = f"rate {rate.name!r}"
            raise intake.error("another coordinate has this name", where, "rename one of them")
    return tuple(coordinates), tuple(rates)


def unknowns_from(value: object, laws: LawIntake) -> tuple[str, ...]:
    """Return the names of unknown forces."""
    if value is None:
        return ()
    intake = laws.intake
    names: list[str] = []
    for entry in list_of(value, intake.file, "unknowns"):
        names.append(intake.text(entry, "unknowns"))
        check_name(names[-1], laws, f"unknown {names[-1]!r}")
    check_distinct(names, "unknown", intake)
    return tuple(names)


def definitions_from(
    said: Mapping[str, object], laws: LawIntake, unknowns: Collection[str]
) -> tuple[Definition, ...]:
    """Return the definitions in the order given; they may name one another."""
    intake = laws.intake
    for name in said:
        where = f"definition {name[:60]!r}"
        check_name(name, laws, where)
        if name in unknowns:
            raise intake.error("an unknown force has this name", where, "rename one of them")
    reader = LawIntake(intake, laws.coordinates, laws.rates, tuple(said))
    given = {
        name: reader.law(value, f"definition {name!r}", GEOMETRY) for name, value in said.items()
    }
    needs = {name: _names_in(law) & given.keys() for name, law in given.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = " -> ".join(str(name) for name in error.args[1])
        message = f"definitions name one another in a circle: {circle}"
        raise intake.error(message, "definitions", "write one of them out") from error
    return tuple(Definition(name, law) for name, law in given.items())


def _names_in(law: Number) -> frozenset[str]:
    return frozenset() if isinstance(law, Fraction) else symbols_of(law)


def check_name(name: str, laws: LawIntake, where: str) -> None:
    """Refuse a name that cannot stand in an expression, or that means something already."""
    intake = laws.intake
    is_word = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
    if not is_word or name in FUNCTIONS or name in CONSTANTS:
        remedy = "use letters, digits and underscores, and no name of a function"
        raise intake.error("the name cannot stand in an expression", where, remedy)
    if meanings_of(name, laws.coordinates, laws.rates) or _is_place(name):
        remedy = "choose another name"
        raise intake.error("the name belongs to a coordinate, a rate or time", where, remedy)
    if name in intake.values:
        raise intake.error("a parameter has this name", where, "rename one of them")


def _is_place(name: str) -> bool:
    return re.fullmatch(r"(q|qd|qdd|tau|sigma|wrench|x|u|force)[0-9]+", name) is not None
