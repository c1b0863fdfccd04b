"""`chainform reduce`: fewer operations for a stored model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from time import perf_counter

from chainform.cli.commands.command import Command
from chainform.cli.printing import Document, Page, Report
from chainform.cli.reading import add_file, read_chosen
from chainform.cli.reducing import (
    add_reduction,
    reduction_options,
    show_stages,
    shown_progress,
    stage_documents,
)
from chainform.cli.saving import add_save, check_saving, save_model, show_saved
from chainform.cli.size import show_size, size_document
from chainform.cli.stored import is_stored, revision_document
from chainform.errors import ReadError
from chainform.search import Stage


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    add_reduction(parser, default="fast")
    add_save(parser)
    parser.set_defaults(reduces=True)


def run(args: Namespace) -> Report:
    """Reduce a stored model; each step becomes a revision of it, or of another name."""
    if not is_stored(args):
        raise ReadError(
            f"{args.file[:60]} is no stored model",
            element="NAME",
            remedy="save one with derive --save NAME; derive FILE --reduce fast reduces a file",
        )
    if args.reduce == "none":
        raise ReadError(
            "this leaves the model as it is",
            element="--reduce none",
            remedy="choose thesis, fast, deep or passes; to go back, use revert",
        )
    if args.save is not None:
        check_saving(args)
    read_chosen(args)
    start = perf_counter()
    stages: list[Stage] = []
    with shown_progress(args) as progress:
        options = reduction_options(args, "fast")
        model = args.stored.reduce(**options, observe=stages.append, progress=progress)
    seconds = perf_counter() - start
    name = args.save or args.file.partition("@")[0]
    revision, moved = save_model(args, model, name=name)
    document: Document = {
        "file": args.file,
        **size_document(model),
        "stages": stage_documents(stages),
        "seconds": seconds,
        "saved": revision_document(revision),
    }

    def show(page: Page) -> None:
        show_size(page, model)
        show_stages(page, stages, model.mechanism.name)
        page.text(f"reduced in {seconds:.3f} s")
        if stages[-1].cost == stages[0].cost:
            page.text("nothing better was found; another --seed looks elsewhere")
        show_saved(page, revision, moved)

    return Report(document, show)


COMMAND = Command(
    usage="NAME",
    description="Reduce a stored model further; each step is a new revision, and nothing is lost.\n"
    "A deep search goes on from where the last revision has got to.",
    add_options=add_options,
    run=run,
)
