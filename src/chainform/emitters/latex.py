"""Formulas for papers and lectures, with names written for typesetting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from chainform.graph import (
    CALLS,
    Expansion,
    ExpansionSymbol,
    Graph,
    Kind,
    entry_names,
    number_text,
)

GREEK = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
}
RATES = {"qd": r"\dot{q}", "qdd": r"\ddot{q}"}


def latex_name(name: str) -> str:
    r"""Return a name as LaTeX: H_1_2 is H_{1,2}, qd3 \dot{q}_{3}, w_3_z w_{3,z}.

    An underscore at the end, which tells a variable from another of the same name, is a prime.
    """
    bare = name.rstrip("_")
    if bare and bare != name:
        written = latex_name(bare)
        base = f"{{{written}}}" if "^" in written else written
        return base + "'" * (len(name) - len(bare))
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", name)
    if match:
        return f"{_letter(match[1])}_{{{match[2]}}}"
    head, *rest = [part for part in name.split("_") if part] or [name]
    if not rest:
        return _letter(head)
    return f"{_letter(head)}_{{{','.join(_subscript(part) for part in rest)}}}"


def plain_name(name: str) -> str:
    """Return a name as LaTeX, letter for letter."""
    return f"\\mathrm{{{_escaped(name)}}}"


def _letter(word: str) -> str:
    if word in RATES:
        return RATES[word]
    if word in GREEK:
        return f"\\{word}"
    if word == "hG":
        return "h^{G}"
    return word if len(word) == 1 and word != "_" else f"\\mathrm{{{_escaped(word)}}}"


def _subscript(word: str) -> str:
    if word.isdigit() or len(word) == 1:
        return word
    return f"\\mathrm{{{_escaped(word)}}}"


def _escaped(word: str) -> str:
    return re.sub(r"([#$%&_{}])", r"\\\1", word)


# --- formulas -------------------------------------------------------------------------------------

Writer: TypeAlias = Callable[[str], str]
"""Writes the name of a variable."""
FUNCTIONS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


def emit(graph: Graph, outputs: Sequence[str]) -> str:
    """Return the definitions that the outputs need, in order, as an `align` environment.

    Every entry of the outputs stands on a left side, also where it shares its variable with
    others, is an input, or is a number.
    """
    needed = np.flatnonzero(graph.cone(graph.output_variables(outputs))).tolist()
    entries = _entries(graph, outputs, {graph.names[v]: v for v in needed})
    write = _distinct(dict.fromkeys([*(graph.names[v] for v in needed), *entries]))
    lines = [
        f"{write(graph.names[v])} &= {definition_latex(graph, v, write)}"
        for v in needed
        if v not in graph.inputs
    ]
    lines += [f"{write(label)} &= {_value(graph, v, write)}" for label, v in entries.items()]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"


def _entries(graph: Graph, outputs: Sequence[str], taken: Mapping[str, int]) -> dict[str, int]:
    """Return the entries that are not variables of their own name: shared ones, inputs, numbers."""
    blocks = [graph.block(name) for name in outputs]
    return {name: v for name, v in entry_names(blocks, taken) if graph.names[v] != name}


def _value(graph: Graph, variable: int, write: Writer) -> str:
    is_number = graph.kind[variable] == Kind.CONSTANT
    return definition_latex(graph, variable) if is_number else write(graph.names[variable])


def _distinct(names: Iterable[str]) -> Writer:
    """Return how names are written, each in a way of its own: x1 and x_1 would look the same."""
    written: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        is_plain = "[" in name or latex_name(name) in taken
        text = plain_name(name) if is_plain else latex_name(name)
        while text in taken:
            text = f"{{{text}}}^{{*}}"
        taken.add(text)
        written[name] = text
    return written.__getitem__


def definition_latex(graph: Graph, variable: int, write: Writer = latex_name) -> str:
    """Return the right side of a variable's definition."""
    if variable in graph.inputs:
        return write(graph.names[variable])
    if graph.call[variable]:
        argument = write(graph.names[int(graph.argument[variable])])
        return call_latex(CALLS[int(graph.call[variable])], argument)
    return _sum_latex(
        (t.coefficient, [_raised(write(graph.names[f.variable]), f.power) for f in t.factors])
        for t in graph.terms(variable)
    )


def expansion_latex(expansion: Expansion) -> str:
    """Return an expansion, a term for each product.

    In a product the inputs come before the calls: sin q m could be read as sin(q m).
    """

    def factors_latex(factors: Iterable[tuple[int, int]]) -> list[str]:
        letters = [(expansion.symbols[s], power) for s, power in factors]
        letters.sort(key=lambda letter: bool(letter[0].function))
        return [symbol_latex(symbol, power) for symbol, power in letters]

    return _sum_latex((k, factors_latex(factors)) for k, factors in expansion.terms)


def symbol_latex(symbol: ExpansionSymbol, power: int = 1) -> str:
    """Return a letter of an expansion, to a power."""
    if symbol.inner is None:
        return _raised(latex_name(symbol.argument), power)
    return call_latex(symbol.function, expansion_latex(symbol.inner), power)


def call_latex(function: str, argument: str, power: int = 1) -> str:
    """Return a function of an argument, to a power."""
    raised = f"^{{{power}}}" if power > 1 else ""
    match function:
        case "reciprocal":
            fraction = f"\\frac{{1}}{{{argument}}}"
            return f"\\left({fraction}\\right){raised}" if raised else fraction
        case "sqrt":
            return f"\\sqrt{{{argument}}}{raised}"
        case "abs":
            return f"\\left|{argument}\\right|{raised}"
        case "sign":
            return f"\\operatorname{{sign}}{raised} {_bracketed(argument)}"
        case _:
            return f"\\{FUNCTIONS.get(function, function)}{raised} {_bracketed(argument)}"


def _bracketed(argument: str) -> str:
    """Put brackets around an argument that is more than a name."""
    is_name = " " not in argument and "^" not in argument and not argument.startswith("-")
    return argument if is_name else f"\\left({argument}\\right)"


def _sum_latex(parts: Iterable[tuple[Fraction, Sequence[str]]]) -> str:
    text = ""
    for coefficient, factors in parts:
        product = " \\, ".join(factors)
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


def _raised(written: str, power: int) -> str:
    if power == 1:
        return written
    return f"{written}^{{{power}}}" if "^" not in written else f"({written})^{{{power}}}"
