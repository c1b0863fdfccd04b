"""Engines: where a database is, and how SQLite and PostgreSQL are spoken to."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool

from chainform.errors import StoreError
from chainform.store.driver_errors import first_line
from chainform.store.records import seconds_of, text_of
from chainform.store.views import register_functions

TIMEOUT = 30.0
"""How long to wait for other processes, in seconds, unless another time is given."""

SECRET = ("password", "sslpassword")
"""Options of an address that are not shown."""

MEMORY = ":memory:"

SHARED = 65_536
"""Bytes that SQLite needs next to a file to read it: the file that leads to the log, and some."""


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """A file or a server, and how long to wait for others there."""

    shown: str
    """As messages name it."""
    timeout: float
    server: URL | None = None
    """None for a file."""


def parse_address(url: str, timeout: float | None) -> DatabaseAddress:
    """Return what an address means: a path, `sqlite:///path` or `postgresql://...`.

    `?timeout=5` at its end counts unless a timeout is given.
    """
    text_of(url, "the address of the database")
    if "://" not in url:
        return DatabaseAddress(url, TIMEOUT if timeout is None else seconds_of(timeout, "timeout"))
    _check_marks(url)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(
            "the address of the database cannot be understood",
            file=f"{url.partition('://')[0]}://...",
            remedy="write a path, sqlite:///path or postgresql://user@host:port/database",
        ) from None
    kind, shown = parsed.get_backend_name(), shown_url(parsed)
    if kind not in ("sqlite", "postgresql", "postgres"):
        raise StoreError(
            f"there is no store in {kind}",
            file=shown,
            remedy="use SQLite (a path) or PostgreSQL (postgresql://...)",
        )
    wait = _timeout(parsed, shown) if timeout is None else seconds_of(timeout, "timeout")
    parsed = parsed.difference_update_query(["timeout"])
    if kind != "sqlite":
        return DatabaseAddress(shown, wait, parsed.set(drivername="postgresql+psycopg"))
    if parsed.query:
        raise StoreError(
            f"there is no option {next(iter(parsed.query))}", file=shown, remedy="timeout is one"
        )
    return DatabaseAddress(parsed.database or MEMORY, wait)


def _check_marks(url: str) -> None:
    """Refuse an address in which a password cannot be distinguished from what follows it."""
    kind, _, rest = url.partition("://")
    if rest.partition("?")[0].count("@") > 1 and not kind.startswith("sqlite"):
        raise StoreError(
            "the address has more than one @",
            file=f"{kind}://...",
            remedy="write %40 for each @ within a user name, a password or a database",
        )


def shown_url(url: URL) -> str:
    """Return an address without its passwords."""
    hidden = url.update_query_dict({name: "***" for name in SECRET if name in url.query})
    return hidden.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def _timeout(url: URL, shown: str) -> float:
    given: Any = url.query.get("timeout", TIMEOUT)
    try:
        return seconds_of(float(given), "timeout")
    except (TypeError, ValueError):
        raise StoreError(
            "the timeout is not a number of seconds", file=shown, remedy="write ?timeout=5"
        ) from None


# --- files ------------------------------------------------------------------------------------


Guard = Callable[[int, str | None, str | None, str | None, str | None], int]
"""What SQLite asks before each statement."""

LONGEST = 2_000_000.0
"""The longest time to wait, in seconds; drivers count milliseconds in 32 bits."""

UNSHARED = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY),
)
"""What SQLite reports where it cannot make the file next to a database."""


@dataclass(eq=False)
class DatabaseFile:
    """A file of SQLite, and connections to it; without a path, one database in memory.

    SQLite reads a file with a log only by way of another file next to it. Where that one cannot
    be made, for want of a right or of room, and nothing is in the log, the file is read as if
    nobody wrote it; `is_changed` then tells what others write meanwhile.
    """

    path: Path | None = None
    read_only: bool = False
    is_new: bool = False
    """Whether opening it makes the file."""
    timeout: float = LONGEST
    guard: Guard | None = None
    is_alone: bool = False
    """Whether the file is read as if nobody wrote it."""
    seen: tuple[int, ...] = ()
    """The state of the file when it was last opened so."""

    def connect(self) -> sqlite3.Connection:
        """Return a new connection."""
        uri = self.uri()
        try:
            connection = _connected(uri, self.timeout, self.guard)
        except sqlite3.OperationalError as problem:
            unshared = (problem.sqlite_errorcode & 0xFF) in UNSHARED
            if self.path is None or not unshared or self.has_log():
                raise
            self.seen, self.is_alone = self.state(), True
            plain = uri.partition("?")[0]
            return _connected(f"{plain}?mode=ro&immutable=1", self.timeout, self.guard)
        self.is_alone = False
        return connection

    def is_changed(self) -> bool:
        """Tell whether somebody wrote the file since it was opened as if nobody did."""
        return self.is_alone and self.state() != self.seen

    def uri(self) -> str:
        """Return what SQLite is to open, as things stand now."""
        if self.path is None:
            return MEMORY
        address = f"file:{quote(str(self.path))}"
        if not self.read_only:
            return address
        # Whoever may write tidies up: the last one to leave removes the log. A reader without
        # that right would leave an empty one behind.
        may_write = _is_writable(self.path) and _is_writable(self.path.parent)
        return f"{address}?mode={'rw' if may_write else 'ro'}"

    def state(self) -> tuple[int, ...]:
        """Return by what a change of a file, or of its log, shows."""
        if self.path is None:
            return ()
        files = (self.path, *(Path(f"{self.path}{ending}") for ending in ("-wal", "-shm")))
        found = [file.stat() if file.exists() else None for file in files]
        return tuple(part for s in found if s for part in (s.st_ino, s.st_size, s.st_mtime_ns))

    def has_log(self) -> bool:
        """Tell whether something is in the log that the file does not have yet."""
        log = Path(f"{self.path}-wal")
        return log.exists() and log.stat().st_size > 0

    def is_full(self) -> bool:
        """Tell whether the disk has less room than SQLite needs next to a file to read its log."""
        try:
            return self.path is not None and shutil.disk_usage(self.path.parent).free < SHARED
        except OSError:
            return False


def database_file(shown: str, *, read_only: bool) -> DatabaseFile:
    """Return how to open a file; refuse what cannot be one."""
    if shown == MEMORY:
        return DatabaseFile(None, read_only, True)
    try:
        # SQLite writes its log next to the file itself, not next to a link to it.
        path = Path(shown).resolve()
        if path.is_dir():
            raise StoreError("this is a folder", file=shown, remedy="name a file in it")
        is_there = path.exists()
        if not is_there and not path.parent.is_dir():
            raise StoreError("its folder does not exist", file=shown, remedy="make the folder")
        return DatabaseFile(path, read_only or (is_there and not _is_writable(path)), not is_there)
    except (OSError, ValueError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise StoreError(
            f"the file cannot be opened: {reason}",
            file=shown[:200],
            remedy="look at its name and at the permissions of the folders that lead to it",
        ) from None


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


# --- engines -------------------------------------------------------------------------------------


WRITE = "chainform_write"
"""The option of a connection whose transaction is going to write."""

SETTINGS = {
    "datestyle": "ISO, YMD",
    "timezone": "UTC",
    "extra_float_digits": "3",
    "standard_conforming_strings": "on",
}
"""What a session on a server is to be like: moments that can be read, doubles to the last digit."""


def file_engine(file: DatabaseFile) -> Engine:
    """Return the way to a file, or to a database in memory.

    One in memory is one connection: threads take turns, and wait for as long as for a lock.
    """
    sizes: dict[str, Any] = {"pool_timeout": max(file.timeout, 0.001)}
    if file.path is None:
        sizes |= {"pool_size": 1, "max_overflow": 0}
    engine = create_engine("sqlite://", creator=file.connect, poolclass=QueuePool, **sizes)

    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITE, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "begin", begin)
    return engine


def memory_engine() -> Engine:
    """Return the way to a new database in memory."""
    return file_engine(DatabaseFile())


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


def server_engine(address: DatabaseAddress, read_only: bool) -> Engine:
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
