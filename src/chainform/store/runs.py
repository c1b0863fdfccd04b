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

from chainform.display import Displayed
from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.connection import Connection
from chainform.store.driver_errors import damaged
from chainform.store.integrity import RUN_ROWS, is_whole, run_hash
from chainform.store.records import argument_of, bytes_of, mapping_of, seconds_of, text_of, utc
from chainform.store.revisions import find, find_locked, json_text, lock_model
from chainform.store.schema import Transaction

MEDIA_TYPE = "application/x-chainform-columns"
TYPES = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "|b1"}
"""How columns of each kind of number are stored."""


@dataclass(frozen=True, slots=True, repr=False)
class RunEntry(Displayed):
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
    ) -> RunEntry:
        """Store a run of a revision: arrays of numbers by name, and what is known of them."""
        check_run_name(name)
        values = {
            "name": name,
            "kind": text_of(kind, "the kind of a run"),
            "options": json_text(options or {}, "the options of a run"),
            "created": datetime.now(UTC),
            "seconds": None if seconds is None else seconds_of(seconds, "seconds"),
            "media_type": MEDIA_TYPE,
            "bytes": columns_bytes(columns),
        }

        def task(transaction: Transaction) -> RunEntry:
            revision = find_locked(self.connection, transaction, reference)
            if any(run.name == name for run in self._runs(transaction, revision.reference)):
                message, remedy = "there is a run of this name already", "choose another, or delete"
                raise StoreError(message, element=name, remedy=remedy)
            owner = {"revision": revision.key, "hash": run_hash(values, revision.content)}
            transaction.execute(insert(schema.runs).values({**values, **owner}))
            return self._run(transaction, revision.reference, name)

        return self.connection.write(task)

    def list(self, reference: str) -> builtins.list[RunEntry]:
        """Return the runs of a revision, the oldest first, without their columns."""
        with self.connection.reading() as transaction:
            return self._runs(transaction, reference)

    def load(self, reference: str, name: str) -> tuple[dict[str, NDArray[Any]], RunEntry]:
        """Return the columns of a run, with what is known of it; refuse one that was changed."""
        query = text(f"{RUN_ROWS} WHERE r.id = :key")
        with self.connection.reading() as transaction:
            run = self._run(transaction, reference, name)
            with damaged(self.connection.place, f"{run.revision}, run {name}"):
                row = transaction.execute(query, {"key": run.key}).mappings().one()
                if not is_whole(dict(row)):
                    raise ValueError("the run is not what was saved")
                if row["media_type"] != MEDIA_TYPE:
                    raise ValueError(f"{row['media_type']} holds no columns")
                return columns_of_bytes(bytes_of(row["bytes"], "a run")), run

    def delete(self, reference: str, name: str) -> None:
        """Remove a run."""

        def task(transaction: Transaction) -> None:
            lock_model(transaction, reference)
            run = self._run(transaction, reference, name)
            transaction.execute(delete(schema.runs).where(schema.runs.c.id == run.key))

        self.connection.write(task)

    def _runs(self, transaction: Transaction, reference: str) -> builtins.list[RunEntry]:
        revision = find(self.connection, transaction, reference)
        t = schema.runs.c
        query = select(t.id, t.name, t.kind, t.options, t.created, t.seconds)
        query = query.where(t.revision == revision.key).order_by(t.id)
        with damaged(self.connection.place, revision.reference):
            rows = transaction.execute(query).all()
            return [
                RunEntry(
                    name, revision.reference, kind, json.loads(options), utc(created), seconds, key
                )
                for key, name, kind, options, created, seconds in rows
            ]

    def _run(self, transaction: Transaction, reference: str, name: str) -> RunEntry:
        runs = self._runs(transaction, reference)
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
    argument_of(name, "the name of a run").name()
