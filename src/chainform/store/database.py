"""The store: one object through which models are saved, found, followed and evaluated."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select, text

from chainform.errors import StoreError
from chainform.graph import Graph, expansion_text
from chainform.store import expansions, history, levels, navigate, schema
from chainform.store.content import unpacked
from chainform.store.link import Link, open_link
from chainform.store.migrate import prepare
from chainform.store.records import (
    Difference,
    MechanismFile,
    ModelEntry,
    Parameter,
    Record,
    Revision,
    Swept,
)
from chainform.store.references import find_model, find_revision
from chainform.store.revisions import (
    Content,
    add_revision,
    add_tags,
    graph_from_rows,
    load_graph,
    read_mechanism,
    read_parameters,
    read_revisions,
    remove_tags,
    save,
)


class Database:
    """Models in SQLite or PostgreSQL.

    A reference is `arm` (the last revision), `arm@3` or `arm@tag`. Every change is one
    transaction; StoreError says what is wrong, with the file or the address and a remedy.
    """

    def __init__(self, link: Link) -> None:
        self.link = link

    @staticmethod
    def open(url: str, *, timeout: float = 30.0, read_only: bool = False) -> Database:
        """Open a path, `sqlite:///path` or `postgresql://...`; make the tables if it is new.

        `timeout` is how long to wait, in seconds, while other processes write. A file that
        cannot be written is opened for reading.
        """
        link = open_link(url, timeout=timeout, read_only=read_only)
        try:
            prepare(link)
        except BaseException:
            link.engine.dispose()
            raise
        return Database(link)

    @property
    def place(self) -> str:
        """The file or the address, without its password."""
        return self.link.place

    @property
    def file(self) -> Path | None:
        """The file of the database, None where it is on a server or in memory."""
        return Path(self.place) if self.link.is_sqlite and self.place != ":memory:" else None

    def close(self) -> None:
        """Let go of the database."""
        self.link.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- saving and loading -------------------------------------------------------------

    def save(self, graph: Graph, record: Record) -> Revision:
        """Store a graph as the next revision of a model; all of it is kept, or nothing."""
        return self._by_key(save(self.link, graph, record))

    def load(self, name: str, revision: int | None = None) -> tuple[Graph, Revision]:
        """Return the graph of a reference, or of a name and a number, with its revision."""
        reference = name if revision is None else f"{name}@{revision}"
        with self.link.reading() as connection:
            found = self._find(connection, reference)
            return load_graph(self.link, connection, found), found

    def revision(self, reference: str) -> Revision:
        """Return what is known of a revision."""
        with self.link.reading() as connection:
            return self._find(connection, reference)

    def mechanism(self, reference: str) -> MechanismFile | None:
        """Return the mechanism that a revision came from, with its file byte for byte."""
        with self.link.reading() as connection:
            return read_mechanism(connection, self._find(connection, reference))

    def parameters(self, reference: str) -> tuple[Parameter, ...]:
        """Return the parameters of a revision."""
        with self.link.reading() as connection:
            return read_parameters(connection, self._find(connection, reference))

    # --- finding ------------------------------------------------------------------------

    def models(
        self,
        search: str | None = None,
        *,
        mechanism: str | None = None,
        author: str | None = None,
        quantity: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[ModelEntry]:
        """Return the models of which some revision meets every condition, by name.

        `search`, `mechanism` and `author` are parts of names, in any case; `quantity` is an
        output or intermediate quantity, `tag` a whole tag, `since` and `until` moments.
        """
        conditions = (search, mechanism, author, quantity, tag, since, until)
        with self.link.reading() as connection:
            return history.list_models(connection, *conditions)

    def log(self, name: str) -> list[Revision]:
        """Return the revisions of a model, oldest first."""
        with self.link.reading() as connection:
            key = find_model(connection, self.place, name)
            return read_revisions(connection, schema.revisions.c.model == key)

    def diff(self, before: str, after: str) -> Difference:
        """Return which definitions and outputs changed, by name; the costs are in the revisions."""
        return history.difference(self.load(before), self.load(after))

    # --- changing -----------------------------------------------------------------------

    def tag(self, reference: str, *tags: str) -> Revision:
        """Give a revision tags; a tag belongs to one revision of a model at a time."""
        with self.link.writing() as connection:
            revision = self._find(connection, reference)
            add_tags(connection, revision.key, tags)
            return self._find(connection, revision.reference)

    def untag(self, reference: str, *tags: str) -> None:
        """Take tags away."""
        with self.link.writing() as connection:
            remove_tags(connection, self._find(connection, reference).key, tags)

    def rename(self, name: str, new_name: str) -> None:
        """Give a model a new name, which must be free."""
        with self.link.writing() as connection:
            history.rename(self.link, connection, name, new_name)

    def revert(self, name: str, revision: int, *, author: str = "", note: str = "") -> Revision:
        """Make an old state the newest: a new revision with the old content."""
        with self.link.reading() as connection:
            old = self._find(connection, f"{name}@{revision}")
            record = replace(
                self._record(connection, old),
                step="revert",
                options={"revision": revision},
                parent=revision,
                author=author,
                note=note or f"back to revision {revision}",
                tags=(),
                seconds=None,
                created=None,
            )
            graph = load_graph(self.link, connection, old)
        return self.save(graph, record)

    def delete(self, name: str) -> int:
        """Remove a model with all its revisions and return their number; `gc` frees the room."""
        with self.link.writing() as connection:
            return history.delete_model(self.link, connection, name)

    def gc(self) -> Swept:
        """Remove graphs and mechanisms that no revision uses, and free their room."""
        with self.link.writing() as connection:
            self.link.hold(connection, alone=True)
            swept = history.sweep(connection)
        if self.link.is_sqlite and swept.graphs:
            self._shrink()
        return swept

    def _shrink(self) -> None:
        """Give room back to the disk; where that takes more room or others read, it stays."""
        with self.link.engine.connect() as connection, suppress(sqlite3.OperationalError):
            driver: Any = connection.connection.driver_connection
            driver.execute("VACUUM")

    def copy(self, name: str, target: Database, new_name: str | None = None) -> list[Revision]:
        """Copy a model with its history into another database, in one transaction there.

        Numbers, parents, times and contents stay; the name must be free in the target.
        """
        goal = new_name or name
        keys: list[int] = []
        with self.link.reading() as source, target.link.writing() as connection:
            target.link.hold(connection, alone=False)
            taken = select(schema.models.c.id).where(schema.models.c.name == goal)
            if connection.execute(taken).scalar() is not None:
                raise target.link.error(
                    f"there is a model {goal} already", "choose another name", goal
                )
            model = find_model(source, self.place, name)
            for revision in read_revisions(source, schema.revisions.c.model == model):
                content = Content(load_graph(self.link, source, revision))
                record = replace(self._record(source, revision), name=goal)
                keys.append(add_revision(connection, content, record))
        with target.link.reading() as connection:
            return read_revisions(connection, schema.revisions.c.id.in_(keys))

    def check(self) -> list[str]:
        """Return what is wrong with the stored data: rows or caches that do not fit their hash."""
        with self.link.reading() as connection:
            found: list[str] = []
            if self.link.is_sqlite:
                answers = connection.exec_driver_sql("PRAGMA integrity_check").scalars()
                found += [f"{self.place}: {answer}" for answer in answers if answer != "ok"]
            seen: set[int] = set()
            for revision in read_revisions(connection):
                if revision.graph not in seen:
                    seen.add(revision.graph)
                    found += self._check_revision(connection, revision)
            return found

    def _check_revision(self, connection: Connection, revision: Revision) -> list[str]:
        found: list[str] = []
        query = select(schema.caches.c.bytes).where(schema.caches.c.graph == revision.graph)
        cache = connection.execute(query).scalar()
        if cache is not None and unpacked(bytes(cache), revision.content) is None:
            found.append(f"{revision.reference}: the load cache is damaged; rows are used instead")
        try:
            graph_from_rows(self.link, connection, revision)
        except StoreError as problem:
            found.append(f"{revision.reference}: {problem}")
        return found

    def drop_caches(self) -> None:
        """Remove the load caches; loading then reads the rows, more slowly."""
        with self.link.writing() as connection:
            connection.execute(delete(schema.caches))

    # --- navigation, inside the database ------------------------------------------------

    def evaluate(
        self,
        reference: str,
        inputs: Mapping[str, float],
        quantities: Sequence[str] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Return outputs (all) or the named quantities, computed in SQL by rising level.

        `inputs` gives each input by name; parameters with a default may be left out.
        """
        with self.link.reading() as connection:
            if self.link.read_only and not self.link.is_sqlite:
                # The values stand in a temporary table, which is gone with the transaction.
                connection.exec_driver_sql("SET TRANSACTION READ WRITE")
            graph = self._find(connection, reference).graph
            return levels.evaluate(connection, graph, inputs, quantities)

    def cone(self, reference: str, variable: str) -> list[str]:
        """Return the variable and everything needed to compute it, in definition order."""
        return self._names(navigate.CONE, reference, variable)

    def uses(self, reference: str, variable: str, *, whole: bool = False) -> list[str]:
        """Return the variables whose definition names this one; `whole` follows on from them."""
        query = navigate.ALL_USERS if whole else navigate.USERS
        return self._names(query, reference, variable)

    def formula(self, reference: str, variable: str) -> str:
        """Return the definition of a variable as text."""
        return self._names(navigate.FORMULA, reference, variable)[0]

    def expand(
        self, reference: str, quantity: str, *, trig: bool = True, split_angles: bool = True
    ) -> dict[str, str]:
        """Return the analytic expression of each entry of a quantity, by label, and store it.

        The terms and factors stay in the tables `expanded_terms` and `expanded_factors`.
        """
        form = expansions.form_name(trig=trig, split_angles=split_angles)
        with self.link.reading() as connection:
            revision = self._find(connection, reference)
            entries = self._entries(connection, revision.graph, quantity)
            variables = list(entries.values())
            absent = expansions.missing(connection, revision.graph, variables, form)
            if not absent:
                texts = expansions.expansion_texts(connection, revision.graph, variables, form)
                return {label: texts[v] for label, v in entries.items()}
            graph = load_graph(self.link, connection, revision)
        if self.link.read_only:
            absent = sorted(set(variables))
        found = expansions.expanded(graph, absent, trig=trig, split_angles=split_angles)
        if self.link.read_only:
            return {label: expansion_text(found[v]) for label, v in entries.items()}
        with self.link.writing() as connection:
            self.link.hold(connection, alone=True)
            key = self._find(connection, f"{revision.name}@{revision.number}").graph
            # Another client may have stored some of them meanwhile.
            absent = expansions.missing(connection, key, variables, form)
            new = {v: expansion for v, expansion in found.items() if v in absent}
            expansions.write_expansions(connection, key, new, form)
            texts = expansions.expansion_texts(connection, key, variables, form)
        return {label: texts[v] for label, v in entries.items()}

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Mapping[str, Any]]:
        """Return the rows of a query of one's own; values are bound to `:name` in it."""
        with self.link.reading() as connection:
            rows = connection.execute(text(sql), dict(values or {})).mappings()
            return [dict(row) for row in rows]

    # --- helpers ------------------------------------------------------------------------

    def _by_key(self, key: int) -> Revision:
        with self.link.reading() as connection:
            return read_revisions(connection, schema.revisions.c.id == key)[0]

    def _find(self, connection: Connection, reference: str) -> Revision:
        key = find_revision(connection, self.place, reference)
        return read_revisions(connection, schema.revisions.c.id == key)[0]

    def _names(self, query: str, reference: str, variable: str) -> list[str]:
        with self.link.reading() as connection:
            graph = self._find(connection, reference).graph
            number = navigate.find_variable(connection, graph, variable)
            return navigate.names(connection, query, graph, number)

    def _entries(self, connection: Connection, graph: int, quantity: str) -> dict[str, int]:
        """Return the variables behind a quantity by label, or behind the name of a variable."""
        o = schema.outputs.c
        query = select(o.is_output, o.label, o.variable).where(
            o.graph == graph, o.quantity == quantity
        )
        rows: Any = connection.execute(query.order_by(o.is_output.desc(), o.place)).all()
        if rows:
            return {label: v for is_output, label, v in rows if is_output == rows[0].is_output}
        return {quantity: navigate.find_variable(connection, graph, quantity)}

    def _record(self, connection: Connection, revision: Revision) -> Record:
        """Return the record from which a revision could be made again."""
        return Record(
            name=revision.name,
            formulation=revision.formulation,
            step=revision.step,
            options=revision.options,
            parent=revision.parent,
            author=revision.author,
            note=revision.note,
            tags=revision.tags,
            seconds=revision.seconds,
            mechanism=read_mechanism(connection, revision),
            parameters=read_parameters(connection, revision),
            created=revision.created,
        )
