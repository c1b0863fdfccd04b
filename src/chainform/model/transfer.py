"""Models from one database into another, and into a single file that can be sent around."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from chainform.errors import StoreError
from chainform.store import Database, Revision
from chainform.store.arguments import texts_of


def chosen_names(source: Database, names: Sequence[str] | None) -> list[str]:
    """Return the names of all models, or those given after a look whether they are there."""
    known = [entry.name for entry in source.models()]
    names = None if names is None else texts_of(names, "names")
    for name in names or ():
        if name not in known:
            listed = ", ".join(known[:20]) or "none"
            raise StoreError(
                "there is no such model", element=name, remedy=f"the models are {listed}"
            )
    return known if names is None else list(dict.fromkeys(names))


def copy_models(source: Database, target: Database, names: Sequence[str]) -> list[Revision]:
    """Copy models with their history, and return the last revision of each.

    Names that the target has already are refused before anything is copied, and whatever fails
    later takes all of it back.
    """
    taken = {entry.name for entry in target.models()}
    for name in names:
        if name in taken:
            raise StoreError(
                "the store already has a model of this name",
                element=name,
                remedy="rename or delete it, or choose other names",
            )
    return source.copy_all(names, target)


def remove_unused(target: Database) -> None:
    """Remove the file of a closed store that was made for models which did not come."""
    file = target.file
    if file is None or not target.link.is_new or not file.is_file():
        return
    with suppress(sqlite3.Error, OSError):
        with closing(sqlite3.connect(file, timeout=0)) as held:
            # Whoever else has it open, or has saved into it, keeps it.
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
            for table in ("models", "objects"):
                if held.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                    return
            held.rollback()
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{file}{ending}").unlink(missing_ok=True)


def _check_replaceable(source: Database, path: Path, *, force: bool) -> None:
    """Refuse to write over the open store itself, and over anything that is not a store."""
    if source.file is not None and path.resolve() == source.file.resolve():
        raise StoreError(
            "this is the store itself", file=str(path), remedy="name another file to write to"
        )
    if not force:
        raise StoreError("the file exists", file=str(path), remedy="--force, or force=True")
    with Database.open(str(path), read_only=True):
        # Whatever is not a store of models has been refused by now.
        pass
    try:
        with closing(sqlite3.connect(path, timeout=1)) as target:
            # Nobody else may have it open, and nothing may be left in its log.
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            target.execute("PRAGMA locking_mode = EXCLUSIVE")
            target.execute("BEGIN EXCLUSIVE")
            target.rollback()
    except sqlite3.Error as problem:
        raise StoreError(
            f"it cannot be replaced now: {problem}",
            file=str(path),
            remedy="close the programs that have it open, or name another file",
        ) from problem


def write_portable(
    source: Database, names: Sequence[str], path: Path, *, force: bool = False
) -> None:
    """Write models into a new SQLite file: the whole file appears, or none.

    It is made under another name beside its place, so that a failure leaves nothing half done.
    """
    try:
        if path.is_dir():
            raise StoreError("this is a folder", file=str(path), remedy="name a file in it")
        if path.exists():
            _check_replaceable(source, path, force=force)
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        Path(draft).unlink()
        try:
            with Database.open(draft) as target:
                copy_models(source, target, names)
            for ending in ("-wal", "-shm"):
                Path(f"{path}{ending}").unlink(missing_ok=True)
            Path(draft).replace(path)
        finally:
            for ending in ("", "-wal", "-shm", "-journal"):
                Path(draft + ending).unlink(missing_ok=True)
    except (OSError, ValueError) as problem:
        raise StoreError(
            f"the file cannot be written: {problem}",
            file=str(path)[:200],
            remedy="look at its name, and at the permissions of the folder",
        ) from problem
