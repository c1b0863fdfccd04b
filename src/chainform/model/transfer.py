"""Models from one database into another, and into a single file that can be sent around."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
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
            if "@" in name:
                whole = name.partition("@")[0]
                raise StoreError(
                    "this names one revision, and models go with all of theirs",
                    element=name,
                    remedy=f"write {whole}",
                )
            raise StoreError(
                "there is no such model", element=name, remedy=f"the models are {listed}"
            )
    return known if names is None else list(dict.fromkeys(names))


def copy_models(source: Database, target: Database, names: Mapping[str, str]) -> list[Revision]:
    """Copy models with their history under new names, and return the last revision of each.

    Names that the target has already are refused before anything is copied, and whatever fails
    later takes all of it back.
    """
    taken = {entry.name for entry in target.models()}
    for name, goal in names.items():
        if goal in taken:
            raise StoreError(
                "the store already has a model of this name",
                element=goal,
                remedy=f"take it under another name, {{{name!r}: 'other_name'}}, or rename yours",
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


# --- a file that can be sent around --------------------------------------------------------------

LOGS = ("-wal", "-shm", "-journal")


def write_portable(
    source: Database, names: Sequence[str], path: Path, *, force: bool = False
) -> None:
    """Write models into a new SQLite file: the whole file appears, or none.

    It is made under another name beside its place, so that a failure leaves nothing half done. A
    file that comes to be there meanwhile stays, and so does one that is changed meanwhile.
    """
    try:
        if path.is_dir():
            raise StoreError("this is a folder", file=str(path), remedy="name a file in it")
        before = _replaceable(source, path, force=force) if path.exists() else None
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        Path(draft).unlink()
        try:
            with Database.open(draft) as target:
                copy_models(source, target, {name: name for name in names})
            if before is None:
                _place(Path(draft), path)
            else:
                _replace(Path(draft), path, before)
        finally:
            for ending in ("", *LOGS):
                Path(draft + ending).unlink(missing_ok=True)
    except (OSError, ValueError) as problem:
        raise StoreError(
            f"the file cannot be written: {problem}",
            file=str(path)[:200],
            remedy="look at its name, and at the permissions of the folder",
        ) from problem


def _replaceable(source: Database, path: Path, *, force: bool) -> tuple[int, ...]:
    """Return the state of a store that may be overwritten; refuse all that is something else."""
    if source.file is not None and path.resolve() == source.file.resolve():
        raise StoreError(
            "this is the store itself", file=str(path), remedy="name another file to write to"
        )
    if not force:
        raise _exists(path)
    with Database.open(str(path), read_only=True):
        # Whatever is not a store of models has been refused by now.
        pass
    with _held(path):
        # Nobody else has it open, and nothing is left in its log.
        pass
    return _state(path)


def _exists(path: Path) -> StoreError:
    return StoreError("the file exists", file=str(path), remedy="force=True overwrites it")


def _state(path: Path) -> tuple[int, ...]:
    """Return by what a change of a file of SQLite, or of its log, shows."""
    log = Path(f"{path}-wal")
    found = path.stat()
    waiting = log.stat().st_size if log.exists() else 0
    return found.st_ino, found.st_size, found.st_mtime_ns, waiting


@contextmanager
def _held(path: Path) -> Generator[sqlite3.Connection]:
    """Give a file of SQLite to nobody else; refuse one that somebody has open."""
    try:
        with closing(sqlite3.connect(path, timeout=1, isolation_level=None)) as held:
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
            # The lock stays until the connection is closed.
            held.execute("ROLLBACK")
            yield held
    except sqlite3.Error as problem:
        raise StoreError(
            f"it cannot be replaced now: {problem}",
            file=str(path),
            remedy="close the programs that have it open, or name another file",
        ) from problem


def _place(draft: Path, path: Path) -> None:
    """Give a new file its name, unless there is a file of that name by now."""
    with _held(draft):
        try:
            os.link(draft, path)
        except FileExistsError:
            raise _exists(path) from None
        except OSError:
            # Not every disk gives a file two names.
            path.touch(exist_ok=False)
            is_linked = False
        else:
            is_linked = True
            # What is left of an earlier file of this name goes before anybody can read it.
            for ending in LOGS:
                Path(f"{path}{ending}").unlink(missing_ok=True)
    if not is_linked:
        _replace(draft, path, _state(path))


def _replace(draft: Path, path: Path, before: tuple[int, ...]) -> None:
    """Write a new store over one that nobody else has open or has changed.

    It is written into the file, in one transaction: who opens it meanwhile waits, and then sees the
    new content, where a new file of that name would leave him with the old one.
    """
    with _held(path) as held, closing(sqlite3.connect(draft)) as new:
        if _state(path) != before:
            raise StoreError(
                "the file was changed meanwhile",
                file=str(path),
                remedy="look what is in it now, and export again",
            )
        new.backup(held)
