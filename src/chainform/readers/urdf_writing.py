"""Numbers as URDF and its side file write them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from chainform.errors import RunError
from chainform.expressions import format_fraction, symbols_of, value_of
from chainform.mechanism import Mechanism, Number

MAX_DIGITS = 24
"""Longer decimals are rounded to 17 digits, which give the same double."""


def decimal(value: Fraction) -> str:
    """Return a number as an exact decimal where that is short, else to 17 digits."""
    text = format_fraction(value)
    return text if "/" not in text and len(text) <= MAX_DIGITS else f"{float(value):.17g}"


class Numbers:
    """Writes the numbers of a mechanism, with the values of its parameters put in."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.values = {p.name: p.value for p in mechanism.parameters if p.value is not None}

    def value(self, number: Number) -> Fraction:
        """Return the value of a number; one that names a free parameter raises RunError."""
        if isinstance(number, Fraction):
            return number
        free = sorted(symbols_of(number) - set(self.values))
        if free:
            raise RunError(
                f"the parameter {free[0]!r} has no value, and URDF knows numbers only",
                file=self.mechanism.file,
                element=f"parameter {free[0]!r}",
                remedy="give it a value in the mechanism",
            )
        return value_of(number, self.values)

    def text(self, number: Number) -> str:
        """Return one number."""
        return decimal(self.value(number))

    def row(self, numbers: Iterable[Number]) -> str:
        """Return numbers with blanks between them."""
        return " ".join(self.text(number) for number in numbers)
