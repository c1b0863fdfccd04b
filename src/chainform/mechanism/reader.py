"""Turn what a user wrote into exact numbers, vectors, axes and rotations, or say what is wrong.

Parameters come first: their names, and values that depend on one another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import inf
from typing import Literal

from chainform.errors import ReadError
from chainform.expressions import (
    CONSTANTS,
    FUNCTIONS,
    Expression,
    latin_name,
    parse_symbol,
    symbols_of,
    value_of,
)
from chainform.given import Given, near
from chainform.mechanism.exact import (
    exact_axis,
    exact_quaternion,
    exact_rotation,
    rotation_of_angles,
)
from chainform.mechanism.numbers import number_of, symbols_in, within_range
from chainform.mechanism.records import (
    IDENTITY,
    ZERO_VECTOR,
    Axis,
    Matrix3,
    Note,
    Number,
    Parameter,
    Rotation,
    Vector3,
)

NOWHERE = Given(None)
_AXES = {"x": 0, "y": 1, "z": 2}
AXIS_REMEDY = "write x, y, z, -x, -y or -z, or three numbers"


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads exact numbers, and expressions of the parameters that it knows; it collects notes.

    `values` maps the declared parameters to their numbers, None for the free ones.
    """

    file: str | None = None
    values: Mapping[str, Fraction | None] = field(default_factory=dict[str, Fraction | None])
    notes: list[Note] = field(default_factory=list[Note])
    fixed: dict[str, str] = field(default_factory=dict[str, str])
    """Parameters whose values have become numbers here, each with an element where that is so."""
    limited: dict[str, str] = field(default_factory=dict[str, str])
    """The same in limits of joints, which are no part of the equations of motion."""

    def given(self, value: object, element: str) -> Given:
        """Return a value of the file."""
        return Given(value, element, self.file)

    def error(self, message: str, element: str, remedy: str) -> ReadError:
        """Return the error for an element of the file."""
        return ReadError(message, file=self.file, element=element, remedy=remedy)

    def note(self, element: str, text: str, level: Literal["note", "warning"] = "note") -> None:
        """Add a remark to the report."""
        self.notes.append(Note(level, element, text))

    def named(
        self, value: object, kind: str, number: int, allowed: Collection[str] | None = None
    ) -> tuple[str, Given]:
        """Return a name, by default the kind and the number, and the table that has it."""
        given = self.given(value, f"{kind} {number}").table()
        name = given["name"].name() if given.has("name") else f"{kind}{number}"
        return name, given.at(f"{kind} {name!r}").table(allowed)

    def check_distinct(self, names: Iterable[str], kind: str) -> None:
        """Refuse a name that occurs twice."""
        seen: set[str] = set()
        for name in names:
            if name in seen:
                remedy = f"give each {kind} a name of its own"
                raise self.error("the name is used twice", f"{kind} {name!r}", remedy)
            seen.add(name)

    @property
    def bound(self) -> dict[str, Fraction]:
        """The parameters that have a value."""
        return {name: value for name, value in self.values.items() if value is not None}

    # --- numbers ----------------------------------------------------------------------------

    def number(
        self,
        given: Given,
        default: Number | None = None,
        *,
        least: float = -inf,
        above: float = -inf,
        most: float = inf,
    ) -> Number:
        """Return a number, or an expression all of whose names are declared parameters.

        The bounds hold as far as the parameters have values.
        """
        if not given.is_given and default is not None:
            return default
        try:
            result = number_of(given.value)
        except ReadError as error:
            raise given.error(error.message, error.remedy) from error
        for name in () if isinstance(result, Fraction) else sorted(symbols_of(result)):
            if name not in self.values:
                remedy = near(name, self.values) + "declare it under parameters, or write a number"
                if "(" in name:
                    remedy = "write a number, or an expression of parameters; this is no law"
                raise given.error(f"{name!r} is not a parameter", remedy)
        known = self.known(result, given)
        if known is not None and (least, above, most) != (-inf, -inf, inf):
            given.within(known, least, most, above=above)
        return result

    def known(self, value: Number, given: Given = NOWHERE) -> Fraction | None:
        """Return the number that `value` stands for, None while one of its parameters is free."""
        if isinstance(value, Fraction):
            return value
        if any(self.values.get(name) is None for name in symbols_of(value)):
            return None
        with given.translate_errors():
            return within_range(value_of(value, self.bound))

    def fraction(self, given: Given, *, is_limit: bool = False) -> Fraction:
        """Return a number that must be known: expressions may name bound parameters only."""
        number = self.number(given)
        if not isinstance(number, Fraction):
            record = self.limited if is_limit else self.fixed
            record.update(dict.fromkeys(symbols_of(number) - record.keys(), given.element))
        result = self.known(number, given)
        if result is None:
            raise given.error(
                "this must be a known number, but it names a free parameter",
                "give that parameter a value; axes, rotations, limits and signs stay numbers",
            )
        return result

    def whole(self, given: Given) -> int:
        """Return a whole number; 3.0 counts as one."""
        with given.translate_errors():
            result = number_of(given.value)
        if isinstance(result, Fraction) and result.denominator == 1:
            return int(result)
        raise given.error("expected a whole number", "write it without a decimal point")

    # --- vectors and rotations --------------------------------------------------------------

    def vector(self, given: Given) -> Vector3:
        """Return three numbers; nothing given means zero."""
        return self._three_numbers(given) if given.is_given else ZERO_VECTOR

    def _three_numbers(self, given: Given) -> Vector3:
        x, y, z = map(self.number, given.entries(3))
        return (x, y, z)

    def known_vector(self, given: Given) -> Axis:
        """Return three known numbers."""
        x, y, z = map(self.fraction, given.entries(3))
        return (x, y, z)

    def matrix(self, given: Given) -> Matrix3:
        """Return three rows of three numbers."""
        a, b, c = map(self._three_numbers, given.entries(3))
        return (a, b, c)

    def axis(self, given: Given) -> Axis:
        """Return an exactly unit vector, from three numbers or a text such as `z` or `-x`."""
        value = given.value
        if isinstance(value, str) and value.lstrip("-") in _AXES and value.count("-") <= 1:
            row = IDENTITY[_AXES[value[-1]]]
            return (-row[0], -row[1], -row[2]) if value[0] == "-" else row
        if isinstance(value, str):
            raise given.error(f"{value[:60]!r} is not an axis", AXIS_REMEDY)
        vector = self.known_vector(given)
        with given.translate_errors():
            axis, remark = exact_axis(vector)
        if remark is not None:
            self.note(given.element, remark)
        return axis

    def rotation(self, table: Given) -> Rotation:
        """Return an exact rotation from one of three entries of a table; none means unity.

        `rotation` is a matrix, `rpy` holds roll, pitch, yaw in rad: Rz(yaw) Ry(pitch) Rx(roll);
        `quaternion` x, y, z, w.
        """
        forms = [form for form in ("rotation", "rpy", "quaternion") if table.has(form)]
        if len(forms) > 1:
            remedy = "keep one of rotation, rpy and quaternion"
            raise table["rotation"].error("the rotation is given more than once", remedy)
        if not forms:
            return IDENTITY
        given = table[forms[0]]
        if forms == ["quaternion"]:
            quaternion = [self.fraction(entry) for entry in given.entries(4)]
            with given.translate_errors():
                return exact_quaternion(*quaternion)
        if forms == ["rpy"]:
            meant = rotation_of_angles(*self.known_vector(given))
        else:
            a, b, c = map(self.known_vector, given.entries(3))
            meant = (a, b, c)
        with given.translate_errors():
            rotation, remark = exact_rotation(meant)
        if remark is not None:
            self.note(given.element, remark)
        return rotation


# --- parameters -----------------------------------------------------------------------------


LONGEST_REMARK = 10_000
"""The most characters of a unit or a note."""


def parameters_from(
    tables: Sequence[Mapping[str, object]], file: str | None
) -> tuple[tuple[Parameter, ...], tuple[Note, ...]]:
    """Return the checked parameters, in the order given, and remarks on them.

    A table has name, value, unit, note and symbol. A value may be an expression of other
    parameters that have values. It is computed here, once; the parameter does not follow when the
    others are given new values later.
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
            name,
            values[name],
            _remark(table, "unit", reader),
            _remark(table, "note", reader),
            _symbol(table, name, reader),
        )
        for name, table in zip(given, tables, strict=True)
    )
    return parameters, tuple(reader.notes)


def _name_of(given: Given) -> str:
    name = given.name()
    here = given.at(f"parameter {name!r}")
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
        latin = latin_name(name)
        remedy = "use letters, digits and underscores, beginning with a letter"
        if latin != name:
            remedy = f"write {latin}; formulas show it as the letter"
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
    # Units go into comments of exported sources: a line break would end them there.
    if field == "unit" and not given.text().isprintable():
        raise given.error("a unit has printable characters only", "write it in one line: kg m^2")
    return given.text()


def _symbol(table: Mapping[str, object], name: str, reader: Reader) -> str:
    """Return how formulas write a parameter, checked: a letter with indices, in LaTeX."""
    given = reader.given(table.get("symbol", ""), f"parameter {name!r}, symbol")
    text = given.text(r'write symbol = "m_{crank}"')
    if text:
        with given.translate_errors():
            parse_symbol(text)
    return text


def _resolved(given: Mapping[str, Number | None], reader: Reader) -> dict[str, Fraction | None]:
    """Return the value of every parameter, computing those that name others in turn."""
    needs = {name: symbols_in(value) for name, value in given.items()}
    _check_names(needs, reader)
    values: dict[str, Fraction | None] = {}
    for name in _order(needs, reader):
        value = given[name]
        if value is not None and not isinstance(value, Fraction):
            value = _computed(name, value, values, reader)
        values[name] = value
    return values


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
