"""The way to a database: opening it, transactions on it, and errors said in plain words."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool

from chainform.errors import StoreError
from chainform.store.address import MEMORY, Address, parse_address, place_of
from chainform.store.functions import register_functions
from chainform.store.guards import Guard, only_temporary
from chainform.store.troubles import first_line, trouble

WRITE = "chainform_write"
"""The option of a connection whose transaction is going to write."""

LOCK = 0x636861696E
"""The advisory lock of PostgreSQL that saves share and `gc` and migrations hold alone."""


@dataclass(frozen=True, eq=False)
class Link:
    """An open database: reading and writing transactions, with errors as StoreError."""

    engine: Engine
    place: str
    """The file or the address, without its password, as messages name it."""
    read_only: bool = False
    is_new: bool = False
    """Whether opening it made the file."""

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite; else it is PostgreSQL."""
        return self.engine.dialect.name == "sqlite"

    @property
    def guard(self) -> Guard | None:
        """What SQLite asks before each statement, None where everything is allowed."""
        return only_temporary if self.read_only else None

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """Give a transaction that sees one state of the database and changes nothing."""
        with self.told(), self.engine.connect() as plain:
            level = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
            connection = plain.execution_options(**level)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """Give a transaction that writes: all of it is kept, or nothing.

        SQLite lets one writer in at a time; the others wait for as long as the timeout says.
        """
        if self.read_only:
            raise self.error("it is open for reading only", "open it where it can be written")
        # Whoever waited for a lock must see what was committed meanwhile, whatever the server's
        # own setting is.
        level = {} if self.is_sqlite else {"isolation_level": "READ COMMITTED"}
        with self.told(), self.engine.connect() as plain:
            connection = plain.execution_options(**{WRITE: True}, **level)
            with connection.begin():
                yield connection

    def hold(self, connection: Connection, *, alone: bool) -> None:
        """Keep `gc` and saves apart until the transaction ends.

        A save may point to a graph that another model stopped using; it must not be swept
        between the look and the commit. SQLite has one writer anyway.
        """
        if not self.is_sqlite:
            kind = "" if alone else "_shared"
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock{kind}({LOCK})")

    def error(self, message: str, remedy: str | None = None, element: str | None = None) -> Any:
        """Return a StoreError about this database."""
        return StoreError(message, file=self.place, element=element, remedy=remedy)

    @contextmanager
    def told(self) -> Generator[None]:
        """Turn errors of the driver into errors of the store."""
        driver = self.engine.dialect.loaded_dbapi
        try:
            yield
        except DBAPIError as problem:
            original = problem.orig if problem.orig is not None else problem
            raise trouble(original, self.place) from problem
        except driver.Error as problem:
            raise trouble(problem, self.place) from problem
        except SQLAlchemyError as problem:
            raise self.error(first_line(problem)) from problem
        except (UnicodeError, OverflowError) as problem:
            raise self.error(f"a value fits no column: {first_line(problem)}") from problem


def open_link(url: str, *, timeout: float | None, read_only: bool) -> Link:
    """Return the way to a database; nothing is read or changed yet."""
    address = parse_address(url, timeout)
    return _file(address, read_only) if address.server is None else _server(address, read_only)


def _file(address: Address, read_only: bool) -> Link:
    place = place_of(address.shown, read_only=read_only)
    in_memory = place.uri == MEMORY
    engine = create_engine(
        "sqlite://",
        creator=lambda: _connected(place.uri, address.timeout, link.guard),
        poolclass=StaticPool if in_memory else QueuePool,
    )
    link = Link(engine, address.shown, place.read_only, place.is_new and not in_memory)

    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "begin", begin)
    return link


def _connected(uri: str, timeout: float, guard: Guard | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
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


def _server(address: Address, read_only: bool) -> Link:
    url: Any = address.server
    wait = (
        {} if "connect_timeout" in url.query else {"connect_timeout": max(2, int(address.timeout))}
    )
    try:
        engine = create_engine(url, connect_args=wait)
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

    def connected(connection: Any, _record: object) -> None:
        milliseconds = str(min(2**31 - 1, max(1, int(address.timeout * 1000))))
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", (milliseconds,))
            if read_only:
                cursor.execute("SET default_transaction_read_only = on")
        connection.commit()

    event.listen(engine, "connect", connected)
    return Link(engine, address.shown, read_only)
