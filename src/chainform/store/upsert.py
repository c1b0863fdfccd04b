"""A row that is made unless it is there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite


def upsert(connection: Connection, table: Table, unique: str, values: dict[str, Any]) -> int:
    """Return the key of the row with that unique value, made if there is none, and lock it.

    A row that is there takes the values, all but the moment when it was made.
    """
    statement = insert_or(connection, table, values)
    kept = {name: statement.excluded[name] for name in values if name != "created"}
    statement = statement.on_conflict_do_update(index_elements=[unique], set_=kept)
    return connection.execute(statement.returning(table.c.id)).scalar_one()


def insert_or(connection: Connection, table: Table, values: dict[str, Any]) -> Any:
    """Return an INSERT that can say what to do about a row that is there."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table).values(values)
    # The other dialect takes longer to import than a model to load; few need both.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table).values(values)
