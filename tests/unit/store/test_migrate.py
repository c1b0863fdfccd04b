"""Versions of the tables: made, brought up to date, refused when newer."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, inspect

from chainform.errors import StoreError
from chainform.graph import Graph, graph_text
from chainform.store import Database, Record, migrate
from chainform.store.link import open_link


def test_a_new_database_has_this_version(url: str) -> None:
    for _ in range(2):
        with Database.open(url) as database:
            rows = database.query("SELECT version FROM schema_version")
            assert rows == [{"version": migrate.VERSION}]


def test_a_newer_version_is_refused_and_stays(url: str, graph: Graph) -> None:
    with Database.open(url) as database:
        database.save(graph, Record("arm"))
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
    link = open_link(url, timeout=5, read_only=False)
    with link.writing() as connection:
        connection.exec_driver_sql(statement)
    link.engine.dispose()


def make_version_0(url: str, graph: Graph) -> None:
    """Make a database as an earlier program would have: revisions had no note."""
    with Database.open(url) as database:
        database.save(graph, Record("arm"))
    link = open_link(url, timeout=5, read_only=False)
    with link.writing() as connection:
        migrate.drop_views(connection)
        connection.exec_driver_sql("ALTER TABLE revisions DROP COLUMN note")
        connection.exec_driver_sql("UPDATE schema_version SET version = 0")
    link.engine.dispose()


def add_note(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE revisions ADD COLUMN note TEXT NOT NULL DEFAULT ''")


def test_an_old_database_is_brought_up_to_date(url: str, graph: Graph) -> None:
    make_version_0(url, graph)
    read_only = open_link(url, timeout=5, read_only=True)
    with pytest.raises(StoreError, match="old version 0"):
        migrate.prepare(read_only)
    read_only.engine.dispose()
    link = open_link(url, timeout=5, read_only=False)
    migrate.prepare(link, 1, {1: add_note})
    with link.reading() as connection:
        assert "note" in {c["name"] for c in inspect(connection).get_columns("revisions")}
    with Database(link) as database:
        assert graph_text(database.load("arm")[0]) == graph_text(graph)
        rows = database.query("SELECT version FROM schema_version ORDER BY version")
        assert rows == [{"version": 0}, {"version": 1}]
        assert len(database.query("SELECT * FROM formulas")) == len(graph)
    Database.open(url).close()


def test_a_step_that_fails_changes_nothing(url: str, graph: Graph) -> None:
    make_version_0(url, graph)

    def fail(connection: Connection) -> None:
        add_note(connection)
        connection.exec_driver_sql("CREATE TABLE half_way (x integer)")
        connection.exec_driver_sql("SELECT * FROM a_table_that_is_missing")

    link = open_link(url, timeout=5, read_only=False)
    for steps in ({1: fail}, {}):
        with pytest.raises(StoreError, match=r"a_table_that_is_missing|no step"):
            migrate.prepare(link, 1, steps)
        with link.reading() as connection:
            assert "half_way" not in inspect(connection).get_table_names()
            assert migrate.found_version(link, connection) == 0
    migrate.prepare(link, 1, {1: add_note})
    link.engine.dispose()


def test_every_step_is_there() -> None:
    assert set(migrate.STEPS) == set(range(2, migrate.VERSION + 1))
