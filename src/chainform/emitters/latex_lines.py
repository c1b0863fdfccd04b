"""Equations for papers in lines of a width, and whole documents of definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from chainform.emitters.formula import (
    ONE,
    CallFormula,
    Equation,
    Formula,
    MatrixFormula,
    NameFormula,
    PowerFormula,
    ProductFormula,
    QuotientFormula,
    SumFormula,
    definition_formula,
    is_negative,
    terms_of,
    value_formula,
    without_sign,
)
from chainform.emitters.latex import (
    FUNCTIONS,
    formula_latex,
    function_latex,
    number_latex,
    signed_latex,
)
from chainform.emitters.notation import Letters, Notation, names_in_order
from chainform.graph import Graph, Kind, entry_names

WIDTH = 90
"""How many characters of a formula stand on one line, commands not counted."""


def _width_of(command: re.Match[str]) -> str:
    """Return as many letters as a command is wide: a function its name, all else one."""
    name = command[1]
    return f"{name}x" if name in ("sin", "cos", "tan", "exp", "log", *FUNCTIONS.values()) else "x"


SILENT = re.compile(r"\\(?:mathrm|text|left|right|bigl|bigr|operatorname|d?dot|tfrac|frac|sqrt)\b")


FRACTION = "\\frac{"


def visible(text: str) -> int:
    """Return about how many characters wide a formula in LaTeX is.

    Three thin spaces are one character, and so are the spaces around a sign and those around a
    bracket that grows; an m is as wide as two others. A fraction is as wide as its wider part.
    """
    before, fraction, rest = text.partition(FRACTION)
    if fraction:
        above, rest = _argument(rest)
        below, rest = _argument(rest.removeprefix("{"))
        return visible(before) + max(visible(above), visible(below)) + visible(rest)
    bare = SILENT.sub("", text)
    spaces = bare.count("\\,") // 3 + len(re.findall(" [+=-] ", bare)) + text.count("\\left(")
    spaces += len(re.findall(r"(?<![A-Za-z{])m(?![A-Za-z])", bare))
    bare = re.sub(r"\\([A-Za-z]+)", _width_of, bare.replace("\\,", ""))
    return spaces + len(bare.translate(str.maketrans("", "", "{}_^ ")))


def _argument(text: str) -> tuple[str, str]:
    """Return an argument of a command up to its closing brace, and what comes behind that."""
    depth = 1
    for brace in re.finditer(r"(?<!\\\\)[{}]", text):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return text[: brace.start()], text[brace.end() :]
    return text, ""


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
        whole = signed_latex(term, first=k == 0)
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
            number = [] if coefficient == 1 else [number_latex(coefficient)]
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
            is_short = above != ONE and visible(short) <= width
            if is_short:
                yield short
            if isinstance(above, SumFormula):
                yield from _in_brackets("", above, "", width)
            elif above != ONE:
                yield from _factor_pieces(above, width)
            if not is_short:
                yield from _in_brackets("\\, ", below, "^{-1}", width)
        case CallFormula("sqrt", argument):
            yield from _in_brackets("", argument, "^{1/2}", width)
        case CallFormula("reciprocal", argument):
            yield from _in_brackets("", argument, "^{-1}", width)
        case CallFormula("abs", argument):
            yield from _in_brackets("", argument, "", width, "||")
        case CallFormula(function, argument):
            yield from _in_brackets(f"{function_latex(function)} ", argument, "", width)
        case PowerFormula(CallFormula(function, argument), exponent) if function not in (
            *("sqrt", "abs", "reciprocal"),
        ):
            yield from _in_brackets(
                f"{function_latex(function)}^{{{exponent}}} ", argument, "", width
            )
        case _:
            yield formula_latex(term)


def _in_brackets(
    before: str, formula: Formula, behind: str, width: int, brackets: str = "()"
) -> Iterator[str]:
    inner = list(_pieces(formula, width))
    inner[0] = f"{before}\\bigl{brackets[0]}{inner[0]}"
    inner[-1] = f"{inner[-1]}\\bigr{brackets[1]}{behind}"
    yield from inner


MOST_TOGETHER = 20
"""Lines that stand on one page; between those of more a page may end."""
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
    whole = f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"
    # Without the command amsmath keeps all lines on one page, and loses those that find no room.
    is_long = environment == "align*" and body.count("\\\\") > MOST_TOGETHER
    return f"{{\\allowdisplaybreaks[1]\n{whole}}}" if is_long else whole


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
    numbers = _bare_numbers(graph, needed, outputs)
    entries = _entries(graph, outputs, {graph.names[v]: v for v in needed})
    names = names_in_order(graph, needed, entries)
    letters = Letters(notation, names, trig="short").of_graph(graph, needed)
    equations = [
        Equation(
            NameFormula(letters(graph.names[v])),
            definition_formula(graph, v, letters, angles=letters.is_short),
        )
        for v in needed
        if v not in graph.inputs and v not in numbers
    ]
    equations += [
        Equation(NameFormula(letters(label)), value_formula(graph, v, letters))
        for label, v in entries.items()
    ]
    return equations_latex(equations, WIDTH, "align*") + "\n"


def _bare_numbers(graph: Graph, needed: Sequence[int], outputs: Sequence[str]) -> set[int]:
    """Return the numbers that nothing names: entries of other names have their values."""
    labels = {label for name in outputs for label in graph.block(name).labels}
    named = {v for v in needed if graph.names[v] in labels}
    named |= {f.variable for v in needed for t in graph.terms(v) for f in t.factors}
    named |= {int(graph.argument[v]) for v in needed if graph.call[v]}
    return {v for v in needed if graph.kind[v] == Kind.CONSTANT} - named


def _entries(graph: Graph, outputs: Sequence[str], taken: Mapping[str, int]) -> dict[str, int]:
    """Return the entries that are not variables of their own name: shared ones, inputs, numbers."""
    blocks = [graph.block(name) for name in outputs]
    return {name: v for name, v in entry_names(blocks, taken) if graph.names[v] != name}
