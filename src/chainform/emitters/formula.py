"""A formula as a tree, made from a definition of a graph or from an expansion.

LaTeX (latex.py) and MathML (mathml.py) are two ways of writing the same tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from chainform.expressions import Mark, Symbol
from chainform.graph import CALLS, Expansion, ExpansionSymbol, Graph, Kind, rounded_number


@dataclass(frozen=True, slots=True)
class NumberFormula:
    """A number, of either sign."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class NameFormula:
    """A symbol."""

    symbol: Symbol


@dataclass(frozen=True, slots=True)
class TextFormula:
    """Words in the place of a formula."""

    text: str


@dataclass(frozen=True, slots=True)
class SumFormula:
    """A sum; a term that is a number or a product may have a negative coefficient."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class ProductFormula:
    """A number times factors."""

    coefficient: Fraction
    factors: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class PowerFormula:
    """A formula to a whole power from 2 on."""

    base: Formula
    exponent: int


@dataclass(frozen=True, slots=True)
class CallFormula:
    """A function of one argument, by its name in graphs: sin, sqrt, abs, sign ..."""

    function: str
    argument: Formula


@dataclass(frozen=True, slots=True)
class QuotientFormula:
    """A fraction."""

    numerator: Formula
    denominator: Formula


@dataclass(frozen=True, slots=True)
class MatrixFormula:
    """A matrix; a column has one entry in each row."""

    rows: tuple[tuple[Formula, ...], ...]


@dataclass(frozen=True, slots=True)
class Equation:
    """Two sides of an equation."""

    left: Formula
    right: Formula


Formula: TypeAlias = (
    NumberFormula
    | NameFormula
    | TextFormula
    | SumFormula
    | ProductFormula
    | PowerFormula
    | CallFormula
    | QuotientFormula
    | MatrixFormula
    | Equation
)
ONE, ZERO = NumberFormula(Fraction(1)), NumberFormula(Fraction(0))
INDEX = "ijklmnop"
"""The letters of the indices of an array that has more than two."""


# --- construction -----------------------------------------------------------------------------


def sum_formula(terms: Iterable[Formula]) -> Formula:
    """Return a sum: zero where there are no terms, and a single term alone."""
    listed = tuple(terms)
    return SumFormula(listed) if len(listed) > 1 else (listed or (ZERO,))[0]


def product_formula(coefficient: Fraction, factors: Iterable[Formula]) -> Formula:
    """Return a product; factors that are reciprocals stand below a line."""
    above: list[Formula] = []
    below: list[Formula] = []
    for factor in factors:
        base = factor.base if isinstance(factor, PowerFormula) else factor
        if not (isinstance(base, CallFormula) and base.function == "reciprocal"):
            above.append(factor)
            continue
        power = factor.exponent if isinstance(factor, PowerFormula) else 1
        below.append(power_formula(base.argument, power))
    if below:
        one = Fraction(1)
        above = [QuotientFormula(product_formula(one, above), product_formula(one, below))]
    if not above:
        return NumberFormula(coefficient)
    if coefficient == 1 and len(above) == 1:
        return above[0]
    return ProductFormula(coefficient, tuple(above))


def power_formula(base: Formula, exponent: int) -> Formula:
    """Return a formula to a whole power."""
    return base if exponent == 1 else PowerFormula(base, exponent)


def is_negative(formula: Formula) -> bool:
    """Whether a minus sign stands in front of a formula."""
    match formula:
        case NumberFormula(value):
            return value < 0
        case ProductFormula(coefficient, _):
            return coefficient < 0
        case _:
            return False


def without_sign(formula: Formula) -> Formula:
    """Return a formula without the minus sign in front of it."""
    match formula:
        case NumberFormula(value):
            return NumberFormula(abs(value))
        case ProductFormula(coefficient, factors):
            return product_formula(abs(coefficient), factors)
        case _:
            return formula


def terms_of(formula: Formula) -> tuple[Formula, ...]:
    """Return the terms of a sum, and any other formula as one term."""
    return formula.terms if isinstance(formula, SumFormula) else (formula,)


def symbols_in(formula: Formula) -> Iterator[Symbol]:
    """Yield the symbols of a formula."""
    match formula:
        case NameFormula(symbol):
            yield symbol
        case NumberFormula() | TextFormula():
            return
        case SumFormula(parts) | ProductFormula(_, parts):
            for part in parts:
                yield from symbols_in(part)
        case PowerFormula(part, _) | CallFormula(_, part):
            yield from symbols_in(part)
        case QuotientFormula(first, second) | Equation(first, second):
            yield from symbols_in(first)
            yield from symbols_in(second)
        case MatrixFormula(rows):
            for row in rows:
                for part in row:
                    yield from symbols_in(part)


# --- from graphs --------------------------------------------------------------------------------

Lettering: TypeAlias = Callable[[str], Symbol]
"""Returns how the name of a variable is written."""
Turn: TypeAlias = Callable[[str, Mapping[str, Fraction]], "Symbol | None"]
"""Returns the short form of the sine or cosine of a sum of inputs, None where it has none."""


def no_turn(function: str, angle: Mapping[str, Fraction]) -> Symbol | None:
    """Return None: no sine or cosine has a short form."""
    del function, angle
    return None


def definition_formula(
    graph: Graph,
    variable: int,
    lettering: Lettering,
    *,
    angles: bool = False,
    digits: int | None = None,
) -> Formula:
    """Return the right side of a variable's definition; an input is its own name.

    With `angles` a sine is that of a sum of inputs and not of its name. Numbers are rounded to
    `digits`, exact for None.
    """
    if variable in graph.inputs:
        return NameFormula(lettering(graph.names[variable]))
    if graph.call[variable]:
        function, argument = CALLS[int(graph.call[variable])], int(graph.argument[variable])
        angle = angle_of(graph, argument) if angles and function in ("sin", "cos") else None
        if angle is not None:
            return CallFormula(function, angle_formula(angle, lettering))
        return _simple(CallFormula(function, NameFormula(lettering(graph.names[argument]))))
    return sum_formula(
        product_formula(
            term.coefficient if digits is None else rounded_number(term.coefficient, digits),
            (
                power_formula(NameFormula(lettering(graph.names[f.variable])), f.power)
                for f in term.factors
            ),
        )
        for term in graph.terms(variable)
    )


def value_formula(
    graph: Graph, variable: int, lettering: Lettering, digits: int | None = None
) -> Formula:
    """Return a variable by its name, or the number that it is."""
    if graph.kind[variable] == Kind.CONSTANT:
        return definition_formula(graph, variable, lettering, digits=digits)
    return NameFormula(lettering(graph.names[variable]))


def _simple(call: CallFormula) -> Formula:
    return product_formula(Fraction(1), [call])


MOST_ANGLES = 100
"""Angles in a sum, and definitions on the way, that are looked through."""


def angle_of(graph: Graph, variable: int) -> dict[str, Fraction] | None:
    """Return a variable as a sum of inputs with signs, by name; None where it is another."""
    total: dict[str, Fraction] = {}
    left: list[tuple[int, Fraction]] = [(variable, Fraction(1))]
    for _ in range(MOST_ANGLES):
        if not left:
            return {name: k for name, k in total.items() if k} or None
        v, scale = left.pop()
        if v in graph.inputs:
            total[graph.names[v]] = total.get(graph.names[v], Fraction(0)) + scale
        elif graph.kind[v] == Kind.COMPUTED and not graph.call[v]:
            for term in reversed(graph.terms(v)):
                if len(term.factors) != 1 or term.factors[0].power != 1:
                    return None
                left.append((term.factors[0].variable, scale * term.coefficient))
        else:
            return None
    return None


def angle_formula(angle: Mapping[str, Fraction], lettering: Lettering) -> Formula:
    """Return a sum of inputs."""
    return sum_formula(product_formula(k, [NameFormula(lettering(n))]) for n, k in angle.items())


def expansion_formula(expansion: Expansion, lettering: Lettering, turn: Turn = no_turn) -> Formula:
    """Return an expansion, a term for each product.

    In a product the inputs come before the calls: sin q m could be read as sin(q m).
    """

    def factors(row: Iterable[tuple[int, int]]) -> Iterator[Formula]:
        letters = [(expansion.symbols[s], power) for s, power in row]
        letters.sort(key=lambda letter: bool(letter[0].function))
        for symbol, power in letters:
            yield power_formula(letter_formula(symbol, lettering, turn), power)

    return sum_formula(product_formula(k, factors(row)) for k, row in expansion.terms)


def letter_formula(symbol: ExpansionSymbol, lettering: Lettering, turn: Turn = no_turn) -> Formula:
    """Return a letter of an expansion: an input, a call, or a sum in brackets."""
    if symbol.inner is None:
        return NameFormula(lettering(symbol.argument))
    if symbol.function in ("sin", "cos"):
        angle = _angle_of_expansion(symbol.inner)
        short = None if angle is None else turn(symbol.function, angle)
        if short is not None:
            return NameFormula(short)
    if symbol.bracketed is not None:
        return expansion_formula(symbol.bracketed, lettering, turn)
    return CallFormula(symbol.function, expansion_formula(symbol.inner, lettering, turn))


def _angle_of_expansion(expansion: Expansion) -> dict[str, Fraction] | None:
    angle: dict[str, Fraction] = {}
    for coefficient, row in expansion.terms:
        if len(row) != 1 or row[0][1] != 1 or expansion.symbols[row[0][0]].inner is not None:
            return None
        angle[expansion.symbols[row[0][0]].argument] = coefficient
    return angle or None


def array_name(symbol: Symbol, indices: Iterable[int]) -> Symbol:
    """Return a symbol with further indices, from 1."""
    below = list(symbol.below)
    for index in indices:
        below += [*([Mark(",")] if below else []), Mark(str(index))]
    return Symbol(symbol.base, symbol.accent, tuple(below), symbol.above, symbol.primes)
