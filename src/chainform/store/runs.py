"""Runs: named results of a revision, such as a simulation, as columns of numbers.

The bytes are a line of JSON with the name, type and shape of each column, then the columns one
after another, little-endian. Nothing in them is ever executed.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, insert, select, text

from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.arguments import bytes_of, mapping_of, seconds_of, text_of, utc
from chainform.store.connection import Connection, Transaction
from chainform.store.driver_errors import damaged
from chainform.store.integrity import RUN_ROWS, is_whole, run_hash
from chainform.store.records import Revision
from chainform.store.references import LONGEST
from chainform.store.revisions import find, find_locked, lock_model

MEDIA_TYPE = "application/x-chainform-columns"
TYPES = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "|b1"}
"""How columns of each kind of number are kept."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of a run without its columns."""

    name: str
    revision: str
    """The revision it belongs to: arm@3."""
    kind: str
    options: Mapping[str, Any]
    created: datetime
    seconds: float | None
    key: int = field(repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of a database, each under a revision and a name."""

    connection: Connection

    def save(
        self,
        reference: str,
        name: str,
        columns: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
        *,
        kind: str = "simulation",
        seconds: float | None = None,
    ) -> Run:
        """Keep a run of a revision: arrays of numbers by name, and what is known of them."""
        values = run_values(name, columns, options or {}, kind, seconds)

        def task(transaction: Transaction) -> Run:
            revision = find_locked(self.connection, transaction, reference)
            save_run(transaction, revision, values)
            return find_run(list_runs(transaction, revision.key, revision.reference), name)

        return self.connection.write(task)

    def list(self, reference: str) -> builtins.list[Run]:
        """Return the runs of a revision, the oldest first, without their columns."""
        with self.connection.reading() as transaction:
            return self._runs(transaction, reference)

    def load(self, reference: str, name: str) -> tuple[dict[str, NDArray[Any]], Run]:
        """Return the columns of a run, with what is known of it."""
        with self.connection.reading() as transaction:
            run = find_run(self._runs(transaction, reference), name)
            with damaged(self.connection.place, f"{run.revision}, run {name}"):
                return load_columns(transaction, run), run

    def delete(self, reference: str, name: str) -> None:
        """Remove a run."""

        def task(transaction: Transaction) -> None:
            lock_model(transaction, reference)
            delete_run(transaction, find_run(self._runs(transaction, reference), name))

        self.connection.write(task)

    def _runs(self, transaction: Transaction, reference: str) -> builtins.list[Run]:
        revision = find(self.connection, transaction, reference)
        with damaged(self.connection.place, revision.reference):
            return list_runs(transaction, revision.key, revision.reference)


def run_values(
    name: str,
    columns: Mapping[str, Any],
    options: Mapping[str, Any],
    kind: str,
    seconds: float | None,
) -> dict[str, Any]:
    """Return the row of a run, apart from whose it is."""
    check_run_name(name)
    return {
        "name": name,
        "kind": text_of(kind, "the kind of a run"),
        "options": _json(options),
        "created": datetime.now(UTC),
        "seconds": None if seconds is None else seconds_of(seconds, "seconds"),
        "media_type": MEDIA_TYPE,
        "bytes": columns_bytes(columns),
    }


def save_run(transaction: Transaction, revision: Revision, values: dict[str, Any]) -> None:
    """Keep a run under a name that the revision has not used yet."""
    table, name = schema.runs, values["name"]
    taken = select(table.c.id).where(table.c.revision == revision.key, table.c.name == name)
    if transaction.execute(taken).scalar() is not None:
        raise StoreError(
            "there is a run of this name already", element=name, remedy="choose another, or delete"
        )
    owner = {"revision": revision.key, "hash": run_hash(values, revision.content)}
    transaction.execute(insert(table).values({**values, **owner}))


def list_runs(transaction: Transaction, revision: int, reference: str) -> list[Run]:
    """Return the runs of a revision, the oldest first."""
    table = schema.runs.c
    wanted = (table.id, table.name, table.kind, table.options, table.created, table.seconds)
    query = select(*wanted).where(table.revision == revision).order_by(table.id)
    return [
        Run(
            row.name,
            reference,
            row.kind,
            json.loads(row.options),
            utc(row.created),
            row.seconds,
            row.id,
        )
        for row in transaction.execute(query)
    ]


def load_columns(transaction: Transaction, run: Run) -> dict[str, NDArray[Any]]:
    """Return the columns of a run; refuse one that is not what was kept."""
    query = text(f"{RUN_ROWS} WHERE r.id = :key")
    row = transaction.execute(query, {"key": run.key}).mappings().one()
    if not is_whole(dict(row)):
        raise ValueError("the run is not what was saved")
    if row["media_type"] != MEDIA_TYPE:
        raise ValueError(f"{row['media_type']} holds no columns")
    return columns_of_bytes(bytes_of(row["bytes"], "a run"))


def delete_run(transaction: Transaction, run: Run) -> None:
    """Remove a run."""
    transaction.execute(delete(schema.runs).where(schema.runs.c.id == run.key))


def find_run(runs: list[Run], name: str) -> Run:
    """Return the run of that name."""
    for run in runs:
        if run.name == name:
            return run
    listed = ", ".join(str(run.name) for run in runs[:20]) or "none"
    raise StoreError(
        "there is no such run", element=str(name)[:60], remedy=f"the runs are {listed}"
    )


# --- columns ------------------------------------------------------------------------------------


def columns_bytes(columns: Mapping[str, Any]) -> bytes:
    """Return arrays of numbers as bytes."""
    heads: list[list[Any]] = []
    parts: list[bytes] = []
    for name, given in mapping_of(columns, "the columns of a run").items():
        array = _numbers(name, given)
        heads.append([name, array.dtype.str, list(array.shape)])
        parts.append(array.tobytes())
    return b"".join([json.dumps(heads).encode(), b"\n", *parts])


def columns_of_bytes(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of which `columns_bytes` made these bytes."""
    line, _, _ = data.partition(b"\n")
    columns: dict[str, NDArray[Any]] = {}
    place = len(line) + 1
    for name, kind, shape in json.loads(line):
        count = int(np.prod(shape, dtype=np.int64))
        found = np.frombuffer(data, dtype=kind, count=count, offset=place)
        place += found.nbytes
        columns[name] = found.astype(found.dtype.newbyteorder("=")).reshape(shape)
    return columns


def _numbers(name: str, given: Any) -> NDArray[Any]:
    try:
        array = np.asarray(given)
        return np.ascontiguousarray(array.astype(TYPES[array.dtype.kind])).reshape(array.shape)
    except (KeyError, ValueError, TypeError, OverflowError):
        raise StoreError(
            "a column must be an array of real numbers", element=name, remedy="give plain numbers"
        ) from None


def check_run_name(name: str) -> None:
    """Refuse what cannot be the name of a run."""
    text_of(name, "the name of a run")
    if not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST:
        raise StoreError(
            f"{name[:60]!r} cannot be the name of a run",
            remedy=f"use up to {LONGEST} characters that can be seen, no space at the ends",
        )


def _json(options: Mapping[str, Any]) -> str:
    try:
        return json.dumps(mapping_of(options, "options"), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise StoreError(f"the options of a run are not plain data: {problem}") from None
