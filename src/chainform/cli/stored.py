"""A stored model in place of a file, and documents of revisions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from chainform.cli.printing import Document
from chainform.cli.store_place import chosen_store, exists, store_file
from chainform.errors import ReadError, StoreError
from chainform.given import near
from chainform.model import Model
from chainform.readers import FILE_TYPES

if TYPE_CHECKING:
    from chainform.store import Revision

OF_REDUCTION = ("reduce", "budget", "steps_made", "seed", "cores", "sine_cost")
"""Options of a reduction, which `reduce` takes with a stored model."""

OF_FILE = (
    *("base", "mimic", "snap", "root", "tips", "payload", "frames"),
    *("formulation", "parameters", "closure", "wrenches", "without"),
    *OF_REDUCTION,
)
"""Options that say how a file is read and derived; a stored model is past that."""

MOST_FILES = 1000
"""Files of the folder that are looked at for a name like the one given."""


def add_origin(parser: ArgumentParser) -> None:
    """Add the note and the author of a revision that a command makes."""
    parser.add_argument("--note", metavar="TEXT", default="", help="a remark on the revision")
    parser.add_argument("--author", metavar="NAME", help="who makes it (default: the user)")


def check_name(name: str, option: str = "--save") -> None:
    """Refuse names by which a saved model could not be found again: FILE would be a file."""
    if _looks_like_file(name) or "/" in name or "\\" in name or not name.isprintable():
        raise ReadError(
            "this looks like a file, and the model could not be found by it",
            element=f"{option} {name[:60]}",
            remedy=f"leave out folders and endings such as {', '.join(FILE_TYPES)}",
        )


# --- a model in place of a file -------------------------------------------------------------


def is_stored(args: Namespace) -> bool:
    """Tell whether FILE means a stored model: it does not look like a file.

    A folder, or a file without the ending of a mechanism, could not be read, so that it does not
    stand before a model of its name.
    """
    text: str = args.file
    if _looks_like_file(text) or not text.isprintable():
        return False
    return not exists(Path(text)) or text.partition("@")[0] in _known(args)


def _looks_like_file(text: str) -> bool:
    return Path(text).suffix.lower() in FILE_TYPES or not text.strip()


def load_stored(args: Namespace) -> Model:
    """Return the stored model that the command line names, or say that nothing has its name."""
    reduces = getattr(args, "reduces", False)
    for option in OF_FILE:
        if reduces and option in OF_REDUCTION:
            continue
        if getattr(args, option, None) is not None:
            renamed = {"tips": "tip", "frames": "frame", "steps_made": "steps"}
            name = renamed.get(option, option).replace("_", "-")
            raise ReadError(
                f"--{name} goes with a file; a stored model is taken as it is",
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
    """Return the model with these of its outputs only, in this order."""
    for name in outputs:
        if name not in model.outputs:
            raise ReadError(
                "the stored model does not have this output",
                element=name,
                remedy=f"it has {', '.join(model.outputs)}; derive it anew for more",
            )
    blocks = {name: model.graph.outputs[name] for name in outputs}
    return replace(model, graph=replace(model.graph, outputs=blocks))


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


# --- documents ------------------------------------------------------------------------------


def revision_document(revision: Revision) -> Document:
    """Return what is known of a revision."""
    return {
        "name": revision.name,
        "revision": revision.number,
        "mechanism": revision.mechanism,
        "formulation": revision.formulation,
        "step": revision.step,
        "options": dict(revision.options),
        "parent": revision.parent,
        "author": revision.author,
        "note": revision.note,
        "tags": list(revision.tags),
        "created": revision.created.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": revision.seconds,
        "outputs": list(revision.outputs),
        "variables": revision.variables,
        "terms": revision.terms,
        "factors": revision.factors,
        "operations": revision.cost.as_dict(),
        "once": revision.once.as_dict(),
        "content": revision.content,
    }


def reduced_text(revision: Revision, load: Callable[[str], Revision]) -> str:
    """Return by which effort the model of a revision is reduced, "no" if it is as derived."""
    while "reduce" not in revision.options and revision.parent is not None:
        revision = load(f"{revision.name}@{revision.parent}")
    effort = str(revision.options.get("reduce", "none"))
    return "no" if effort == "none" else effort


def date_text(revision: Revision) -> str:
    """Return when a revision was made, for people."""
    return revision.created.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
