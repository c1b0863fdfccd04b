"""Compiled objects: bytes that can be made again at any time, kept by a key to save the time.

An object that belongs to a model's graph goes with it; one that belongs to none goes at the next
`gc`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, select

from chainform.store import schema
from chainform.store.arguments import bytes_of, raw_bytes, text_of
from chainform.store.connection import Link
from chainform.store.revisions import find_locked
from chainform.store.rows import insert_or


@dataclass(frozen=True, eq=False)
class Objects:
    """The compiled objects of a database, by key."""

    link: Link

    def put(self, key: str, data: bytes, reference: str | None = None) -> None:
        """Keep bytes under a key, in place of what is there; `reference` is whose they are."""

        def task(connection: Connection) -> None:
            owner = None if reference is None else find_locked(self.link, connection, reference)
            put_object(connection, key, data, None if owner is None else owner.graph)

        self.link.write(task)

    def get(self, key: str) -> bytes | None:
        """Return the bytes under a key; None where there are none, or not those that were kept."""
        with self.link.reading() as connection:
            return get_object(connection, key)

    def delete(self, key: str) -> bool:
        """Remove what is kept under a key; return whether there was anything."""
        return self.link.write(lambda connection: delete_object(connection, key))


def put_object(connection: Connection, key: str, data: bytes, graph: int | None) -> None:
    """Keep bytes under a key, in place of what is there."""
    kept = bytes_of(data, "a compiled object")
    values = {
        "key": text_of(key, "the key of an object"),
        "graph": graph,
        "created": datetime.now(UTC),
        "hash": hashlib.sha256(kept).hexdigest(),
        "bytes": kept,
    }
    statement = insert_or(connection, schema.objects, values)
    new = {name: statement.excluded[name] for name in values if name != "key"}
    connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_=new))


def get_object(connection: Connection, key: str) -> bytes | None:
    """Return the bytes under a key; None where there are none, or not those that were kept."""
    table = schema.objects.c
    query = select(table.bytes, table.hash).where(table.key == text_of(key, "the key of an object"))
    row = connection.execute(query).one_or_none()
    data = None if row is None else raw_bytes(row.bytes)
    if row is None or data is None:
        return None
    return data if hashlib.sha256(data).hexdigest() == row.hash else None


def delete_object(connection: Connection, key: str) -> bool:
    """Remove what is kept under a key; return whether there was anything."""
    table = schema.objects
    statement = delete(table).where(table.c.key == text_of(key, "the key of an object"))
    return connection.execute(statement).rowcount > 0
