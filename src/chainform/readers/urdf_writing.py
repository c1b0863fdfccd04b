"""Numbers as URDF and its side file write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from chainform.errors import RunError
from chainform.expressions import (
    RATE,
    Expression,
    Symbol,
    format_expression,
    format_fraction,
    substitute,
    symbols_of,
    value_of,
)
from chainform.mechanism import Mechanism, Number, meaning_of

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

    def law(self, law: Number, where: str) -> str:
        """Return the text of a law, with names for places such as q3: the order may change."""
        if isinstance(law, Fraction):
            return format_fraction(law)
        mechanism, put = self.mechanism, dict[str, Fraction | Expression]()
        for symbol in sorted(symbols_of(law)):
            meaning = meaning_of(symbol, mechanism.coordinates, mechanism.rates)
            if meaning is None:
                put[symbol] = self.value(Symbol(symbol))
            elif meaning.group != "t":
                names = mechanism.coordinates if meaning.group == "q" else mechanism.rates
                put[symbol] = self._symbol(names[meaning.index], meaning.group, where)
        return format_expression(substitute(law, put))

    def _symbol(self, name: str, group: str, where: str) -> Symbol:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise RunError(
                f"a law in a side file cannot name the coordinate {name[:80]!r}",
                file=self.mechanism.file,
                element=where,
                remedy="rename it, with letters, digits and underscores only",
            )
        return Symbol(name if group == "q" else f"{RATE}({name})")

    def text(self, number: Number) -> str:
        """Return one number."""
        return decimal(self.value(number))

    def row(self, numbers: Iterable[Number]) -> str:
        """Return numbers with blanks between them."""
        return " ".join(self.text(number) for number in numbers)
