"""`chainform count`: how many operations each output takes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from chainform.cli.commands.command import Command
from chainform.cli.options import (
    LeftOut,
    add_method,
    add_outputs,
    chosen_outputs,
    derive_all,
    derive_chosen,
    left_out_document,
    method_document,
    once_document,
    show_left_out,
)
from chainform.cli.printing import Document, Page, Report
from chainform.cli.reading import add_file, read_chosen
from chainform.model import Model


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    add_outputs(parser, "all that the mechanism has")
    add_method(parser)


def run(args: Namespace) -> Report:
    """Derive the outputs and count, each alone and all together."""
    mechanism = read_chosen(args)
    left_out: LeftOut = {}
    if args.outputs is None:
        model, left_out = derive_all(mechanism, args)
    else:
        model = derive_chosen(mechanism, args, chosen_outputs(args, ()))
    document = _document(args.file, model, left_out)
    return Report(document, lambda page: _show(page, document, left_out))


def _document(file: str, model: Model, left_out: LeftOut) -> Document:
    return {
        "file": file,
        "mechanism": model.mechanism.name,
        **method_document(model),
        "outputs": {name: model.count([name]).as_dict() for name in model.outputs},
        "total": model.count().as_dict(),
        **once_document(model),
        **left_out_document(left_out),
    }


def _show(page: Page, document: Document, left_out: LeftOut) -> None:
    total: dict[str, int] = document["total"]
    columns = [name.replace("_", " ") for name in total]
    columns[-1] = "other calls"
    rows = [(name, *map(str, counts.values())) for name, counts in document["outputs"].items()]
    if len(rows) > 1:
        rows.append(("together", *map(str, total.values())))
    if "once" in document:
        rows.append(("once", *map(str, document["once"].values())))
    page.text(f"{document['mechanism']}, {document['formulation']}", style="bold")
    page.table(("output", *columns), rows, numbers=columns)
    show_left_out(page, left_out)


COUNT = Command(
    summary="count the operations of each output",
    usage="FILE",
    description="Count the operations of each output alone and of all together, where what\n"
    "they share counts once. x^n costs n - 1 multiplications, 2x one addition, a sign nothing.\n"
    "What depends on free parameters alone is computed once, when they are set; it is counted\n"
    "apart, in the row called once.",
    add_options=add_options,
    run=run,
)
