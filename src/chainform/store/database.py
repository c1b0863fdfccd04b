"""Graphs in a database: saved, loaded, followed and evaluated as revisions of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select

from chainform.errors import StoreError
from chainform.graph import LIMIT, Expansion, Graph, expansion_text
from chainform.store import expansions, schema
from chainform.store.arguments import mapping_of, text_of, texts_of, whole_number
from chainform.store.connection import Connection, Transaction, query_rows
from chainform.store.driver_errors import damaged
from chainform.store.graphs import load_graph, rows_match
from chainform.store.migrate import open_database
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
from chainform.store.records import Record, Revision
from chainform.store.repository import Repository
from chainform.store.revisions import find, save
from chainform.store.runs import Runs
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

    # --- saving and loading -------------------------------------------------------------

    def save(self, graph: Graph, record: Record) -> Revision:
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
        with self._reading(reference) as (transaction, revision):
            entries = find_entries(transaction, revision.graph, ((quantity, ()), *others))
            variables = sorted(set(entries.values()))
            texts = expansions.stored_texts(transaction, revision.graph, variables, form)
            absent = [v for v in variables if v not in texts]
            graph = load_graph(self.connection, transaction, revision) if absent else None
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
