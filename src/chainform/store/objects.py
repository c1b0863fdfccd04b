"""Compiled objects: bytes that can be made again at any time, stored by a key to save the time.

An object that belongs to a model's graph goes with it; one that belongs to none goes at the next
`gc`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import delete, select

from chainform.store import schema
from chainform.store.arguments import bytes_of, raw_bytes, text_of
from chainform.store.connection import Connection, Transaction
from chainform.store.revisions import find_locked
from chainform.store.rows import insert_or


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
        code, whose = (
            bytes_of(data, "a compiled object"),
            self.reference if reference is None else reference,
        )
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
