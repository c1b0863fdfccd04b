"""What a notebook shows of an object: formulas, tables and pictures, by the name of its class.

A public class name has one meaning in this house, so that names suffice and nothing needs to be
imported that the object has not brought with it. A class without a row of its own in the table is
shown as its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from io import BytesIO
from typing import Any, cast

import numpy as np

from chainform.display import scalar_text
from chainform.emitters import Equation, NameFormula, definition_formula, signature_of
from chainform.errors import Error
from chainform.given import counted
from chainform.graph import Graph
from chainform.mechanism import freedom_text, short_text
from chainform.model import letters_of
from chainform.reports.blocks import (
    DataTable,
    DrawingBlock,
    EquationList,
    Paragraph,
    PictureBlock,
    ReportBlock,
    Title,
    Verbatim,
)
from chainform.reports.html import fragment, page_html, waterfall
from chainform.reports.mechanism_blocks import mechanism_blocks
from chainform.reports.model_report import COLUMNS, count_blocks, figures, quantity_blocks
from chainform.reports.quantity_blocks import quantity_latex
from chainform.search import path_of

MOST_ROWS, MOST_COLUMNS = 25, 12
"""Of a longer table the first rows and columns are shown."""
MOST_RECORDS = 100
"""Of more records the first are shown."""
MOST_CHARACTERS = 4_000
"""Of a longer formula or text the beginning is shown."""
MOST_POINTS = 20
"""Rows and columns of a pattern of zeros that is drawn."""


def bundle_of(thing: Any) -> dict[str, str]:
    """Return what a notebook shows of an object, by media type; one line where all else fails."""
    plain = {"text/plain": repr(thing)}
    own: Callable[[], str] | None = getattr(thing, "_repr_html_", None)
    if own is not None:
        return {**plain, "text/html": own()}
    latex = latex_of(thing)
    if latex:
        return {**plain, "text/latex": f"$\\displaystyle {latex}$"}
    try:
        blocks = list(blocks_of(thing))
    except Error as problem:
        blocks = [Paragraph(f"{plain['text/plain']}: {problem.message}")]
    return {**plain, "text/html": f'<div class="chainform">{fragment(blocks)}</div>'}


def latex_of(thing: Any) -> str:
    """Return the formula of a quantity or an expression; nothing for all else, or if it is long."""
    name = type(thing).__name__
    if name not in ("Quantity", "Expanded"):
        return ""
    text = ""
    with suppress(Error):
        text = quantity_latex(thing) if name == "Quantity" else thing.latex()
    return text if len(text) <= MOST_CHARACTERS else ""


def blocks_of(thing: Any) -> Iterable[ReportBlock]:
    """Return what is shown of an object."""
    names = [kind.__name__ for kind in type(thing).__mro__]
    make = next((BLOCKS[name] for name in names if name in BLOCKS), record_blocks)
    return make(thing)


def record_blocks(record: Any) -> list[ReportBlock]:
    """Return the fields of an object that have something to show, as a table."""
    name = getattr(record, "name", "")
    title = f"{type(record).__name__} {name}".strip() if isinstance(name, str) else ""
    found = fields(record) if is_dataclass(record) else ()
    named = {f.name: getattr(record, f.name) for f in found if f.repr and f.name != "name"}
    rows = [(key, text) for key, value in named.items() if (text := value_text(value))]
    blocks: list[ReportBlock] = [Paragraph(title or type(record).__name__)]
    return [*blocks, DataTable.of(("field", "value"), rows)] if rows else blocks


def value_text(value: Any) -> str:
    """Return a value in few words; nothing where there is nothing to tell."""
    kind = cast("type[Any]", type(value))
    if value is None:
        return ""
    if text := scalar_text(value):
        return _cut(text, 200)
    if issubclass(kind, np.ndarray):
        return np.array2string(value, precision=5) if value.size <= 12 else f"array {value.shape}"
    if issubclass(kind, tuple | list):
        return _cut(", ".join(value_text(entry) for entry in value), 200)
    if issubclass(kind, Mapping):
        return _cut(", ".join(f"{k}: {value_text(v)}" for k, v in value.items()), 200)
    if kind.__module__.startswith("chainform.expressions"):
        return _cut(short_text(value), 200)
    return _cut(repr(value), 200)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def table_of(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[str] = (),
    most: int = MOST_ROWS,
) -> DataTable:
    """Return a table with a bounded number of rows."""
    caption = f"The first {most} of {len(rows)} rows." if len(rows) > most else ""
    return DataTable.of(titles, rows[:most], numbers, caption)


# --- models and formulas ------------------------------------------------------------------------


def model_blocks(model: Any) -> list[ReportBlock]:
    """Return the outputs of a model, its free parameters, and its operations by stage."""
    words = [freedom_text(model.mechanism)] if model.has_bodies else []
    free = list(model.free_parameters)
    words += [f"free parameters: {_cut(', '.join(free), 200)}"] if free else []
    blocks: list[ReportBlock] = [Title(model.title, 2)]
    blocks += [Paragraph("; ".join(words) + ".")] if words else []
    blocks += [*quantity_blocks(model), count_blocks(model)[0]]
    if len(model.stages) > 1:
        stages = [(stage.name, stage.cost) for stage in path_of(model.stages)]
        blocks.append(DrawingBlock(waterfall(model.title, stages)))
    return blocks


def quantity_list(quantity: Any) -> list[ReportBlock]:
    """Return the entries of an array that is too large for a formula, each as it is defined."""
    shape = " × ".join(map(str, quantity.shape))
    blocks: list[ReportBlock] = [Paragraph(f"{quantity.name}, {shape or 'one entry'}")]
    letters = letters_of(quantity, {})
    lines: list[Equation] = []
    for index in np.ndindex(*quantity.shape):
        entry = quantity[index] if quantity.shape else quantity
        graph, v = entry.graph, entry.variable
        if graph.number_value.get(v) != 0 and len(str(entry)) <= MOST_CHARACTERS:
            right = definition_formula(graph, v, letters, angles=letters.is_short)
            lines.append(Equation(NameFormula(letters(str(entry.labels))), right))
        if len(lines) == MOST_ROWS:
            break
    blocks += [EquationList(tuple(lines))] if lines else []
    if len(lines) == MOST_ROWS:
        blocks.append(Paragraph("These are the first entries other than zero."))
    elif not lines:
        blocks.append(Verbatim(_cut(str(quantity), MOST_CHARACTERS)))
    return blocks


def expanded_blocks(expanded: Any) -> list[ReportBlock]:
    """Return the beginning of an expression that is too long for a formula."""
    words = f"{expanded.name}, {counted(len(expanded), 'term')}"
    return [Paragraph(words), Verbatim(_cut(str(expanded), MOST_CHARACTERS))]


def cost_blocks(cost: Any) -> list[ReportBlock]:
    """Return the operations of one evaluation as a table."""
    return [DataTable.of(COLUMNS, [figures(cost)], COLUMNS)]


def _stage_table(stages: Iterable[Any]) -> list[ReportBlock]:
    rows = [(s.name, s.branch, *figures(s.cost), f"{s.seconds:.2f}", s.fate) for s in stages]
    titles = ("stage", "branch", *COLUMNS, "seconds", "fate")
    return [DataTable.of(titles, rows, (*COLUMNS, "seconds"))]


def sparsity_blocks(sparsity: Any) -> list[ReportBlock]:
    """Return the pattern of entries that are not zero."""
    blocks: list[ReportBlock] = [Paragraph(repr(sparsity)[1:-1])]
    dense = sparsity.dense()
    if dense.ndim == 2 and max(dense.shape) <= MOST_POINTS:
        lines = [" ".join("×" if entry else "·" for entry in row) for row in dense.tolist()]
        blocks.append(Verbatim("\n".join(lines)))
    return blocks


def graph_blocks(graph: Graph) -> list[ReportBlock]:
    """Return how large a graph is, and its outputs."""
    levels = int(graph.level.max()) if len(graph) else 0
    sizes = [
        ("inputs", len(graph.inputs)),
        ("variables", len(graph)),
        ("terms", len(graph.coefficient)),
        ("factors", len(graph.factor)),
        ("levels", levels),
    ]
    rows = [(b.name, " × ".join(map(str, b.shape)) or "1") for b in graph.outputs.values()]
    table = DataTable.of(("of the graph", "number"), [(n, str(k)) for n, k in sizes], ("number",))
    return [table, table_of(("output", "shape"), rows)]


def program_blocks(program: Any) -> list[ReportBlock]:
    """Return the functions of a program with their arguments."""
    rows: list[tuple[str, str, str]] = []
    for name in program.outputs[:MOST_ROWS]:
        found = signature_of(program.graph, [name], program.lengths)
        taken = ", ".join(f"{a.group} ({a.length})" for a in found.arguments)
        shape = " × ".join(map(str, found.results[0].shape)) or "1"
        rows.append((name, taken, shape))
    return [Paragraph(repr(program)), DataTable.of(("function", "arguments", "result"), rows)]


# --- motions and results ------------------------------------------------------------------------


def plot_blocks(thing: Any, caption: str) -> list[ReportBlock]:
    """Return a plot; nothing where there is none, or no library to draw it."""
    with suppress(Error):
        data = BytesIO()
        thing.plot().savefig(data, format="png", dpi=96)
        return [PictureBlock(data.getvalue(), caption)]
    return []


def run_blocks(run: Any) -> list[ReportBlock]:
    """Return a motion: its figures, events, and a plot over time."""
    blocks: list[ReportBlock] = [Paragraph(f"{repr(run)[1:-1]}.")]
    rows = [(event.name, f"{event.t:.6g}") for event in run.events]
    blocks += [table_of(("event", "t (s)"), rows, ("t (s)",))] if rows else []
    blocks += [Paragraph(f"{remark}.") for remark in run.report]
    words = "run.animate() shows the motion, run.picture() its poses, run.plot(...) other curves."
    return [*blocks, *plot_blocks(run, words)]


def batch_blocks(batch: Any) -> list[ReportBlock]:
    """Return many motions: how they ended, and a plot over time."""
    rows = [(name, str(count)) for name, count in batch.ended.items()]
    ended = DataTable.of(("ended by", "motions"), rows, ("motions",))
    blocks: list[ReportBlock] = [Paragraph(f"{repr(batch)[1:-1]}."), ended]
    return [*blocks, *plot_blocks(batch, "All motions, a line for each.")]


def result_blocks(result: Any) -> list[ReportBlock]:
    """Return what a task found: its report in words, then numbers."""
    columns = dict(list(result.columns().items())[:MOST_COLUMNS])
    more = len(result.columns()) - len(columns)
    rows = list(zip(*[[f"{x:.6g}" for x in c[:1000]] for c in columns.values()], strict=True))
    blocks: list[ReportBlock] = [Title(f"{result.task}, {result.mechanism.name}", 2)]
    blocks += [Paragraph(line) for line in result.report]
    blocks.append(table_of(list(columns), rows, list(columns)))
    blocks += [Paragraph(f"{counted(more, 'more column')}: result.columns().")] if more else []
    return blocks


def comparison_blocks(found: Any) -> list[ReportBlock]:
    """Return formulations side by side."""
    rows = [
        (
            row.output,
            row.formulation,
            *(("", "") if row.cost is None else figures(row.cost)[:2]),
            f"{row.seconds:.2f}" if row.cost else "",
            row.refusal or _agreement(row),
        )
        for row in found.rows
    ]
    titles = ("output", "formulation", "multiplications", "additions", "seconds", "agreement")
    return [Paragraph(f"{repr(found)[1:-1]}."), DataTable.of(titles, rows, titles[2:5])]


def certificate_blocks(found: Any) -> list[ReportBlock]:
    """Return the checks of a certificate as a table, with verdict and versions."""
    rows = [(c.verdict, c.kind, c.law, c.compared, c.figure) for c in found.checks]
    titles = ("result", "kind", "law", "compared", "figure")
    words = [Paragraph(line) for line in found.lines()[-3:]]
    return [Title(f"Certificate of {found.subject}", 2), DataTable.of(titles, rows), *words]


def page_of(thing: Any) -> str:
    """Return what a notebook shows of an object as a page of HTML that loads nothing."""
    return page_html(repr(thing)[1:-1], blocks_of(thing))


def _agreement(row: Any) -> str:
    if row.agrees is None:
        return "the others are compared with it"
    return f"equal in {row.how}" if row.agrees else "DIFFERS"


def linearisation_blocks(found: Any) -> list[ReportBlock]:
    """Return the poles of small motions, and the matrix A."""
    poles = [(f"{p.real:.6g}", f"{p.imag:.6g}") for p in found.poles]
    titles = ("real (1/s)", "imaginary (1/s)")
    blocks: list[ReportBlock] = [
        Paragraph(f"{repr(found)[1:-1]}."),
        table_of(titles, poles, titles),
    ]
    if len(found.states) <= MOST_COLUMNS:
        rows = [
            (name, *(f"{x:.5g}" for x in row))
            for name, row in zip(found.states, found.A.tolist(), strict=True)
        ]
        blocks.append(DataTable.of(("A", *found.states), rows, found.states))
    return [*blocks, *(Paragraph(note) for note in found.notes)]


def problem_blocks(problem: Any) -> list[ReportBlock]:
    """Return the options of a motion that were given."""
    rows = [(key, value_text(value)) for key, value in problem.options.items()]
    rows = [(key, text) for key, text in rows if text and text != "False"]
    words = (
        f"Problem of {problem.mechanism.name}, from {problem.span[0]:g} to {problem.span[1]:g} s"
    )
    return [
        Paragraph(f"{words}, {problem.settings.method.name}."),
        table_of(("option", "value"), rows),
    ]


def system_blocks(system: Any) -> list[ReportBlock]:
    """Return a compiled problem: its options, and the operations of its equations."""
    return [*problem_blocks(system.problem), *cost_blocks(system.model.count())]


# --- stores and lists ---------------------------------------------------------------------------


def store_blocks(store: Any) -> list[ReportBlock]:
    """Return the models in a store."""
    rows = [
        (
            entry.name,
            str(entry.revisions),
            entry.latest.mechanism,
            f"{entry.latest.created:%Y-%m-%d}",
        )
        for entry in store.models()
    ]
    titles = ("model", "revisions", "mechanism", "last change")
    words = f"{repr(store)[1:-1]}: {counted(len(rows), 'model')}."
    return [Paragraph(words), *([table_of(titles, rows, ("revisions",))] if rows else [])]


def base_parameter_blocks(found: Any) -> list[ReportBlock]:
    """Return base parameters with their formulas."""
    rows = [tuple(str(entry).split(" = ", 1)) for entry in found]
    rows = [row if len(row) == 2 else (row[0], "") for row in rows]
    return [Paragraph(f"{repr(found)[1:-1]}."), table_of(("base parameter", "is"), rows)]


def text_blocks(thing: Any) -> list[ReportBlock]:
    """Return what `print` shows."""
    return [Verbatim(_cut(str(thing), MOST_CHARACTERS))]


def records_blocks(records: Any) -> list[ReportBlock]:
    """Return records of one class as a table, a column for each field."""
    if not records or not is_dataclass(records[0]):
        return [Paragraph(repr(records))]
    if type(records[0]).__name__ == "Stage":
        return _stage_table(records)
    names = list(dict.fromkeys(f.name for one in records for f in fields(one) if f.repr))
    rows = [tuple(value_text(getattr(one, name, None)) for name in names) for one in records]
    return [table_of(names, rows, most=MOST_RECORDS)]


BLOCKS: dict[str, Callable[[Any], Iterable[ReportBlock]]] = {
    "Mechanism": mechanism_blocks,
    "Model": model_blocks,
    "Quantity": quantity_list,
    "Expanded": expanded_blocks,
    "Expansion": text_blocks,
    "Sparsity": sparsity_blocks,
    "Cost": cost_blocks,
    "Stage": lambda stage: _stage_table([stage]),
    "Graph": graph_blocks,
    "Program": program_blocks,
    "Run": run_blocks,
    "BatchRun": batch_blocks,
    "Result": result_blocks,
    "Comparison": comparison_blocks,
    "Certificate": certificate_blocks,
    "Linearisation": linearisation_blocks,
    "Problem": problem_blocks,
    "System": system_blocks,
    "Store": store_blocks,
    "BaseParameters": base_parameter_blocks,
    "RevisionDifference": text_blocks,
    "Records": records_blocks,
}
"""How each class is shown, by its name; all others as their fields."""
