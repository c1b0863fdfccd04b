"""The store on the command line: which one is meant, and a stored model in place of a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from chainform.cli.printing import Document
from chainform.errors import ReadError, StoreError
from chainform.model import Model, default_url, open_store
from chainform.readers import FILE_TYPES

if TYPE_CHECKING:
    from chainform.model.store import Store
    from chainform.store import Revision

OF_FILE = (
    *("base", "mimic", "snap", "root", "tips", "payload", "frames"),
    *("formulation", "parameters", "reduce", "closure", "wrenches"),
)
"""Options that say how a file is read and derived; a stored model is past that."""


def add_db(parser: ArgumentParser) -> None:
    """Add `--db`, which every command has."""
    parser.add_argument(
        "--db",
        metavar="URL",
        help="the store of models: a file, or postgresql://... (default: CHAINFORM_DB, else "
        "models.db in the user's data folder)",
    )


def add_origin(parser: ArgumentParser) -> None:
    """Add what is kept with a revision that a command makes."""
    parser.add_argument("--note", metavar="TEXT", default="", help="a remark on the revision")
    parser.add_argument("--author", metavar="NAME", help="who makes it (default: the user)")


# --- which store ----------------------------------------------------------------------------


def chosen_store(args: Namespace, *, make: bool = False, read_only: bool = False) -> Store:
    """Open the store that the options or the environment name; only `make` makes a new one."""
    file = store_file(args)
    if args.db is not None and (args.db in ("", ":memory:") or args.db.rstrip("/") == "sqlite:"):
        raise StoreError(
            "a store in memory would be gone with the command", file=args.db, remedy="name a file"
        )
    if file is not None and not make and not _exists(file):
        raise StoreError(
            "there is no store of models",
            file=str(file),
            remedy="chainform derive FILE --save NAME makes it; --db names another one",
        )
    return open_store(args.db, read_only=read_only)


def store_file(args: Namespace) -> Path | None:
    """Return the file of the store, None where it is on a server."""
    url: str = args.db or default_url()
    scheme, mark, rest = url.partition(":///")
    if mark and scheme.partition("+")[0] == "sqlite":
        return Path(rest.partition("?")[0])
    return None if "://" in url else Path(url)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


# --- a model in place of a file -------------------------------------------------------------


def is_stored(args: Namespace) -> bool:
    """Tell whether FILE means a stored model: it names no file, nor looks like one."""
    text: str = args.file
    looks_like_file = Path(text).suffix.lower() in FILE_TYPES or not text.strip()
    return not looks_like_file and text.isprintable() and not _exists(Path(text))


def load_stored(args: Namespace) -> Model:
    """Return the stored model that the command line names, or say that nothing has its name."""
    for option in OF_FILE:
        if getattr(args, option, None) is not None:
            name = {"tips": "tip", "frames": "frame"}.get(option, option)
            raise ReadError(
                f"--{name} goes with a file; a stored model is taken as it is",
                element=args.file[:60],
                remedy="leave it out, or derive the model anew",
            )
    file = store_file(args)
    if file is not None and not _exists(file):
        raise _neither(args.file)
    with open_store(args.db, read_only=True) as store:
        name = args.file.partition("@")[0]
        if not any(entry.name == name for entry in store.models()):
            raise _neither(args.file)
        return store.load(args.file)


def _neither(text: str) -> ReadError:
    return ReadError(
        "there is neither a file nor a stored model of this name",
        file=text,
        remedy="check the name; chainform models lists the stored ones, --db names another store",
    )


def with_outputs(model: Model, outputs: Sequence[str]) -> Model:
    """Return the model with these of its outputs only."""
    for name in outputs:
        if name not in model.outputs:
            raise ReadError(
                "the stored model does not have this output",
                element=name,
                remedy=f"it has {', '.join(model.outputs)}; derive it anew for more",
            )
    kept = {name: block for name, block in model.graph.outputs.items() if name in outputs}
    return replace(model, graph=replace(model.graph, outputs=kept))


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


def date_text(revision: Revision) -> str:
    """Return when a revision was made, for people."""
    return revision.created.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
