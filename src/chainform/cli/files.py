"""Files on the command line: the mechanism file, a stored model in its place, and files written.

FILE means a stored model where it does not look like a file. Files are written whole or not at all,
and nothing is overwritten unasked.
"""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from chainform.cli.store import check_regular, chosen_store, exists, looks_like_file, store_file
from chainform.errors import ReadError, RunError, StoreError
from chainform.given import near
from chainform.mechanism import Mechanism
from chainform.model import Model, block_named, has_name, read_expressions
from chainform.readers import EXPRESSIONS, FILE_TYPES, read

READING = ("base", "mimic", "snap", "root", "tips")
"""The options that are handed to the reader when they are given."""
OF_REDUCTION = ("reduce", "budget", "steps_made", "seed", "cores", "sine_cost")
"""Options of a reduction, which `reduce` takes with a stored model."""
OF_DERIVATION = ("formulation", "parameters", "closure", "wrenches", "without")
"""Options that say how equations are derived."""
OF_MECHANISM = (
    *("base", "mimic", "snap", "root", "tips", "payload", "frames"),
    *OF_DERIVATION,
)
"""Options that say how a mechanism is read and derived."""
OF_FILE = (*OF_MECHANISM, *OF_REDUCTION)
"""Options that go with a file; a stored model is past that."""
MOST_FILES = 1000
"""Files of the folder that are looked at for a name like the one given."""


def add_file(
    parser: ArgumentParser,
    *,
    stored: bool = False,
    expressions: bool = False,
    optional: bool = False,
    more: str = "",
) -> None:
    """Add the mechanism file and the options of its reader.

    `stored` takes a stored model or a file of expressions too, `expressions` the latter alone;
    `more` says what else the command takes.
    """
    text = "the mechanism (.toml, .json or .urdf)"
    if stored or expressions:
        text += ", a file of expressions (.expr)"
    if stored:
        text += ", or a stored model: name, name@revision or name@tag"
    text += f"; {more}" * bool(more)
    parser.add_argument("file", metavar="FILE", nargs="?" if optional else None, help=text)
    takes_expressions = stored or expressions
    parser.set_defaults(takes_stored=stored, takes_expressions=takes_expressions, stored=None)
    add_reading(parser)


def add_reading(parser: ArgumentParser) -> None:
    """Add the options of the reader of mechanisms."""
    group = parser.add_argument_group("how a URDF file is read")
    group.add_argument("--base", choices=("fixed", "floating"), help="how the root link stands")
    group.add_argument(
        "--mimic",
        choices=("couple", "free"),
        help="whether a joint that mimics another shares its coordinate (couple) or has its own",
    )
    group.add_argument(
        "--snap",
        action=BooleanOptionalAction,
        default=None,
        help="set numbers that are nearly round to the round value (the default)",
    )
    group = parser.add_argument_group("the part that is read, and what is added to it")
    group.add_argument("--root", metavar="SEGMENT", help="read what hangs on this segment only")
    group.add_argument(
        "--tip",
        metavar="SEGMENT",
        action="append",
        dest="tips",
        help="read the way to this segment only; may be repeated",
    )
    group.add_argument(
        "--payload",
        metavar="SEGMENT:MASS[:X,Y,Z]",
        action="append",
        help="a mass (kg) on a segment, its mass centre in the axes of the segment (m); repeatable",
    )
    group.add_argument(
        "--frame",
        metavar="NAME=SEGMENT[:X,Y,Z]",
        action="append",
        dest="frames",
        help="a frame on a segment, its origin in the axes of the segment (m); may be repeated",
    )


def read_chosen(args: Namespace) -> Mechanism:
    """Read the mechanism file as the options say.

    A stored model that stands in its place, and that of a file of expressions, goes to
    `args.stored`, and is not derived again.
    """
    if args.takes_expressions and Path(args.file).suffix.lower() == EXPRESSIONS:
        for option in OF_MECHANISM:
            if getattr(args, option, None) is not None:
                message = f"{option_name(option)} goes with a mechanism; expressions have none"
                raise ReadError(message, element=args.file[-60:], remedy="leave it out")
        args.stored = read_expressions(args.file)
        return args.stored.mechanism
    if args.takes_stored and is_stored(args):
        args.stored = load_stored(args)
        return args.stored.mechanism
    if not args.takes_stored:
        refuse_stored(args)
    with suppress(OSError, ValueError):  # a reader says what else is wrong
        check_regular(Path(args.file), ReadError)
    given = {name: getattr(args, name) for name in READING}
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        mechanism = read(args.file, **chosen)
    except ReadError as problem:
        if not args.takes_stored:
            raise
        raise with_stored(problem, args) from None
    return _with_additions(mechanism, args)


def _with_additions(mechanism: Mechanism, args: Namespace) -> Mechanism:
    """Return the mechanism with the payloads and frames of the command line."""
    for number, text in enumerate(args.payload or (), start=1):
        segment, mass, *rest = _parts(text, "--payload", 2, 3)
        name = "payload" if len(args.payload) == 1 else f"payload{number}"
        mechanism = mechanism.with_payload(segment, mass, _point(rest), name=name)
    for text in args.frames or ():
        name, equals, place = text.partition("=")
        if not equals:
            raise ReadError(f"{text!r} has no =", element="--frame", remedy="tool=hand:0,0,0.1")
        segment, *rest = _parts(place, "--frame", 1, 2)
        mechanism = mechanism.with_frame(name.strip(), segment, _point(rest))
    return mechanism


def _parts(text: str, option: str, least: int, most: int) -> list[str]:
    parts = [part.strip() for part in text.split(":")]
    if not least <= len(parts) <= most or not all(parts):
        remedy = {"--payload": "hand:2.5:0,0,0.1", "--frame": "tool=hand:0,0,0.1"}[option]
        raise ReadError(f"{text!r} cannot be read", element=option, remedy=f"write {remedy}")
    return parts


def _point(rest: list[str]) -> list[str]:
    return [entry.strip() for entry in rest[0].split(",")] if rest else ["0", "0", "0"]


# --- a stored model in place of a file --------------------------------------------------------


def is_stored(args: Namespace) -> bool:
    """Tell whether FILE means a stored model: it does not look like a file.

    A folder, or a file without the ending of a mechanism, could not be read, so that it does not
    stand before a model of its name.
    """
    text: str = args.file
    if looks_like_file(text) or not text.isprintable():
        return False
    return not exists(Path(text)) or text.partition("@")[0] in _known(args)


def option_name(name: str) -> str:
    """Return an option as it is typed: --tip for tips."""
    renamed = {"tips": "tip", "frames": "frame", "steps_made": "steps"}
    return f"--{renamed.get(name, name).replace('_', '-')}"


def load_stored(args: Namespace) -> Model:
    """Return the stored model that the command line names, or say that nothing has its name."""
    reduces = getattr(args, "reduces", False)
    for option in OF_FILE:
        if reduces and option in OF_REDUCTION:
            continue
        if getattr(args, option, None) is not None:
            raise ReadError(
                f"{option_name(option)} goes with a file; a stored model is taken as it is",
                element=args.file[:60],
                remedy="leave it out, derive the model anew, or reduce it: chainform reduce NAME",
            )
    file = store_file(args)
    if file is not None and not exists(file):
        raise _neither(args.file, ())
    with chosen_store(args, read_only=True) as store:
        known = [entry.name for entry in store.models()]
        if args.file.partition("@")[0] not in known:
            raise _neither(args.file, known)
        return store.load(args.file)


def with_stored(problem: ReadError, args: Namespace) -> ReadError:
    """Return an error about a file with the stored model that has its name, if there is one."""
    name = args.file.partition("@")[0]
    if exists(Path(args.file)) or name not in _known(args):
        return problem
    before = f"{problem.remedy}; " if problem.remedy else ""
    return ReadError(
        problem.message,
        file=problem.file,
        element=problem.element,
        remedy=f"{before}there is a stored model {name[:60]}, but this looks like a file: "
        f"chainform rename {name[:60]} OTHER",
    )


def refuse_stored(args: Namespace) -> None:
    """Say that a command takes files only, where the name of a stored model is given to it."""
    if is_stored(args) and args.file.partition("@")[0] in _known(args):
        raise ReadError(
            f"this is a stored model, and {args.command} takes a file",
            element=args.file[:60],
            remedy="name a file; show, eval, count, export, bind and log take stored models",
        )


def _known(args: Namespace) -> list[str]:
    """Return the names of the stored models, none where the store cannot be read."""
    file = store_file(args)
    if file is not None and not exists(file):
        return []
    try:
        with chosen_store(args, read_only=True) as store:
            return [entry.name for entry in store.models()]
    except StoreError:
        return []


def _neither(text: str, stored: Sequence[str]) -> ReadError:
    """Return the error for a name that means nothing, with those that may be meant."""
    here = [path.name for path in _files_here() if path.suffix.lower() in FILE_TYPES]
    hint = near(text.partition("@")[0], [*stored, *here], 3) or "check the name; "
    return ReadError(
        "there is neither a file nor a stored model of this name",
        file=text[:200],
        remedy=f"{hint}chainform models lists the stored ones, --db names another store",
    )


def _files_here() -> list[Path]:
    try:
        return sorted(islice(Path().iterdir(), MOST_FILES))
    except OSError:
        return []


def with_outputs(model: Model, outputs: Sequence[str]) -> Model:
    """Return the model with these outputs only, in this order.

    They are its own, its intermediate quantities, entries of either, and derivatives of them.
    """
    graph = model.graph_with(outputs)
    for name in outputs:
        if not has_name(graph, name):
            known = (*model.outputs, *model.quantities)
            raise ReadError(
                "the model does not have this output",
                element=name,
                remedy=f"{near(name, known, 3)}it has {', '.join(model.outputs)}; "
                "derive it anew for more",
            )
    blocks = {name: block_named(graph, name) for name in outputs}
    others = {name: block for name, block in graph.quantities.items() if name not in blocks}
    return replace(model, graph=replace(graph, outputs=blocks, quantities=others))


def check_free(model: Model, names: str | Sequence[str] | None) -> None:
    """Refuse parameters that a state gives values for and that are numbers in the model."""
    if names is None or isinstance(names, str):
        return
    free = model.free_parameters
    for name in names:
        if name not in free:
            listed = f"free are {', '.join(free)}" if free else "it has no free parameter"
            raise ReadError(
                "the parameter is a number in the stored model",
                element=f"values {name[:60]}",
                remedy=f"leave it out; {listed}",
            )


# --- files that are written -------------------------------------------------------------------


def target_of(name: str | None, source: str, *, force: bool, option: str = "-o") -> Path | None:
    """Return where to write, None for standard output; refuse what would destroy a file."""
    if name is None or name == "-":
        return None
    target = Path(name)
    if not is_taken(target):
        if not is_taken(target.parent):
            message, remedy = "there is no such folder", "make it, or name another one"
            raise ReadError(message, file=str(target.parent), element=option, remedy=remedy)
        return target
    if target.is_dir():
        raise ReadError("this is a folder", file=str(target), element=option)
    with suppress(OSError, ValueError):
        if target.samefile(source):
            raise ReadError("this is the mechanism itself", file=str(target), element=option)
    if not force:
        raise existing(target)
    return target


def is_taken(target: Path) -> bool:
    """Tell whether something has this name already."""
    try:
        target.lstat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as problem:
        raise ReadError(f"it cannot be a file: {problem}", file=str(target)) from None
    return True


def existing(target: Path) -> ReadError:
    """Return the error about a file that is there already."""
    return ReadError("the file exists", file=str(target), remedy="--force overwrites it")


def write_file(target: Path, text: str, *, force: bool) -> None:
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
        raise existing(target) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        remedy = "look at the folder, the rights to it, and the room on the disk"
        raise RunError(
            f"it cannot be written: {reason}", file=str(target), remedy=remedy
        ) from problem
