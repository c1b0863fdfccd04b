"""The parameters of a mechanism: their names, and values that depend on one another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from chainform.errors import ReadError
from chainform.expressions import CONSTANTS, FUNCTIONS, Expression, symbols_of, value_of
from chainform.given import Given
from chainform.mechanism.numbers import number_of, within_range
from chainform.mechanism.reader import Reader
from chainform.mechanism.types import Note, Number, Parameter

LONGEST_REMARK = 10_000
"""The most characters of a unit or a note."""


def parameters_from(
    tables: Sequence[Mapping[str, object]], file: str | None
) -> tuple[tuple[Parameter, ...], tuple[Note, ...]]:
    """Return the checked parameters, in the order given, and remarks on them.

    A table has name, value, unit and note. A value may be an expression of other parameters that
    have values. It is computed here, once; the parameter does not follow when the others are given
    new values later.
    """
    reader = Reader(file)
    given: dict[str, Number | None] = {}
    for table in tables:
        name = _name_of(reader.given(table["name"], "parameters"))
        value = reader.given(table.get("value"), f"parameter {name!r}")
        if name in given:
            raise value.error("the name is used twice", "rename one")
        with value.translate_errors():
            given[name] = None if value.value is None else number_of(value.value)
    values = _resolved(given, reader)
    parameters = tuple(
        Parameter(
            name, values[name], _remark(table, "unit", reader), _remark(table, "note", reader)
        )
        for name, table in zip(given, tables, strict=True)
    )
    return parameters, tuple(reader.notes)


def _name_of(given: Given) -> str:
    name = given.name()
    here = given.at(f"parameter {name!r}")
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
        remedy = "use letters, digits and underscores, beginning with a letter"
        raise here.error("the name cannot stand in an expression", remedy)
    if name in CONSTANTS or name in FUNCTIONS:
        raise here.error("the name belongs to a constant or a function", "choose another name")
    if re.fullmatch(r"(q|qd|qdd|tau|sigma|wrench)[0-9]+", name):
        message = "the name belongs to a coordinate, a rate or a force"
        raise here.error(message, "choose another name")
    return name


def _remark(table: Mapping[str, object], field: str, reader: Reader) -> str:
    given = reader.given(table.get(field, ""), f"parameters, {field}")
    if len(given.text()) > LONGEST_REMARK:
        raise given.error("the text is too long", f"write at most {LONGEST_REMARK} characters")
    return given.text()


def _resolved(given: Mapping[str, Number | None], reader: Reader) -> dict[str, Fraction | None]:
    """Return the value of every parameter, computing those that name others in turn."""
    needs = {name: _names_in(value) for name, value in given.items()}
    _check_names(needs, reader)
    values: dict[str, Fraction | None] = {}
    for name in _order(needs, reader):
        value = given[name]
        if value is not None and not isinstance(value, Fraction):
            value = _computed(name, value, values, reader)
        values[name] = value
    return values


def _names_in(value: Number | None) -> frozenset[str]:
    return frozenset() if value is None or isinstance(value, Fraction) else symbols_of(value)


def _computed(
    name: str, value: Expression, values: Mapping[str, Fraction | None], reader: Reader
) -> Fraction:
    where = f"parameter {name!r}"
    known: dict[str, Fraction] = {}
    for need in sorted(symbols_of(value)):
        number = values[need]
        if number is None:
            remedy = f"give {need!r} a value, or use it where {name!r} is used"
            raise reader.error(f"the value names {need!r}, which is free", where, remedy)
        known[need] = number
    reader.note(where, "computed from other parameters when read; it does not follow them later")
    with reader.given(value, where).translate_errors():
        return within_range(value_of(value, known))


def _check_names(needs: Mapping[str, frozenset[str]], reader: Reader) -> None:
    names = Reader(reader.file, dict.fromkeys(needs))
    for name, wanted in needs.items():
        for symbol in sorted(wanted):
            names.number(names.given(symbol, f"parameter {name!r}"))


def _order(needs: Mapping[str, frozenset[str]], reader: Reader) -> list[str]:
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = " -> ".join(str(name) for name in error.args[1])
        raise ReadError(
            f"parameters define one another in a circle: {circle}",
            file=reader.file,
            element="parameters",
            remedy="give one of them a number",
        ) from error
