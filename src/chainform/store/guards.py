"""What a connection may do: statements that only read, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

_READS = frozenset(
    (
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    )
)
_CHANGES = frozenset((sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE))

Guard = Callable[[int, str | None, str | None, str | None, str | None], int]


def only_reads(
    action: int, _first: str | None, _second: str | None, _database: str | None, _by: str | None
) -> int:
    """Let SQLite prepare nothing but what reads."""
    return sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY


def only_temporary(
    action: int, _first: str | None, _second: str | None, database: str | None, _by: str | None
) -> int:
    """Let SQLite change temporary tables only."""
    is_change = action in _CHANGES and database == "main"
    return sqlite3.SQLITE_DENY if is_change else sqlite3.SQLITE_OK


@contextmanager
def reading_only(connection: Connection, usual: Guard | None) -> Generator[None]:
    """Let the statements within read only; afterwards the connection is as `usual` again."""
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        driver.set_authorizer(only_reads)
        try:
            yield
        finally:
            driver.set_authorizer(usual)
        return
    # Whatever a statement leaves in the session - settings, locks - goes with the connection.
    connection.detach()
    connection.exec_driver_sql("SET TRANSACTION READ ONLY")
    connection.exec_driver_sql("SET default_transaction_read_only = on")
    yield
