"""Turn what a user wrote into exact numbers, vectors, axes and rotations, or say what is wrong."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from typing import Literal

from chainform.errors import ReadError
from chainform.expressions import symbols_of, value_of
from chainform.mechanism.exact import (
    exact_axis,
    exact_quaternion,
    exact_rotation,
    rotation_of_angles,
)
from chainform.mechanism.numbers import number_of, within_range
from chainform.mechanism.tables import kind_of, list_of
from chainform.mechanism.types import (
    IDENTITY,
    ZERO_VECTOR,
    Axis,
    Matrix3,
    Note,
    Number,
    Rotation,
    Vector3,
)

_AXES = {"x": 0, "y": 1, "z": 2}


@contextmanager
def located(file: str | None, where: str) -> Generator[None]:
    """Add the file and the element to a ReadError that does not know them yet."""
    try:
        yield
    except ReadError as error:
        error.file = error.file or file
        error.element = error.element or where
        raise


@dataclass(frozen=True, slots=True)
class Intake:
    """The desk that everything a user wrote passes: it knows the parameters and collects notes.

    `values` maps the declared parameters to their numbers, None for the free ones. `where` in the
    methods names the element for an error, for instance `segment 'arm', mass`.
    """

    file: str | None = None
    values: Mapping[str, Fraction | None] = field(default_factory=dict[str, Fraction | None])
    notes: list[Note] = field(default_factory=list[Note])
    fixed: dict[str, str] = field(default_factory=dict[str, str])
    """Parameters whose values have become numbers here, each with an element where that is so."""
    limited: dict[str, str] = field(default_factory=dict[str, str])
    """The same in limits of joints, which are no part of the equations of motion."""

    def error(self, message: str, where: str, remedy: str) -> ReadError:
        """Return the error for the element `where` of the file."""
        return ReadError(message, file=self.file, element=where, remedy=remedy)

    def note(self, where: str, text: str, level: Literal["note", "warning"] = "note") -> None:
        """Keep a remark for the report."""
        self.notes.append(Note(level, where, text))

    @property
    def bound(self) -> dict[str, Fraction]:
        """The parameters that have a value."""
        return {name: value for name, value in self.values.items() if value is not None}

    def number(self, value: object, where: str) -> Number:
        """Return a number, or an expression all of whose names are declared parameters."""
        with located(self.file, where):
            result = number_of(value)
        if isinstance(result, Fraction):
            return result
        for name in sorted(symbols_of(result)):
            if name not in self.values:
                raise self.error(f"{name!r} is not a parameter", where, self._remedy(name))
        self.known(result, where)
        return result

    def known(self, value: Number, where: str) -> Fraction | None:
        """Return the number that `value` stands for, None while one of its parameters is free."""
        if isinstance(value, Fraction):
            return value
        if any(self.values.get(name) is None for name in symbols_of(value)):
            return None
        with located(self.file, where):
            return within_range(value_of(value, self.bound))

    def fraction(self, value: object, where: str, *, is_limit: bool = False) -> Fraction:
        """Return a number that must be known: expressions may name bound parameters only."""
        number = self.number(value, where)
        if not isinstance(number, Fraction):
            record = self.limited if is_limit else self.fixed
            record.update(dict.fromkeys(symbols_of(number) - record.keys(), where))
        result = self.known(number, where)
        if result is None:
            raise self.error(
                "this must be a known number, but it names a free parameter",
                where,
                "give that parameter a value; axes, rotations, limits and signs stay numbers",
            )
        return result

    def vector(self, value: object, where: str) -> Vector3:
        """Return three numbers; nothing given means zero."""
        return ZERO_VECTOR if value is None else self._three_numbers(value, where)

    def known_vector(self, value: object, where: str) -> Axis:
        """Return three known numbers."""
        x, y, z = (
            self.fraction(entry, f"{where}[{index}]")
            for index, entry in enumerate(self.entries(value, 3, where), 1)
        )
        return (x, y, z)

    def listed(self, value: object, where: str) -> list[object]:
        """Return the entries of a list of any length, or of an array."""
        return list_of(plain(value), self.file, where)

    def entries(self, value: object, count: int, where: str) -> list[object]:
        """Return the entries of a list of the given length."""
        entries = self.listed(value, where)
        if len(entries) != count:
            remedy = f"write {count} entries in square brackets"
            raise self.error(f"expected {count} entries, got {len(entries)}", where, remedy)
        return entries

    def matrix(self, value: object, where: str) -> Matrix3:
        """Return three rows of three numbers."""
        rows = self.entries(value, 3, where)
        a, b, c = (self._three_numbers(row, f"{where}[{k}]") for k, row in enumerate(rows, 1))
        return (a, b, c)

    def axis(self, value: object, where: str) -> Axis:
        """Return an exactly unit vector, from three numbers or a text such as `z` or `-x`."""
        if isinstance(value, str) and value.lstrip("-") in _AXES and value.count("-") <= 1:
            row = IDENTITY[_AXES[value[-1]]]
            return (-row[0], -row[1], -row[2]) if value[0] == "-" else row
        with located(self.file, where):
            axis, remark = exact_axis(self.known_vector(value, where))
        if remark is not None:
            self.note(where, remark)
        return axis

    def rotation(self, matrix: object, rpy: object, quaternion: object, where: str) -> Rotation:
        """Return an exact rotation from the one of three forms that is given; none means unity.

        `rpy` holds roll, pitch, yaw in rad: Rz(yaw) Ry(pitch) Rx(roll); `quaternion` x, y, z, w.
        """
        given = [form is not None for form in (matrix, rpy, quaternion)]
        if sum(given) > 1:
            remedy = "keep one of rotation, rpy and quaternion"
            raise self.error("the rotation is given more than once", where, remedy)
        with located(self.file, where):
            if quaternion is not None:
                return self._quaternion(quaternion, where)
            if rpy is not None:
                meant = rotation_of_angles(*self.known_vector(rpy, f"{where} rpy"))
            elif matrix is not None:
                meant = self._known_matrix(matrix, where)
            else:
                return IDENTITY
            rotation, remark = exact_rotation(meant)
        if remark is not None:
            self.note(where, remark)
        return rotation

    def integer(self, value: object, where: str) -> int:
        """Return a whole number; 3.0 counts as one."""
        with located(self.file, where):
            result = number_of(value)
        if isinstance(result, Fraction) and result.denominator == 1:
            return int(result)
        raise self.error("expected a whole number", where, "write it without a decimal point")

    def text(self, value: object, where: str) -> str:
        """Return a printable text that is neither empty nor surrounded by spaces."""
        if not isinstance(value, str):
            remedy = 'write it in quotation marks, as in "arm"'
            raise self.error(f"expected a text, got {kind_of(value)}", where, remedy)
        if not value or value != value.strip() or len(value) > 200 or not value.isprintable():
            remedy = "use 1 to 200 printable characters without spaces around them"
            raise self.error(f"{value[:40]!r} cannot be a name", where, remedy)
        return value

    def _three_numbers(self, value: object, where: str) -> Vector3:
        x, y, z = (
            self.number(entry, f"{where}[{index}]")
            for index, entry in enumerate(self.entries(value, 3, where), 1)
        )
        return (x, y, z)

    def _known_matrix(self, value: object, where: str) -> Rotation:
        rows = self.entries(value, 3, where)
        a, b, c = (self.known_vector(row, f"{where}[{index}]") for index, row in enumerate(rows, 1))
        return (a, b, c)

    def _quaternion(self, value: object, where: str) -> Rotation:
        x, y, z, w = (
            self.fraction(entry, f"{where} quaternion[{index}]")
            for index, entry in enumerate(self.entries(value, 4, where), 1)
        )
        return exact_quaternion(x, y, z, w)

    def _remedy(self, name: str) -> str:
        close = get_close_matches(name, list(self.values), n=1)
        start = f"did you mean {close[0]!r}? " if close else ""
        return start + "declare it under parameters, or write a number"


def plain(value: object) -> object:
    """Return an array of numpy as nested lists, and everything else as it is."""
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else value
