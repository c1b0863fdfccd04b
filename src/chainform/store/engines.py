"""Engines: how SQLite and PostgreSQL are spoken to, whatever their own settings are."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool

from chainform.errors import StoreError
from chainform.store.address import MEMORY, Address, Place
from chainform.store.functions import register_functions
from chainform.store.guards import Guard
from chainform.store.troubles import first_line

WRITE = "chainform_write"
"""The option of a connection whose transaction is going to write."""

LONGEST = 2_000_000.0
"""The longest time to wait, in seconds; drivers count milliseconds in 32 bits."""

SETTINGS = {
    "datestyle": "ISO, YMD",
    "timezone": "UTC",
    "extra_float_digits": "3",
    "standard_conforming_strings": "on",
}
"""What a session on a server is to be like: moments that can be read, doubles to the last digit."""


class Access:
    """Connections to a file of SQLite, or to one database in memory.

    SQLite reads a file with a log only by way of another file beside it. Where that one cannot
    be made, for want of a right or of room, and nothing is in the log, the file is read as if
    nobody wrote it; `is_changed` then tells what others write meanwhile.
    """

    def __init__(self, place: Place, timeout: float, guard: Guard | None) -> None:
        self.place = place
        self.guard = guard
        self.timeout = min(timeout, LONGEST)
        self.is_alone = False
        """Whether the file is read as if nobody wrote it."""
        self.seen: tuple[int, ...] = ()
        """The state of the file when it was last opened so."""

    def connect(self) -> sqlite3.Connection:
        """Return a new connection."""
        uri = self.place.uri()
        try:
            connection = _connected(uri, self.timeout, self.guard)
        except sqlite3.OperationalError as problem:
            unshared = (problem.sqlite_errorcode & 0xFF) in UNSHARED
            if self.place.path is None or not unshared or self.place.has_log():
                raise
            self.seen, self.is_alone = self.place.state(), True
            plain = uri.partition("?")[0]
            return _connected(f"{plain}?mode=ro&immutable=1", self.timeout, self.guard)
        self.is_alone = False
        return connection

    def is_changed(self) -> bool:
        """Tell whether somebody wrote the file since it was opened as if nobody did."""
        return self.is_alone and self.place.state() != self.seen


UNSHARED = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY),
)
"""What SQLite reports where it cannot make the file beside a database."""


def file_engine(access: Access) -> Engine:
    """Return the way to a file, or to a database in memory.

    One in memory is one connection: threads take turns, and wait for as long as for a lock.
    """
    sizes: dict[str, Any] = {"pool_timeout": max(access.timeout, 0.001)}
    if access.place.path is None:
        sizes |= {"pool_size": 1, "max_overflow": 0}
    engine = create_engine("sqlite://", creator=access.connect, poolclass=QueuePool, **sizes)

    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "begin", begin)
    return engine


def memory_engine() -> Engine:
    """Return the way to a new database in memory."""
    return file_engine(Access(Place(None), LONGEST, None))


def _connected(uri: str, timeout: float, guard: Guard | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, timeout=timeout, isolation_level=None, check_same_thread=False, uri=uri != MEMORY
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        # Whether it can be read at all shows when it is first read.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        # A commit must outlast a power failure, not only the end of the process.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -65536")
        register_functions(connection)
        if guard is not None:
            connection.set_authorizer(guard)
    except BaseException:
        connection.close()
        raise
    return connection


def server_engine(address: Address, read_only: bool) -> Engine:
    """Return the way to a server."""
    url: Any = address.server
    timeout = min(address.timeout, LONGEST)
    # A server whose encoding is unknown would give bytes for texts.
    given: dict[str, Any] = {"client_encoding": "utf8"}
    if "connect_timeout" not in url.query:
        given["connect_timeout"] = max(2, int(timeout))
    try:
        engine = create_engine(url, connect_args=given, pool_timeout=max(timeout, 0.001))
    except (ImportError, NoSuchModuleError):
        raise StoreError(
            "the driver of PostgreSQL is not installed",
            file=address.shown,
            remedy="pip install 'chainform[postgres]'",
        ) from None
    except (ArgumentError, TypeError, ValueError) as problem:
        raise StoreError(
            f"the address cannot be understood: {first_line(problem)}",
            file=address.shown,
            remedy="write postgresql://user@host:port/database",
        ) from None
    settings = {**SETTINGS, "lock_timeout": str(max(1, int(timeout * 1000)))}
    if read_only:
        settings["default_transaction_read_only"] = "on"

    def connected(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            for name, value in settings.items():
                cursor.execute("SELECT set_config(%s, %s, false)", (name, value))
        connection.commit()

    event.listen(engine, "connect", connected, insert=True)
    return engine
