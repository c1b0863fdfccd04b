"""Rows that are locked before they are changed, so that writers on a server take turns.

Whoever changes a model locks its row in `models` first. Several rows are always locked in one
order - models by name, graphs by hash, mechanisms by hash - so that no two wait for each other.
SQLite has one writer at a time and needs none of this.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from chainform.store import schema
from chainform.store.link import Link
from chainform.store.records import Revision
from chainform.store.references import split
from chainform.store.revisions import find
from chainform.store.upsert import insert_or


def lock_model(connection: Connection, reference: str) -> None:
    """Keep others from changing the model of a reference, if there is one, until the end."""
    table = schema.models.c
    query = select(table.id).where(table.name == split(reference)[0])
    connection.execute(query.with_for_update()).scalar()


def find_locked(link: Link, connection: Connection, reference: str) -> Revision:
    """Return the revision that a reference means; its model stays as it is until the end."""
    lock_model(connection, reference)
    return find(link, connection, reference)


def claim_name(link: Link, connection: Connection, name: str, created: datetime) -> int:
    """Make a model without revisions, locked; refuse a name that is there, or just being made."""
    statement = insert_or(connection, schema.models, {"name": name, "created": created})
    statement = statement.on_conflict_do_nothing(index_elements=["name"])
    key = connection.execute(statement.returning(schema.models.c.id)).scalar()
    if key is None:
        raise link.error(f"there is a model {name} already", "choose another name", name)
    return key
