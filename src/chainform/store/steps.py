"""The steps from one version of the tables to the next, in plain SQL; see the README."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from sqlalchemy import Connection, text

from chainform.store.arguments import raw_bytes
from chainform.store.seals import RUN, run_hash, seal_text, stored_seal

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
