"""The formulas of a model in a report: short ones written out, and all definitions by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

import numpy as np

from chainform.algebra import short_formulas
from chainform.emitters import (
    Equation,
    Formula,
    Letters,
    NameFormula,
    TextFormula,
    definition_formula,
    expansion_formula,
    names_in_order,
    value_formula,
)
from chainform.given import counted
from chainform.graph import Expansion, Graph, rounded
from chainform.model import (
    FormulaArray,
    Model,
    Quantity,
    is_whole,
    letters_in_order,
    letters_of,
    notation_of,
)
from chainform.reports.blocks import EquationList, Paragraph, ReportBlock, Title

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
