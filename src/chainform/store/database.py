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
from sqlalchemy import Connection, delete, select

from chainform.errors import StoreError
from chainform.graph import LIMIT, Expansion, Graph, expansion_text
from chainform.store import expansions, history, schema
from chainform.store.arguments import mapping_of, text_of, texts_of, whole_number
from chainform.store.connection import Link, open_link, query_rows
from chainform.store.copying import check_parameters, copy_models, record_of
from chainform.store.difference import Difference, Side, difference
from chainform.store.driver_errors import damaged
from chainform.store.engines import MEMORY
from chainform.store.graphs import load_graph, rows_match
from chainform.store.integrity import check_store
from chainform.store.migrate import prepare, prepare_later
from chainform.store.objects import Objects
from chainform.store.query import (
    ALL_USERS,
    CONE,
    FORMULA,
    USERS,
    Candidate,
    evaluate_levels,
    find_entries,
    find_variable,
    related_names,
    variable_names,
)
from chainform.store.records import (
    MechanismFile,
    ModelEntry,
    Parameter,
    Record,
    Revision,
    Swept,
)
from chainform.store.references import add_tags, find_model, take_tags
from chainform.store.revisions import (
    find,
    find_locked,
    lock_model,
    read_mechanism,
    read_parameters,
    read_revisions,
    save,
)
from chainform.store.runs import Runs


class Database:
    """Models in SQLite or PostgreSQL.

    A reference is `arm` (the last revision), `arm@3` or `arm@tag`. Every change is one
    transaction; StoreError says what is wrong, with the file or the address and a remedy.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.objects = Objects(link)
        self.runs = Runs(link)
        self._proven: set[tuple[int, str]] = set()
        """The graphs whose rows were seen to be those saved, by key and hash.

        A key alone would not do: another graph may get it when one is gone.
        """

    @staticmethod
    def open(
        url: str,
        *,
        timeout: float | None = None,
        read_only: bool = False,
        make_later: bool = False,
    ) -> Database:
        """Open a path, `sqlite:///path` or `postgresql://...`; make the tables if it is new.

        `timeout` is how long to wait, in seconds, while other processes write: 30 unless the
        address ends with `?timeout=...`. A file that cannot be written is opened for reading;
        with `make_later` a file that is not there is made when something is first saved.
        """
        link = open_link(url, timeout=timeout, read_only=read_only)
        try:
            if make_later:
                prepare_later(link)
            else:
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
        return Path(self.place) if self.link.is_sqlite and self.place != MEMORY else None

    def close(self) -> None:
        """Let go of the database."""
        self.link.close()

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
        revision = save(self.link, graph, record)
        self._proven.add((revision.graph, revision.content))
        return revision

    def load(self, name: str, revision: int | None = None) -> tuple[Graph, Revision]:
        """Return the graph of a reference, or of a name and a number, with its revision."""
        number = "" if revision is None else f"@{whole_number(revision, 'a revision')}"
        with self.link.reading() as connection:
            found = find(self.link, connection, text_of(name, "a reference") + number)
            return load_graph(self.link, connection, found), found

    def revision(self, reference: str) -> Revision:
        """Return what is known of a revision."""
        with self.link.reading() as connection:
            return find(self.link, connection, reference)

    def mechanism(self, reference: str) -> MechanismFile | None:
        """Return the mechanism that a revision came from, with its file byte for byte."""
        with self.link.reading() as connection:
            found = find(self.link, connection, reference)
            with damaged(self.place, found.reference):
                return read_mechanism(connection, found)

    def parameters(self, reference: str) -> tuple[Parameter, ...]:
        """Return the parameters of a revision."""
        with self.link.reading() as connection:
            found = find(self.link, connection, reference)
            with damaged(self.place, found.reference):
                return read_parameters(connection, found)

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

        `search` is a part of a name or of a note, `mechanism` and `author` are parts of names, in
        any case; `quantity` is an output or intermediate quantity, `tag` a whole tag, `since` and
        `until` are moments.
        """
        conditions = (search, mechanism, author, quantity, tag, since, until)
        with self.link.reading() as connection, damaged(self.place, "models"):
            return history.list_models(connection, *conditions)

    def log(self, name: str) -> list[Revision]:
        """Return the revisions of a model, oldest first."""
        with self.link.reading() as connection:
            key = find_model(connection, self.place, name)
            with damaged(self.place, name):
                return read_revisions(connection, schema.revisions.c.model == key)

    def diff(self, before: str, after: str, *, expand: bool = False) -> Difference:
        """Return which parameters, entries of outputs and definitions changed.

        With `expand` the formulas of entries are multiplied out. Costs are in the revisions.
        """
        return difference(self._side(before), self._side(after), expanded=expand)

    def _side(self, reference: str) -> Side:
        with self.link.reading() as connection:
            found = find(self.link, connection, reference)
            graph = load_graph(self.link, connection, found)
            with damaged(self.place, found.reference):
                return Side(graph, found, read_parameters(connection, found))

    # --- changing -----------------------------------------------------------------------

    def tag(self, reference: str, *tags: str) -> Revision:
        """Give a revision tags; a tag belongs to one revision of a model at a time."""

        def task(connection: Connection) -> Revision:
            revision = find_locked(self.link, connection, reference)
            add_tags(connection, revision.key, tags)
            return find(self.link, connection, revision.reference)

        return self.link.write(task)

    def untag(self, reference: str, *tags: str) -> None:
        """Take tags away from a revision, or from the model where only its name is given."""

        def task(connection: Connection) -> None:
            revision = find_locked(self.link, connection, reference)
            take_tags(connection, revision, tags, whole="@" not in reference)

        self.link.write(task)

    def rename(self, name: str, new_name: str) -> None:
        """Give a model a new name, which must be free."""

        def task(connection: Connection) -> None:
            lock_model(connection, name)
            history.rename(self.link, connection, name, new_name)

        self.link.write(task)

    def revert(
        self, name: str, revision: int | str, *, author: str = "", note: str = ""
    ) -> Revision:
        """Make an old state, by its number or tag, the newest: a revision with its content."""
        known = revision if isinstance(revision, str) else whole_number(revision, "a revision")
        reference = f"{text_of(name, 'the name of a model')}@{known}"
        with self.link.reading() as connection, damaged(self.place, reference):
            old = find(self.link, connection, reference)
            check_parameters(connection, old)
            record = replace(
                record_of(connection, old),
                step="revert",
                options={"revision": old.number},
                parent=old.number,
                author=author,
                note=note or f"back to revision {old.number}",
                tags=(),
                seconds=None,
                created=None,
            )
            graph = load_graph(self.link, connection, old)
        return self.save(graph, record)

    def delete(self, name: str) -> int:
        """Remove a model with all its revisions and return their number; `gc` frees the room."""

        def task(connection: Connection) -> int:
            lock_model(connection, name)
            return history.delete_model(self.link, connection, name)

        return self.link.write(task)

    def gc(self) -> Swept:
        """Remove graphs, mechanisms and objects that no revision uses, and free their room."""
        swept = self.link.write(history.sweep, alone=True)
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
        goal = name if new_name is None else new_name
        return copy_models(self.link, target.link, {text_of(name, "the name of a model"): goal})

    def copy_all(
        self, names: Sequence[str] | Mapping[str, str], target: Database
    ) -> list[Revision]:
        """Copy several models, all of them or none; return the last revision of each.

        A mapping gives them new names.
        """
        chosen = (
            mapping_of(names, "names")
            if isinstance(names, Mapping)
            else {name: name for name in texts_of(names, "names")}
        )
        last = {revision.name: revision for revision in copy_models(self.link, target.link, chosen)}
        return [last[name] for name in chosen.values()]

    def check(self, *, repair: bool = False) -> list[str]:
        """Return what is wrong with the stored data, cell by cell; nothing, if it is whole.

        With `repair` rows, counts and caches are written anew from what is left of the graph;
        what was mended is marked so. What a person wrote cannot be mended: it stays, and is told.
        """
        transaction = self.link.writing(alone=True) if repair else self.link.reading()
        with transaction as connection:
            return check_store(self.link, connection, repair=repair)

    def drop_caches(self) -> None:
        """Remove the load caches; loading then reads the rows, more slowly."""
        with self.link.writing() as connection:
            connection.execute(delete(schema.caches))

    # --- navigation, inside the database ------------------------------------------------

    def evaluate(
        self,
        reference: str,
        inputs: Mapping[str, float],
        outputs: str | Sequence[str] | None = None,
        *,
        trust_rows: bool = False,
    ) -> dict[str, NDArray[np.float64]]:
        """Return outputs (all) or the named quantities, computed in SQL by rising level.

        `inputs` gives each input by name; parameters with a default may be left out. The first
        time the rows are compared with what was saved; `trust_rows` takes them as they are, for
        those who changed them on purpose.
        """
        given = mapping_of(inputs, "inputs")
        wanted = None if outputs is None else texts_of(outputs, "outputs")
        with self.link.reading() as connection:
            if self.link.read_only and connection.dialect.name == "postgresql":
                # The values stand in a temporary table, which is gone with the transaction.
                connection.exec_driver_sql("SET TRANSACTION READ WRITE")
            revision = find(self.link, connection, reference)
            if not trust_rows:
                self._prove(connection, revision)
            with damaged(self.place, revision.reference):
                return evaluate_levels(connection, revision.graph, given, wanted)

    def _prove(self, connection: Connection, revision: Revision) -> None:
        """Refuse rows that are not those saved; each graph is looked at once."""
        if (revision.graph, revision.content) in self._proven:
            return
        graph = load_graph(self.link, connection, revision)
        if not rows_match(connection, revision.graph, graph):
            raise self.link.error(
                "the rows are not those that were saved: values from them would be others",
                "check(repair=True) puts them back; trust_rows=True computes with them as they are",
                revision.reference,
            )
        self._proven.add((revision.graph, revision.content))

    def cone(self, reference: str, variable: str) -> list[str]:
        """Return the variable and everything needed to compute it, in definition order."""
        return self._names(CONE, reference, variable)

    def uses(self, reference: str, variable: str, *, whole: bool = False) -> list[str]:
        """Return the variables whose definition names this one; `whole` follows on from them."""
        return self._names(ALL_USERS if whole else USERS, reference, variable)

    def formula(self, reference: str, variable: str) -> str:
        """Return the definition of a variable as text."""
        found = self._names(FORMULA, reference, variable)
        with damaged(self.place, reference):
            return found[0]

    def entries(self, reference: str, *candidates: Candidate) -> dict[str, str]:
        """Return the names of the variables that the first known candidate means, by label."""
        with self.link.reading() as connection:
            revision = find(self.link, connection, reference)
            with damaged(self.place, revision.reference):
                found = find_entries(connection, revision.graph, candidates)
                return variable_names(connection, revision.graph, found)

    def expand(
        self,
        reference: str,
        quantity: str,
        *others: Candidate,
        trig: bool = True,
        split_angles: bool = True,
        limit: int | None = LIMIT,
    ) -> dict[str, str]:
        """Return the analytic expression of each entry of a quantity, by label, and store it.

        More than `limit` terms are an error; None means that there is no limit.
        The terms and factors stay in the tables `expanded_terms` and `expanded_factors`.
        """
        options = {"trig": bool(trig), "split_angles": bool(split_angles)}
        form = expansions.form_name(**options)
        with self.link.reading() as connection:
            revision = find(self.link, connection, reference)
            with damaged(self.place, revision.reference):
                candidates = ((quantity, ()), *others)
                entries = find_entries(connection, revision.graph, candidates)
                variables = sorted(set(entries.values()))
                texts = expansions.stored_texts(connection, revision.graph, variables, form)
                absent = [v for v in variables if v not in texts]
                graph = load_graph(self.link, connection, revision) if absent else None
        if graph is not None:
            found = expansions.expanded(graph, absent, **options, limit=limit)
            texts |= {v: expansion_text(expansion) for v, expansion in found.items()}
            # Who asks for an expression gets it, stored or not: others may hold the database, the
            # disk may be full, the user may have no right to write.
            with suppress(StoreError):
                self._keep(revision.content, found, form)
        return {label: texts[v] for label, v in entries.items()}

    def _keep(self, content: str, found: dict[int, Expansion], form: str) -> None:
        """Store expansions with the graph of that hash, if it is there still.

        What another client has stored meanwhile stays.
        """
        if self.link.read_only:
            return

        def task(connection: Connection) -> None:
            table = schema.graphs.c
            key = connection.execute(select(table.id).where(table.hash == content)).scalar()
            if key is not None:
                stored = expansions.stored_texts(connection, key, list(found), form)
                new = {v: expansion for v, expansion in found.items() if v not in stored}
                expansions.write_expansions(connection, key, new, form)

        self.link.write(task, alone=True)

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Mapping[str, Any]]:
        """Return the rows of a query of one's own, which may only read.

        Values are bound to `:name` in it.
        """
        return query_rows(self.link, sql, values)

    # --- helpers ------------------------------------------------------------------------

    def _names(self, query: str, reference: str, variable: str) -> list[str]:
        with self.link.reading() as connection:
            revision = find(self.link, connection, reference)
            with damaged(self.place, revision.reference):
                number = find_variable(connection, revision.graph, variable)
                return related_names(connection, query, revision.graph, number)
