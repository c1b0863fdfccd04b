r"""Formulas for papers and lectures as LaTeX, for a document with amsmath.

A formula stands in mathematics: `$...$`, `\[...\]`, or a notebook. What does not fit into a line is
broken into several; nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from chainform.emitters.formula import (
    CallFormula,
    Equation,
    Formula,
    MatrixFormula,
    NameFormula,
    NumberFormula,
    PowerFormula,
    ProductFormula,
    QuotientFormula,
    SumFormula,
    TextFormula,
    is_negative,
    without_sign,
)
from chainform.emitters.latex_text import tex_text
from chainform.expressions import GREEK, Mark, Symbol, symbol_of_name
from chainform.graph import number_text

FUNCTIONS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
PARTIAL_SIGN = re.compile(r"(\\partial(?:\^\{\d+\})?) \\, ")
"""A sign of partial derivatives, which stands close to what follows it."""
COMMANDS = {letter: f"\\{name}" for name, letter in GREEK.items()} | {"\u2202": r"\partial"}
MOST_COLUMNS = 10
"""Columns that the environment bmatrix of amsmath has room for."""


# --- names ------------------------------------------------------------------------------------


def latex_name(name: str) -> str:
    r"""Return a name as LaTeX: H_1_2 is H_{1,2}, qd3 \dot{q}_{3}, w_3_z w_{3,z}."""
    return symbol_latex(symbol_of_name(name))


def symbol_latex(symbol: Symbol) -> str:
    """Return a symbol as LaTeX."""
    base = _mark(symbol.base)
    text = f"\\{symbol.accent}{{{base}}}" if symbol.accent else base
    if symbol.above:
        text += f"^{{{_marks(symbol.above)}{_primes(symbol.primes)}}}"
    if symbol.below:
        text += f"_{{{_marks(symbol.below)}}}"
    return text if symbol.above else text + "'" * symbol.primes


def _primes(count: int) -> str:
    return "\\prime" * count


def _marks(marks: Iterable[Mark]) -> str:
    text = ""
    for mark in marks:
        written = _mark(mark)
        # A command ends where no letter follows.
        text += " " if re.search(r"\\[A-Za-z]+$", text) and written[:1].isalpha() else ""
        text += written
    return text


def _mark(mark: Mark) -> str:
    if mark.text in COMMANDS:
        return COMMANDS[mark.text]
    if not mark.upright:
        return mark.text
    if re.fullmatch(r"[A-Za-z0-9.#$%&_{}]+", mark.text):
        escaped = re.sub(r"([#$%&_{}])", r"\\\1", mark.text)
        return f"\\mathrm{{{escaped}}}"
    return f"\\text{{{tex_text(mark.text)}}}"


# --- formulas ---------------------------------------------------------------------------------


def formula_latex(formula: Formula) -> str:
    """Return a formula as LaTeX, in one line."""
    match formula:
        case NumberFormula(value):
            return number_latex(value)
        case NameFormula(symbol):
            return symbol_latex(symbol)
        case TextFormula(text):
            return f"\\text{{{tex_text(text)}}}"
        case SumFormula(terms):
            return " ".join(signed_latex(term, first=k == 0) for k, term in enumerate(terms))
        case ProductFormula(coefficient, factors):
            size = abs(coefficient)
            number = [] if size == 1 else [number_latex(size)]
            product = " \\, ".join([*number, *(_bracketed_sum(factor) for factor in factors)])
            product = PARTIAL_SIGN.sub(r"\1 ", product)
            return f"-{product}" if coefficient < 0 else product
        case PowerFormula(base, exponent):
            return _power_latex(base, exponent)
        case CallFormula(function, argument):
            return _call_latex(function, argument)
        case QuotientFormula(numerator, denominator):
            return f"\\frac{{{formula_latex(numerator)}}}{{{formula_latex(denominator)}}}"
        case MatrixFormula(rows):
            return _matrix_latex(rows)
        case Equation(left, right):
            return f"{formula_latex(left)} = {formula_latex(right)}"


def signed_latex(term: Formula, *, first: bool) -> str:
    sign = "-" if is_negative(term) else "+"
    body = formula_latex(without_sign(term))
    if first:
        return f"-{body}" if sign == "-" else body
    return f"{sign} {body}"


def _bracketed_sum(factor: Formula) -> str:
    text = formula_latex(factor)
    return f"\\left({text}\\right)" if isinstance(factor, SumFormula) else text


def _power_latex(base: Formula, exponent: int) -> str:
    raised = f"^{{{exponent}}}"
    if isinstance(base, CallFormula) and base.function not in ("sqrt", "abs", "reciprocal"):
        return _call_latex(base.function, base.argument, raised)
    text = formula_latex(base)
    if isinstance(base, NameFormula) and not base.symbol.above:
        return text + raised
    if isinstance(base, NameFormula):
        return f"({text}){raised}"
    if isinstance(base, CallFormula) and base.function in ("sqrt", "abs"):
        return text + raised
    return f"\\left({text}\\right){raised}"


def _call_latex(function: str, argument: Formula, raised: str = "") -> str:
    match function:
        case "reciprocal":
            return f"\\frac{{1}}{{{formula_latex(argument)}}}"
        case "sqrt":
            return f"\\sqrt{{{formula_latex(argument)}}}"
        case "abs":
            return f"\\left|{formula_latex(argument)}\\right|"
        case _:
            return f"{function_latex(function)}{raised} {_bracketed(argument)}"


def function_latex(name: str) -> str:
    return r"\operatorname{sign}" if name == "sign" else f"\\{FUNCTIONS.get(name, name)}"


def _bracketed(argument: Formula) -> str:
    """Put brackets around an argument that is more than a name."""
    text = formula_latex(argument)
    is_name = isinstance(argument, NameFormula) and not argument.symbol.above
    is_number = isinstance(argument, NumberFormula) and argument.value >= 0
    return text if is_name or is_number else f"\\left({text}\\right)"


def number_latex(value: Fraction) -> str:
    text = number_text(value)
    numerator, slash, denominator = text.partition("/")
    if not slash:
        return text
    sign = "-" if numerator.startswith("-") else ""
    return f"{sign}\\tfrac{{{numerator.removeprefix('-')}}}{{{denominator}}}"


def _matrix_latex(rows: Sequence[Sequence[Formula]]) -> str:
    body = r" \\ ".join(" & ".join(map(formula_latex, row)) for row in rows)
    # Fractions of one row would touch those of the next.
    body = body.replace(r" \\ ", r" \\[3pt] ") if "frac" in body else body
    columns = max((len(row) for row in rows), default=0)
    if columns <= MOST_COLUMNS:
        return f"\\begin{{bmatrix}} {body} \\end{{bmatrix}}"
    array = f"\\begin{{array}}{{{'c' * columns}}} {body} \\end{{array}}"
    return f"\\left[{array}\\right]"
