"""The outputs of a model: equation of motion, table with units and meanings, and formulas.

Texts of the catalogue, such as `T = qd^T H qd / 2`, are set with the symbols that formulas have.
Short formulas are written out; all definitions follow by level.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

import numpy as np

from chainform.algebra import short_formulas
from chainform.emitters import (
    ZERO,
    Equation,
    Formula,
    Letters,
    NameFormula,
    TextFormula,
    definition_formula,
    expansion_formula,
    names_in_order,
    product_formula,
    sum_formula,
    value_formula,
)
from chainform.expressions import Mark, Symbol, parse_symbol
from chainform.given import counted
from chainform.graph import Expansion, Graph, rounded
from chainform.mechanism import EffortElement, ForceElement, Mechanism, MomentElement
from chainform.model import (
    CATALOGUE,
    FormulaArray,
    Model,
    Quantity,
    is_whole,
    letter_of,
    letters_in_order,
    letters_of,
    notation_of,
    parse_request,
)
from chainform.pipeline import derive, quantities
from chainform.reports.blocks import (
    DataTable,
    EquationList,
    InlineText,
    Paragraph,
    ReportBlock,
    TableCell,
    Title,
)
from chainform.reports.mechanism_blocks import unit_text

NAME = re.compile(r"([A-Za-z]+)(?:_([a-z]+))?('?)(?:\(([A-Z])\))?(?:\^(T|−1))?")
"""A name in an equation of the catalogue: indices, a prime, a frame in brackets, a power."""
KNOWN = frozenset(
    {"q", "qd", "qdd", "tau", "sigma", "theta", "lambda", "gamma", "pi"}
    | {entry.letter for entry in CATALOGUE.values() if entry.letter}
)
INPUTS = {
    "q": "coordinates $q$",
    "qd": r"rates $\dot{q}$",
    "qdd": r"accelerations $\ddot{q}$",
    "tau": r"efforts $\tau$",
    "sigma": r"forces in the loops $\sigma$",
    "wrench": "wrenches",
    "x": "states of actuators $x$",
    "u": "signals $u$",
    "force": "unknown forces",
    "t": "the time $t$",
    "direction": "directions",
    "weights": "weights",
    "parameter": "parameters",
}
"""What the inputs are, by their groups."""
UNIT = re.compile(r"[uvp]_[ikl]")
SHORT_TERMS = 24
"""A formula with no more terms is written out over the inputs."""
MOST_ENTRIES = 64
"""Entries of one output that are written out."""
MOST_DEFINITIONS = 400
"""Definitions that a report prints; of more, the first levels."""
MOST_TERMS = 300
"""Terms of one definition that is printed."""
MOST_WRITTEN_OUT = 4_000
"""Variables of a graph whose formulas are written out."""


# --- the equation of motion ---------------------------------------------------------------------


def equation_of_motion(model: Model) -> tuple[tuple[Equation, ...], InlineText]:
    """Return the equation of motion, with those forces that there are, and what letters mean.

    Behind it stand the forces by rates, and the condition that loops stay closed.
    """
    mechanism = model.mechanism
    terms = [(1, r"H \ddot{q}"), (1, "c"), (1, "h^{G}")]
    lines = [Equation(_symbols("c_{i}"), _symbols(r"\dot{q}^{T} C_{i} \dot{q}"))]
    words = "with $C_{i}$ the matrix of Christoffel symbols for coordinate $i$"
    if mechanism.quaternions:
        lines = [Equation(_symbols("c"), _symbols(r"C_{m} \dot{q}"))]
        words = r"with $C_{m}$ the matrix of velocity terms; $\dot{q}$ the rates, in body axes "
        words += "where a joint has a quaternion"
    if _has_passive(model):
        terms.append((1, "P"))
        words += "; $P$ what friction and springs add"
    if _has_forces(mechanism) and "forces" not in model.without:
        terms.append((-1, "Q"))
        words += "; $Q$ the forces of laws"
    if mechanism.loops:
        is_complete = model.closure == "complete"
        terms.append((-1, r"J^{T} \sigma") if is_complete else (1, r"B \sigma"))
        words += r"; $\sigma$ the forces in the loops, which stay closed where $J$ $\dot{q}$ is 0"
        lines.append(Equation(_symbols(r"J \dot{q}"), ZERO))
        words += "" if is_complete else "; $B$ = −$J^{T}$ in the rows of basic joints"
    if model.wrenches:
        terms.append((-1, "J_{F}^{T} w"))
        words += "; $w$ the wrenches, and $J_{F}$ the Jacobian of their frames"
    if any(constraint.kind != "unilateral" for constraint in mechanism.constraints):
        words += r"; $\tau$ includes the forces of the constraints"
    right = sum_formula(_symbols(symbols, sign) for sign, symbols in terms)
    return (Equation(_symbols(r"\tau"), right), *lines), _inline(f"{words}.")


def _has_passive(model: Model) -> bool:
    mechanism = model.mechanism
    if "passive" not in {entry.name for entry in quantities(mechanism)}:
        return False
    passive = derive(mechanism, ["passive"], without=list(model.without))["passive"]
    return passive.sparsity().indices.size > 0


def _has_forces(mechanism: Mechanism) -> bool:
    kinds = (ForceElement, MomentElement, EffortElement)
    return bool(mechanism.forces) or any(isinstance(e, kinds) for e in mechanism.elements)


def _symbols(text: str, sign: int = 1) -> Formula:
    """Return a product of symbols."""
    return product_formula(
        Fraction(sign), [NameFormula(parse_symbol(symbol)) for symbol in text.split()]
    )


def _inline(text: str) -> InlineText:
    """Return a text in which symbols stand between dollar signs."""
    parts = text.split("$")
    return tuple(parse_symbol(part) if k % 2 else part for k, part in enumerate(parts))


def level_words(model: Model) -> InlineText:
    """Return what the levels of formulas are, and which inputs they begin with."""
    graph = model.graph
    needed = graph.cone(graph.output_variables())
    groups = {item.group for v, item in graph.inputs.items() if needed[v]}
    words = "Each variable is a sum of products, or a function, of variables of lower levels."
    found = ", ".join(text for group, text in INPUTS.items() if group in groups)
    return _inline(f"{words} Level 0 are the inputs: {found}." if found else words)


# --- the table ----------------------------------------------------------------------------------


def quantity_blocks(model: Model) -> list[ReportBlock]:
    """Return the outputs of a model with shape, unit, meaning and equation."""
    rows = [_quantity(model, name) for name in model.outputs]
    titles = ("output", "letter", "shape", "unit", "meaning", "equation")
    caption = (
        "$u_{i}$ is rad, or m where rate $i$ slides; $i$, $k$, $l$ are the indices of an entry."
    )
    return [DataTable.of(titles, rows, (), _inline(caption) if model.has_bodies else "")]


def _quantity(model: Model, name: str) -> tuple[TableCell, ...]:
    shape = " × ".join(map(str, model[name].shape)) or "1"
    entry = CATALOGUE.get(name) if model.has_bodies else None
    if entry is None and model.has_bodies and name not in model.defined:
        entry = CATALOGUE.get(parse_request(name).name)
    if entry is None:
        letter = letter_of(name) if model.has_bodies else None
        return name, letter or "", shape, "", "", model.defined.get(name, "")
    letters = Letters(notation_of(model.mechanism))
    letter = letters(entry.letter) if entry.letter else ""
    equation = tuple(_with_symbols(entry.equation.replace("-", "−"), letters))
    if "=" not in entry.equation:
        equation = (entry.equation,)
    return name, letter, shape, _unit(entry.unit), entry.meaning, equation


def _unit(text: str) -> InlineText:
    """Return a unit with the symbols of what depends on the rate."""
    names = UNIT.findall(text)
    texts = UNIT.split(unit_text(text))
    found = [part for pair in zip(texts, map(_index, names), strict=False) for part in pair]
    return tuple(part for part in (*found, texts[-1]) if part)


def _index(name: str) -> Symbol:
    return Symbol(Mark(name[0]), below=(Mark(name[2:]),))


def _with_symbols(text: str, letters: Letters) -> Iterator[str | Symbol]:
    """Yield an equation of the catalogue: symbols, and what stands between them."""
    end = 0
    for found in NAME.finditer(text):
        name, index, prime, frame, power = found.groups()
        is_change = name[0] == "d" and (len(name) == 2 or name[1:] in KNOWN)
        letter = name[1:] if is_change else name
        if letter not in KNOWN and len(letter) > 1:
            continue
        yield text[end : found.start()] + ("d" if is_change else "")
        below = tuple(Mark(mark) for mark in index or frame or "")
        symbol = letters(letter)
        above = (*symbol.above, *(Mark(mark) for mark in power or ""))
        yield replace(symbol, below=(*symbol.below, *below), above=above, primes=len(prime))
        end = found.end()
    yield text[end:]


# --- formulas written out ---------------------------------------------------------------------


def written_out(
    quantity: Quantity, letters: Letters, digits: int | None = None
) -> tuple[list[Equation], list[str]]:
    """Return the entries with a short formula other than zero, and the names of the long ones."""
    equations: list[Equation] = []
    long: list[str] = []
    short = short_formulas(quantity.graph, quantity.variables.ravel().tolist(), SHORT_TERMS)
    for name, entry in entries(quantity):
        formula = short.get(entry.variable)
        if formula is None:
            long.append(name)
        elif formula.terms or not quantity.shape:
            shown = formula if digits is None else rounded(formula, digits)
            right = expansion_formula(shown, letters, letters.turn)
            equations.append(Equation(NameFormula(letters(name)), right))
    return equations, long


def entries(quantity: Quantity) -> Iterator[tuple[str, Quantity]]:
    """Yield the entries of a quantity by name, each variable once; zeros are left out."""
    seen: set[int] = set()
    zeros = {v for v, number in quantity.graph.number_value.items() if not number}
    for index in np.ndindex(*quantity.shape):
        entry = quantity[index] if index else quantity
        if entry.variable in seen or (quantity.shape and entry.variable in zeros):
            continue
        seen.add(entry.variable)
        yield str(entry.labels), entry


def formula_blocks(model: Model, digits: int | None = None) -> list[ReportBlock]:
    """Return the short formulas of each output, written out over the inputs."""
    blocks: list[ReportBlock] = []
    if len(model.graph) > MOST_WRITTEN_OUT:
        words = f"The graph has {len(model.graph)} variables; no formula is written out."
        return [Paragraph(f"{words} chainform show NAME --expand writes out one.")]
    letters = model_letters(model)
    for name in model.outputs:
        quantity = model[name]
        if quantity.variables.size > MOST_ENTRIES**2:
            continue
        lines, long = written_out(quantity, letters, digits)
        shown = tuple(lines[:MOST_ENTRIES])
        blocks.append(Title(name, 2))
        if shown:
            blocks.append(EquationList(shown, tuple(letters.legend(shown))))
        blocks += _remarks(quantity, len(lines), long, letters)
    return blocks


def _remarks(
    quantity: Quantity, short: int, long: list[str], letters: Letters
) -> Iterator[Paragraph]:
    if not short and not long:
        yield Paragraph("All entries are zero.")
    elif short + len(long) < quantity.variables.size:
        yield Paragraph("Entries that are zero, and those that equal one above, are left out.")
    if (more := short - MOST_ENTRIES) > 0:
        yield Paragraph(f"{counted(more, 'more short entry').replace('entrys', 'entries')}.")
    if long:
        names = [part for name in long[:12] for part in (", ", letters(name))][1:]
        others = f" and {len(long) - 12} more" if len(long) > 12 else ""
        words = f"have more than {SHORT_TERMS} terms and stand below as they are computed"
        yield Paragraph((*names, f"{others}: these {words}."))


# --- definitions by level ---------------------------------------------------------------------


def level_blocks(model: Model, digits: int | None = None) -> list[ReportBlock]:
    """Return every definition that the outputs need, by the level at which it can be computed."""
    graph = model.graph
    needed = np.flatnonzero(graph.cone(graph.output_variables())).tolist()
    computed = [v for v in needed if v not in graph.inputs and v not in graph.number_value]
    computed.sort(key=lambda v: (int(graph.level[v]), v))
    shown = computed[:MOST_DEFINITIONS]
    letters = model_letters(model)
    blocks: list[ReportBlock] = []
    for level, group in groupby(shown, key=lambda v: int(graph.level[v])):
        lines = tuple(_definition(graph, v, letters, digits) for v in group)
        words = "of inputs alone" if level == 1 else f"of levels up to {level - 1}"
        blocks += [Title(f"Level {level}: {words}", 2), EquationList(lines)]
    if len(shown) < len(computed):
        blocks.append(
            Paragraph(
                f"These are {len(shown)} of {len(computed)} definitions, the lowest levels first. "
                "chainform export FILE --to latex writes all of them."
            )
        )
    return blocks


def _definition(graph: Graph, variable: int, letters: Letters, digits: int | None) -> Equation:
    left = NameFormula(letters(graph.names[variable]))
    terms = 0 if graph.call[variable] else len(graph.terms(variable))
    if terms > MOST_TERMS:
        return Equation(left, TextFormula(f"a sum of {terms} terms, too long to be printed"))
    right = definition_formula(graph, variable, letters, angles=letters.is_short, digits=digits)
    return Equation(left, right)


def entry_blocks(model: Model, digits: int | None = None) -> list[ReportBlock]:
    """Return which variable each entry of an output is where it bears another name."""
    graph, letters = model.graph, model_letters(model)
    lines: list[Equation] = []
    for block in graph.outputs.values():
        for label, v in zip(block.labels, block.variables, strict=True):
            if graph.names[v] != label and graph.number_value.get(v) != 0:
                right = value_formula(graph, v, letters, digits)
                lines.append(Equation(NameFormula(letters(label)), right))
    if not lines:
        return []
    shown = lines[:MOST_ENTRIES]
    words = f"The first {MOST_ENTRIES} of {len(lines)}; " if len(lines) > MOST_ENTRIES else ""
    return [
        Title("Entries that are variables of another name", 2),
        EquationList(tuple(shown)),
        Paragraph(f"{words}Entries that do not occur at all are zero.".capitalize()),
    ]


# --- formulas in notebooks --------------------------------------------------------------------

MOST_NOTEBOOK_ENTRIES, MOST_NOTEBOOK_CHARACTERS = 36, 6_000


def quantity_latex(quantity: Quantity) -> str:
    """Return a quantity for a notebook: short formulas written out, others as they are defined."""
    if quantity.variables.size > MOST_NOTEBOOK_ENTRIES:
        return ""
    letters = letters_of(quantity, {})
    short = short_formulas(quantity.graph, quantity.variables.ravel().tolist(), SHORT_TERMS)

    def right(variable: int) -> Formula:
        return _best(quantity.graph, variable, short, letters)

    array = FormulaArray(
        quantity.name, quantity.labels, quantity.variables, letters, right, is_whole(quantity)
    )
    text = array.latex({})
    return text if len(text) <= MOST_NOTEBOOK_CHARACTERS else ""


def _best(graph: Graph, variable: int, short: Mapping[int, Expansion], letters: Letters) -> Formula:
    """Return the right side of an entry: its formula if it is short, else its definition."""
    formula = short.get(variable)
    if formula is None:
        return definition_formula(graph, variable, letters, angles=letters.is_short)
    return expansion_formula(formula, letters, letters.turn)


def model_letters(model: Model) -> Letters:
    """Return the symbols of all outputs of a model, the same in every part of a report."""
    graph = model.graph
    needed = np.flatnonzero(graph.cone(graph.output_variables())).tolist()
    labels = (label for block in graph.outputs.values() for label in block.labels)
    names = names_in_order(graph, needed, labels)
    letters = letters_in_order(notation_of(model.mechanism), names, "short")
    return letters.of_graph(graph, needed)
