"""Formulas in MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

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
    terms_of,
    without_sign,
)
from chainform.emitters.latex import formula_latex
from chainform.emitters.latex_lines import WIDTH, visible
from chainform.expressions import Mark, Symbol
from chainform.graph import number_text

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ACCENTS = {"dot": "˙", "ddot": "¨", "bar": "¯", "hat": "^", "tilde": "~", "vec": "→"}
FUNCTIONS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
SIGNS = {"-": "\u2212", "*": "\u2217"}
THIN = '<mspace width="0.17em"></mspace>'
UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not have."""


def formula_mathml(*formulas: Formula, sign: str = "") -> str:
    """Return formulas in a row as one `math` element; a sign before them continues a sum."""
    gap = 'form="infix" lspace="0" rspace="0.22em"'
    before = f"<mo {gap}>{SIGNS.get(sign, sign)}</mo>" if sign else ""
    inside = before + "".join(map(element, formulas))
    return f'<math xmlns="{NAMESPACE}" display="inline"><mrow>{inside}</mrow></math>'


def equations_mathml(equations: Sequence[Equation], legend: Sequence[Equation] = ()) -> str:
    """Return equations below each other, their signs of equality in a column, then the legend.

    Long sums are broken before a sign.
    """
    if len(equations) == 1 and not legend and len(_lines(equations[0].right)) == 1:
        return formula_mathml(equations[0])
    rows = [row for equation in equations for row in _rows(equation)]
    comma = '<mo>,</mo><mspace width="1em"></mspace>'
    rows += [_row_of("", "", comma.join(map(element, legend)))] if legend else []
    return f'<math xmlns="{NAMESPACE}" display="block"><mtable>{"".join(rows)}</mtable></math>'


def _rows(equation: Equation) -> Iterator[str]:
    first, *others = _lines(equation.right)
    yield _row_of(element(equation.left), "<mo>=</mo>", first)
    for line in others:
        yield _row_of("", "", f'<mspace width="1em"></mspace>{line}')


def _lines(formula: Formula) -> list[str]:
    """Return a formula in lines, each one with as many terms as find room."""
    lines: list[str] = []
    length = WIDTH
    for k, term in enumerate(terms_of(formula)):
        size = visible(formula_latex(term)) + 2
        if length + size > WIDTH:
            lines.append("")
            length = 0
        lines[-1] += _signed(term, k == 0)
        length += size
    return [f"<mrow>{line}</mrow>" for line in lines]


def _row_of(left: str, sign: str, right: str) -> str:
    return (
        f'<mtr><mtd style="text-align: right">{left}</mtd><mtd>{sign}</mtd>'
        f'<mtd style="text-align: left">{right}</mtd></mtr>'
    )


def element(formula: Formula) -> str:
    """Return the element of a formula."""
    match formula:
        case NumberFormula(value):
            top, slash, bottom = number_text(abs(value)).partition("/")
            number = (
                f"<mfrac><mn>{top}</mn><mn>{bottom}</mn></mfrac>" if slash else f"<mn>{top}</mn>"
            )
            return f"<mrow>{_operator('-')}{number}</mrow>" if value < 0 else number
        case NameFormula(symbol):
            return symbol_element(symbol)
        case TextFormula(text):
            return f"<mtext>{_escaped(text)}</mtext>"
        case SumFormula(terms):
            return f"<mrow>{''.join(_signed(term, k == 0) for k, term in enumerate(terms))}</mrow>"
        case ProductFormula(coefficient, factors):
            size = abs(coefficient)
            number = [] if size == 1 else [element(NumberFormula(size))]
            product = THIN.join([*number, *map(_factor, factors)])
            return f"<mrow>{_operator('-') if coefficient < 0 else ''}{product}</mrow>"
        case PowerFormula(base, exponent):
            return _power(base, f"<mn>{exponent}</mn>")
        case CallFormula(function, argument):
            return _call(function, argument)
        case QuotientFormula(above, below):
            return f"<mfrac>{element(above)}{element(below)}</mfrac>"
        case MatrixFormula(rows):
            table = "".join(f"<mtr>{''.join(map(_cell, row))}</mtr>" for row in rows)
            return f"<mrow><mo>[</mo><mtable>{table}</mtable><mo>]</mo></mrow>"
        case Equation(left, right):
            return f"<mrow>{element(left)}<mo>=</mo>{element(right)}</mrow>"


def _cell(formula: Formula) -> str:
    return f"<mtd>{element(formula)}</mtd>"


def _signed(term: Formula, first: bool) -> str:
    sign = "-" if is_negative(term) else "" if first else "+"
    form = "prefix" if first else "infix"
    before = f'<mo form="{form}">{SIGNS.get(sign, sign)}</mo>' if sign else ""
    return before + element(without_sign(term))


def _operator(sign: str) -> str:
    return f'<mo form="prefix">{SIGNS.get(sign, sign)}</mo>'


def _brackets(inside: str) -> str:
    return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"


def _factor(formula: Formula) -> str:
    text = element(formula)
    return _brackets(text) if isinstance(formula, SumFormula) else text


def _power(base: Formula, exponent: str) -> str:
    if isinstance(base, CallFormula) and base.function not in ("sqrt", "abs", "reciprocal"):
        return _call(base.function, base.argument, exponent)
    is_name = isinstance(base, NameFormula)
    is_closed = isinstance(base, CallFormula) and base.function in ("sqrt", "abs")
    if is_closed or (is_name and not base.symbol.above):
        return f"<msup>{element(base)}{exponent}</msup>"
    return f"<msup>{_brackets(element(base))}{exponent}</msup>"


def _call(function: str, argument: Formula, exponent: str = "") -> str:
    inside = element(argument)
    match function:
        case "reciprocal":
            return f"<mfrac><mn>1</mn>{inside}</mfrac>"
        case "sqrt":
            return f"<msqrt>{inside}</msqrt>"
        case "abs":
            return f"<mrow><mo>|</mo>{inside}<mo>|</mo></mrow>"
        case _:
            name = f"<mi>{FUNCTIONS.get(function, function)}</mi>"
            name = f"<msup>{name}{exponent}</msup>" if exponent else name
            is_name = isinstance(argument, NameFormula) and not argument.symbol.above
            return f"<mrow>{name}{THIN}{inside if is_name else _brackets(inside)}</mrow>"


# --- names ------------------------------------------------------------------------------------


def symbol_element(symbol: Symbol) -> str:
    """Return the element of a symbol."""
    base = _mark(symbol.base)
    if symbol.accent:
        base = f'<mover accent="true">{base}<mo>{ACCENTS[symbol.accent]}</mo></mover>'
    above = _marks(symbol.above) + "<mo>\u2032</mo>" * symbol.primes
    if symbol.below and above:
        return f"<msubsup>{base}{_row(_marks(symbol.below))}{_row(above)}</msubsup>"
    if symbol.below:
        return f"<msub>{base}{_row(_marks(symbol.below))}</msub>"
    return f"<msup>{base}{_row(above)}</msup>" if above else base


def _row(inside: str) -> str:
    return f"<mrow>{inside}</mrow>"


def _marks(marks: Iterable[Mark]) -> str:
    return "".join(map(_mark, marks))


def _mark(mark: Mark) -> str:
    if mark.text.isdigit() and mark.text.isascii():
        return f"<mn>{mark.text}</mn>"
    if mark.upright:
        return f'<mi mathvariant="normal">{_escaped(mark.text)}</mi>'
    if mark.text.isalpha():
        return f"<mi>{mark.text}</mi>"
    return f"<mo>{SIGNS.get(mark.text, escape(mark.text))}</mo>"


def _escaped(text: str) -> str:
    return escape(UNPRINTABLE.sub("\ufffd", text))
