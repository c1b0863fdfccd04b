"""Formulas as text: the definition of a variable, and its expansion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from chainform.graph.graph import Graph
from chainform.graph.types import CALLS, Term

if TYPE_CHECKING:
    from chainform.graph.expand import Expansion, Symbol


def number_text(value: Fraction) -> str:
    """Return an exact number: a decimal where a short one is exact, else a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 18:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def sum_text(parts: Iterable[tuple[Fraction, str]]) -> str:
    """Join (coefficient, product) pairs with signs; an empty product is a number."""
    text = ""
    for coefficient, product in parts:
        size = abs(coefficient)
        if not product:
            body = number_text(size)
        elif size == 1:
            body = product
        else:
            body = f"{number_text(size)}*{product}"
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {body}" if text else f"{'-' if sign == '-' else ''}{body}"
    return text or "0"


def product_text(factors: Iterable[tuple[str, int]]) -> str:
    """Join names and powers: x^2*y."""
    return "*".join(name if power == 1 else f"{name}^{power}" for name, power in factors)


def term_text(graph: Graph, term: Term) -> tuple[Fraction, str]:
    """Return a term as its coefficient and the text of its product."""
    factors = ((graph.names[f.variable], f.power) for f in term.factors)
    return term.coefficient, product_text(factors)


def definition_text(graph: Graph, variable: int) -> str:
    """Return the right side of a variable's definition; an input is its own name."""
    if variable in graph.inputs:
        return graph.names[variable]
    if graph.call[variable]:
        return f"{CALLS[int(graph.call[variable])]}({graph.names[int(graph.argument[variable])]})"
    return sum_text(term_text(graph, term) for term in graph.terms(variable))


def expansion_text(expansion: Expansion, name: Callable[[Symbol], str] = str) -> str:
    """Return an expansion as text, a term for each product."""
    return sum_text(
        (k, product_text((name(expansion.symbols[s]), power) for s, power in factors))
        for k, factors in expansion.terms
    )
