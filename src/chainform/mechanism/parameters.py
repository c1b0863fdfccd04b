"""The parameters of a mechanism: their names, and values that depend on one another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from chainform.errors import ReadError
from chainform.expressions import CONSTANTS, FUNCTIONS, Expression, symbols_of, value_of
from chainform.mechanism.intake import Intake, located
from chainform.mechanism.numbers import number_of, within_range
from chainform.mechanism.types import Note, Number, Parameter


@dataclass(frozen=True, slots=True)
class ParameterSpecification:
    """What was said about a parameter, unchecked."""

    name: object
    value: object = None
    unit: object = ""
    note: object = ""


def parameters_from(
    specifications: tuple[ParameterSpecification, ...], file: str | None
) -> tuple[tuple[Parameter, ...], tuple[Note, ...]]:
    """Return the checked parameters, in the order given, and remarks on them.

    A value may be an expression of other parameters that have values. It is computed here, once;
    the parameter does not follow when the others are given new values later.
    """
    intake = Intake(file)
    given: dict[str, Number | None] = {}
    for specification in specifications:
        name = _name_of(specification.name, intake)
        if name in given:
            raise intake.error("the name is used twice", f"parameter {name!r}", "rename one")
        with located(file, f"parameter {name!r}"):
            value = specification.value
            given[name] = None if value is None else number_of(value)
    values = _resolved(given, intake)
    parameters = tuple(
        Parameter(name, values[name], _remark(said.unit, intake), _remark(said.note, intake))
        for name, said in zip(given, specifications, strict=True)
    )
    return parameters, tuple(intake.notes)


def _name_of(name: object, intake: Intake) -> str:
    text = intake.text(name, "parameters")
    where = f"parameter {text!r}"
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is None:
        remedy = "use letters, digits and underscores, beginning with a letter"
        raise intake.error("the name cannot stand in an expression", where, remedy)
    if text in CONSTANTS or text in FUNCTIONS:
        remedy = "choose another name"
        raise intake.error("the name belongs to a constant or a function", where, remedy)
    if re.fullmatch(r"(q|qd|qdd|tau|sigma|wrench)[0-9]+", text):
        remedy = "choose another name"
        raise intake.error("the name belongs to a coordinate, a rate or a force", where, remedy)
    return text


def _remark(value: object, intake: Intake) -> str:
    if isinstance(value, str) and len(value) <= 10_000:
        return value
    raise intake.error("unit and note must be texts", "parameters", "write them in quotation marks")


def _resolved(given: Mapping[str, Number | None], intake: Intake) -> dict[str, Fraction | None]:
    """Return the value of every parameter, computing those that name others in turn."""
    needs = {name: _names_in(value) for name, value in given.items()}
    _check_names(needs, intake)
    values: dict[str, Fraction | None] = {}
    for name in _order(needs, intake):
        value = given[name]
        if value is not None and not isinstance(value, Fraction):
            value = _computed(name, value, values, intake)
        values[name] = value
    return values


def _names_in(value: Number | None) -> frozenset[str]:
    return frozenset() if value is None or isinstance(value, Fraction) else symbols_of(value)


def _computed(
    name: str, value: Expression, values: Mapping[str, Fraction | None], intake: Intake
) -> Fraction:
    where = f"parameter {name!r}"
    known: dict[str, Fraction] = {}
    for need in sorted(symbols_of(value)):
        number = values[need]
        if number is None:
            remedy = f"give {need!r} a value, or use it where {name!r} is used"
            raise intake.error(f"the value names {need!r}, which is free", where, remedy)
        known[need] = number
    intake.note(where, "computed from other parameters when read; it does not follow them later")
    with located(intake.file, where):
        return within_range(value_of(value, known))


def _check_names(needs: Mapping[str, frozenset[str]], intake: Intake) -> None:
    names = Intake(intake.file, dict.fromkeys(needs))
    for name, wanted in needs.items():
        for symbol in sorted(wanted):
            names.number(symbol, f"parameter {name!r}")


def _order(needs: Mapping[str, frozenset[str]], intake: Intake) -> list[str]:
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = " -> ".join(str(name) for name in error.args[1])
        raise ReadError(
            f"parameters define one another in a circle: {circle}",
            file=intake.file,
            element="parameters",
            remedy="give one of them a number",
        ) from error
