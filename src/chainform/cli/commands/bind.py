"""`chainform bind`: free parameters become numbers."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

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
from chainform.cli.saving import add_save, check_saving, save_model, show_saved
from chainform.cli.size import show_size, size_document
from chainform.cli.store_place import chosen_store
from chainform.cli.stored import is_stored, revision_document
from chainform.errors import ReadError
from chainform.model import Model

if TYPE_CHECKING:
    from chainform.store import Revision


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    parser.add_argument(
        "values",
        metavar="PARAMETER=VALUE",
        nargs="+",
        help="a free parameter and its number: a=0.25, b=1/3",
    )
    add_outputs(parser, USUAL)
    add_method(parser)
    add_save(parser)


def run(args: Namespace) -> Report:
    """Bind the parameters; a stored model gets a new revision, or is saved under another name."""
    values = _values(args.values)
    adds_revision = is_stored(args) and args.save is None
    if adds_revision:
        _check_revision(args)
    else:
        check_saving(args)
    mechanism = read_chosen(args)
    revision: Revision | None = None
    moved: list[str] = []
    if adds_revision:
        model, revision = _next_revision(args, values)
    else:
        model = args.stored
        if model is None:
            outputs = chosen_outputs(args, usual_outputs(mechanism, args))
            model = derive_chosen(mechanism, args, outputs, list(values))
        model = _bound(model, values, args.file)
        if args.save is not None:
            revision, moved = save_model(args, model)
    document: Document = {"file": args.file, **size_document(model), "values": values}
    if revision is not None:
        document |= {"saved": revision_document(revision)}
    return Report(document, lambda page: _show(page, model, values, revision, moved))


def _values(texts: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ReadError(
                f"{text[:60]!r} is not PARAMETER=VALUE",
                element="bind",
                remedy="write a free parameter and a number: bind arm payload=2.5",
            )
        if name in values:
            raise ReadError(f"{name[:60]} is given twice", element="bind", remedy="give it once")
        values[name] = value
    return values


def _check_revision(args: Namespace) -> None:
    """Refuse what a new revision of the same model cannot have."""
    for option, value in (("--outputs", args.outputs), ("--tag", args.tag)):
        if value is not None:
            raise ReadError(
                f"{option} goes with a file or with --save NAME",
                element=args.file[:60],
                remedy="leave it out; the new revision has the outputs of the one before",
            )


def _next_revision(args: Namespace, values: dict[str, str]) -> tuple[Model, Revision]:
    with chosen_store(args) as store:
        revision = store.bind(args.file, values, args.note, args.author)
        return store.load(revision.reference), revision


def _bound(model: Model, values: dict[str, str], reference: str) -> Model:
    # Beside the store, for which it is written; importing that takes long.
    from chainform.model.stored import bound_model

    return bound_model(model, values, reference)


def _show(
    page: Page, model: Model, values: dict[str, str], revision: Revision | None, moved: list[str]
) -> None:
    show_size(page, model)
    page.text(f"bound: {', '.join(f'{name} = {value}' for name, value in values.items())}")
    if revision is not None:
        show_saved(page, revision, moved)


BIND = Command(
    summary="make free parameters numbers",
    usage="FILE PARAMETER=VALUE ...",
    description="Make free parameters numbers, exactly. A stored model gets a new revision; with\n"
    "--save the result goes under another name. Of a file the parameters named are taken as\n"
    "free, and the result is saved only with --save.",
    add_options=add_options,
    run=run,
)
