"""Opening: whose a database is, where its log lies, how long to wait, and what is not shown."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import chainform as cf
from chainform.errors import StoreError
from chainform.graph import Graph
from chainform.model import Store, open_store_file
from chainform.store import Database, RevisionRecord
from chainform.store.driver_errors import trouble
from chainform.store.engines import database_file, parse_address

# --- whose it is --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW totals AS SELECT 1 AS x",
        "PRAGMA application_id = 252006673",
        "CREATE TABLE customers (id integer)",
    ],
)
def test_files_of_other_programs_are_not_taken(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript(f"{statement}; VACUUM")
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="another program"):
            Database.open(str(path), read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "columns", ["version text", "version integer", "version integer, applied timestamptz", "x text"]
)
def test_tables_of_other_programs_are_not_taken(postgres_url: str, columns: str) -> None:
    with psycopg.connect(postgres_url) as server:
        server.execute(sql.SQL("CREATE TABLE schema_version ({})").format(sql.SQL(columns)))  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="another program"):
        Database.open(postgres_url)
    with psycopg.connect(postgres_url) as server:
        found = server.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert found.fetchone() == (1,)


def test_a_version_that_is_missing(url: str) -> None:
    with Database.open(url) as database, database.connection.writing() as connection:
        connection.exec_driver_sql("DELETE FROM schema_version")
    with pytest.raises(StoreError, match="version of its tables is missing"):
        Database.open(url)


# --- where it is --------------------------------------------------------------------------------


def test_the_log_lies_beside_the_file_itself(tmp_path: Path, graph: Graph) -> None:
    """A link in another folder must not hide what another process has just written."""
    real, links = tmp_path / "real", tmp_path / "links"
    real.mkdir()
    links.mkdir()
    path, link = real / "store.db", links / "store.db"
    link.symlink_to(path)
    with Database.open(str(path)) as writer:
        writer.save(graph, RevisionRecord("arm"))
        assert (real / "store.db-wal").stat().st_size > 0
        links.chmod(0o555)
        path.chmod(0o444)
        try:
            assert str(real) in database_file(str(link), read_only=True).uri()
            with Database.open(str(link), read_only=True) as reader:
                assert [entry.name for entry in reader.models()] == ["arm"]
        finally:
            links.chmod(0o755)


def test_reading_leaves_nothing_behind(tmp_path: Path, graph: Graph) -> None:
    path = tmp_path / "store.db"
    with Database.open(str(path)) as database:
        database.save(graph, RevisionRecord("arm"))
    before = path.read_bytes()
    with Database.open(str(path), read_only=True) as database:
        database.load("arm")
        database.evaluate("arm", {"q1": 0.1, "q2": 0.2})
        with (
            database.connection.engine.connect() as connection,
            pytest.raises(Exception, match="auth"),
        ):
            connection.exec_driver_sql("DELETE FROM tags")
    assert [item.name for item in tmp_path.iterdir()] == ["store.db"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "a\x00b"])
def test_names_that_no_file_has(tmp_path: Path, name: str) -> None:
    for task in (cf.open_store, open_store_file):
        with pytest.raises(StoreError) as caught:
            task(str(tmp_path / name))
        assert caught.value.remedy


def test_folders_that_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise PermissionError(13, "Permission denied")

    with Database.open(str(tmp_path / "own.db")) as database:
        monkeypatch.setattr(Path, "stat", refuse)
        monkeypatch.setattr(os, "stat", refuse)
        path = str(tmp_path / "closed" / "store.db")
        for task in (cf.open_store, open_store_file):
            with pytest.raises(StoreError, match="Permission denied"):
                task(path)
        with pytest.raises(StoreError, match="Permission denied"):
            Store(database).export(path)
        monkeypatch.undo()


@pytest.mark.parametrize("wrong", [5, b"store.db", ["store.db"], object()])
def test_what_is_no_place(wrong: Any) -> None:
    with pytest.raises(StoreError, match="expected a text"):
        cf.open_store(wrong)


# --- addresses -----------------------------------------------------------------------------------


def test_a_file_may_have_marks_in_its_name(tmp_path: Path) -> None:
    """An @ belongs to no password there."""
    with Database.open(f"sqlite:///{tmp_path}/ann@home@night.db") as database:
        assert database.models() == []
    assert (tmp_path / "ann@home@night.db").exists()


@pytest.mark.parametrize(
    "url", ["postgresql://u@h:abc/db", "postgresql://[::1/db", "://", "sqlite:///x?mode=ro"]
)
def test_addresses_that_cannot_be_understood(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        Database.open(url)
    assert caught.value.remedy


def test_passwords_are_not_shown(postgres: str) -> None:
    port = postgres.rpartition(":")[2]
    for url in (
        "postgresql://ann:se%40cret@127.0.0.1:1/db?password=se%40cret&sslpassword=se%40cret",
        f"postgresql://127.0.0.1:{port}/nowhere?user=postgres&password=se%40cret",
        "postgresql://127.0.0.1/db?password=se%40cret&nonsense=1",
        "mysql://127.0.0.1/db?password=se%40cret",
        "postgresql://ann:se@cret@127.0.0.1:1/db",
        "postgresql://ann:s@e/cret@127.0.0.1:1/db",
    ):
        with pytest.raises(StoreError) as caught:
            Database.open(url, timeout=2)
        assert "cret" not in str(caught.value)
        assert "***" in str(caught.value) or "%40" in str(caught.value)


def test_missing_databases_and_users_are_named(postgres: str) -> None:
    with pytest.raises(StoreError, match=r"no such database(.|\n)*createdb"):
        Database.open(f"{postgres}/nowhere")
    stranger = postgres.replace("postgres@", "stranger@")
    with pytest.raises(StoreError, match=r"does not know the user(.|\n)*createuser"):
        Database.open(f"{stranger}/postgres")


def test_the_timeout_can_be_set(tmp_path: Path, graph: Graph) -> None:
    path = tmp_path / "store.db"
    Database.open(str(path)).close()
    assert parse_address(str(path), None).timeout == 30
    assert parse_address("postgresql://h/db?timeout=2.5", None).timeout == 2.5
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for url, timeout in ((f"sqlite:///{path}?timeout=0.1", None), (str(path), 0.1)):
            with cf.open_store(url, timeout=timeout) as store:
                start = time.monotonic()
                with pytest.raises(StoreError, match="another process holds"):
                    store.database.save(graph, RevisionRecord("arm"))
                assert time.monotonic() - start < 10
    for wrong in ("?timeout=soon", "?timeout=-1", "?timeout=nan"):
        with pytest.raises(StoreError, match="seconds"):
            Database.open(f"sqlite:///{path}{wrong}")


# --- several at once -----------------------------------------------------------------------------


def test_expansions_at_once(url: str, graph: Graph) -> None:
    """Clients that expand the same quantity wait for one another, and store it once."""
    Database.open(url).close()
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
    texts: list[dict[str, str]] = []
    problems: list[BaseException] = []
    gate = threading.Barrier(4)

    def expand() -> None:
        try:
            with Database.open(url) as own:
                gate.wait()
                texts.extend(own.expand("arm", name) for name in ("gravity", "energy", "e_1"))
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    threads = [threading.Thread(target=expand) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(texts) == 12
    with Database.open(url) as database:
        assert database.check() == []


@pytest.mark.parametrize(
    "setting",
    [
        "datestyle = 'German'",
        "extra_float_digits = -5",
        "timezone = 'Asia/Kathmandu'",
        "client_encoding = 'LATIN1'",
        "standard_conforming_strings = off",
    ],
)
def test_settings_of_a_server_do_not_matter(postgres_url: str, graph: Graph, setting: str) -> None:
    name = postgres_url.rpartition("/")[2]
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"ALTER DATABASE {name} SET {setting}".encode())
    with Database.open(postgres_url) as database:
        saved = database.save(graph, RevisionRecord("arm", note="\u2192 \\x"))
        assert database.revision("arm") == saved
        assert saved.created.utcoffset() == timedelta(0)
        assert database.expand("arm", "energy")
        assert database.check() == []


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_encodings_of_a_server(postgres: str, graph: Graph, encoding: str) -> None:
    with psycopg.connect(f"{postgres}/postgres", autocommit=True) as server:
        options = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        server.execute(f"CREATE DATABASE encoded {options}".encode())
        try:
            with Database.open(f"{postgres}/encoded") as database:
                assert database.save(graph, RevisionRecord("arm", note="\u00fc")).note == "\u00fc"
                assert database.check() == []
                if encoding == "LATIN1":
                    with pytest.raises(StoreError, match=r"encoding of the database(.|\n)*UTF8"):
                        database.save(graph, RevisionRecord("arm", note="\u2192"))
        finally:
            server.execute("DROP DATABASE encoded WITH (FORCE)")


def test_a_statement_that_the_server_stops(postgres_url: str) -> None:
    sleep = "SET LOCAL statement_timeout = 10; SELECT pg_sleep(5)"
    with (
        Database.open(postgres_url) as database,
        pytest.raises(StoreError, match="longer than the server allows"),
        database.connection.writing() as connection,
    ):
        connection.exec_driver_sql(sleep)


def test_a_server_whose_transactions_see_one_state(postgres_url: str, graph: Graph) -> None:
    name = postgres_url.rpartition("/")[2]
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_isolation = serializable").format(
                sql.Identifier(name)
            )
        )
    with Database.open(postgres_url) as one, Database.open(postgres_url) as other:
        one.save(graph, RevisionRecord("arm"))
        assert other.expand("arm", "energy") == one.expand("arm", "energy")
        with one.connection.writing() as connection:
            level = connection.exec_driver_sql("SHOW transaction_isolation").scalar()
            assert level == "read committed"


# --- looking, and closing ------------------------------------------------------------------------


def test_looking_makes_no_file(tmp_path: Path, graph: Graph) -> None:
    path = tmp_path / "models.db"
    with cf.open_store(path) as store, cf.open_store(path) as other:
        assert store.models() == []
        assert store.check() == []
        with pytest.raises(StoreError, match="no model arm"):
            store.load("arm")
        assert list(tmp_path.iterdir()) == []
        other.database.save(graph, RevisionRecord("arm"))
        assert [entry.name for entry in store.models()] == ["arm"]
        assert store.database.save(graph, RevisionRecord("arm")).number == 2


def test_an_empty_database_has_no_models(url: str, tmp_path: Path) -> None:
    if url.startswith("sqlite"):
        (tmp_path / "store.db").touch()
    with Database.open(url, read_only=True) as database:
        assert database.models() == []
        with pytest.raises(StoreError, match="there is no model arm"):
            database.evaluate("arm", {})
        with pytest.raises(StoreError, match="reading only"):
            database.gc()


def test_a_closed_store_says_so(url: str, graph: Graph) -> None:
    store = cf.open_store(url)
    store.database.save(graph, RevisionRecord("arm"))
    store.close()
    for task in (store.models, store.gc, store.check, lambda: store.log("arm")):
        with pytest.raises(StoreError, match="the store is closed") as caught:
            task()
        assert caught.value.remedy
    store.close()


class OperationalError(Exception):
    """What a driver raises where a server lets nobody in: words, and no code."""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ('FATAL: database "arms" does not exist', "there is no such database on the server"),
        ('FATAL: role "ann" does not exist', "the server does not know the user"),
        ("fe_sendauth: no password supplied", "the server wants a password"),
        ('password authentication failed for user "ann"', "the server refuses the password"),
        ("connection refused", "the server cannot be reached: connection refused"),
    ],
)
def test_why_a_server_lets_nobody_in(words: str, message: str) -> None:
    assert trouble(OperationalError(words), "arms").message == message


def test_only_files_may_have_several_at_signs(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the address has more than one @"):
        Database.open("postgresql://ann:se@cret@127.0.0.1:1/db")
    with Database.open(f"sqlite:///{tmp_path / 'a@b@c.db'}") as opened:
        assert not opened.models()
