"""Graphs in a database: saved, loaded, followed and evaluated as revisions of models.

Compiled objects are bytes that can be made again at any time, stored by a key to save the time. One
that belongs to a model's graph goes with it; one that belongs to none goes at the next `gc`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select

from chainform.errors import StoreError
from chainform.given import argument
from chainform.graph import ANGLES, LIMIT, Expansion, Graph, expansion_text
from chainform.store import expansions, schema
from chainform.store.connection import Connection, query_rows
from chainform.store.driver_errors import damaged
from chainform.store.graphs import load_graph, rows_match
from chainform.store.migrations import open_database
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
    Revision,
    RevisionRecord,
    bytes_of,
    mapping_of,
    raw_bytes,
    text_of,
    texts_of,
    whole_number,
)
from chainform.store.repository import Repository
from chainform.store.revisions import find, find_locked, save
from chainform.store.rows import insert_or
from chainform.store.runs import Runs
from chainform.store.schema import Transaction
from chainform.store.transfer import copy_models


class Database(Repository):
    """Graphs in SQLite or PostgreSQL, each a revision of a model."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.objects = Objects(connection)
        self.runs = Runs(connection)
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
        connection = open_database(url, timeout=timeout, read_only=read_only, make_later=make_later)
        return Database(connection)

    @staticmethod
    def open_file(path: str) -> Database:
        """Open a file that must exist, to read from it."""
        try:
            is_there = Path(path).is_file()
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise StoreError(
                f"the file cannot be read: {reason}",
                file=path[:200],
                remedy="look at its name and at the permissions of the folders that lead to it",
            ) from None
        if not is_there:
            raise StoreError("there is no such file", file=path, remedy="check the name")
        return Database.open(path, read_only=True, make_later=True)

    # --- saving and loading -------------------------------------------------------------

    def save(self, graph: Graph, record: RevisionRecord) -> Revision:
        """Store a graph as the next revision of a model; all of it is stored, or nothing."""
        revision = save(self.connection, graph, record)
        self._proven.add((revision.graph, revision.content))
        return revision

    def load(self, name: str, revision: int | None = None) -> tuple[Graph, Revision]:
        """Return the graph of a reference, or of a name and a number, with its revision."""
        number = "" if revision is None else f"@{whole_number(revision, 'a revision')}"
        with self.connection.reading() as transaction:
            found = find(self.connection, transaction, text_of(name, "a reference") + number)
            return load_graph(self.connection, transaction, found), found

    def copy(self, name: str, target: Database, new_name: str | None = None) -> list[Revision]:
        """Copy a model with its history into another database, in one transaction there.

        Numbers, parents, times and contents stay; the name must be free in the target.
        """
        goal = name if new_name is None else new_name
        return copy_models(
            self.connection, target.connection, {text_of(name, "the name of a model"): goal}
        )

    def drop_caches(self) -> None:
        """Remove the load caches; loading then reads the rows, more slowly."""
        with self.connection.writing() as transaction:
            transaction.execute(delete(schema.caches))

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
        with self.connection.reading() as transaction:
            if self.connection.read_only and transaction.dialect.name == "postgresql":
                # The values stand in a temporary table, which is gone with the transaction.
                transaction.exec_driver_sql("SET TRANSACTION READ WRITE")
            revision = find(self.connection, transaction, reference)
            if not trust_rows:
                self._prove(transaction, revision)
            with damaged(self.place, revision.reference):
                return evaluate_levels(transaction, revision.graph, given, wanted)

    def _prove(self, transaction: Transaction, revision: Revision) -> None:
        """Refuse rows that are not those saved; each graph is looked at once."""
        if (revision.graph, revision.content) in self._proven:
            return
        graph = load_graph(self.connection, transaction, revision)
        if not rows_match(transaction, revision.graph, graph):
            raise self.connection.error(
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
        with self._reading(reference) as (transaction, revision):
            found = find_entries(transaction, revision.graph, candidates)
            return variable_names(transaction, revision.graph, found)

    def expand(
        self,
        reference: str,
        quantity: str,
        *others: Candidate,
        angles: str = "split",
        limit: int | None = LIMIT,
    ) -> dict[str, str]:
        """Return the analytic expression of each entry of a quantity, by label, and store it.

        `angles` says how sums of angles are written, one of ANGLES. More than `limit` terms are an
        error; None means that there is no limit.
        The terms and factors stay in the tables `expanded_terms` and `expanded_factors`.
        """
        form = argument("angles", angles).choice(ANGLES)
        with self._reading(reference) as (transaction, revision):
            entries = find_entries(transaction, revision.graph, ((quantity, ()), *others))
            variables = sorted(set(entries.values()))
            texts = expansions.stored_texts(transaction, revision.graph, variables, form)
            absent = [v for v in variables if v not in texts]
            graph = load_graph(self.connection, transaction, revision) if absent else None
        if graph is not None:
            found = expansions.expanded(graph, absent, form, limit)
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
        if self.connection.read_only:
            return

        def task(transaction: Transaction) -> None:
            table = schema.graphs.c
            key = transaction.execute(select(table.id).where(table.hash == content)).scalar()
            if key is not None:
                stored = expansions.stored_texts(transaction, key, list(found), form)
                new = {v: expansion for v, expansion in found.items() if v not in stored}
                expansions.write_expansions(transaction, key, new, form)

        self.connection.write(task, alone=True)

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Mapping[str, Any]]:
        """Return the rows of a query of one's own, which may only read.

        Values are bound to `:name` in it.
        """
        return query_rows(self.connection, sql, values)

    def _names(self, query: str, reference: str, variable: str) -> list[str]:
        with self._reading(reference) as (transaction, revision):
            number = find_variable(transaction, revision.graph, variable)
            return related_names(transaction, query, revision.graph, number)


# --- compiled objects ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Objects:
    """The compiled objects of a database, by key."""

    connection: Connection
    reference: str | None = None
    """The revision that they belong to, unless another one is named."""

    def of(self, reference: str) -> Objects:
        """Return the same, for objects that belong to a revision."""
        return replace(self, reference=reference)

    def put(self, key: str, data: bytes, reference: str | None = None) -> None:
        """Store bytes under a key, in place of what is there; `reference` is whose they are."""
        code = bytes_of(data, "a compiled object")
        whose = self.reference if reference is None else reference
        values = {
            "key": _key(key),
            "created": datetime.now(UTC),
            "hash": hashlib.sha256(code).hexdigest(),
            "bytes": code,
        }

        def task(transaction: Transaction) -> None:
            owner = None if whose is None else find_locked(self.connection, transaction, whose)
            row = {**values, "graph": None if owner is None else owner.graph}
            statement = insert_or(transaction, schema.objects, row)
            new = {name: statement.excluded[name] for name in row if name != "key"}
            transaction.execute(statement.on_conflict_do_update(index_elements=["key"], set_=new))

        self.connection.write(task)

    def get(self, key: str) -> bytes | None:
        """Return the bytes under a key; None where there are none, or not those that were put."""
        table = schema.objects.c
        query = select(table.bytes, table.hash).where(table.key == _key(key))
        with self.connection.reading() as transaction:
            row = transaction.execute(query).one_or_none()
        data = None if row is None else raw_bytes(row.bytes)
        if row is None or data is None or hashlib.sha256(data).hexdigest() != row.hash:
            return None
        return data

    def delete(self, key: str) -> bool:
        """Remove what is stored under a key; return whether there was anything."""
        statement = delete(schema.objects).where(schema.objects.c.key == _key(key))
        return self.connection.write(
            lambda transaction: transaction.execute(statement).rowcount > 0
        )


def _key(key: str) -> str:
    return text_of(key, "the key of an object")
