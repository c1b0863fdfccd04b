"""`chainform derive`: derive a model and tell its size."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from chainform.cli.commands.command import Command
from chainform.cli.options import (
    USUAL,
    add_method,
    add_outputs,
    chosen_outputs,
    derive_chosen,
    method_document,
    once_document,
    usual_outputs,
)
from chainform.cli.printing import Document, Page, Report, shape_text
from chainform.cli.reading import add_file, read_chosen
from chainform.cli.stored import add_origin, chosen_store, revision_document
from chainform.errors import ReadError
from chainform.model import Model

if TYPE_CHECKING:
    from chainform.store import Revision


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    add_outputs(parser, USUAL)
    add_method(parser)
    parser.add_argument("--save", metavar="NAME", help="save the model as a revision of NAME")
    parser.add_argument("--tag", metavar="TAG", action="append", help="a tag of the revision")
    add_origin(parser)


def run(args: Namespace) -> Report:
    """Derive the outputs, measure the graph, and save it if a name is given."""
    _check_saving(args)
    mechanism = read_chosen(args)
    outputs = chosen_outputs(args, usual_outputs(mechanism, args))
    start = perf_counter()
    model = derive_chosen(mechanism, args, outputs)
    document = _document(args.file, model, perf_counter() - start)
    if args.save is not None:
        document |= {"saved": revision_document(_saved(args, model, document["seconds"]))}
    return Report(document, lambda page: _show(page, model, document))


def _check_saving(args: Namespace) -> None:
    """Refuse what belongs to a revision when none is made."""
    given = {"--tag": args.tag, "--note": args.note, "--author": args.author}
    for option, value in given.items():
        if value and args.save is None:
            raise ReadError(f"{option} goes with --save NAME", element="options")


def _saved(args: Namespace, model: Model, seconds: float) -> Revision:
    with chosen_store(args, make=True) as store:
        tags = args.tag or ()
        return store.save(model, args.save, tags, args.note, args.author, seconds=seconds)


def _document(file: str, model: Model, seconds: float) -> Document:
    return {
        "file": file,
        "mechanism": model.mechanism.name,
        **method_document(model),
        "outputs": {name: {"shape": list(model[name].shape)} for name in model.outputs},
        "free_parameters": list(model.free_parameters),
        "variables": _size(model),
        "operations": model.count().as_dict(),
        **once_document(model),
        "seconds": seconds,
    }


def _size(model: Model) -> dict[str, int]:
    """Return how many inputs and computed variables the outputs need."""
    graph = model.graph
    needed = np.flatnonzero(graph.cone(graph.output_variables()))
    inputs = sum(int(v) in graph.inputs for v in needed)
    return {"inputs": inputs, "computed": len(needed) - inputs}


def _show(page: Page, model: Model, document: Document) -> None:
    page.text(f"{model.mechanism.name}, {model.formulation}", style="bold")
    shapes = {name: shape_text(model[name].shape) for name in model.outputs}
    page.table(("output", "shape"), list(shapes.items()))
    if model.free_parameters:
        page.text(f"free parameters: {', '.join(model.free_parameters)}")
    size = document["variables"]
    page.text(f"variables: {size['computed']} computed from {size['inputs']} inputs")
    page.text(f"operations: {model.count()}")
    if "once" in document:
        page.text(f"once, from the parameters alone: {model.count(once=True)}")
    page.text(f"derived in {document['seconds']:.3f} s")
    if "saved" in document:
        page.text(f"saved as {document['saved']['name']}@{document['saved']['revision']}")


DERIVE = Command(
    summary="derive the equations and tell their size",
    usage="FILE",
    description="Derive the equations of motion and tell their size: outputs and shapes,\n"
    "variables, operations, seconds. With --save the model goes into the store.",
    add_options=add_options,
    run=run,
)
