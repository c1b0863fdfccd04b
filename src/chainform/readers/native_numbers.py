"""Numbers as a native file writes them: nothing is rounded."""

from __future__ import annotations

from fractions import Fraction

from chainform.expressions import format_expression, format_fraction
from chainform.mechanism import Number

LONGEST_NUMBER = 300
"""Integers of more digits are written in pieces: the reader refuses long ones."""


def number_text(value: Number) -> Fraction | str:
    """Return a number that JSON can write exactly as it is, and any other as a text."""
    if not isinstance(value, Fraction):
        return format_expression(value)
    text = format_fraction(value)
    if "/" not in text and len(text) <= LONGEST_NUMBER:
        return value
    sign = "-" if value < 0 else ""
    return f"{sign}{_integer(abs(value.numerator))}/{_integer(value.denominator)}"


def plain_text(value: Number) -> str:
    """Return a number or an expression as a text."""
    text = number_text(value)
    return text if isinstance(text, str) else format_fraction(text)


def _integer(value: int) -> str:
    """Return a positive integer as an expression without a number of too many digits."""
    text = str(value)
    if len(text) <= LONGEST_NUMBER:
        return text
    head, tail = divmod(value, 10**LONGEST_NUMBER)
    return f"({_integer(head)}*1e{LONGEST_NUMBER} + {tail})"
