"""Expressions over the columns of a result, with exact derivatives by parameters.

    mean(tau.arm^2)        a number: a reduction over the rows
    l1 + l2 - l3           a number: parameters
    position(pen)[1]       a number for each row
    max(abs(tau.arm))      the largest over the rows, and of several expressions
    integral(q.arm^2)      over time, by cubics through the rows

Nothing is executed. `max` and `min` over rows have corners, and so stand alone: in their place each
row has a bound (an epigraph). `abs` stands right inside them, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.motion_loads import integral
from chainform.errors import ReadError, RunError
from chainform.expressions import (
    Apply,
    Expression,
    evaluate_expression,
    parse,
    parts_of,
    symbols_of,
)

Array = NDArray[np.float64]
REDUCTIONS = ("mean", "rms", "sum", "first", "last", "integral")
_CALL = re.compile(rf"(?<![\w.])({'|'.join((*REDUCTIONS, 'max', 'min'))})\s*\(")
_EXTREME = re.compile(r"(max|min)\s*\(")
_ABSOLUTE = re.compile(r"abs\s*\(")
DEEPEST, LONGEST = 20, 10_000
"""How many reductions may stand inside one another, and characters of an expression."""
CORNERS = ("abs", "sign", "step", "min", "max")
"""Functions without a derivative somewhere."""


@dataclass(frozen=True, eq=False)
class Varied:
    """Values (m,), or one (), and their derivatives by parameters, (m, n) or (n,)."""

    values: Array
    slopes: Array

    def __neg__(self) -> Varied:
        return Varied(-self.values, -self.slopes)

    def __add__(self, other: Varied) -> Varied:
        return Varied(self.values + other.values, self.slopes + other.slopes)

    def __sub__(self, other: Varied) -> Varied:
        return self + -other

    def __mul__(self, other: Varied) -> Varied:
        slopes = self.slopes * other.values[..., None] + self.values[..., None] * other.slopes
        return Varied(self.values * other.values, slopes)

    def through(self, values: Array, slope: Array) -> Varied:
        """Return a function of these values, given its values and its derivative."""
        return Varied(values, slope[..., None] * self.slopes)

    def over(self, rows: int) -> Varied:
        """Return a value for each of so many rows."""
        count = self.slopes.shape[-1]
        return Varied(
            np.broadcast_to(self.values, (rows,)), np.broadcast_to(self.slopes, (rows, count))
        )


class VariedArithmetic:
    """Expressions whose values are `Varied`, of so many parameters."""

    def __init__(self, count: int) -> None:
        self.count = count

    def number(self, value: Fraction) -> Varied:
        """Return an exact number."""
        return Varied(np.asarray(float(value)), np.zeros(self.count))

    def call(self, function: str, arguments: Sequence[Varied]) -> Varied:
        """Return a function of one or two arguments."""
        first = arguments[0]
        if function in ("pow", "atan2"):
            return _of_two(function, first, arguments[1])
        value, slope = _of_one(function, first.values)
        return first.through(np.asarray(value), np.asarray(slope))


def _of_two(function: str, x: Varied, y: Varied) -> Varied:
    a, b = x.values, y.values
    if function == "atan2":
        square = a**2 + b**2
        by = b / square, -a / square
        value = np.arctan2(a, b)
    else:
        value = a**b
        # A constant exponent has no derivative that counts, whatever the logarithm is.
        by = b * a ** (b - 1), np.where(np.any(y.slopes), value * np.log(a), 0.0)
    slopes = np.asarray(by[0])[..., None] * x.slopes + np.asarray(by[1])[..., None] * y.slopes
    return Varied(np.asarray(value), slopes)


def _of_one(function: str, x: Array) -> tuple[Array, Array]:
    """Return a function of one argument, and its derivative."""
    match function:
        case "reciprocal":
            return 1 / x, -1 / x**2
        case "sqrt":
            return np.sqrt(x), 0.5 / np.sqrt(x)
        case "sin":
            return np.sin(x), np.cos(x)
        case "cos":
            return np.cos(x), -np.sin(x)
        case "tan":
            return np.tan(x), 1 / np.cos(x) ** 2
        case "asin":
            return np.arcsin(x), 1 / np.sqrt(1 - x**2)
        case "acos":
            return np.arccos(x), -1 / np.sqrt(1 - x**2)
        case "atan":
            return np.arctan(x), 1 / (1 + x**2)
        case "exp":
            return np.exp(x), np.exp(x)
        case _:
            return np.log(x), 1 / x


@dataclass(frozen=True)
class RowExpression:
    """An expression, and the reductions in it by the names that stand for them."""

    text: str
    expression: Expression
    reductions: Mapping[str, tuple[str, RowExpression]]

    @property
    def names(self) -> frozenset[str]:
        """The columns and parameters that it names."""
        inner = [part.names for _, part in self.reductions.values()]
        if any(kind == "integral" for kind, _ in self.reductions.values()):
            inner.append(frozenset({"t"}))
        return (symbols_of(self.expression) - self.reductions.keys()).union(*inner)

    def at(self, known: Mapping[str, Varied], rows: int) -> Varied:
        """Return its values, given those of names and the number of rows."""
        found = dict(known)
        for name, (kind, part) in self.reductions.items():
            found[name] = _reduced(kind, part.at(known, rows).over(rows), known)
        count = next(iter(known.values())).slopes.shape[-1]
        with np.errstate(all="ignore"):  # What is not finite is refused.
            value = evaluate_expression(self.expression, found, VariedArithmetic(count))
        for array, what in ((value.values, "value"), (value.slopes, "derivative")):
            if not np.isfinite(array).all():
                raise RunError(
                    f"it has no finite {what}",
                    element=_short(self.text),
                    remedy="take squares in place of roots, and columns that are finite",
                )
        return value


def _reduced(kind: str, rows: Varied, known: Mapping[str, Varied]) -> Varied:
    """Return what a reduction makes of rows."""
    values, slopes = rows.values, rows.slopes
    if not len(values):
        raise RunError("the result has no rows", element=kind, remedy="give the study rows")
    match kind:
        case "first":
            return Varied(values[0], slopes[0])
        case "last":
            return Varied(values[-1], slopes[-1])
        case "sum":
            return Varied(values.sum(axis=0), slopes.sum(axis=0))
        case "mean":
            return Varied(values.mean(axis=0), slopes.mean(axis=0))
        case "rms":
            size = np.sqrt(np.mean(values**2))
            with np.errstate(all="ignore"):  # A root of zero has no derivative.
                return Varied(size, np.mean(values[:, None] * slopes, axis=0) / size)
        case _:
            t = known["t"].values
            parts = [integral(t, column)[-1] for column in slopes.T]
            return Varied(np.asarray(integral(t, values)[-1]), np.array(parts).reshape(-1))


@dataclass(frozen=True)
class Criterion:
    """An expression, or the largest or smallest of several over all rows."""

    text: str
    parts: tuple[RowExpression, ...]
    absolute: tuple[bool, ...] = field(default=(False,))
    extreme: Literal["", "max", "min"] = ""

    @property
    def names(self) -> frozenset[str]:
        """The columns and parameters that it names."""
        return frozenset[str]().union(*(part.names for part in self.parts))

    def at(self, known: Mapping[str, Varied], rows: int) -> Varied:
        """Return all rows of its parts, one after the other; -x stands behind an x in abs."""
        found: list[Varied] = []
        for part, is_absolute in zip(self.parts, self.absolute, strict=True):
            value = part.at(known, rows)
            found += [value, -value] if is_absolute else [value]
        count = found[0].slopes.shape[-1]
        return Varied(
            np.concatenate([np.atleast_1d(each.values) for each in found]),
            np.concatenate([each.slopes.reshape(-1, count) for each in found]),
        )


# --- from text ------------------------------------------------------------------------------------


def criterion(text: str) -> Criterion:
    """Return what a text means; ReadError where it is wrong."""
    text = text.strip()
    head = _EXTREME.match(text)
    if head is None or _closing(text, head.end() - 1) != len(text) - 1:
        return Criterion(text, (_parsed(text),))
    inner = _arguments(text[head.end() : -1])
    parts: list[RowExpression] = []
    absolute: list[bool] = []
    for part in inner:
        bars = _ABSOLUTE.match(part)
        is_absolute = bars is not None and _closing(part, bars.end() - 1) == len(part) - 1
        if is_absolute and head[1] == "min":
            raise _corner(text, "abs")
        parts.append(_parsed(part[bars.end() : -1] if bars and is_absolute else part))
        absolute.append(is_absolute)
    return Criterion(text, tuple(parts), tuple(absolute), "max" if head[1] == "max" else "min")


def _parsed(text: str, depth: int = 0) -> RowExpression:
    """Return an expression whose reductions have names of their own."""
    if depth > DEEPEST or len(text) > LONGEST:
        remedy = f"at most {DEEPEST} stand inside one another, in {LONGEST} characters"
        raise ReadError("there are too many reductions", element=_short(text), remedy=remedy)
    reductions: dict[str, tuple[str, RowExpression]] = {}
    rest = text
    while (call := _CALL.search(rest)) is not None:
        if call[1] in ("max", "min"):
            raise _corner(text, call[1])
        end = _closing(rest, call.end() - 1)
        if end is None:
            raise ReadError("a bracket is not closed", element=_short(text), remedy="close it")
        name = f"reduction{len(reductions) + 1}"
        while name in text:
            name += "_"
        reductions[name] = (call[1], _parsed(rest[call.end() : end], depth + 1))
        rest = f"{rest[: call.start()]} {name} {rest[end + 1 :]}"
    try:
        expression = parse(rest, references=True)
    except ReadError as error:
        raise ReadError(error.message, element=_short(text), remedy=error.remedy) from error
    corner = next(_corners(expression), None)
    if corner is not None:
        raise _corner(text, corner)
    return RowExpression(text.strip(), expression, reductions)


def _corners(expression: Expression) -> Iterator[str]:
    """Yield functions without a derivative somewhere."""
    if isinstance(expression, Apply) and expression.function in CORNERS:
        yield expression.function
    for part in parts_of(expression):
        yield from _corners(part)


def _short(text: str) -> str:
    """Return a text that names an expression in an error."""
    return (text if len(text) <= 60 else f"{text[:57]}...") or "expression"


def _corner(text: str, function: str) -> ReadError:
    return ReadError(
        f"{function} has a corner, where there is no derivative",
        element=_short(text),
        remedy="take squares, as mean(x^2) or rms(x); max(x), max(abs(x)) and min(x) over rows may "
        "stand alone, as what is minimised or as a constraint",
    )


def _closing(text: str, opening: int) -> int | None:
    """Return where the bracket that opens at a place is closed."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "([") - (text[place] in ")]")
        if depth == 0:
            return place
    return None


def _arguments(text: str) -> list[str]:
    """Return the parts between commas that stand in no brackets."""
    parts, depth, first = list[str](), 0, 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[first:place].strip())
            first = place + 1
    return [*parts, text[first:].strip()]
