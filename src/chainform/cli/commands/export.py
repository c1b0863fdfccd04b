"""`chainform export`: the equations as program text, LaTeX or graph, or the mechanism as URDF."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import Path

from chainform.cli.commands.command import Command
from chainform.cli.options import (
    USUAL,
    add_method,
    add_outputs,
    chosen_outputs,
    derive_chosen,
    method_document,
    usual_outputs,
)
from chainform.cli.printing import Document, Page, Report
from chainform.cli.reading import add_file, read_chosen
from chainform.emitters import EMITTERS
from chainform.errors import ReadError, RunError
from chainform.mechanism import Mechanism
from chainform.readers import export_urdf, native_text, side_path

URDF, NATIVE = "urdf", "native"
"""The languages that describe the mechanism instead of its equations."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    parser.add_argument(
        "--language",
        choices=sorted([*EMITTERS, URDF, NATIVE]),
        required=True,
        help="the language to write; urdf and native write the mechanism itself",
    )
    add_outputs(parser, USUAL)
    parser.add_argument(
        "-o", "--output-file", metavar="FILE", help="write there, not to standard output"
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    add_method(parser)


def run(args: Namespace) -> Report:
    """Derive, emit, and write the file if one is named."""
    target = _target(args)
    mechanism = read_chosen(args)
    if args.language == URDF:
        return _export_urdf(args, mechanism, target)
    if args.language == NATIVE:
        return _export_native(args, mechanism, target)
    outputs = chosen_outputs(args, usual_outputs(mechanism, args))
    model = derive_chosen(mechanism, args, outputs)
    text = model.emit(args.language)
    if target is not None:
        _write(target, text, force=args.force)
    document: Document = {
        "file": args.file,
        "mechanism": model.mechanism.name,
        **method_document(model),
        "language": args.language,
        "outputs": list(model.outputs),
        "written": None if target is None else str(target),
        "text": text if target is None else None,
    }
    return Report(document, lambda page: _show(page, target, text))


def _export_urdf(args: Namespace, mechanism: Mechanism, target: Path | None) -> Report:
    """Write the mechanism as URDF; no equations are derived, so the document names none."""
    export = export_urdf(mechanism)
    written = [] if target is None else [(target, export.text)]
    if target is not None:
        side = side_path(target)
        if _exists(side) and (export.side is None or not args.force):
            raise _existing(side) if export.side is not None else _stale(side)
        if export.side is not None:
            written.append((side, export.side))
    for path, text in written:
        _write(path, text, force=args.force)
    document = _mechanism_document(args, mechanism, target, export.text)

    def show(page: Page) -> None:
        _show(page, target, export.text)
        if target is not None:
            for path, _ in written[1:]:
                page.text(f"wrote {path}")
            for what in export.left_out:
                page.text(f"not in URDF: {what}")

    return Report(document, show)


def _export_native(args: Namespace, mechanism: Mechanism, target: Path | None) -> Report:
    """Write the mechanism in our own form, exactly."""
    text = native_text(mechanism)
    if target is not None:
        _write(target, text, force=args.force)
    document = _mechanism_document(args, mechanism, target, text)
    return Report(document, lambda page: _show(page, target, text))


def _mechanism_document(
    args: Namespace, mechanism: Mechanism, target: Path | None, text: str
) -> Document:
    """Return the document of a mechanism that was written; it names no equations."""
    return {
        "file": args.file,
        "mechanism": mechanism.name,
        "formulation": "none",
        "parameters": "numeric",
        "reduce": "none",
        "closure": "complete",
        "wrenches": [],
        "language": args.language,
        "outputs": [],
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


def _target(args: Namespace) -> Path | None:
    """Return where to write, None for standard output; refuse what would destroy a file."""
    if args.output_file is None or args.output_file == "-":
        return None
    target = Path(args.output_file)
    if not _exists(target):
        return target
    if target.is_dir():
        raise ReadError("this is a folder", file=str(target), element="-o")
    with suppress(OSError, ValueError):
        if target.samefile(args.file):
            raise ReadError("this is the mechanism itself", file=str(target), element="-o")
    if not args.force:
        raise _existing(target)
    return target


def _exists(target: Path) -> bool:
    try:
        target.lstat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as problem:
        raise ReadError(f"it cannot be a file: {problem}", file=str(target)) from None
    return True


def _existing(target: Path) -> ReadError:
    return ReadError("the file exists", file=str(target), remedy="--force overwrites it")


def _write(target: Path, text: str, *, force: bool) -> None:
    """Write a whole file or none: a new one that cannot be finished is removed."""
    try:
        with target.open("w" if force else "x", encoding="utf-8", newline="\n") as stream:
            try:
                stream.write(text)
                stream.flush()
            except OSError:
                if not force:
                    target.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise _existing(target) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        remedy = "look at the folder, the rights to it, and the room on the disk"
        raise RunError(
            f"it cannot be written: {reason}", file=str(target), remedy=remedy
        ) from problem


EXPORT = Command(
    summary="write the equations, or the mechanism, in another language",
    usage="FILE --language LANGUAGE",
    description="Write the equations as a Python function, as LaTeX, or as the text of the graph;\n"
    "or the mechanism itself as URDF or as a native file.",
    add_options=add_options,
    run=run,
)
