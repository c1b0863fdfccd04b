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
from chainform.cli.printing import Document, Page, Report, tell
from chainform.emitters import EMITTERS, LANGUAGES
from chainform.errors import ReadError, RunError
from chainform.files import check_folder
from chainform.given import near
from chainform.mechanism import Mechanism
from chainform.model import NATIVE, PRECISIONS, SINES, Model, reading_notes
from chainform.readers import export_urdf, native_text, side_path
from chainform.runtime import BINARIES, PLATFORMS

OF_MECHANISM = URDF, NATIVE_FILE, ELEMENTS = "urdf", "native", "elements"
"""The languages that describe the mechanism instead of its equations."""

EQUATIONS = (*LANGUAGES, *BINARIES, *EMITTERS)
TARGETS = (NATIVE, *(name for name in PLATFORMS if name != "wasm"))
OTHER_NAMES = {
    **dict.fromkeys(("c++", "cxx", "eigen"), "cpp"),
    **dict.fromkeys(("js", "node", "typescript", "ts"), "javascript"),
    **dict.fromkeys(("cortex-m4", "cortex-m7", "thumb"), "thumbv7em"),
    "pytorch": "torch",
    "octave": "matlab",
    "acados": "casadi",
    "webassembly": "wasm",
    "arm64": "aarch64",
    "amd64": "x86_64",
    "f90": "fortran",
    "rs": "rust",
    "so": "shared",
}
"""What others call languages and processors."""
OF_FOLDER = ("name", "precision", "sine", "target")
"""Options that go with a folder."""

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
        "--to",
        type=lambda text: _choice("--to", text, sorted([*EQUATIONS, *OF_MECHANISM])),
        required=True,
        metavar="LANGUAGE",
        help=f"{', '.join([*LANGUAGES, *BINARIES])}: a folder with functions, example and test; "
        f"{', '.join(EMITTERS)}: one text; urdf and native: the mechanism itself; elements: a "
        "native file in which it is written as elements",
    )
    add_outputs(parser, USUAL)
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="write this file, or this new folder; else the source goes to standard output",
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    group = parser.add_argument_group("folders")
    group.add_argument("--name", help="what functions and files begin with (the mechanism)")
    group.add_argument("--precision", choices=PRECISIONS, help="of numbers (float64)")
    group.add_argument(
        "--target",
        type=lambda text: _choice("--target", text, TARGETS),
        metavar=f"{{{','.join(TARGETS)}}}",
        help="the processor of an object (native, this machine)",
    )
    group.add_argument("--sine", choices=SINES, help="ours, or that of the C library (own)")
    add_method(parser)


def run(args: Namespace) -> Report:
    """Derive, emit, and write the file if one is named."""
    is_folder = args.to in (*LANGUAGES, *BINARIES)
    _check_options(args, is_folder)
    target = (
        _folder(args.output) if is_folder else target_of(args.output, args.file, force=args.force)
    )
    mechanism = read_chosen(args)
    for note in reading_notes(mechanism):
        tell(note)
    if args.to in OF_MECHANISM and not (mechanism.segments or mechanism.elements):
        message = f"{args.to} describes mechanisms, and expressions have none"
        raise ReadError(message, element="--to", remedy=f"choose {', '.join(EQUATIONS)}")
    if args.to in OF_MECHANISM:
        _refuse_equations(args)
    if args.to == URDF:
        return _export_urdf(args, mechanism, target)
    if args.to in (NATIVE_FILE, ELEMENTS):
        return _export_native(args, mechanism, target)
    model = derive_named(mechanism, args, usual_outputs(mechanism, args))
    text = ""
    if target is None:
        text = model.emit(args.to)
    elif is_folder:
        _export_folder(args, model, target)
    else:
        write_file(target, model.emit(args.to), force=args.force)
    document = _document(args, target, text, method_document(model), model.outputs)
    return Report(document, lambda page: _show(page, target, text))


def _choice(option: str, text: str, choices: Sequence[str]) -> str:
    """Return one of some words; else say which one may be meant."""
    if text in choices:
        return text
    other = OTHER_NAMES.get(text.lower(), "")
    question = f"did you mean {other!r}? " if other in choices else near(text.lower(), choices)
    remedy = f"{question}choices are {', '.join(choices)}"
    raise ReadError(f"there is no {text[:60]!r}", element=option, remedy=remedy)


def _export_folder(args: Namespace, model: Model, target: Path) -> None:
    """Write a folder; what is wrong with an option is wrong input."""
    given = {option: getattr(args, option) for option in OF_FOLDER}
    try:
        model.export(args.to, target, **{n: x for n, x in given.items() if x is not None})
    except RunError as problem:
        if problem.element not in OF_FOLDER:
            raise
        element = option_name(problem.element)
        raise ReadError(problem.message, element=element, remedy=problem.remedy) from None


def _check_options(args: Namespace, is_folder: bool) -> None:
    """Refuse options that do nothing here."""
    for option in OF_FOLDER:
        if getattr(args, option) is not None and (not is_folder or args.output is None):
            remedy = f"leave it out, or write a folder: --to {next(iter(LANGUAGES))} -o FOLDER"
            message = "this is an option of folders"
            raise ReadError(message, element=option_name(option), remedy=remedy)
    if args.to in BINARIES and args.output in (None, "-"):
        message = f"{args.to} is no text"
        raise ReadError(message, element="--to", remedy="name a new folder: -o FOLDER")
    if is_folder and args.force:
        remedy = "name a new folder, or an empty one"
        raise ReadError("folders are never overwritten", element="--force", remedy=remedy)


def _folder(name: str | None) -> Path | None:
    """Return the folder to write, None for standard output."""
    if name is None or name == "-":
        return None
    check_folder(name)
    return Path(name)


def _refuse_equations(args: Namespace) -> None:
    """Refuse options of equations where none are written."""
    for option in ("outputs", "define", *OF_DERIVATION, *OF_REDUCTION):
        if getattr(args, option, None) is not None:
            raise ReadError(
                f"{args.to} describes the mechanism, and has no equations",
                element=option_name(option),
                remedy=f"leave it out, or choose one of {', '.join(EQUATIONS)}",
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
    written = mechanism.as_elements() if args.to == ELEMENTS else mechanism
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
        "language": args.to,
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
    usage="FILE --to LANGUAGE [-o PATH]",
    description="Write the equations as functions in another language, with example and test;\n"
    "as one text: Python, LaTeX, LLVM, the graph; or the mechanism: URDF, native, elements.",
    add_options=add_options,
    run=run,
)
