"""The revisions of models in a database: found, compared, tagged, renamed, removed and checked.

`Database` adds graphs to it, and `chainform.model` a store of models: both have these methods.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time
from types import TracebackType
from typing import Any, Self

from sqlalchemy import delete, func, select, update

from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.connection import Connection
from chainform.store.difference import RevisionDifference, Side, difference
from chainform.store.driver_errors import damaged
from chainform.store.graphs import load_graph
from chainform.store.integrity import check_revision, check_store
from chainform.store.records import (
    MechanismFile,
    ModelEntry,
    ParameterEntry,
    Revision,
    Swept,
    optional_text,
    text_of,
    utc,
    whole_number,
)
from chainform.store.references import add_tags, check_name, find_model, take_tags
from chainform.store.revisions import (
    find,
    find_locked,
    lock_model,
    read_mechanism,
    read_parameters,
    read_revisions,
    save,
)
from chainform.store.schema import Transaction
from chainform.store.transfer import check_parameters, record_of

Day = datetime | date | str
"""A moment, or a day: a text is either of them as ISO 8601 writes it."""


class Repository:
    """The revisions of models in SQLite or PostgreSQL.

    A reference is `arm` (the last revision), `arm@3` or `arm@tag`. Every change is one
    transaction; StoreError says what is wrong, with the file or the address and a remedy.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @property
    def place(self) -> str:
        """The file or the address, without its password."""
        return self.connection.place

    def close(self) -> None:
        """Give the connections back."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _reading(self, reference: str) -> Generator[tuple[Transaction, Revision]]:
        """Give a transaction that reads, and a revision; rows that do not fit are damage."""
        with self.connection.reading() as transaction:
            revision = find(self.connection, transaction, reference)
            with damaged(self.place, revision.reference):
                yield transaction, revision

    # --- finding ------------------------------------------------------------------------

    def models(
        self,
        search: str | None = None,
        *,
        mechanism: str | None = None,
        author: str | None = None,
        quantity: str | None = None,
        tag: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
    ) -> list[ModelEntry]:
        """Return the models of which some revision meets every condition, by name.

        `search` is a part of a name or of a note, `mechanism` and `author` are parts of names, in
        any case; `quantity` is an output or intermediate quantity, `tag` a whole tag. `since` and
        `until` are moments or days in UTC, `until` with the whole day. `matching` of each model
        has the revisions that fit.
        """
        words = {"search": search, "mechanism": mechanism, "author": author, "tag": tag}
        for what, word in {**words, "quantity": quantity}.items():
            optional_text(word, what)
        first, last = moment_of(since), moment_of(until, ends=True)
        m, r, k = schema.models.c, schema.revisions.c, schema.mechanisms.c
        o, t = schema.shapes.c, schema.tags.c
        conditions: list[Any] = []
        if search:
            conditions.append(_contains(m.name, search) | _contains(r.note, search))
        if mechanism:
            conditions.append(_contains(k.name, mechanism))
        if author:
            conditions.append(_contains(r.author, author))
        if quantity:
            conditions.append(r.graph.in_(select(o.graph).where(o.quantity == quantity)))
        if tag:
            conditions.append(r.id.in_(select(t.revision).where(t.tag == tag)))
        if first:
            conditions.append(r.created >= first)
        if last:
            conditions.append(r.created <= last)
        with self.connection.reading() as transaction, damaged(self.place, "models"):
            return _entries(transaction, conditions)

    def revision(self, reference: str) -> Revision:
        """Return what is known of one revision."""
        with self.connection.reading() as transaction:
            return find(self.connection, transaction, reference)

    def log(self, name: str) -> list[Revision]:
        """Return the revisions of a model, the oldest first."""
        with self.connection.reading() as transaction:
            key = find_model(transaction, self.place, name)
            with damaged(self.place, name):
                return read_revisions(transaction, schema.revisions.c.model == key)

    def mechanism_file(self, reference: str) -> MechanismFile | None:
        """Return the mechanism that a revision came from, with its file byte for byte."""
        with self._reading(reference) as (transaction, revision):
            return read_mechanism(transaction, revision)

    def parameters(self, reference: str) -> tuple[ParameterEntry, ...]:
        """Return the parameters of a revision."""
        with self._reading(reference) as (transaction, revision):
            return read_parameters(transaction, revision)

    def diff(self, before: str, after: str, *, expand: bool = False) -> RevisionDifference:
        """Return what changed between two revisions: parameters, and outputs entry by entry.

        With `expand` the formulas of entries are multiplied out; `print` shows all of it. Costs
        are in the revisions.
        """
        return difference(self._side(before), self._side(after), expanded=expand)

    def _side(self, reference: str) -> Side:
        with self._reading(reference) as (transaction, revision):
            graph = load_graph(self.connection, transaction, revision)
            return Side(graph, revision, read_parameters(transaction, revision))

    # --- changing -----------------------------------------------------------------------

    def tag(self, reference: str, *tags: str) -> Revision:
        """Give a revision tags, so that `arm@tag` means it; a tag belongs to one at a time."""

        def task(transaction: Transaction) -> Revision:
            revision = find_locked(self.connection, transaction, reference)
            add_tags(transaction, revision.key, tags)
            return find(self.connection, transaction, revision.reference)

        return self.connection.write(task)

    def untag(self, reference: str, *tags: str) -> None:
        """Take tags away from a revision, or from the model where only its name is given."""

        def task(transaction: Transaction) -> None:
            revision = find_locked(self.connection, transaction, reference)
            take_tags(transaction, revision, tags, whole="@" not in reference)

        self.connection.write(task)

    def rename(self, name: str, new_name: str) -> None:
        """Give a model, with its history, a new name, which must be free."""

        def task(transaction: Transaction) -> None:
            lock_model(transaction, name)
            check_name(new_name)
            table = schema.models
            key = find_model(transaction, self.place, name)
            taken = transaction.execute(select(table.c.id).where(table.c.name == new_name)).scalar()
            if taken is not None and taken != key:
                message = f"there is a model {new_name} already"
                raise self.connection.error(message, "choose another name", new_name)
            transaction.execute(update(table).where(table.c.id == key).values(name=new_name))

        self.connection.write(task)

    def revert(
        self, name: str, revision: int | str, note: str = "", author: str | None = None
    ) -> Revision:
        """Make an earlier revision, by its number or tag, the last one again, as a new one."""
        known = revision if isinstance(revision, str) else whole_number(revision, "a revision")
        reference = f"{text_of(name, 'the name of a model')}@{known}"
        with self.connection.reading() as transaction, damaged(self.place, reference):
            old = find(self.connection, transaction, reference)
            check_parameters(transaction, old)
            record = replace(
                record_of(transaction, old),
                step="revert",
                options={"revision": old.number},
                parent=old.number,
                author="" if author is None else author,
                note=note or f"back to revision {old.number}",
                tags=(),
                seconds=None,
                created=None,
            )
            graph = load_graph(self.connection, transaction, old)
        return save(self.connection, graph, record)

    def delete(self, name: str) -> int:
        """Remove a model with all its revisions and return their number; `gc` frees the room."""

        def task(transaction: Transaction) -> int:
            lock_model(transaction, name)
            m, r = schema.models, schema.revisions
            key = find_model(transaction, self.place, name)
            # The row is locked first, as a save does it, so that no revision comes in between.
            transaction.execute(update(m).where(m.c.id == key).values(name=name))
            of_model = select(r.c.id).where(r.c.model == key)
            for table in schema.OF_REVISION:
                transaction.execute(delete(table).where(table.c.revision.in_(of_model)))
            removed = transaction.execute(delete(r).where(r.c.model == key)).rowcount
            transaction.execute(delete(m).where(m.c.id == key))
            return removed

        return self.connection.write(task)

    def gc(self) -> Swept:
        """Remove graphs, mechanisms and objects that no revision uses, and free their room."""
        swept = self.connection.write(_sweep, alone=True)
        if self.connection.is_sqlite and swept.graphs:
            # Where giving room back to the disk takes more room, or others read, it stays.
            with (
                self.connection.engine.connect() as transaction,
                suppress(sqlite3.OperationalError),
            ):
                driver: Any = transaction.connection.driver_connection
                driver.execute("VACUUM")
        return swept

    def check(self, reference: str | None = None, *, repair: bool = False) -> list[str]:
        """Return what is wrong with the stored data, cell by cell; nothing, if it is whole.

        With a `reference` it is what is wrong with one revision, of which nothing is mended.

        With `repair` whatever follows from a graph is written anew, as long as its rows or its
        cache are whole; what was mended is marked so. What a person wrote stays, and is named.
        """
        if reference is not None:
            with self._reading(reference) as (transaction, revision):
                return check_revision(self.connection, transaction, revision)
        transaction = self.connection.writing(alone=True) if repair else self.connection.reading()
        with transaction as transaction:
            return check_store(self.connection, transaction, repair=repair)


def _contains(column: Any, part: str) -> Any:
    """Return the condition that a text contains a part, in any case; % and _ are letters."""
    return func.lower(column).contains(part.lower(), autoescape=True)


def _entries(transaction: Transaction, conditions: list[Any]) -> list[ModelEntry]:
    """Return the models with a revision that meets the conditions; without any, all of them."""
    m, r, k = schema.models.c, schema.revisions.c, schema.mechanisms.c
    of_model = select(m.name, func.count()).join_from(
        schema.revisions, schema.models, m.id == r.model
    )
    last = select(func.max(r.id)).group_by(r.model)
    fitting = (
        select(r.id)
        .join_from(schema.revisions, schema.models, m.id == r.model)
        .outerjoin(schema.mechanisms, k.id == r.mechanism)
        .where(*conditions)
    )
    matching: dict[str, list[Revision]] = {}
    for revision in read_revisions(transaction, r.id.in_(fitting if conditions else last)):
        matching.setdefault(revision.name, []).append(revision)
    latest = {item.name: item for item in read_revisions(transaction, r.id.in_(last))}
    counts: Any = transaction.execute(of_model.group_by(m.name)).all()
    number: dict[str, int] = dict(counts)
    return [
        ModelEntry(name, number[name], latest[name], tuple(revisions))
        for name, revisions in matching.items()
    ]


def _sweep(transaction: Transaction) -> Swept:
    """Remove graphs and mechanisms that no revision points to, and objects of no graph."""
    r, g, k, o = schema.revisions.c, schema.graphs, schema.mechanisms, schema.objects
    unused = select(g.c.id).where(g.c.id.not_in(select(r.graph)))
    graphs = list(transaction.execute(unused).scalars())
    for key in graphs:
        for table in schema.OF_GRAPH:
            transaction.execute(delete(table).where(table.c.graph == key))
        transaction.execute(delete(g).where(g.c.id == key))
    in_use = select(r.mechanism).where(r.mechanism.is_not(None))
    mechanisms = transaction.execute(delete(k).where(k.c.id.not_in(in_use))).rowcount
    objects = transaction.execute(delete(o).where(o.c.graph.is_(None))).rowcount
    return Swept(len(graphs), mechanisms, objects)


def moment_of(value: Day | None, *, ends: bool = False) -> datetime | None:
    """Return a date or a time as a moment; a day means its beginning, or its end."""
    if isinstance(value, str):
        value = _parsed(value)
    if value is None:
        return None
    if isinstance(value, datetime):
        return utc(value)
    if not isinstance(value, date):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _no_date(value)
    return datetime.combine(value, time.max if ends else time.min, UTC)


def _parsed(text: str) -> datetime | date:
    for form in (date, datetime):
        with suppress(ValueError):
            return form.fromisoformat(text)
    raise _no_date(text)


def _no_date(value: object) -> StoreError:
    return StoreError(
        f"{str(value)[:40]!r} is not a date",
        element="date",
        remedy="write 2026-01-31, or with a time",
    )
