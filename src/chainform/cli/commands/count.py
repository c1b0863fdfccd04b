"""`chainform count`: how many operations each output takes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen, target_of, write_file
from chainform.cli.model_report import (
    COLUMNS,
    LeftOut,
    Step,
    left_out_document,
    method_document,
    show_left_out,
    show_steps,
    step_document,
)
from chainform.cli.options import add_method, add_outputs, derive_wanted
from chainform.cli.printing import Document, Page, Report
from chainform.cli.store import chosen_store
from chainform.emitters import count_python
from chainform.errors import ReadError
from chainform.given import Given
from chainform.graph import Cost, Graph, cost
from chainform.model import Model, entry_counts, select_outputs
from chainform.reports import waterfall
from chainform.search import JOINTS, OUTPUTS, PUBLISHED, comparison, path_of

if TYPE_CHECKING:
    from chainform.model import Store
    from chainform.store import Revision


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    add_outputs(parser, "all that the mechanism has")
    group = parser.add_argument_group("what is counted")
    group.add_argument(
        "--by-quantity", action="store_true", help="each output alone, and together (the default)"
    )
    group.add_argument(
        "--by-pass", action="store_true", help="all outputs together, after each step"
    )
    group.add_argument(
        "--by-entry", action="store_true", help="each entry of each output by itself, by step"
    )
    group.add_argument(
        "--picture", metavar="FILE.svg", help="draw what each step saved into this file"
    )
    group.add_argument("--force", action="store_true", help="overwrite the picture")
    group.add_argument(
        "--published",
        metavar="EXAMPLE",
        help="with each step of --reduce thesis what Racković 1996 prints: " + ", ".join(PUBLISHED),
    )
    add_method(parser)


def run(args: Namespace) -> Report:
    """Derive the outputs and count, each alone and all together, and after each step."""
    target = target_of(args.picture, args.file, force=args.force, option="--picture")
    if args.picture and target is None:
        raise ReadError("a picture needs a file", element="--picture", remedy="name a FILE.svg")
    if target is not None and not args.picture.lower().endswith(".svg"):
        raise ReadError(
            f"{args.picture[-60:]} is no name for an SVG file",
            element="--picture",
            remedy="give a name that ends with .svg",
        )
    if args.published is not None:
        Given(args.published, "--published").choice(tuple(PUBLISHED), "published example")
    mechanism = read_chosen(args)
    model, left_out = derive_wanted(mechanism, args)
    steps = _steps(args, model) if args.by_pass or args.picture or args.published else []
    published = None if args.published is None else _published(args.published, steps, model)
    document = _document(args.file, model, left_out)
    entries = entry_counts(_graphs(args, model), model.outputs) if args.by_entry else {}
    if args.by_entry:
        document["by_entry"] = _entries_document(entries)
    if args.by_pass or published is not None:
        document["passes"] = [step_document(step) for step in steps]
    if published is not None:
        document["published"] = args.published
        for entry, figure in zip(document["passes"], published, strict=True):
            names = ("multiplications", "additions")
            entry |= {"published": dict(zip(names, figure, strict=True))} if figure else {}
    if target is not None:
        path = [(step.name, step.cost) for step in steps if step.is_on_path]
        write_file(target, waterfall(model.title, path), force=args.force)
        document["picture"] = args.picture

    def show(page: Page) -> None:
        _show(page, args, model, document)
        if args.by_pass or published is not None:
            show_steps(page, steps, {} if published is None else {"published": _texts(published)})
        if args.picture:
            page.text(f"picture written to {args.picture}")
        if args.by_entry:
            _show_entries(page, entries)
        show_left_out(page, left_out)

    return Report(document, show)


def _steps(args: Namespace, model: Model) -> list[Step]:
    """Return the count after each step: of the derivation, or of the revisions up to this one."""
    wanted = set(model.outputs)
    with _lineage(args) as (store, revisions):
        if store is None:
            path = path_of(model.stages)
            return [
                Step(
                    s.name,
                    _cost(model, s.graph, s.cost),
                    s.branch,
                    s.fate,
                    any(s is p for p in path),
                )
                for s in model.stages
            ]
        tried = {n for revision in revisions for n in revision.options.get("tried", ())}
        is_whole = wanted == set(args.stored.outputs)
        steps: list[Step] = []
        for r in revisions:
            count = (
                r.cost if is_whole else _cost(model, store.database.load(r.reference)[0], r.cost)
            )
            way = (str(r.options.get("branch", "")), str(r.options.get("fate", "")))
            steps.append(Step(r.step, count, *way, r.number not in tried))
        return steps


def _cost(model: Model, graph: Graph, whole: Cost) -> Cost:
    """Return what the outputs of a model cost in a graph; that of a part has none of them."""
    graph = model.completed(graph, model.outputs)
    has_all = set(graph.outputs) >= set(model.outputs)
    return cost(select_outputs(graph, model.outputs)) if has_all else whole


def _graphs(args: Namespace, model: Model) -> list[tuple[str, Graph]]:
    """Return the graph after each step, with the derivatives that are counted."""
    with _lineage(args, tried=False) as (store, revisions):
        if store is None:
            graphs = [(stage.name, stage.graph) for stage in path_of(model.stages)]
        else:
            graphs = [(r.step, store.database.load(r.reference)[0]) for r in revisions]
    return [(name, model.completed(graph, model.outputs)) for name, graph in graphs]


def _published(case: str, steps: Sequence[Step], model: Model) -> list[tuple[int, int] | None]:
    """Return the multiplications and additions that the paper has for each step.

    The figures are refused for a mechanism with another number of joints, and for other outputs.
    """
    rows = comparison(case, steps)
    if all(row.published is None for row in rows):
        raise ReadError(
            "no step has a name of the paper",
            element="--published",
            remedy="add --reduce thesis",
        )
    if model.mechanism.nv != JOINTS[case]:
        raise ReadError(
            f"the figures of {case} are those of a mechanism with {JOINTS[case]} joints; "
            f"{model.mechanism.name} has {model.mechanism.nv}",
            element="--published",
            remedy="leave --published out; --by-pass shows the steps without them",
        )
    if frozenset(model.outputs) != OUTPUTS:
        raise ReadError(
            f"the figures of {case} are those of {', '.join(sorted(OUTPUTS))} together",
            element="--published",
            remedy="add --outputs H,C,hG",
        )
    return [row.published for row in rows]


def _texts(published: Sequence[tuple[int, int] | None]) -> list[str]:
    return ["" if pair is None else f"{pair[0]}/{pair[1]}" for pair in published]


@contextmanager
def _lineage(
    args: Namespace, *, tried: bool = True
) -> Generator[tuple[Store | None, list[Revision]]]:
    """Give the store and the revisions that led to a stored model; nothing for a file."""
    if args.stored is None or args.stored.origin is None:
        yield None, []
        return
    with chosen_store(args) as store:
        yield store, store.lineage(args.file, tried=tried)


def _entries_document(counts: Mapping[str, Mapping[str, Cost]]) -> list[Document]:
    return [
        {"name": name, "entries": {label: c.as_dict() for label, c in entries.items()}}
        for name, entries in counts.items()
    ]


def _show_entries(page: Page, counts: Mapping[str, Mapping[str, Cost]]) -> None:
    """Print multiplications/additions of each entry, a column for each step."""
    labels = dict.fromkeys(label for entries in counts.values() for label in entries)
    rows: list[list[str]] = []
    for label in labels:
        found = [entries.get(label, Cost()) for entries in counts.values()]
        if any(c.multiplications or c.additions for c in found):
            rows.append([label, *(f"{c.multiplications}/{c.additions}" for c in found)])
    page.table(("entry", *counts), rows, numbers=tuple(counts))
    if len(rows) < len(labels):
        page.text(f"entries without multiplications and additions: {len(labels) - len(rows)}")


def _document(file: str, model: Model, left_out: LeftOut) -> Document:
    """Count from the program text that the model emits, not from the graph it was reduced in."""
    fixed = any(given.group != "parameter" for given in model.graph.inputs.values())
    total = count_python(model.emit("python"), fixed=fixed)
    texts = {name: model.emit("python", [name]) for name in model.outputs}
    each = {name: count_python(text, fixed=fixed).each for name, text in texts.items()}
    once = total.once.as_dict()
    return {
        "file": file,
        **method_document(model),
        "outputs": {name: count.as_dict() for name, count in each.items()},
        "total": total.each.as_dict(),
        **({"once": once} if any(once.values()) else {}),
        **left_out_document(left_out),
    }


def _show(page: Page, args: Namespace, model: Model, document: Document) -> None:
    page.text(model.title, style="bold")
    if args.by_quantity or not (args.by_pass or args.by_entry or args.published):
        _show_quantities(page, document)


def _show_quantities(page: Page, document: Document) -> None:
    total: dict[str, int] = document["total"]
    rows = [(name, *map(str, counts.values())) for name, counts in document["outputs"].items()]
    if len(rows) > 1:
        rows.append(("together", *map(str, total.values())))
    if "once" in document:
        rows.append(("once", *map(str, document["once"].values())))
    page.table(("output", *COLUMNS), rows, numbers=COLUMNS)


COMMAND = Command(
    usage="FILE",
    description="Count the operations of each output alone and of all together, where what\n"
    "they share counts once. x^n costs n - 1 multiplications, 2x one addition, a sign nothing.\n"
    "What depends on free parameters alone is computed once, when they are set; it is counted\n"
    "apart, in the row called once. The counts are read from the program that is emitted.\n"
    "With --by-pass they are shown after each step of the reduction, also where it was left, of a\n"
    "stored model for each revision that led to it; with --by-entry each entry by itself,\n"
    "multiplications/additions.",
    add_options=add_options,
    run=run,
)
