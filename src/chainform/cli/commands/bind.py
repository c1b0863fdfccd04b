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
    parameter_values,
    usual_outputs,
)
from chainform.cli.printing import Document, Page, Report
from chainform.cli.reading import add_file, read_chosen
from chainform.cli.saving import add_save, check_saving, save_model, show_saved
from chainform.cli.size import show_size, size_document
from chainform.cli.stored import is_stored, revision_document, with_outputs
from chainform.errors import ReadError
from chainform.mechanism import Mechanism
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
    parser.add_argument(
        "--keep-free",
        action="store_true",
        help="make the numbers default values, and keep the parameters free",
    )
    add_outputs(parser, USUAL)
    add_method(parser)
    add_save(parser)


def run(args: Namespace) -> Report:
    """Bind the parameters; a stored model gets a new revision, or is saved under another name."""
    values = parameter_values(args.values, "bind")
    adds_revision = is_stored(args) and args.save is None
    if adds_revision:
        _check_revision(args)
    else:
        check_saving(args)
    mechanism = read_chosen(args)
    model = _model(args, mechanism, list(values)).bind(values, keep_free=args.keep_free)
    revision: Revision | None = None
    moved: list[str] = []
    if adds_revision or args.save is not None:
        name = args.file.partition("@")[0] if adds_revision else None
        revision, moved = save_model(args, model, name=name)
    document: Document = {"file": args.file, **size_document(model), "values": values}
    if revision is not None:
        document |= {"saved": revision_document(revision)}
    return Report(document, lambda page: _show(page, args, model, values, (revision, moved)))


def _model(args: Namespace, mechanism: Mechanism, names: list[str]) -> Model:
    """Return the stored model, or the one of a file in which the parameters named are free."""
    if args.stored is None:
        outputs = chosen_outputs(args, usual_outputs(mechanism, args))
        return derive_chosen(mechanism, args, outputs, names)
    if args.outputs is None:
        return args.stored
    return with_outputs(args.stored, chosen_outputs(args, ()))


def _check_revision(args: Namespace) -> None:
    """Refuse what a new revision of the same model cannot have."""
    if args.outputs is not None:
        raise ReadError(
            "--outputs goes with a file or with --save NAME",
            element=args.file[:60],
            remedy="leave it out; the new revision has the outputs of the one before",
        )


def _show(
    page: Page,
    args: Namespace,
    model: Model,
    values: dict[str, str],
    saved: tuple[Revision | None, list[str]],
) -> None:
    show_size(page, model)
    word = "new default values" if args.keep_free else "bound"
    page.text(f"{word}: {', '.join(f'{name} = {value}' for name, value in values.items())}")
    revision, moved = saved
    if revision is not None:
        show_saved(page, revision, moved)


COMMAND = Command(
    usage="FILE PARAMETER=VALUE ...",
    description="Make free parameters numbers, exactly, or give them other default values and\n"
    "keep them free. A stored model gets a new revision; with --save the result goes under\n"
    "another name. Of a file the parameters named are taken as free, and the result is saved\n"
    "only with --save.",
    add_options=add_options,
    run=run,
)
