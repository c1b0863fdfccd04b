"""`chainform derive`: derive a model and tell its size."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from time import perf_counter

from chainform.cli.commands.command import Command
from chainform.cli.options import (
    USUAL,
    add_method,
    add_outputs,
    chosen_outputs,
    derive_chosen,
    usual_outputs,
)
from chainform.cli.printing import Document, Page, Report
from chainform.cli.reading import add_file, read_chosen
from chainform.cli.reducing import show_stages, stage_documents
from chainform.cli.saving import add_save, check_saving, save_model, show_saved
from chainform.cli.size import show_size, size_document
from chainform.cli.stored import revision_document


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser)
    add_outputs(parser, USUAL)
    add_method(parser)
    add_save(parser)


def run(args: Namespace) -> Report:
    """Derive the outputs, measure the graph, and save it if a name is given."""
    check_saving(args)
    mechanism = read_chosen(args)
    outputs = chosen_outputs(args, usual_outputs(mechanism, args))
    start = perf_counter()
    model = derive_chosen(mechanism, args, outputs)
    seconds = perf_counter() - start
    document: Document = {
        "file": args.file,
        **size_document(model),
        "stages": stage_documents(model.stages),
        "seconds": seconds,
    }
    saved = None if args.save is None else save_model(args, model, seconds)
    if saved is not None:
        document |= {"saved": revision_document(saved[0])}

    def show(page: Page) -> None:
        show_size(page, model)
        if model.is_reduced:
            show_stages(page, model.stages, mechanism.name)
        work = "derived and reduced" if model.is_reduced else "derived"
        page.text(f"{work} in {seconds:.3f} s")
        if saved is not None:
            show_saved(page, *saved)

    return Report(document, show)


COMMAND = Command(
    usage="FILE",
    description="Derive the equations of motion and tell their size: outputs and shapes,\n"
    "variables, operations, seconds. With --save the model goes into the store.",
    add_options=add_options,
    run=run,
)
