"""What can be wrong with a database: each has a clear message, and nothing is lost."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from bombs import MUCH, peak_of, zlib_bomb
from chainform.errors import StoreError
from chainform.graph import Graph, graph_text, set_defaults
from chainform.store import Database, MechanismFile, ParameterEntry, RevisionRecord
from chainform.store.engines import DatabaseFile


@pytest.fixture
def path(tmp_path: Path, graph: Graph) -> Path:
    """A file with one model of one revision."""
    file = tmp_path / "store.db"
    with Database.open(str(file)) as database:
        database.save(graph, RevisionRecord("arm"))
    return file


def refused(url: Path | str, message: str) -> StoreError:
    with pytest.raises(StoreError, match=message) as caught:
        Database.open(str(url))
    assert caught.value.remedy
    assert caught.value.file
    return caught.value


# --- files that are something else -------------------------------------------------------------


def test_text_and_foreign_databases_stay_as_they_are(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but quite long enough\n" * 200)
    foreign = tmp_path / "foreign.db"
    marked = tmp_path / "marked.db"
    for file, table in ((foreign, "customers"), (marked, "schema_version")):
        connection = sqlite3.connect(file)
        connection.execute(f"CREATE TABLE {table} (version integer)")
        connection.commit()
        connection.close()
    for file, message in (
        (text, "not a database of chainform"),
        (foreign, "another program"),
        (marked, "another program"),
    ):
        before = file.read_bytes()
        assert refused(file, message).file == str(file)
        assert file.read_bytes() == before
        assert sorted(tmp_path.glob(f"{file.name}-*")) == []


def test_places_that_cannot_be(tmp_path: Path) -> None:
    refused(tmp_path, "this is a folder")
    refused(tmp_path / "no" / "where.db", "folder does not exist")


def test_an_empty_file_becomes_a_database(tmp_path: Path, graph: Graph) -> None:
    file = tmp_path / "empty.db"
    file.touch()
    with Database.open(str(file)) as database:
        assert database.save(graph, RevisionRecord("arm")).number == 1


# --- damage ------------------------------------------------------------------------------------


def cut_short(data: bytes) -> bytes:
    return data[: len(data) // 2]


def overwritten(data: bytes) -> bytes:
    middle = len(data) // 8
    return data[:middle] + b"\xa5" * (len(data) - 2 * middle) + data[-middle:]


def without_beginning(data: bytes) -> bytes:
    return b"\x00" * 4096 + data[4096:]


@pytest.mark.parametrize("damage", [cut_short, overwritten, without_beginning])
def test_damaged_files(path: Path, damage: Callable[[bytes], bytes]) -> None:
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"damaged|not a database|another program") as caught:
        read_everything(path)
    assert caught.value.remedy
    assert path.read_bytes() == before


def read_everything(path: Path) -> None:
    with Database.open(str(path)) as database:
        database.load("arm")
        problems = database.check()
        raise StoreError(f"damaged: {problems[0]}", remedy="none")


# --- what stands in the way --------------------------------------------------------------------


def test_full_disk(path: Path, graph: Graph) -> None:
    with Database.open(str(path)) as database:
        with database.connection.engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 1}")
        notes = "x" * 100_000
        with pytest.raises(StoreError, match="disk is full") as caught:
            database.save(graph, RevisionRecord("arm", note=notes))
        assert caught.value.file == str(path)
        assert [r.number for r in database.log("arm")] == [1]
        assert graph_text(database.load("arm")[0]) == graph_text(graph)
    with Database.open(str(path)) as database:
        assert database.save(graph, RevisionRecord("arm", note=notes)).number == 2
        assert database.check() == []


def test_locked(path: Path, graph: Graph) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Database.open(str(path), timeout=0.1) as database:
        with pytest.raises(StoreError, match="another process holds"):
            database.save(graph, RevisionRecord("arm"))
        assert graph_text(database.load("arm")[0]) == graph_text(graph)
        other.execute("ROLLBACK")
        other.close()
        assert database.save(graph, RevisionRecord("arm")).number == 2


def test_locked_on_a_server(postgres_url: str, graph: Graph) -> None:
    with Database.open(postgres_url, timeout=0.2) as database:
        database.save(graph, RevisionRecord("arm"))
        with Database.open(postgres_url) as other, other.connection.writing() as connection:
            connection.exec_driver_sql("LOCK TABLE models IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreError, match="another process holds"):
                database.save(graph, RevisionRecord("arm"))
        assert database.save(graph, RevisionRecord("arm")).number == 2


def test_open_for_reading(url: str, graph: Graph) -> None:
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
    with Database.open(url, read_only=True) as database:
        assert graph_text(database.load("arm")[0]) == graph_text(graph)
        assert set(database.evaluate("arm", {"q1": 1.0, "q2": 2.0})) == {"gravity", "energy"}
        assert database.expand("arm", "energy")
        with pytest.raises(StoreError, match="reading only"):
            database.save(graph, RevisionRecord("arm"))
        with pytest.raises(StoreError):
            database.query("DELETE FROM tags")


@contextmanager
def ordinary_user() -> Generator[None]:
    """Run without the rights of root, for whom no file is read-only."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_read_only_file(path: Path, graph: Graph, folder_mode: int) -> None:
    folder = Path(tempfile.mkdtemp())
    file = folder / "store.db"
    shutil.copy(path, file)
    file.chmod(0o444)
    folder.chmod(folder_mode)
    try:
        with ordinary_user(), Database.open(str(file)) as database:
            assert graph_text(database.load("arm")[0]) == graph_text(graph)
            with pytest.raises(StoreError, match="reading only") as caught:
                database.save(graph, RevisionRecord("arm"))
            assert caught.value.file == str(file)
        if folder_mode == 0o555:
            with ordinary_user():
                refused(folder / "new.db", "cannot be opened")
    finally:
        folder.chmod(0o777)
        shutil.rmtree(folder)


@contextmanager
def shared_folder(path: Path) -> Generator[Path]:
    """Give a copy of a store that others may read and only its owner may write."""
    folder = Path(tempfile.mkdtemp())
    file = folder / "store.db"
    shutil.copy(path, file)
    file.chmod(0o644)
    folder.chmod(0o755)
    try:
        yield file
    finally:
        shutil.rmtree(folder)


def test_a_reader_without_rights_sees_what_the_owner_writes(path: Path, graph: Graph) -> None:
    other = set_defaults(graph, {"m_1": Fraction(9)})
    with shared_folder(path) as file, ordinary_user(), Database.open(str(file)) as reader:
        assert [entry.name for entry in reader.models()] == ["arm"]
        with owner(), Database.open(str(file)) as writer:
            writer.save(other, RevisionRecord("hand"))
            with ordinary_user():
                assert [entry.name for entry in reader.models()] == ["arm", "hand"]
        with owner(), Database.open(str(file)) as writer:
            writer.delete("arm")
            writer.gc()
            writer.save(other, RevisionRecord("arm"))
        assert graph_text(reader.load("arm")[0]) == graph_text(other)
        assert reader.check() == []
        with Database.open(str(file)) as second:
            assert graph_text(second.load("arm")[0]) == graph_text(other)


def test_a_file_that_changes_while_it_is_read(path: Path, graph: Graph) -> None:
    """Without the right to hold it still the reader is told, and asks again."""
    with shared_folder(path) as file, ordinary_user(), Database.open(str(file)) as reader:
        reader.models()
        with (
            pytest.raises(StoreError, match="changed by another process while"),
            reader.connection.reading(),
            owner(),
            Database.open(str(file)) as writer,
        ):
            writer.save(graph, RevisionRecord("arm"))
        assert len(reader.log("arm")) == 2


@contextmanager
def owner() -> Generator[None]:
    """Have the rights of root back for a moment, if they were put aside."""
    user = os.geteuid()
    os.seteuid(os.getuid())
    try:
        yield
    finally:
        os.seteuid(user)


def test_reading_on_a_full_disk(path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that SQLite makes beside one with a log does not fit; without it one can read."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setattr(DatabaseFile, "is_full", lambda _: True)
    # Python 3.11 does not see that bytecode was cut off.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        for read_only in (True, False):
            with Database.open(str(path), read_only=read_only) as database:
                assert graph_text(database.load("arm")[0]) == graph_text(graph)
                assert database.evaluate("arm", {"q1": 1.0, "q2": 2.0})
                assert database.expand("arm", "energy")
        with Database.open(str(path)) as database:
            with pytest.raises(StoreError, match="disk is full"):
                database.save(graph, RevisionRecord("arm"))
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            monkeypatch.undo()
            assert database.save(graph, RevisionRecord("arm")).number == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_an_empty_database_for_reading(tmp_path: Path) -> None:
    file = tmp_path / "empty.db"
    file.touch()
    with Database.open(str(file), read_only=True) as database:
        assert database.models() == []
    assert file.stat().st_size == 0


# --- servers -----------------------------------------------------------------------------------


def test_servers_that_do_not_answer(postgres: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    error = refused(f"postgresql://ann:secret@127.0.0.1:{port}/models", "cannot be reached")
    assert "secret" not in str(error)
    assert "ann" in str(error)
    refused(f"{postgres}/nowhere", "cannot be reached|no such database")
    assert "secret" not in str(refused("mysql://ann:secret@host/db", "no store in mysql"))


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refused("postgresql://ann:secret@127.0.0.1/models", "driver of PostgreSQL")
    assert "chainform[postgres]" in str(error)
    assert "secret" not in str(error)


def test_a_foreign_schema_on_a_server(postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE customers (id integer)")
    Database.open(postgres_url).close()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DROP TABLE schema_version")
    refused(postgres_url, "another program")


def test_an_address_that_is_none() -> None:
    with pytest.raises(StoreError, match="cannot be understood"):
        Database.open("://")


# --- values are bound --------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["a'; DROP TABLE models; --", 'q"x', "%s", "50% :name", "ä\\"])
def test_words_are_values(database: Database, graph: Graph, word: str) -> None:
    saved = database.save(graph, RevisionRecord(word, author=word, note=word))
    assert database.load(word)[1] == saved
    assert [entry.name for entry in database.models(word, author=word)] == [word]
    assert database.models(mechanism=word) == database.models(quantity=word) == []
    with pytest.raises(StoreError):
        database.formula(word, word)
    database.rename(word, f"{word}2")
    assert database.delete(f"{word}2") == 1


@pytest.mark.parametrize("word", ["a\x00b", "a\udc80b"])
def test_texts_that_cannot_be_stored(database: Database, graph: Graph, word: str) -> None:
    mechanism = MechanismFile("arm", file_name=word)
    for record in (
        RevisionRecord("arm", note=word),
        RevisionRecord("arm", mechanism=mechanism),
        RevisionRecord("arm", parameters=(ParameterEntry("m", unit=word),)),
    ):
        with pytest.raises(StoreError, match="cannot be stored"):
            database.save(graph, record)
    assert database.models() == []


def test_a_failed_save_leaves_nothing(
    database: Database, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.save(graph, RevisionRecord("arm"))
    other = set_defaults(graph, {"m_1": Fraction(9)})

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("chainform.store.graphs.operation_rows", fail)
        with pytest.raises(KeyboardInterrupt):
            database.save(other, RevisionRecord("new"))
    assert [entry.name for entry in database.models()] == ["arm"]
    assert database.query("SELECT count(*) AS n FROM graphs") == [{"n": 1}]
    assert database.query("SELECT count(DISTINCT graph) AS n FROM factors") == [{"n": 1}]
    assert database.save(other, RevisionRecord("new")).number == 1


@pytest.mark.slow
def test_a_short_cache_does_not_fill_the_memory(path: Path, graph: Graph) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE caches SET bytes = ?", (zlib_bomb(),))
    connection.close()

    def task() -> None:
        with Database.open(str(path)) as database:
            assert graph_text(database.load("arm")[0]) == graph_text(graph)
            database.check()

    assert peak_of(task) < MUCH
