"""The connection to a database: opening, transactions, errors in plain words, queries that read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from sqlalchemy import Engine, TextClause, text
from sqlalchemy.exc import DBAPIError, NoResultFound, ProgrammingError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from chainform.errors import Error, StoreError
from chainform.store.driver_errors import (
    CHANGED,
    COLLISIONS,
    FULL,
    GONE,
    LOCKED,
    ONLY_READS,
    first_line,
    trouble,
)
from chainform.store.engines import (
    LONGEST,
    MEMORY,
    WRITE,
    DatabaseAddress,
    DatabaseFile,
    Guard,
    database_file,
    file_engine,
    parse_address,
    server_engine,
)
from chainform.store.records import mapping_of, text_of
from chainform.store.schema import Transaction

T = TypeVar("T")


TRIES = 4
"""How often a change is tried that others got in the way of."""

LOCK = 0x636861696E
"""The advisory lock of PostgreSQL that saves share and `gc` and migrations hold alone."""


@dataclass(eq=False)
class Connection:
    """An open database: reading and writing transactions, with errors as StoreError."""

    engine: Engine
    place: str
    """The file or the address, without its password, as messages name it."""
    read_only: bool = False
    is_new: bool = False
    """Whether opening it made the file."""
    is_closed: bool = False
    stand_in: Engine | None = None
    """A store in memory that answers in its place: an empty one while there are no tables here,
    for looking makes none, or a copy of an earlier version that cannot be written."""
    make: Callable[[], None] | None = None
    """What makes the tables before something is first written."""
    sqlite_file: DatabaseFile | None = None
    """How a file of SQLite is opened, None on a server."""
    url: str = field(default="", repr=False)
    timeout: float | None = None
    _lock: RLock = field(default_factory=RLock)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite; else it is PostgreSQL."""
        return self.engine.dialect.name == "sqlite"

    @property
    def file(self) -> Path | None:
        """The file of the database, None where it is on a server or in memory."""
        return Path(self.place) if self.is_sqlite and self.place != MEMORY else None

    @property
    def guard(self) -> Guard | None:
        """What SQLite asks before each statement, None where everything is allowed."""
        return only_temporary if self.read_only else None

    @contextmanager
    def reading(self) -> Generator[Transaction]:
        """Give a transaction that sees one state of the database and changes nothing."""
        self._check_open()
        if self.make is not None and Path(self.place).exists():
            self._made()  # by another process, since this one looked
        engine = self.stand_in or self.engine
        with self._unchanged(), self.translated_errors(), engine.connect() as plain:
            is_sqlite = plain.dialect.name == "sqlite"
            level = {} if is_sqlite else {"isolation_level": "REPEATABLE READ"}
            transaction = plain.execution_options(**level)
            with transaction.begin():
                yield transaction

    @contextmanager
    def _unchanged(self) -> Generator[None]:
        """See to it that a file which is read as if nobody wrote it stays as it is meanwhile."""
        file = self.sqlite_file
        if file is None or not file.is_alone:
            yield
            return
        if file.is_changed():
            self.engine.dispose()
        try:
            yield
        except Error as problem:
            if file.is_changed():
                raise self.error(*CHANGED) from problem
            raise
        if file.is_changed():
            raise self.error(*CHANGED)

    def write(self, task: Callable[[Transaction], T], *, alone: bool = False) -> T:
        """Return what a task gives in a transaction that writes.

        Where another client got in its way, as when each waits for the other, it is done again,
        and then sees what the other has done.
        """
        for _ in range(TRIES - 1):
            try:
                with self.writing(alone=alone) as transaction:
                    return task(transaction)
            except StoreError as problem:
                driver = getattr(problem.__cause__, "orig", problem.__cause__)
                if getattr(driver, "sqlstate", None) not in COLLISIONS:
                    raise
        with self.writing(alone=alone) as transaction:
            return task(transaction)

    @contextmanager
    def writing(self, *, alone: bool = False) -> Generator[Transaction]:
        """Give a transaction that writes: all of it is stored, or nothing.

        SQLite lets one writer in at a time; the others wait for as long as the timeout says. On a
        server many write at once, unless one asks to be `alone`.
        """
        if self.read_only:
            raise self.error("it is open for reading only", "open it where it can be written")
        self._check_open()
        self._made()
        # Whoever waited for a lock must see what was committed meanwhile, whatever the server's
        # own setting is.
        level = {} if self.is_sqlite else {"isolation_level": "READ COMMITTED"}
        if self.sqlite_file is not None and self.sqlite_file.is_alone:
            self.engine.dispose()  # there may be room by now
        with self.translated_errors(), self.engine.connect() as plain:
            transaction = plain.execution_options(**{WRITE: True}, **level)
            with transaction.begin():
                self._hold(transaction, alone=alone)
                yield transaction

    def _made(self) -> None:
        """Make the tables, if that was put off."""
        with self._lock:
            make, stand_in = self.make, self.stand_in
            if make is None:
                return
            self.make = self.stand_in = None
            self.is_new = not Path(self.place).exists()
            try:
                make()
            except BaseException:
                self.make, self.stand_in = make, stand_in
                raise

    def _check_open(self) -> None:
        if self.is_closed:
            raise self.error("the store is closed", "open it again; a `with` block closes it")

    def close(self) -> None:
        """Give the connections back; a later use is an error."""
        self.is_closed = True
        self.engine.dispose()
        if self.stand_in is not None:
            self.stand_in.dispose()

    def _hold(self, transaction: Transaction, *, alone: bool) -> None:
        """Keep those who must be alone, as `gc`, and all others apart until the transaction ends.

        A save may point to a graph that another model stopped using; it must not be swept
        between the look and the commit. SQLite has one writer anyway. The lock is the first that
        a transaction takes, so that nobody waits for it who holds another one.
        """
        if not self.is_sqlite:
            kind = "" if alone else "_shared"
            transaction.exec_driver_sql(f"SELECT pg_advisory_xact_lock{kind}({LOCK})")

    def again(self) -> Connection:
        """Return another connection to the same database, which may write if that is allowed."""
        return open_connection(self.url, timeout=self.timeout, read_only=False)

    def error(self, message: str, remedy: str | None = None, element: str | None = None) -> Any:
        """Return a StoreError about this database."""
        return StoreError(message, file=self.place, element=element, remedy=remedy)

    @contextmanager
    def translated_errors(self) -> Generator[None]:
        """Turn errors of the driver into errors of the store."""
        driver = self.engine.dialect.loaded_dbapi
        try:
            yield
        except DBAPIError as problem:
            original = problem.orig if problem.orig is not None else problem
            raise self._trouble(original) from problem
        except driver.Error as problem:
            raise self._trouble(problem) from problem
        except PoolTimeoutError as problem:
            raise self.error(*LOCKED) from problem
        except NoResultFound as problem:
            raise self.error(*GONE) from problem
        except SQLAlchemyError as problem:
            raise self.error(first_line(problem)) from problem
        except (UnicodeError, OverflowError) as problem:
            raise self.error(f"a value fits no column: {first_line(problem)}") from problem

    def _trouble(self, problem: BaseException) -> Error:
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
        if code in NO_ROOM and self.sqlite_file is not None and self.sqlite_file.is_full():
            return self.error(*FULL)
        return trouble(problem, self.place)


NO_ROOM = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
"""What SQLite reports when it cannot make a file next to the database, for want of room or else."""


def open_connection(url: str, *, timeout: float | None, read_only: bool) -> Connection:
    """Return the connection to a database; nothing is read or changed yet."""
    address = parse_address(url, timeout)
    open_it = _file if address.server is None else _server
    connection = open_it(address, read_only)
    connection.url, connection.timeout = url, timeout
    return connection


def _file(address: DatabaseAddress, read_only: bool) -> Connection:
    file = database_file(address.shown, read_only=read_only)
    file.timeout = min(address.timeout, LONGEST)
    file.guard = only_temporary if file.read_only else None
    is_new = file.is_new and file.path is not None
    return Connection(file_engine(file), address.shown, file.read_only, is_new, sqlite_file=file)


def _server(address: DatabaseAddress, read_only: bool) -> Connection:
    return Connection(server_engine(address, read_only), address.shown, read_only)


# --- statements that only read -------------------------------------------------------------------


_READS = frozenset(
    (
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    )
)
_CHANGES = frozenset((sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE))


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
def reading_only(transaction: Transaction, usual: Guard | None) -> Generator[None]:
    """Let the statements within read only; then it is as `usual` again."""
    if transaction.dialect.name == "sqlite":
        driver: Any = transaction.connection.driver_connection
        driver.set_authorizer(only_reads)
        try:
            yield
        finally:
            driver.set_authorizer(usual)
        return
    # Whatever a statement leaves in the session - settings, locks - goes with it.
    transaction.detach()
    transaction.exec_driver_sql("SET TRANSACTION READ ONLY")
    transaction.exec_driver_sql("SET default_transaction_read_only = on")
    yield


# --- queries of one's own, in SQL ----------------------------------------------------------------


READ_ONLY_TRANSACTION = "25006"
ONE_AT_A_TIME = ("a query is one statement", "ask one after the other, without a semicolon")


def query_rows(
    connection: Connection, sql: str, values: Mapping[str, Any] | None
) -> list[Mapping[str, Any]]:
    """Return the rows of a query; values are bound to `:name` in it."""
    statement = text(text_of(sql, "a query"))
    bound = mapping_of({} if values is None else values, "the values of a query")
    for name in statement.compile().params:
        if name not in bound:
            raise connection.error(
                f"no value is given for :{name}", f"values={{{name!r}: ...}}", name
            )
    with connection.reading() as transaction, reading_only(transaction, connection.guard):
        if transaction.dialect.name == "postgresql":
            return _server_rows(connection, transaction, statement, bound)
        try:
            result = transaction.execute(statement, bound)
        except ProgrammingError as problem:
            if "one statement at a time" in str(problem):
                raise connection.error(*ONE_AT_A_TIME) from problem
            raise
        if not result.returns_rows:
            raise connection.error(*ONLY_READS)
        return [dict(row) for row in result.mappings()]


def _server_rows(
    connection: Connection,
    transaction: Transaction,
    statement: TextClause,
    bound: Mapping[str, Any],
) -> list[Mapping[str, Any]]:
    """Return the rows of one statement; prepared, because the server prepares one at a time.

    Several in a row could end the transaction that only reads, and begin another.
    """
    compiled = statement.compile(dialect=transaction.dialect)
    values = compiled.construct_params(dict(bound))
    driver: Any = transaction.connection.dbapi_connection
    with driver.cursor() as cursor:
        try:
            cursor.execute(str(compiled), values, prepare=True)
        except connection.engine.dialect.loaded_dbapi.Error as problem:
            if getattr(problem, "sqlstate", None) == READ_ONLY_TRANSACTION:
                raise connection.error(*ONLY_READS) from problem
            if "multiple commands" in str(problem):
                raise connection.error(*ONE_AT_A_TIME) from problem
            raise
        if cursor.description is None:
            raise connection.error(*ONLY_READS)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
