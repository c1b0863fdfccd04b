"""Exact numbers and expressions of parameters, as the records of a mechanism hold them.

Also their texts, and all numbers inside a record.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, cast

from chainform.errors import ReadError
from chainform.expressions import (
    Apply,
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    format_expression,
    format_fraction,
    fraction_of_decimal,
    parse,
    symbols_of,
    value_of,
)
from chainform.expressions import Number as NumberExpression
from chainform.given import kind_of
from chainform.mechanism.records import ZERO, Number

NumberLike: TypeAlias = int | float | str | Fraction | Decimal | Expression
"""What is accepted as a number; a text is a decimal or an expression of parameters."""
GREATEST = Fraction(2) ** 1023
"""Numbers at or beyond this size have no double and are refused."""
LONGEST_NUMBER = 300
"""Integers of more digits are written in pieces: readers refuse long ones."""
SHORT = 18
"""A number for people is exact up to this length, else it has 15 digits."""
_EXPRESSIONS = (NumberExpression, Constant, Identifier, Negate, Binary, Apply)


def number_of(value: object) -> Number:
    """Return the exact number or the expression that `value` stands for.

    A float means the shortest decimal that gives it, so 0.1 is one tenth. An expression without
    names becomes a number at once.
    """
    if isinstance(value, _EXPRESSIONS):
        expression = value
    elif isinstance(value, str):
        expression = parse(value)
    else:
        return within_range(_plain_number(value))
    return expression if symbols_of(expression) else within_range(value_of(expression))


def _plain_number(value: object) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise ReadError(
            f"expected a number, got {kind_of(value)}",
            remedy="write a number, or an expression of parameters in quotation marks",
        )
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if not math.isfinite(value):
        raise ReadError("expected a number, got one that is not finite", remedy="correct it")
    # A float means its shortest decimal; float() first, since numpy's repr differs from Python's.
    return fraction_of_decimal(str(value) if isinstance(value, Decimal) else repr(float(value)))


def within_range(value: Fraction) -> Fraction:
    """Return `value`, or raise ReadError when it lies beyond the range of doubles."""
    if abs(value) < GREATEST:
        return value
    raise ReadError(
        "the number is beyond the range of double arithmetic", remedy="use a smaller number"
    )


def product_of_ratio(value: Number, factor: Fraction) -> Number:
    """Return `value` times a number, folding what is known."""
    if isinstance(value, Fraction):
        return value * factor
    if factor in (0, 1):
        return value if factor else ZERO
    if factor == -1:
        return value.operand if isinstance(value, Negate) else Negate(value)
    return Binary("*", expression_of(factor), value)


def difference(a: Number, b: Number) -> Number:
    """Return a - b, folding what is known."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    if b == ZERO:
        return a
    if a == ZERO:
        return product_of_ratio(b, Fraction(-1))
    return Binary("-", expression_of(a), expression_of(b))


def sum_of(a: Number, b: Number) -> Number:
    """Return a + b, folding what is known."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    if ZERO in (a, b):
        return a if b == ZERO else b
    return Binary("+", expression_of(a), expression_of(b))


def product_of(a: Number, b: Number) -> Number:
    """Return a b, folding what is known."""
    if isinstance(b, Fraction):
        return product_of_ratio(a, b)
    return product_of_ratio(b, a) if isinstance(a, Fraction) else Binary("*", a, b)


def quotient_of(a: Number, b: Number) -> Number:
    """Return a / b, folding what is known; b is not the number zero."""
    if isinstance(b, Fraction):
        return product_of_ratio(a, 1 / b)
    return a if a == ZERO else Binary("/", expression_of(a), b)


def expression_of(value: Number) -> Expression:
    """Return `value` as the expression that its text reads as: -1/3 is a sign and a quotient."""
    return parse(format_fraction(value)) if isinstance(value, Fraction) else value


# --- numbers as text ------------------------------------------------------------------------


def decimal_or_text(value: Number) -> Fraction | str:
    """Return a number that has a finite decimal of usual length as it is, any other as a text."""
    if not isinstance(value, Fraction):
        return format_expression(value)
    text = format_fraction(value)
    if "/" not in text and len(text) <= LONGEST_NUMBER:
        return value
    sign = "-" if value < 0 else ""
    return f"{sign}{_integer_text(abs(value.numerator))}/{_integer_text(value.denominator)}"


def exact_text(value: Number) -> str:
    """Return a number or an expression as a text that reads back as the same."""
    text = decimal_or_text(value)
    return text if isinstance(text, str) else format_fraction(text)


def plain_number(value: Number) -> int | float | str:
    """Return a number as an int or float where that is exact, else as its exact text."""
    if isinstance(value, Fraction) and abs(value) < GREATEST:
        if value.denominator == 1 and abs(value) < 2**53:
            return int(value)
        if fraction_of_decimal(repr(float(value))) == value:
            return float(value)
    return exact_text(value)


def short_text(value: Number) -> str:
    """Return an expression as it is and a number exactly, or to 15 digits when that is long."""
    if not isinstance(value, Fraction):
        return format_expression(value)
    text, decimal = format_fraction(value), f"{float(value):.15g}"
    return decimal if len(text) > SHORT or Fraction(decimal) == value else text


def _integer_text(value: int) -> str:
    """Return a positive integer as an expression without a number of too many digits."""
    text = str(value)
    if len(text) <= LONGEST_NUMBER:
        return text
    head, tail = divmod(value, 10**LONGEST_NUMBER)
    return f"({_integer_text(head)}*1e{LONGEST_NUMBER} + {tail})"


# --- numbers inside records -----------------------------------------------------------------


T = TypeVar("T")
_NUMBERS = (Fraction, *_EXPRESSIONS)


def numbers_in(record: object) -> Iterator[Number]:
    """Yield every number of a record, or of a tuple of records."""
    if isinstance(record, _NUMBERS):
        yield record
    else:
        for part in _parts(record).values():
            yield from numbers_in(part)


def symbols_in(record: object) -> frozenset[str]:
    """Return all names in the expressions of a record."""
    laws = (number for number in numbers_in(record) if not isinstance(number, Fraction))
    return frozenset[str]().union(*(symbols_of(law) for law in laws))


def with_numbers(record: T, change: Callable[[Number], Number]) -> T:
    """Return the record with every number changed."""
    if isinstance(record, _NUMBERS):
        return cast(T, change(record))
    parts = {key: with_numbers(part, change) for key, part in _parts(record).items()}
    if isinstance(record, tuple):
        return cast(T, tuple(parts.values()))
    return cast(T, replace(cast(Any, record), **parts)) if parts else record


def _parts(record: object) -> dict[str, object]:
    """Return what a tuple or a record consists of; a text or None has no parts."""
    if isinstance(record, tuple):
        return {str(k): part for k, part in enumerate(cast("tuple[object, ...]", record))}
    if is_dataclass(record):
        return {field.name: getattr(record, field.name) for field in fields(record)}
    return {}
