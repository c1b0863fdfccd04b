"""The names that an element model brings along: coordinates, unknown forces, definitions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from chainform.expressions import CONSTANTS, FUNCTIONS, symbols_of
from chainform.given import Given
from chainform.mechanism.elements.chain import GEOMETRY
from chainform.mechanism.elements.types import Definition
from chainform.mechanism.laws import LawReader, meanings_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.tables import COORDINATE_FIELDS
from chainform.mechanism.types import GROUND, Coordinate, Number, Segment

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
        raise given.error("coordinates are declared beside segments", remedy)
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
    inner = LawReader(reader, laws.coordinates, laws.rates, tuple(table))
    read = {name: inner.law(law, GEOMETRY) for name, law in given.items()}
    needs = {name: _names_in(law) & read.keys() for name, law in read.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = " -> ".join(str(name) for name in error.args[1])
        message = f"definitions name one another in a circle: {circle}"
        raise reader.error(message, "definitions", "write one of them out") from error
    return tuple(Definition(name, law) for name, law in read.items())


def _names_in(law: Number) -> frozenset[str]:
    return frozenset() if isinstance(law, Fraction) else symbols_of(law)


def check_name(name: str, given: Given, laws: LawReader) -> None:
    """Refuse a name that cannot stand in an expression, or that means something already."""
    is_word = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
    if not is_word or name in FUNCTIONS or name in CONSTANTS:
        remedy = "use letters, digits and underscores, and no name of a function"
        raise given.error("the name cannot stand in an expression", remedy)
    if meanings_of(name, laws.coordinates, laws.rates) or _is_place(name):
        message = "the name belongs to a coordinate, a rate or time"
        raise given.error(message, "choose another name")
    if name in laws.reader.values:
        raise given.error("a parameter has this name", "rename one of them")


def _is_place(name: str) -> bool:
    return re.fullmatch(r"(q|qd|qdd|tau|sigma|wrench|x|u|force)[0-9]+", name) is not None
