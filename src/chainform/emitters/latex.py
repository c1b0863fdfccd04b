r"""Formulas for papers and lectures as LaTeX, for a document with amsmath.

A formula stands in mathematics: `$...$`, `\[...\]`, or a notebook. What does not fit into a line is
broken into several; nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from chainform.emitters.formula import (
    ONE,
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
    definition_formula,
    is_negative,
    terms_of,
    value_formula,
    without_sign,
)
from chainform.emitters.latex_text import tex_text
from chainform.emitters.notation import Letters, Notation, names_in_order
from chainform.expressions import GREEK, Mark, Symbol, symbol_of_name
from chainform.graph import Graph, entry_names, number_text

WIDTH = 90
"""How many characters of a formula stand on one line, commands not counted."""
FUNCTIONS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
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
            return _number_latex(value)
        case NameFormula(symbol):
            return symbol_latex(symbol)
        case TextFormula(text):
            return f"\\text{{{tex_text(text)}}}"
        case SumFormula(terms):
            return " ".join(_signed(term, first=k == 0) for k, term in enumerate(terms))
        case ProductFormula(coefficient, factors):
            size = abs(coefficient)
            number = [] if size == 1 else [_number_latex(size)]
            product = " \\, ".join([*number, *(_bracketed_sum(factor) for factor in factors)])
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


def _signed(term: Formula, *, first: bool) -> str:
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
            return f"{_function(function)}{raised} {_bracketed(argument)}"


def _function(name: str) -> str:
    return r"\operatorname{sign}" if name == "sign" else f"\\{FUNCTIONS.get(name, name)}"


def _bracketed(argument: Formula) -> str:
    """Put brackets around an argument that is more than a name."""
    text = formula_latex(argument)
    is_name = isinstance(argument, NameFormula) and not argument.symbol.above
    is_number = isinstance(argument, NumberFormula) and argument.value >= 0
    return text if is_name or is_number else f"\\left({text}\\right)"


def _number_latex(value: Fraction) -> str:
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


# --- lines ------------------------------------------------------------------------------------


def _width_of(command: re.Match[str]) -> str:
    """Return as many letters as a command is wide: a function its name, all else one."""
    name = command[1]
    return f"{name}x" if name in ("sin", "cos", "tan", "exp", "log", *FUNCTIONS.values()) else "x"


SILENT = re.compile(r"\\(?:mathrm|text|left|right|bigl|bigr|operatorname|d?dot|tfrac|frac|sqrt)\b")


def visible(text: str) -> int:
    """Return about how many characters wide a formula in LaTeX is.

    Three thin spaces are one character, and so are the spaces around a sign and those around a
    bracket that grows; an m is as wide as two others.
    """
    bare = SILENT.sub("", text)
    spaces = bare.count("\\,") // 3 + len(re.findall(" [+=-] ", bare)) + text.count("\\left(")
    spaces += len(re.findall(r"(?<![A-Za-z{])m(?![A-Za-z])", bare))
    bare = re.sub(r"\\([A-Za-z]+)", _width_of, bare.replace("\\,", ""))
    return spaces + len(bare.translate(str.maketrans("", "", "{}_^ ")))


def broken_latex(formula: Formula, width: int, start: int = 0) -> list[str]:
    """Return a formula in lines of about a width; they are broken before a sign.

    So many characters stand before the first line, and are free before the others; at least half
    of the width is used.
    """
    lines = [""]
    length, width = 0, max(width - start, width // 2)
    for piece in _pieces(formula, width):
        size = visible(piece)
        size += piece.startswith(("+ ", "- "))
        if lines[-1] and length + size > width:
            lines.append(piece)
            length = size
        else:
            lines[-1] += f" {piece}" if lines[-1] else piece
            length += size
    return lines


def _pieces(formula: Formula, width: int) -> Iterator[str]:
    """Yield the parts of a formula between which a line may be broken."""
    for k, term in enumerate(terms_of(formula)):
        whole = _signed(term, first=k == 0)
        if visible(whole) <= width:
            yield whole
            continue
        sign = "-" if is_negative(term) else "+" if k else ""
        start = f"{sign} " if k else sign
        inner = list(_factor_pieces(without_sign(term), width))
        yield start + inner[0]
        yield from inner[1:]


def _factor_pieces(term: Formula, width: int) -> Iterator[str]:
    """Yield the parts of a long term: sums in brackets are broken, too."""
    match term:
        case ProductFormula(coefficient, factors):
            number = [] if coefficient == 1 else [_number_latex(coefficient)]
            joined = number
            for factor in factors:
                if isinstance(factor, SumFormula):
                    parts = list(_in_brackets("", factor, "", width))
                elif visible(formula_latex(factor)) > width:
                    parts = list(_factor_pieces(factor, width))
                else:
                    parts = [formula_latex(factor)]
                joined, ready = [*joined, parts[0]], parts[1:]
                if ready:
                    yield " \\, ".join(joined)
                    yield from ready[:-1]
                    joined = [ready[-1]]
            yield " \\, ".join(joined)
        case PowerFormula(base, exponent) if isinstance(base, SumFormula):
            yield from _in_brackets("", base, f"^{{{exponent}}}", width)
        case QuotientFormula(above, below):
            # A fraction cannot be broken; the same as a product with a reciprocal can.
            short = f"\\frac{{1}}{{{formula_latex(below)}}}"
            is_short = above != ONE and visible(short) <= width // 2
            front = f"{short} \\, " if is_short else ""
            if isinstance(above, SumFormula):
                yield from _in_brackets(front, above, "", width)
            elif above != ONE:
                first, *others = _factor_pieces(above, width)
                yield from (front + first, *others)
            if not is_short:
                yield from _in_brackets("\\, ", below, "^{-1}", width)
        case CallFormula("sqrt", argument):
            yield from _in_brackets("", argument, "^{1/2}", width)
        case CallFormula("reciprocal", argument):
            yield from _in_brackets("", argument, "^{-1}", width)
        case CallFormula("abs", argument):
            yield from _in_brackets("", argument, "", width, "||")
        case CallFormula(function, argument):
            yield from _in_brackets(f"{_function(function)} ", argument, "", width)
        case PowerFormula(CallFormula(function, argument), exponent) if function not in (
            *("sqrt", "abs", "reciprocal"),
        ):
            yield from _in_brackets(f"{_function(function)}^{{{exponent}}} ", argument, "", width)
        case _:
            yield formula_latex(term)


def _in_brackets(
    before: str, formula: Formula, behind: str, width: int, brackets: str = "()"
) -> Iterator[str]:
    inner = list(_pieces(formula, width))
    inner[0] = f"{before}\\bigl{brackets[0]}{inner[0]}"
    inner[-1] = f"{inner[-1]}\\bigr{brackets[1]}{behind}"
    yield from inner


JOINT = " \\\\\n&\\quad "
"""What stands between the lines of one equation."""


def equation_latex(equation: Equation, width: int | None, start: int) -> str:
    """Return an equation for an environment such as align, its right side in lines of a width.

    All right sides begin in one place: behind the widest left side, after `start` characters.
    """
    first, *others = _names(equation.left)
    middle = "".join(f"{name} = " for name in others)
    if width is None or isinstance(equation.right, MatrixFormula):
        return f"{first} &= {middle}{formula_latex(equation.right)}"
    lines = broken_latex(equation.right, width, start + visible(middle))
    return f"{first} &= {middle}{JOINT.join(lines)}"


def _names(left: Formula) -> list[str]:
    """Return a left side, of several that are equal each one."""
    if isinstance(left, Equation):
        return [*_names(left.left), *_names(left.right)]
    return [formula_latex(left)]


def equations_latex(
    equations: Sequence[Equation],
    width: int | None = WIDTH,
    environment: str = "aligned",
    legend: Sequence[Equation] = (),
) -> str:
    """Return equations below each other, then the legend; one that fits stands by itself."""
    if len(equations) == 1 and not legend and environment == "aligned":
        alone = formula_latex(equations[0])
        is_matrix = isinstance(equations[0].right, MatrixFormula)
        if width is None or is_matrix or visible(alone) <= width:
            return alone
    start = max((visible(_names(equation.left)[0]) for equation in equations), default=0) + 3
    rows = [equation_latex(equation, width, start) for equation in equations]
    rows += [f"&{line}" for line in _legend_lines(legend, (width or WIDTH) - start)]
    body = " \\\\\n".join(rows)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def _legend_lines(legend: Sequence[Equation], width: int) -> list[str]:
    """Return short equations side by side, in lines of a width."""
    lines: list[str] = []
    length = width
    for text in map(formula_latex, legend):
        size = visible(text) + 5
        if length + size > width:
            lines.append(text)
            length = size
        else:
            lines[-1] += f",\\quad {text}"
            length += size
    return lines


def latex_document(graph: Graph, outputs: Sequence[str], notation: Notation | None = None) -> str:
    """Return the definitions that the outputs need, in order, as an `align` environment.

    Every entry of the outputs stands on a left side, also where it shares its variable with
    others, is an input, or is a number. Long ones are broken into lines.
    """
    needed = np.flatnonzero(graph.cone(graph.output_variables(outputs))).tolist()
    entries = _entries(graph, outputs, {graph.names[v]: v for v in needed})
    names = names_in_order(graph, needed, entries)
    letters = Letters(notation, names, trig="short").of_graph(graph, needed)
    equations = [
        Equation(
            NameFormula(letters(graph.names[v])),
            definition_formula(graph, v, letters, angles=letters.is_short),
        )
        for v in needed
        if v not in graph.inputs
    ]
    equations += [
        Equation(NameFormula(letters(label)), value_formula(graph, v, letters))
        for label, v in entries.items()
    ]
    return equations_latex(equations, WIDTH, "align*") + "\n"


def _entries(graph: Graph, outputs: Sequence[str], taken: Mapping[str, int]) -> dict[str, int]:
    """Return the entries that are not variables of their own name: shared ones, inputs, numbers."""
    blocks = [graph.block(name) for name in outputs]
    return {name: v for name, v in entry_names(blocks, taken) if graph.names[v] != name}
