"""The version of the tables: new ones are made, old ones brought up to date, newer ones refused.

A new database gets the tables of `schema.py` as they are now. An old one goes through the steps
from its version to this one, in one transaction; the README says how to add a step.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, func, insert, inspect, select, text

from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.connection import Connection, open_connection
from chainform.store.engines import memory_engine
from chainform.store.integrity import RUN, run_hash, seal_text, stored_seal
from chainform.store.records import raw_bytes
from chainform.store.schema import Transaction
from chainform.store.views import create_views, drop_views

# --- the steps from one version to the next, in plain SQL ----------------------------------------


Step = Callable[[Transaction], None]


def seal_revisions(transaction: Transaction) -> None:
    """Version 2: seals, notes of mechanisms, whole expressions, objects by key, named runs.

    Expressions are made anew when they are wanted, and compiled objects when they are needed.
    """
    is_sqlite = transaction.dialect.name == "sqlite"
    number, moment = ("INTEGER", "DATETIME") if is_sqlite else ("BIGINT", "TIMESTAMPTZ")
    binary = "BLOB" if is_sqlite else "BYTEA"
    columns = (
        "key TEXT NOT NULL PRIMARY KEY",
        f"graph {number} REFERENCES graphs (id)",
        f"created {moment} NOT NULL",
        "hash VARCHAR(64) NOT NULL",
        f"bytes {binary} NOT NULL",
    )
    for statement in (
        "ALTER TABLE revisions ADD COLUMN seal TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE mechanisms ADD COLUMN notes TEXT NOT NULL DEFAULT '[]'",
        "DELETE FROM expanded_factors",
        "DELETE FROM expanded_terms",
        "DELETE FROM expansions",
        "ALTER TABLE expansions ADD COLUMN hash VARCHAR(64) NOT NULL DEFAULT ''",
        "DROP TABLE objects",
        f"CREATE TABLE objects ({', '.join(columns)})",
        "CREATE INDEX ix_objects_graph ON objects (graph)",
        "ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN hash VARCHAR(64) NOT NULL DEFAULT ''",
        "UPDATE runs SET name = 'run ' || id",
        "CREATE UNIQUE INDEX runs_by_name ON runs (revision, name)",
    ):
        transaction.exec_driver_sql(statement)
    for key in transaction.execute(text("SELECT id FROM revisions")).scalars().all():
        seal, _ = stored_seal(transaction, key)
        values = {"seal": seal_text(seal), "key": key}
        transaction.execute(text("UPDATE revisions SET seal = :seal WHERE id = :key"), values)
    for key, data in transaction.execute(text("SELECT id, bytes FROM runs")).all():
        values = {"hash": hashlib.sha256(raw_bytes(data) or b"").hexdigest(), "key": key}
        transaction.execute(text("UPDATE runs SET hash = :hash WHERE id = :key"), values)


def seal_runs(transaction: Transaction) -> None:
    """Version 3: the hash of a run is of all of it, not of its bytes alone.

    A run that is damaged keeps the hash that tells so. The view `expressions` tells model and label
    now; views are made anew anyway.
    """
    runs = text(
        f"SELECT r.id, r.hash, g.hash AS content, {', '.join(f'r.{name}' for name in RUN)}"
        " FROM runs r LEFT JOIN revisions v ON v.id = r.revision"
        " LEFT JOIN graphs g ON g.id = v.graph"
    )
    for row in transaction.execute(runs).mappings().all():
        if hashlib.sha256(raw_bytes(row["bytes"]) or b"").hexdigest() == row["hash"]:
            values = {"hash": run_hash(dict(row), row["content"]), "key": row["id"]}
            transaction.execute(text("UPDATE runs SET hash = :hash WHERE id = :key"), values)


def remove_expressions(transaction: Transaction) -> None:
    """Version 4: the form of an expression is `kept`, `split` or `collected`.

    Expressions are made anew when they are wanted.
    """
    for table in ("expanded_factors", "expanded_terms", "expansions"):
        transaction.exec_driver_sql(f"DELETE FROM {table}")


STEPS: Mapping[int, Step] = {2: seal_revisions, 3: seal_runs, 4: remove_expressions}
"""What makes each version out of the one before it; the first version needs nothing."""


# --- versions ------------------------------------------------------------------------------------


VERSION = 4
"""The version of the tables in `schema.py`."""

APPLICATION = 0x6368666D
"""The mark by which SQLite files of chainform are known (PRAGMA application_id)."""

MARK = "chainform store"
"""The comment on `schema_version` by which tables of chainform are known on a server."""


class OldStoreError(StoreError):
    """A store that must be brought up to date before it can be read."""


FIRST_TABLES = frozenset(schema.metadata.tables)
"""The tables of version 1, which bore no mark on a server."""


def open_database(
    url: str,
    *,
    timeout: float | None = None,
    read_only: bool = False,
    make_later: bool = False,
) -> Connection:
    """Return the connection to a database with the tables of this version; see `Database.open`."""
    connection = open_connection(url, timeout=timeout, read_only=read_only)
    try:
        if make_later:
            prepare_later(connection)
        else:
            prepare(connection)
    except BaseException:
        connection.engine.dispose()
        raise
    return connection


def prepare(
    connection: Connection, version: int = VERSION, steps: Mapping[int, Step] = STEPS
) -> None:
    """See to it that the database has the tables of this version.

    A file or a schema that holds something else is refused and stays as it is.
    """
    with connection.reading() as transaction:
        found = found_version(connection, transaction)
    if found is not None and found > version:
        raise connection.error(
            f"it was written by a newer chainform: its tables have version {found},"
            f" this program knows version {version}",
            "install a newer chainform; nothing was changed",
        )
    if found != version:
        _bring_up_to_date(connection, found, version, steps)
    if connection.is_sqlite and not connection.read_only:
        _use_log(connection)


def prepare_later(connection: Connection) -> None:
    """Put the tables off until something is written, where there is no file yet."""
    if connection.is_new and not connection.read_only:
        connection.stand_in = _empty_store()
        connection.make = lambda: prepare(connection)
    else:
        prepare(connection)


def _empty_store() -> Engine:
    """Return a store in memory that holds nothing, for those who only look."""
    engine = memory_engine()
    with engine.begin() as transaction:
        _create(transaction, VERSION)
    return engine


def _bring_up_to_date(
    connection: Connection, found: int | None, version: int, steps: Mapping[int, Step]
) -> None:
    if connection.read_only and found is None:
        connection.stand_in = _empty_store()
        return
    if connection.read_only:
        _bring_reader_up_to_date(connection, version, steps)
        return
    with connection.writing(alone=True) as transaction:
        # Another process may have been faster.
        found = found_version(connection, transaction)
        if found is None:
            _create(transaction, version)
        elif found < version:
            _upgrade(connection, transaction, found, version, steps)


def _bring_reader_up_to_date(
    connection: Connection, version: int, steps: Mapping[int, Step]
) -> None:
    """Let a reader see tables of this version: in place, or without the right to, in a copy."""
    found = "its tables have an earlier version"
    with closing(connection.again()) as writer:
        if not writer.read_only:
            try:
                prepare(writer, version, steps)
            except StoreError as problem:
                raise OldStoreError(
                    f"{found} and could not be brought up to date: {problem.message}",
                    file=connection.place,
                    remedy=problem.remedy or "open it once as somebody who may write it",
                ) from problem
            return
    if not connection.is_sqlite:
        raise OldStoreError(
            found, file=connection.place, remedy="open it once where it can be written"
        )
    connection.stand_in = _copied(connection, version, steps)


def _copied(connection: Connection, version: int, steps: Mapping[int, Step]) -> Engine:
    """Return a copy in memory of a file that cannot be written, brought up to date there."""
    engine = memory_engine()
    with (
        connection.translated_errors(),
        connection.engine.connect() as source,
        engine.connect() as target,
    ):
        old: Any = source.connection.driver_connection
        old.backup(target.connection.driver_connection)
    prepare(Connection(engine, connection.place), version, steps)
    return engine


def found_version(connection: Connection, transaction: Transaction) -> int | None:
    """Return the version of the tables, None where there are none; refuse what is not ours."""
    tables = set(inspect(transaction).get_table_names())
    is_ours = _is_our_file if connection.is_sqlite else _is_our_schema
    if schema.schema_version.name not in tables:
        # A server's schema may hold other tables; a file belongs to one program.
        if tables & set(schema.metadata.tables) or (
            connection.is_sqlite and _is_taken(transaction)
        ):
            raise _foreign(connection)
        return None
    if not is_ours(transaction, tables):
        raise _foreign(connection)
    found: Any = transaction.execute(select(func.max(schema.schema_version.c.version))).scalar()
    if not isinstance(found, int):
        raise connection.error(
            "the version of its tables is missing: it is damaged, or was changed by hand",
            "take the database from a backup",
        )
    return found


def _is_our_file(transaction: Transaction, _tables: set[str]) -> bool:
    return _application(transaction) == APPLICATION


def _is_our_schema(transaction: Transaction, tables: set[str]) -> bool:
    query = "SELECT obj_description(to_regclass('schema_version')::oid, 'pg_class')"
    if transaction.exec_driver_sql(query).scalar() == MARK:
        return True
    columns = {column["name"] for column in inspect(transaction).get_columns("schema_version")}
    return tables >= FIRST_TABLES and columns == {"version", "applied"}


def _is_taken(transaction: Transaction) -> bool:
    """Tell whether a file without our tables is somebody else's: by what it holds, or its mark."""
    held = transaction.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
    return bool(held) or _application(transaction) not in (0, APPLICATION)


def _foreign(connection: Connection) -> Exception:
    return connection.error(
        "this database belongs to another program",
        "name another one; this one was not touched",
    )


def _application(transaction: Transaction) -> int:
    return transaction.exec_driver_sql("PRAGMA application_id").scalar_one()


def _create(transaction: Transaction, version: int) -> None:
    schema.metadata.create_all(transaction)
    create_views(transaction)
    if transaction.dialect.name == "sqlite":
        transaction.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
    _mark(transaction)
    _stamp(transaction, version)


def _upgrade(
    connection: Connection,
    transaction: Transaction,
    found: int,
    version: int,
    steps: Mapping[int, Step],
) -> None:
    drop_views(transaction)
    for number in range(found + 1, version + 1):
        if number not in steps:
            raise connection.error(f"no step leads from version {number - 1} to version {number}")
        steps[number](transaction)
        _stamp(transaction, number)
    create_views(transaction)
    _mark(transaction)


def _mark(transaction: Transaction) -> None:
    if transaction.dialect.name == "postgresql":
        transaction.exec_driver_sql(f"COMMENT ON TABLE schema_version IS '{MARK}'")


def _stamp(transaction: Transaction, version: int) -> None:
    row = {"version": version, "applied": datetime.now(UTC)}
    transaction.execute(insert(schema.schema_version).values(row))


def _use_log(connection: Connection) -> None:
    """Let readers and one writer work side by side; the file keeps this setting.

    While another process writes in the old way the setting has to wait for the next time.
    """
    with connection.engine.connect() as transaction, suppress(sqlite3.OperationalError):
        driver: Any = transaction.connection.driver_connection
        driver.execute("PRAGMA journal_mode = WAL")
