"""The commands that make models: derive, bind and reduce."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from time import perf_counter

from chainform.cli.command import Command
from chainform.cli.files import add_file, is_stored, read_chosen, with_outputs
from chainform.cli.model_report import show_size, show_stages, size_document, stage_documents
from chainform.cli.options import (
    USUAL,
    add_method,
    add_outputs,
    add_reduction,
    chosen_outputs,
    derive_chosen,
    parameter_values,
    reduction_options,
    usual_outputs,
)
from chainform.cli.printing import Document, Page, Report
from chainform.cli.progress import search_progress
from chainform.cli.store import add_save, check_saving, revision_document, save_model, show_saved
from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.search import Stage

# --- derive -------------------------------------------------------------------------------------


def _derive_options(parser: ArgumentParser) -> None:
    add_file(parser, expressions=True)
    add_outputs(parser, USUAL)
    add_method(parser)
    add_save(parser)


def _derive(args: Namespace) -> Report:
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
            show_stages(page, model.stages)
        work = "derived and reduced" if model.is_reduced else "derived"
        page.text(f"{work} in {seconds:.3f} s")
        if saved is not None:
            show_saved(page, *saved)

    return Report(document, show)


# --- bind ---------------------------------------------------------------------------------------


def _bind_options(parser: ArgumentParser) -> None:
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


def _bind(args: Namespace) -> Report:
    """Bind the parameters; a stored model gets a new revision, or is saved under another name."""
    values = parameter_values(args.values, "bind")
    adds_revision = is_stored(args) and args.save is None
    if adds_revision:
        _check_revision(args)
    else:
        check_saving(args)
    mechanism = read_chosen(args)
    model = _model(args, mechanism, list(values)).bind(values, keep_free=args.keep_free)
    saved = None
    if adds_revision or args.save is not None:
        saved = save_model(args, model, name=_name(args))
    document: Document = {"file": args.file, **size_document(model), "values": values}
    if saved is not None:
        document |= {"saved": revision_document(saved[0])}

    def show(page: Page) -> None:
        show_size(page, model)
        word = "new default values" if args.keep_free else "bound"
        page.text(f"{word}: {', '.join(f'{name} = {value}' for name, value in values.items())}")
        if saved is not None:
            show_saved(page, *saved)

    return Report(document, show)


def _name(args: Namespace) -> str:
    """Return the name under which a model is saved: that of the stored one if none is given."""
    return args.save or args.file.partition("@")[0]


def _model(args: Namespace, mechanism: Mechanism, names: list[str]) -> Model:
    """Return the stored model, or the one of a file in which the parameters named are free."""
    if args.stored is None or args.define:
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


# --- reduce -------------------------------------------------------------------------------------


def _reduce_options(parser: ArgumentParser) -> None:
    add_file(parser, stored=True)
    add_reduction(parser, default="fast")
    add_save(parser)
    parser.set_defaults(reduces=True)


def _reduce(args: Namespace) -> Report:
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
    with search_progress(args) as progress:
        options = reduction_options(args, "fast")
        model = args.stored.reduce(**options, observe=stages.append, progress=progress)
    seconds = perf_counter() - start
    revision, moved = save_model(args, model, name=_name(args))
    document: Document = {
        "file": args.file,
        **size_document(model),
        "stages": stage_documents(stages),
        "seconds": seconds,
        "saved": revision_document(revision),
    }

    def show(page: Page) -> None:
        show_size(page, model)
        show_stages(page, stages)
        page.text(f"reduced in {seconds:.3f} s")
        if stages[-1].cost == stages[0].cost:
            page.text("nothing better was found; another --seed looks elsewhere")
        show_saved(page, revision, moved)

    return Report(document, show)


COMMANDS = {
    "derive": Command(
        usage="FILE",
        description="Derive the equations of motion and tell their size: outputs and shapes,\n"
        "variables, operations, seconds. With --save the model goes into the store.",
        add_options=_derive_options,
        run=_derive,
    ),
    "bind": Command(
        usage="FILE PARAMETER=VALUE ...",
        description="Make free parameters numbers, exactly, or give them other default values and\n"
        "keep them free. A stored model gets a new revision; with --save the result\n"
        "goes under another name. Of a file the parameters named are taken as free,\n"
        "and the result is saved only with --save.",
        add_options=_bind_options,
        run=_bind,
    ),
    "reduce": Command(
        usage="NAME",
        description="Reduce a stored model further; each step is a new revision, and nothing is\n"
        "lost. A deep search goes on from where the last revision has got to.",
        add_options=_reduce_options,
        run=_reduce,
    ),
}
