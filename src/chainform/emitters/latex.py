"""Formulas for papers and lectures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from chainform.emitters.names import latex_name
from chainform.graph import CALLS, Expansion, Graph, Symbol, number_text

FUNCTIONS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


def emit(graph: Graph, outputs: Sequence[str]) -> str:
    """Return the definitions that the outputs need, in order, as an `align` environment."""
    needed = graph.cone(graph.output_variables(outputs))
    lines = [
        f"{latex_name(graph.names[v])} &= {definition_latex(graph, v)}"
        for v in range(len(graph))
        if needed[v] and v not in graph.inputs
    ]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


def definition_latex(graph: Graph, variable: int) -> str:
    """Return the right side of a variable's definition."""
    if variable in graph.inputs:
        return latex_name(graph.names[variable])
    if graph.call[variable]:
        argument = latex_name(graph.names[int(graph.argument[variable])])
        return call_latex(CALLS[graph.call[variable]], argument)
    return _sum_latex(
        (t.coefficient, [(_factor_latex(graph, f.variable), f.power) for f in t.factors])
        for t in graph.terms(variable)
    )


def _factor_latex(graph: Graph, variable: int) -> str:
    """Return a factor; sines and cosines are written out, they need no name of their own."""
    function = CALLS[graph.call[variable]]
    if function in ("sin", "cos"):
        return call_latex(function, latex_name(graph.names[int(graph.argument[variable])]))
    return latex_name(graph.names[variable])


def expansion_latex(expansion: Expansion) -> str:
    """Return an expansion, a term for each product."""
    names = [symbol_latex(symbol) for symbol in expansion.symbols]
    return _sum_latex((k, [(names[s], power) for s, power in fs]) for k, fs in expansion.terms)


def symbol_latex(symbol: Symbol) -> str:
    """Return a letter of an expansion."""
    name = latex_name(symbol.argument)
    return call_latex(symbol.function, name) if symbol.function else name


def call_latex(function: str, argument: str) -> str:
    """Return a function of an argument."""
    match function:
        case "reciprocal":
            return f"\\frac{{1}}{{{argument}}}"
        case "sqrt":
            return f"\\sqrt{{{argument}}}"
        case "abs":
            return f"\\left|{argument}\\right|"
        case "sign":
            return f"\\operatorname{{sign}} {argument}"
        case _:
            return f"\\{FUNCTIONS.get(function, function)} {argument}"


def _sum_latex(parts: Iterable[tuple[Fraction, list[tuple[str, int]]]]) -> str:
    text = ""
    for coefficient, factors in parts:
        product = " \\, ".join(_power_latex(name, power) for name, power in factors)
        size = abs(coefficient)
        if not product:
            body = _number_latex(size)
        else:
            body = product if size == 1 else f"{_number_latex(size)} \\, {product}"
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {body}" if text else f"{'-' if sign == '-' else ''}{body}"
    return text or "0"


def _number_latex(value: Fraction) -> str:
    text = number_text(value)
    numerator, slash, denominator = text.partition("/")
    return f"\\tfrac{{{numerator}}}{{{denominator}}}" if slash else text


def _power_latex(name: str, power: int) -> str:
    if power == 1:
        return name
    if name.startswith("\\") and " " in name:
        head, _, rest = name.partition(" ")
        return f"{head}^{{{power}}} {rest}"
    return f"{name}^{{{power}}}" if "^" not in name else f"({name})^{{{power}}}"
