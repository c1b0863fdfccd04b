"""Versions of the tables: made, brought up to date, refused when newer."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, inspect

from chainform import open_store
from chainform.errors import StoreError
from chainform.graph import Graph, graph_text
from chainform.store import Database, ParameterEntry, RevisionRecord, migrations
from chainform.store.connection import open_connection


def test_a_new_database_has_this_version(url: str) -> None:
    for _ in range(2):
        with Database.open(url) as database:
            rows = database.query("SELECT version FROM schema_version")
            assert rows == [{"version": migrations.VERSION}]


def test_a_newer_version_is_refused_and_stays(url: str, graph: Graph) -> None:
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
    set_version(url, "INSERT INTO schema_version VALUES (99, '2024-01-01 00:00:00.000000')")
    for read_only in (False, True):
        with pytest.raises(StoreError, match="newer chainform") as caught:
            Database.open(url, read_only=read_only)
        assert "99" in caught.value.message
        assert caught.value.remedy
    set_version(url, "DELETE FROM schema_version WHERE version = 99")
    with Database.open(url) as database:
        assert graph_text(database.load("arm")[0]) == graph_text(graph)


def set_version(url: str, statement: str) -> None:
    link = open_connection(url, timeout=5, read_only=False)
    with link.writing() as connection:
        connection.exec_driver_sql(statement)
    link.engine.dispose()


NEXT = migrations.VERSION + 1


def add_colour(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE revisions ADD COLUMN colour TEXT")


def test_a_step_to_the_next_version(url: str, graph: Graph) -> None:
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
    link = open_connection(url, timeout=5, read_only=False)
    migrations.prepare(link, NEXT, {NEXT: add_colour})
    with link.reading() as connection:
        assert "colour" in {c["name"] for c in inspect(connection).get_columns("revisions")}
    with Database(link) as database:
        assert graph_text(database.load("arm")[0]) == graph_text(graph)
        rows = database.query("SELECT version FROM schema_version ORDER BY version")
        assert rows == [{"version": migrations.VERSION}, {"version": NEXT}]
        assert len(database.query("SELECT * FROM formulas")) == len(graph)


def test_a_step_that_fails_changes_nothing(url: str, graph: Graph) -> None:
    Database.open(url).close()

    def fail(connection: Connection) -> None:
        add_colour(connection)
        connection.exec_driver_sql("CREATE TABLE half_way (x integer)")
        connection.exec_driver_sql("SELECT * FROM a_table_that_is_missing")

    link = open_connection(url, timeout=5, read_only=False)
    for steps in ({NEXT: fail}, {}):
        with pytest.raises(StoreError, match=r"a_table_that_is_missing|no step"):
            migrations.prepare(link, NEXT, steps)
        with link.reading() as connection:
            assert "half_way" not in inspect(connection).get_table_names()
            assert migrations.found_version(link, connection) == migrations.VERSION
    migrations.prepare(link, NEXT, {NEXT: add_colour})
    link.engine.dispose()


# --- databases that earlier versions made -----------------------------------------------------


def make_old(url: str) -> None:
    """Write the database that the program of version 1 wrote."""
    data = Path(__file__).parent / "data"
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            file.executescript((data / "version_1_sqlite.sql").read_text())
        return
    with psycopg.connect(url) as server:
        server.execute((data / "version_1_postgres.sql").read_bytes())


def tables(url: str) -> dict[str, dict[str, tuple[str, bool]]]:
    """Return the columns of each table: their types, and whether they may be empty."""
    link = open_connection(url, timeout=5, read_only=False)
    with link.reading() as connection:
        look = inspect(connection)
        found = {
            table: {c["name"]: (str(c["type"]), c["nullable"]) for c in look.get_columns(table)}
            for table in look.get_table_names()
        }
    link.engine.dispose()
    return found


def test_version_1_is_brought_up_to_date(url: str, graph: Graph, tmp_path: Path) -> None:
    make_old(url)
    with Database.open(url) as database:
        assert database.check() == []
        assert graph_text(database.load("arm@1")[0]) == graph_text(graph)
        first = database.revision("arm@good")
        assert (first.author, first.note, first.options) == ("Ann", "first\ntry", {"depth": 2})
        assert database.parameters("arm@1")[0] == ParameterEntry(
            "m_1", Fraction(1, 3), "kg", "a note"
        )
        mechanism = database.mechanism_file("arm@1")
        assert mechanism is not None
        assert mechanism.source == b"<robot/>"
        assert [run.name for run in database.runs.list("arm@1")] == ["run 1"]
        assert database.expand("arm@1", "energy")
        assert database.save(graph, RevisionRecord("arm")).content == first.content
        assert database.check() == []
    if url.startswith("sqlite"):
        new = f"sqlite:///{tmp_path / 'new.db'}"
        Database.open(new).close()
        assert tables(url) == tables(new)


def test_version_2_gets_the_new_views(url: str, graph: Graph) -> None:
    """Only views changed: the old one is put back, with the old number."""
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
        database.expand("arm", "gravity")
        with database.connection.writing() as connection:
            for statement in (
                "DROP VIEW expressions",
                "CREATE VIEW expressions AS SELECT graph, number, expression FROM expansion_texts",
                "DELETE FROM schema_version",
                "INSERT INTO schema_version VALUES (2, '2024-01-01 00:00:00.000000')",
            ):
                connection.exec_driver_sql(statement)
    with Database.open(url) as database:
        assert database.query("SELECT * FROM expressions") == []
        database.expand("arm", "gravity")
        found = database.query("SELECT model, revision, label, name FROM expressions")
        rows = {tuple(row.values()) for row in found}
        assert rows >= {("arm", 1, "hG_1", "hG_1"), ("arm", 1, "hG_2", "zero")}
        assert database.check() == []


def test_every_step_is_there() -> None:
    assert set(migrations.STEPS) == set(range(2, migrations.VERSION + 1))


def test_readers_see_version_1(url: str, graph: Graph) -> None:
    make_old(url)
    with Database.open(url, read_only=True) as database:
        assert graph_text(database.load("arm@1")[0]) == graph_text(graph)
        assert database.check() == []


def test_version_1_is_read_where_it_cannot_be_written(
    tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    make_old(f"sqlite:///{path}")
    before = path.read_bytes()
    monkeypatch.setattr("chainform.store.engines._is_writable", lambda _: False)
    with Database.open(str(path)) as database:
        assert graph_text(database.load("arm@1")[0]) == graph_text(graph)
        assert database.check() == []
        with pytest.raises(StoreError, match="reading only"):
            database.save(graph, RevisionRecord("arm"))
    assert path.read_bytes() == before


def test_version_1_is_imported(url: str, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    make_old(f"sqlite:///{old}")
    with open_store(url) as store:
        assert [revision.reference for revision in store.import_(old)] == ["arm@2"]
        assert store.check() == []


def test_a_reader_on_a_server_who_may_not_change_it(postgres_url: str) -> None:
    make_old(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("CREATE ROLE visitor LOGIN")
        server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO visitor")
        try:
            for read_only in (True, False):
                with pytest.raises(StoreError) as caught:
                    Database.open(
                        postgres_url.replace("postgres@", "visitor@"), read_only=read_only
                    )
                assert "may not do this" in str(caught.value)
        finally:
            server.execute("DROP OWNED BY visitor")
            server.execute("DROP ROLE visitor")


def test_views_that_are_built_on_ours(postgres_url: str) -> None:
    make_old(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("CREATE VIEW mine AS SELECT * FROM formulas")
        with pytest.raises(StoreError, match="view mine depends on view formulas") as caught:
            Database.open(postgres_url)
        assert "drop it" in (caught.value.remedy or "")
        server.execute("DROP VIEW mine")
    with Database.open(postgres_url) as database:
        assert database.check() == []


def test_runs_of_version_2_are_sealed(url: str, graph: Graph) -> None:
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
        for name in ("whole", "damaged"):
            database.runs.save("arm", name, {"t": [1.0]})
        for key, data in ((1, b""), (2, b"x")):
            with database.connection.writing() as connection:
                stored = connection.exec_driver_sql(f"SELECT bytes FROM runs WHERE id = {key}")
                old = hashlib.sha256(bytes(stored.scalar_one()) + data).hexdigest()
                connection.exec_driver_sql(f"UPDATE runs SET hash = '{old}' WHERE id = {key}")
        with database.connection.writing() as connection:
            migrations.STEPS[3](connection)
        assert [problem.partition(":")[0] for problem in database.check()] == ["runs 2 (damaged)"]
