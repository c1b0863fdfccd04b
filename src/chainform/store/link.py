"""The way to a database: opening it, transactions on it, and errors said in plain words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import QueuePool, StaticPool

from chainform.errors import StoreError
from chainform.store.functions import register_functions
from chainform.store.troubles import trouble

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

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite; else it is PostgreSQL."""
        return self.engine.dialect.name == "sqlite"

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
        with self.told(), self.engine.connect() as plain:
            connection = plain.execution_options(**{WRITE: True})
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


def open_link(url: str, *, timeout: float, read_only: bool) -> Link:
    """Return the way to a database; nothing is read or changed yet."""
    if "://" not in url:
        return _file(url, timeout, read_only)
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(
            "the address of the database cannot be understood",
            remedy="write a path, sqlite:///path or postgresql://user@host/database",
        ) from None
    if parsed.get_backend_name() == "sqlite":
        return _file(parsed.database or ":memory:", timeout, read_only)
    shown = parsed.render_as_string(hide_password=True)
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise StoreError(
            f"there is no store in {parsed.get_backend_name()}",
            file=shown,
            remedy="use SQLite (a path) or PostgreSQL (postgresql://...)",
        )
    return _server(parsed.set(drivername="postgresql+psycopg"), shown, timeout, read_only)


def _file(path: str, timeout: float, read_only: bool) -> Link:
    in_memory = path == ":memory:"
    if not in_memory:
        _check_place(Path(path))
    read_only = read_only or (Path(path).exists() and not _is_writable(Path(path)))
    address = path if in_memory else _uri(Path(path), read_only)

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            # A commit must outlast a power failure, not only the end of the process.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA cache_size = -65536")
            register_functions(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=StaticPool if in_memory else QueuePool
    )

    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "begin", begin)
    return Link(engine, path, read_only)


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise StoreError("this is a folder", file=str(path), remedy="name a file in it")
    if not path.exists() and not path.absolute().parent.is_dir():
        raise StoreError("its folder does not exist", file=str(path), remedy="make the folder")


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _uri(path: Path, read_only: bool) -> str:
    address = f"file:{quote(str(path.absolute()))}"
    if not read_only:
        return address
    # Where nothing can be written, SQLite cannot make the file by which readers and writers of a
    # log agree; without a log there is nothing to agree on.
    log = Path(f"{path}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    can_share = _is_writable(path.absolute().parent) or Path(f"{path}-shm").exists()
    return f"{address}?mode=ro" if has_log or can_share else f"{address}?mode=ro&immutable=1"


def _server(url: Any, shown: str, timeout: float, read_only: bool) -> Link:
    wait = {} if "connect_timeout" in url.query else {"connect_timeout": max(2, int(timeout))}
    try:
        engine = create_engine(url, connect_args=wait)
    except (ImportError, NoSuchModuleError):
        raise StoreError(
            "the driver of PostgreSQL is not installed",
            file=shown,
            remedy="pip install 'chainform[postgres]'",
        ) from None

    def connected(connection: Any, _record: object) -> None:
        milliseconds = str(max(1, int(timeout * 1000)))
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", (milliseconds,))
            if read_only:
                cursor.execute("SET default_transaction_read_only = on")
        connection.commit()

    event.listen(engine, "connect", connected)
    return Link(engine, shown, read_only)
