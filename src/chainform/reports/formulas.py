"""The formulas of a model in a report: short ones written out, and all definitions by level.

This is the one place where reports and notebooks ask a model for LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from chainform.emitters import definition_latex, latex_name
from chainform.errors import Error
from chainform.given import counted
from chainform.graph import Graph
from chainform.model import Model, Quantity, letter_of
from chainform.reports.blocks import EquationLine, EquationList, Paragraph, ReportBlock, Title

SHORT_TERMS = 24
"""A formula with no more terms is written out over the inputs."""
MOST_ENTRIES = 64
"""Entries of one output that are written out."""
MOST_DEFINITIONS = 400
"""Definitions that a report prints; of more, the first levels."""
LONGEST = 6_000
"""Characters of one formula."""
MOST_WRITTEN_OUT = 4_000
"""Variables of a graph whose formulas are written out."""


class Names:
    """How variables are written, each in a way of its own: x1 and x_1 would look the same."""

    def __init__(self, names: Iterable[str]) -> None:
        self.written: dict[str, str] = {}
        taken: set[str] = set()
        for name in dict.fromkeys(names):
            text = latex_name(name) if "[" not in name else plain(name)
            text = plain(name) if text in taken else text
            taken.add(text)
            self.written[name] = text

    def __call__(self, name: str) -> str:
        return self.written.get(name) or latex_name(name)


def plain(name: str) -> str:
    """Return a name as LaTeX, letter for letter."""
    return "\\mathrm{" + re.sub(r"([#$%&_{}])", r"\\\1", name) + "}"


# --- formulas written out ---------------------------------------------------------------------


def written_out(quantity: Quantity) -> tuple[list[EquationLine], list[str]]:
    """Return the entries whose formulas are short, over the inputs, and the names of the others."""
    lines: list[EquationLine] = []
    long: list[str] = []
    for name, entry in entries(quantity):
        try:
            latex = entry.expand(limit=SHORT_TERMS).latex()
        except Error:
            long.append(name)
            continue
        _, _, right = latex.partition(" = ")
        lines.append(EquationLine(latex_name(name), right))
    return lines, long


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


def formula_blocks(model: Model) -> list[ReportBlock]:
    """Return the short formulas of each output, written out over the inputs."""
    blocks: list[ReportBlock] = []
    if len(model.graph) > MOST_WRITTEN_OUT:
        words = f"The graph has {len(model.graph)} variables; no formula is written out."
        return [Paragraph(f"{words} chainform show NAME --expand writes out one.")]
    for name in model.outputs:
        quantity = model[name]
        if quantity.variables.size > MOST_ENTRIES**2:
            continue
        lines, long = written_out(quantity)
        shown = lines[:MOST_ENTRIES]
        blocks.append(Title(name, 2))
        if shown:
            blocks.append(EquationList(tuple(shown)))
        blocks += _remarks(quantity, long, len(lines) - len(shown))
    return blocks


def _remarks(quantity: Quantity, long: list[str], more: int) -> Iterator[Paragraph]:
    if quantity.shape and not quantity.sparsity().indices.size:
        yield Paragraph("All entries are zero.")
    elif quantity.shape:
        yield Paragraph("Entries that are zero, and those that equal one above, are left out.")
    if more:
        yield Paragraph(f"{counted(more, 'more short entry').replace('entrys', 'entries')}.")
    if long:
        names = ", ".join(long[:12]) + (f" and {len(long) - 12} more" if len(long) > 12 else "")
        words = f"have more than {SHORT_TERMS} terms and stand below as they are computed"
        yield Paragraph(f"{names}: these {words}.")


# --- definitions by level ---------------------------------------------------------------------


def level_blocks(model: Model) -> list[ReportBlock]:
    """Return every definition that the outputs need, by the level at which it can be computed."""
    graph = model.graph
    needed = np.flatnonzero(graph.cone(graph.output_variables())).tolist()
    computed = [v for v in needed if v not in graph.inputs and v not in graph.number_value]
    computed.sort(key=lambda v: (int(graph.level[v]), v))
    shown = computed[:MOST_DEFINITIONS]
    write = Names(graph.names[v] for v in needed)
    blocks: list[ReportBlock] = []
    for level, group in groupby(shown, key=lambda v: int(graph.level[v])):
        lines = tuple(_definition(graph, v, write) for v in group)
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


def _definition(graph: Graph, variable: int, write: Names) -> EquationLine:
    right = definition_latex(graph, variable, write)
    if len(right) > LONGEST:
        terms = len(graph.terms(variable))
        right = f"\\text{{a sum of {terms} terms, too long to be printed}}"
    return EquationLine(write(graph.names[variable]), right)


def entry_blocks(model: Model) -> list[ReportBlock]:
    """Return which variable each entry of an output is where it bears another name."""
    graph = model.graph
    lines: list[EquationLine] = []
    for block in graph.outputs.values():
        for label, v in zip(block.labels, block.variables, strict=True):
            if graph.names[v] != label and graph.number_value.get(v) != 0:
                value = definition_latex(graph, v) if v in graph.number_value else None
                lines.append(EquationLine(latex_name(label), value or latex_name(graph.names[v])))
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
    letter = letter_of(quantity.name) or quantity.name
    if not quantity.shape:
        return _best(quantity)
    if quantity.variables.size > MOST_NOTEBOOK_ENTRIES:
        return ""
    cells = [_best(quantity[i]).partition(" = ")[2] for i in np.ndindex(*quantity.shape)]
    if len(quantity.shape) > 2 or sum(map(len, cells)) > MOST_NOTEBOOK_CHARACTERS:
        return ""
    columns = quantity.shape[1] if len(quantity.shape) == 2 else 1
    rows = [" & ".join(cells[k : k + columns]) for k in range(0, len(cells), columns)]
    body = r" \\ ".join(rows)
    left = latex_name(letter) if re.fullmatch(r"\w+", letter) else plain(letter)
    return f"{left} = \\begin{{bmatrix}} {body} \\end{{bmatrix}}"


def _best(entry: Quantity) -> str:
    try:
        return entry.expand(limit=SHORT_TERMS).latex()
    except Error:
        return entry.latex()
