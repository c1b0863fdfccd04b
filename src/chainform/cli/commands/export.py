"""`chainform export`: the equations as program text, LaTeX or graph, or the mechanism itself."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from chainform.cli.command import Command
from chainform.cli.files import (
    OF_DERIVATION,
    OF_REDUCTION,
    add_file,
    existing,
    is_taken,
    option_name,
    read_chosen,
    target_of,
    write_file,
)
from chainform.cli.model_report import method_document
from chainform.cli.options import USUAL, add_method, add_outputs, derive_named, usual_outputs
from chainform.cli.printing import Document, Page, Report
from chainform.emitters import EMITTERS
from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.readers import export_urdf, native_text, side_path

URDF, NATIVE, ELEMENTS = "urdf", "native", "elements"
"""The languages that describe the mechanism instead of its equations."""

NO_EQUATIONS: Document = {
    "formulation": "none",
    "parameters": "numeric",
    "reduce": "none",
    "closure": "complete",
    "wrenches": [],
}
"""What stands for the method where no equations are derived."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    parser.add_argument(
        "--language",
        choices=sorted([*EMITTERS, URDF, NATIVE, ELEMENTS]),
        required=True,
        help="the language to write; urdf and native write the mechanism itself, elements a native "
        "file in which it is written as elements",
    )
    add_outputs(parser, USUAL)
    parser.add_argument(
        "-o", "--output-file", metavar="FILE", help="write there, not to standard output"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    add_method(parser)


def run(args: Namespace) -> Report:
    """Derive, emit, and write the file if one is named."""
    target = target_of(args.output_file, args.file, force=args.force)
    mechanism = read_chosen(args)
    if args.language in (URDF, NATIVE, ELEMENTS) and not (mechanism.segments or mechanism.elements):
        message = f"{args.language} describes mechanisms, and expressions have none"
        raise ReadError(message, element="--language", remedy=f"choose {', '.join(EMITTERS)}")
    if args.language in (URDF, NATIVE, ELEMENTS):
        _refuse_equations(args)
    if args.language == URDF:
        return _export_urdf(args, mechanism, target)
    if args.language in (NATIVE, ELEMENTS):
        return _export_native(args, mechanism, target)
    model = derive_named(mechanism, args, usual_outputs(mechanism, args))
    text = model.emit(args.language)
    if target is not None:
        write_file(target, text, force=args.force)
    document = _document(args, target, text, method_document(model), model.outputs)
    return Report(document, lambda page: _show(page, target, text))


def _refuse_equations(args: Namespace) -> None:
    """Refuse what is said about equations where none are written."""
    for option in ("outputs", "define", *OF_DERIVATION, *OF_REDUCTION):
        if getattr(args, option, None) is not None:
            raise ReadError(
                f"{args.language} describes the mechanism, and has no equations",
                element=option_name(option),
                remedy=f"leave it out, or choose one of {', '.join(EMITTERS)}",
            )


def _export_urdf(args: Namespace, mechanism: Mechanism, target: Path | None) -> Report:
    """Write the mechanism as URDF; no equations are derived, so the document names none."""
    export = export_urdf(mechanism)
    written = [] if target is None else [(target, export.text)]
    if target is not None:
        side = side_path(target)
        if is_taken(side) and (export.side is None or not args.force):
            raise existing(side) if export.side is not None else _stale(side)
        if export.side is not None:
            written.append((side, export.side))
    for path, text in written:
        write_file(path, text, force=args.force)
    head = {"mechanism": mechanism.name, **NO_EQUATIONS}
    document = _document(args, target, export.text, head)

    def show(page: Page) -> None:
        _show(page, target, export.text)
        if target is not None:
            for path, _ in written[1:]:
                page.text(f"wrote {path}")
            for what in export.left_out:
                page.text(f"not in URDF: {what}")

    return Report(document, show)


def _export_native(args: Namespace, mechanism: Mechanism, target: Path | None) -> Report:
    """Write the mechanism in our own form, exactly, or what it is as elements."""
    written = mechanism.as_elements() if args.language == ELEMENTS else mechanism
    text = native_text(written)
    if target is not None:
        write_file(target, text, force=args.force)
    head = {"mechanism": mechanism.name, **NO_EQUATIONS}
    document = _document(args, target, text, head)

    def show(page: Page) -> None:
        _show(page, target, text)
        if target is not None:
            for loop in mechanism.loops if not written.loops else ():
                page.text(f"not in elements: loop {loop.name}")

    return Report(document, show)


def _document(
    args: Namespace, target: Path | None, text: str, head: Document, outputs: Sequence[str] = ()
) -> Document:
    """Return the document of a text, in the file if there is one."""
    return {
        "file": args.file,
        **head,
        "language": args.language,
        "outputs": list(outputs),
        "written": None if target is None else str(target),
        "text": text if target is None else None,
    }


def _stale(side: Path) -> ReadError:
    remedy = "remove it, or write to another name"
    return ReadError("this side file does not belong to the result", file=str(side), remedy=remedy)


def _show(page: Page, target: Path | None, text: str) -> None:
    if target is None:
        page.text(text.removesuffix("\n"))
    else:
        page.text(f"wrote {target}")


COMMAND = Command(
    usage="FILE --language LANGUAGE",
    description="Write the equations as a Python function, as LaTeX, or as the text of the graph;\n"
    "or the mechanism itself as URDF, as a native file, or as elements.",
    add_options=add_options,
    run=run,
)
