"""The version of the tables: making them, bringing old ones up to date, refusing newer ones.

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

from sqlalchemy import Connection, Engine, func, insert, inspect, select, text

from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.arguments import raw_bytes
from chainform.store.connection import Link, open_link
from chainform.store.engines import memory_engine
from chainform.store.integrity import RUN, run_hash, seal_text, stored_seal
from chainform.store.views import create_views, drop_views

# --- the steps from one version to the next, in plain SQL ----------------------------------------


Step = Callable[[Connection], None]


def seal_revisions(connection: Connection) -> None:
    """Version 2: seals, notes of mechanisms, whole expressions, objects by key, named runs.

    Expressions are made anew when they are asked for, and compiled objects when they are needed.
    """
    is_sqlite = connection.dialect.name == "sqlite"
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
        connection.exec_driver_sql(statement)
    for key in connection.execute(text("SELECT id FROM revisions")).scalars().all():
        seal, _ = stored_seal(connection, key)
        values = {"seal": seal_text(seal), "key": key}
        connection.execute(text("UPDATE revisions SET seal = :seal WHERE id = :key"), values)
    for key, data in connection.execute(text("SELECT id, bytes FROM runs")).all():
        values = {"hash": hashlib.sha256(raw_bytes(data) or b"").hexdigest(), "key": key}
        connection.execute(text("UPDATE runs SET hash = :hash WHERE id = :key"), values)


def seal_runs(connection: Connection) -> None:
    """Version 3: the hash of a run is of all of it, not of its bytes alone.

    A run that is damaged keeps the hash that tells so. The view `expressions` tells model and label
    now; views are made anew anyway.
    """
    runs = text(
        f"SELECT r.id, r.hash, g.hash AS content, {', '.join(f'r.{name}' for name in RUN)}"
        " FROM runs r LEFT JOIN revisions v ON v.id = r.revision"
        " LEFT JOIN graphs g ON g.id = v.graph"
    )
    for row in connection.execute(runs).mappings().all():
        if hashlib.sha256(raw_bytes(row["bytes"]) or b"").hexdigest() == row["hash"]:
            values = {"hash": run_hash(dict(row), row["content"]), "key": row["id"]}
            connection.execute(text("UPDATE runs SET hash = :hash WHERE id = :key"), values)


STEPS: Mapping[int, Step] = {2: seal_revisions, 3: seal_runs}
"""What makes each version out of the one before it; the first version needs nothing."""


# --- versions ------------------------------------------------------------------------------------


VERSION = 3
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
) -> Link:
    """Return the way to a database with the tables of this version; see `Database.open`."""
    link = open_link(url, timeout=timeout, read_only=read_only)
    try:
        if make_later:
            prepare_later(link)
        else:
            prepare(link)
    except BaseException:
        link.engine.dispose()
        raise
    return link


def prepare(link: Link, version: int = VERSION, steps: Mapping[int, Step] = STEPS) -> None:
    """See to it that the database has the tables of this version.

    A file or a schema that holds something else is refused and stays as it is.
    """
    with link.reading() as connection:
        found = found_version(link, connection)
    if found is not None and found > version:
        raise link.error(
            f"it was written by a newer chainform: its tables have version {found},"
            f" this program knows version {version}",
            "install a newer chainform; nothing was changed",
        )
    if found != version:
        _bring_up_to_date(link, found, version, steps)
    if link.is_sqlite and not link.read_only:
        _use_log(link)


def prepare_later(link: Link) -> None:
    """Put the tables off until something is written, where there is no file yet."""
    if link.is_new and not link.read_only:
        link.stand_in = _empty_store()
        link.make = lambda: prepare(link)
    else:
        prepare(link)


def _empty_store() -> Engine:
    """Return a store in memory that holds nothing, for those who only look."""
    engine = memory_engine()
    with engine.begin() as connection:
        _create(connection, VERSION)
    return engine


def _bring_up_to_date(
    link: Link, found: int | None, version: int, steps: Mapping[int, Step]
) -> None:
    if link.read_only and found is None:
        link.stand_in = _empty_store()
        return
    if link.read_only:
        _bring_reader_up_to_date(link, version, steps)
        return
    with link.writing(alone=True) as connection:
        # Another process may have been faster.
        found = found_version(link, connection)
        if found is None:
            _create(connection, version)
        elif found < version:
            _upgrade(link, connection, found, version, steps)


def _bring_reader_up_to_date(link: Link, version: int, steps: Mapping[int, Step]) -> None:
    """Let a reader see tables of this version: in place, or without the right to, in a copy."""
    found = "its tables have an earlier version"
    with closing(link.again()) as writer:
        if not writer.read_only:
            try:
                prepare(writer, version, steps)
            except StoreError as problem:
                raise OldStoreError(
                    f"{found} and could not be brought up to date: {problem.message}",
                    file=link.place,
                    remedy=problem.remedy or "open it once as somebody who may write it",
                ) from problem
            return
    if not link.is_sqlite:
        raise OldStoreError(found, file=link.place, remedy="open it once where it can be written")
    link.stand_in = _copied(link, version, steps)


def _copied(link: Link, version: int, steps: Mapping[int, Step]) -> Engine:
    """Return a copy in memory of a file that cannot be written, brought up to date there."""
    engine = memory_engine()
    with link.told(), link.engine.connect() as source, engine.connect() as target:
        old: Any = source.connection.driver_connection
        old.backup(target.connection.driver_connection)
    prepare(Link(engine, link.place), version, steps)
    return engine


def found_version(link: Link, connection: Connection) -> int | None:
    """Return the version of the tables, None where there are none; refuse what is not ours."""
    tables = set(inspect(connection).get_table_names())
    is_ours = _is_our_file if link.is_sqlite else _is_our_schema
    if schema.schema_version.name not in tables:
        # A server's schema may hold other tables; a file belongs to one program.
        if tables & set(schema.metadata.tables) or (link.is_sqlite and _is_taken(connection)):
            raise _foreign(link)
        return None
    if not is_ours(connection, tables):
        raise _foreign(link)
    found: Any = connection.execute(select(func.max(schema.schema_version.c.version))).scalar()
    if not isinstance(found, int):
        raise link.error(
            "the version of its tables is missing: it is damaged, or was changed by hand",
            "take the database from a backup",
        )
    return found


def _is_our_file(connection: Connection, _tables: set[str]) -> bool:
    return _application(connection) == APPLICATION


def _is_our_schema(connection: Connection, tables: set[str]) -> bool:
    query = "SELECT obj_description(to_regclass('schema_version')::oid, 'pg_class')"
    if connection.exec_driver_sql(query).scalar() == MARK:
        return True
    columns = {column["name"] for column in inspect(connection).get_columns("schema_version")}
    return tables >= FIRST_TABLES and columns == {"version", "applied"}


def _is_taken(connection: Connection) -> bool:
    """Tell whether a file without our tables is somebody else's: by what it holds, or its mark."""
    held = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
    return bool(held) or _application(connection) not in (0, APPLICATION)


def _foreign(link: Link) -> Exception:
    return link.error(
        "this database belongs to another program",
        "name another one; this one was not touched",
    )


def _application(connection: Connection) -> int:
    return connection.exec_driver_sql("PRAGMA application_id").scalar_one()


def _create(connection: Connection, version: int) -> None:
    schema.metadata.create_all(connection)
    create_views(connection)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
    _mark(connection)
    _stamp(connection, version)


def _upgrade(
    link: Link, connection: Connection, found: int, version: int, steps: Mapping[int, Step]
) -> None:
    drop_views(connection)
    for number in range(found + 1, version + 1):
        if number not in steps:
            raise link.error(f"no step leads from version {number - 1} to version {number}")
        steps[number](connection)
        _stamp(connection, number)
    create_views(connection)
    _mark(connection)


def _mark(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"COMMENT ON TABLE schema_version IS '{MARK}'")


def _stamp(connection: Connection, version: int) -> None:
    row = {"version": version, "applied": datetime.now(UTC)}
    connection.execute(insert(schema.schema_version).values(row))


def _use_log(link: Link) -> None:
    """Let readers and one writer work side by side; the file keeps this setting.

    While another process writes in the old way the setting has to wait for the next time.
    """
    with link.engine.connect() as connection, suppress(sqlite3.OperationalError):
        driver: Any = connection.connection.driver_connection
        driver.execute("PRAGMA journal_mode = WAL")
