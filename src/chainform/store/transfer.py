"""Models with their history into another database, or into a single file to send around."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update

from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.connection import Connection
from chainform.store.driver_errors import GONE, damaged
from chainform.store.graphs import Content, add_graph, load_graph
from chainform.store.integrity import broken_parts, seal_text, stored_seal
from chainform.store.migrations import open_database
from chainform.store.records import Revision, RevisionRecord, mapping_of, texts_of
from chainform.store.references import check_name, find_model
from chainform.store.revisions import (
    Owner,
    add_mechanism,
    add_revision,
    check_record,
    claim_name,
    given_rows,
    mechanism_values,
    read_mechanism,
    read_parameters,
    read_revisions,
)
from chainform.store.schema import Transaction

LOGS = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite has next to a database."""


def copy_models(source: Connection, target: Connection, names: Mapping[str, str]) -> list[Revision]:
    """Copy models, each under a name that must be free, in one transaction of the target."""
    for goal in names.values():
        check_name(goal)
    if source is target:
        return target.write(lambda writer: _Copy(source, writer, target, writer).run(names))
    with source.reading() as reader:
        return target.write(lambda writer: _Copy(source, reader, target, writer).run(names))


@dataclass(frozen=True)
class _Copy:
    """Copies the parts of models in the order in which all clients lock them, then revisions."""

    source: Connection
    reader: Transaction
    target: Connection
    writer: Transaction

    def run(self, names: Mapping[str, str]) -> list[Revision]:
        """Return the revisions that were made."""
        found = {goal: self._revisions(name) for name, goal in names.items()}
        models = {
            goal: claim_name(self.target, self.writer, goal, found[goal][0].created)
            for goal in sorted(found)
        }
        pairs = [(goal, revision) for goal, revisions in found.items() for revision in revisions]
        graphs = self._graphs({revision.content: revision for _, revision in pairs})
        self._mechanisms([revision for _, revision in pairs])
        keys = [
            self._revision(r, goal, Owner(models[goal], graphs[r.content], r.content))
            for goal, r in pairs
        ]
        made = {r.key: r for r in read_revisions(self.writer, schema.revisions.c.id.in_(keys))}
        return [made[key] for key in keys]

    def _revisions(self, name: str) -> list[Revision]:
        model = find_model(self.reader, self.source.place, name)
        with damaged(self.source.place, name):
            found = read_revisions(self.reader, schema.revisions.c.model == model)
        if not found:
            raise self.source.error(*GONE, element=name)
        return found

    def _graphs(self, revisions: dict[str, Revision]) -> dict[str, int]:
        """Return the keys that contents have in the target, by hash."""
        graphs: dict[str, int] = {}
        for content, revision in sorted(revisions.items()):
            with damaged(self.source.place, revision.reference):
                graph = load_graph(self.source, self.reader, revision)
                graphs[content] = add_graph(self.writer, Content(graph))
        return graphs

    def _mechanisms(self, revisions: list[Revision]) -> None:
        found: dict[str, dict[str, Any]] = {}
        for revision in revisions:
            with damaged(self.source.place, revision.reference):
                mechanism = read_mechanism(self.reader, revision)
            if mechanism is not None:
                values = mechanism_values(mechanism)
                found[values["hash"]] = values
        for name in sorted(found):
            add_mechanism(self.writer, found[name])

    def _revision(self, revision: Revision, goal: str, owner: Owner) -> int:
        with damaged(self.source.place, revision.reference):
            record = replace(record_of(self.reader, revision), name=goal)
            check_record(record)
        key = add_revision(self.writer, owner, record, given_rows(record.parameters or ()))
        _copy_marks(self.reader, self.writer, revision.key, key)
        table = schema.runs
        query = select(table).where(table.c.revision == revision.key).order_by(table.c.id)
        for row in self.reader.execute(query).mappings().all():
            values = {name: value for name, value in row.items() if name != "id"}
            self.writer.execute(insert(table).values({**values, "revision": key}))
        return key


def _copy_marks(reader: Transaction, writer: Transaction, old: int, new: int) -> None:
    """Leave the seal of a copy broken where that of the original is: a copy mends nothing."""
    seal, sealed = stored_seal(reader, old)
    broken = broken_parts(seal, sealed)
    if broken:
        fresh, _ = stored_seal(writer, new)
        text = seal_text({**fresh, **dict.fromkeys(broken, "")})
        table = schema.revisions
        writer.execute(update(table).where(table.c.id == new).values(seal=text))


def check_parameters(transaction: Transaction, revision: Revision) -> None:
    """Refuse parameters that are not what was saved: a revision made of them would hide it."""
    broken = broken_parts(*stored_seal(transaction, revision.key))
    if any(part.startswith("parameters.") for part in broken):
        raise ValueError("its parameters are not what was saved")


def record_of(transaction: Transaction, revision: Revision) -> RevisionRecord:
    """Return the record from which a revision could be made again."""
    own = {"mechanism", "parameters"}
    same = {f.name: getattr(revision, f.name) for f in fields(RevisionRecord) if f.name not in own}
    mechanism = read_mechanism(transaction, revision)
    return RevisionRecord(
        **same, mechanism=mechanism, parameters=read_parameters(transaction, revision)
    )


# --- all of some models, or none -----------------------------------------------------------------


def chosen_names(source: Connection, names: Sequence[str] | None) -> list[str]:
    """Return the names of all models, or those given after a look whether they are there."""
    known = _model_names(source)
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


def import_models(
    source: Connection, target: Connection, names: Mapping[str, str]
) -> list[Revision]:
    """Copy models with their history under new names, and return the last revision of each.

    Names that the target has already are refused before anything is copied, and whatever fails
    later takes all of it back.
    """
    taken = set(_model_names(target))
    for name, goal in mapping_of(names, "names").items():
        if goal in taken:
            raise StoreError(
                "the store already has a model of this name",
                element=goal,
                remedy=f"take it under another name, {{{name!r}: 'other_name'}}, or rename yours",
            )
    last = {revision.name: revision for revision in copy_models(source, target, names)}
    return [last[name] for name in names.values()]


def _model_names(connection: Connection) -> list[str]:
    """Return the names of the models, in their order."""
    m, r = schema.models.c, schema.revisions
    query = select(m.name).join_from(schema.models, r, r.c.model == m.id).distinct()
    with connection.reading() as transaction, damaged(connection.place, "models"):
        return list(transaction.execute(query.order_by(m.name)).scalars())


def remove_unused(target: Connection) -> None:
    """Remove the file of a closed store that was made for models which did not come."""
    file = target.file
    if file is None or not target.is_new or not file.is_file():
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
        for ending in ("", *LOGS):
            Path(f"{file}{ending}").unlink(missing_ok=True)


# --- a file that can be sent around --------------------------------------------------------------


def write_portable(
    source: Connection, names: Sequence[str], path: Path, *, force: bool = False
) -> None:
    """Write models into a new SQLite file: the whole file appears, or none.

    It is made under another name in the same folder, so that a failure leaves nothing half done. A
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
            with closing(open_database(draft)) as target:
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


def _replaceable(source: Connection, path: Path, *, force: bool) -> tuple[int, ...]:
    """Return the state of a store that may be overwritten; refuse all that is something else."""
    if source.file is not None and path.resolve() == source.file.resolve():
        raise StoreError(
            "this is the store itself", file=str(path), remedy="name another file to write to"
        )
    if not force:
        raise _exists(path)
    with closing(open_database(str(path), read_only=True)):
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
