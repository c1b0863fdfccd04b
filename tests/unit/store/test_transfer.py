"""Taking models over: all of them or none, and nothing is left of what failed."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.errors import StoreError
from chainform.graph import Graph, set_defaults
from chainform.store import Database, RevisionRecord, transfer


@pytest.fixture
def source(tmp_path: Path, graph: Graph) -> Path:
    """A file with three models."""
    path = tmp_path / "source.db"
    with Database.open(str(path)) as database:
        for number, name in enumerate(("arm", "hand", "leg")):
            database.save(set_defaults(graph, {"m_1": Fraction(number)}), RevisionRecord(name))
    return path


def break_last(path: Path) -> None:
    with Database.open(str(path)) as database:
        database.drop_caches()
        with database.connection.writing() as connection:
            connection.exec_driver_sql("DELETE FROM terms WHERE graph = 3")


def test_all_models_come_or_none(url: str, source: Path) -> None:
    break_last(source)
    with cf.open_store(url) as store:
        with pytest.raises(StoreError, match="not those that were saved"):
            store.import_(source)
        assert store.models() == []
        assert store.gc().graphs == 0
        assert [r.reference for r in store.import_(source, ["hand", "arm"])] == ["hand@1", "arm@1"]


def test_a_damaged_model_does_not_hold_others_back(source: Path, tmp_path: Path) -> None:
    with Database.open(str(source)) as database, database.connection.writing() as connection:
        connection.exec_driver_sql("UPDATE revisions SET options = '{]' WHERE id = 3")
    goal = tmp_path / "goal.db"
    with cf.open_store(source) as store:
        assert store.export(goal, ["arm", "hand"]) == ["arm", "hand"]
        with pytest.raises(StoreError, match="damaged"):
            store.export(tmp_path / "all.db")
    with cf.open_store(tmp_path / "new.db") as store:
        assert [revision.name for revision in store.import_(goal)] == ["arm", "hand"]
        assert store.check() == []


def test_a_failed_import_leaves_no_file(source: Path, tmp_path: Path) -> None:
    break_last(source)
    target = tmp_path / "new.db"
    with cf.open_store(target) as store, pytest.raises(StoreError):
        store.import_(source)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["source.db"]
    for names in (["nothing"], None):
        with cf.open_store(target) as store, pytest.raises(StoreError):
            store.import_(source if names else tmp_path / "missing.db", names)
        assert not target.exists()


def test_a_store_with_anything_in_it_stays(source: Path, tmp_path: Path, graph: Graph) -> None:
    break_last(source)
    for name in ("later.db", "earlier.db"):
        target = tmp_path / name
        if name == "earlier.db":
            Database.open(str(target)).close()
        with cf.open_store(target) as store:
            with pytest.raises(StoreError):
                store.import_(source)
            if name == "later.db":
                store.database.save(graph, RevisionRecord("own"))
        assert target.is_file()


def test_an_interrupted_import(url: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, calls = transfer.add_revision, [0]

    def interrupted(*arguments: Any) -> int:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return plain(*arguments)

    monkeypatch.setattr(transfer, "add_revision", interrupted)
    with cf.open_store(url) as store:
        with pytest.raises(KeyboardInterrupt):
            store.import_(source)
        assert store.models() == []


def test_notes_come_back(url: str, tmp_path: Path) -> None:
    text = """
format = "native"
name = "bent"
[[segments]]
name = "rod"
joint = { type = "revolute", axis = [0, 0, 1] }
rotation = [
    [0.8253356149096783, -0.5646424733950354, 0],
    [0.5646424733950354, 0.8253356149096783, 0],
    [0, 0, 1],
]
mass = 1
com = [1, 0, 0]
"""
    path = tmp_path / "folder" / "bent.toml"
    path.parent.mkdir()
    path.write_text(text)
    model = cf.derive(path, ["gravity"])
    assert any("rational" in note.text or "rotation" in note.text for note in model.mechanism.notes)
    with cf.open_store(url) as store:
        store.save(model, "bent")
        again = store.load("bent").mechanism
        assert again.notes == model.mechanism.notes
        # Of the file its name and its bytes are kept; the folder tells about a machine.
        assert (again.file, again.source) == ("bent.toml", path.read_bytes())
        assert store.check() == []


# --- files that come or change while one is written ---------------------------------------------


def meanwhile(monkeypatch: pytest.MonkeyPatch, task: Callable[[], object]) -> None:
    """Have another process do something while a file is written."""
    plain = transfer.copy_models

    def copy(*arguments: Any) -> Any:
        found = plain(*arguments)
        task()
        return found

    monkeypatch.setattr(transfer, "copy_models", copy)


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_comes_meanwhile_stays(
    source: Path, tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    goal = tmp_path / "goal.db"

    def save() -> None:
        with Database.open(str(goal)) as other:
            other.save(graph, RevisionRecord("precious"))

    meanwhile(monkeypatch, save)
    for has_links in (True, False):
        goal.unlink(missing_ok=True)
        if not has_links:
            monkeypatch.setattr(os, "link", refuse)
        with cf.open_store(source) as store, pytest.raises(StoreError):
            store.export(goal, force=force)
        with Database.open(str(goal)) as other:
            assert [entry.name for entry in other.models()] == ["precious"]
    assert sorted(item.name for item in tmp_path.iterdir()) == ["goal.db", "source.db"]


def refuse(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_a_disk_without_links(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", refuse)
    with cf.open_store(source) as store:
        store.export(tmp_path / "goal.db")
    with Database.open(str(tmp_path / "goal.db")) as other:
        assert len(other.models()) == 3
        assert other.check() == []


@pytest.mark.parametrize("is_open", [False, True])
def test_a_file_that_is_used_meanwhile_stays(
    source: Path, tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    goal = tmp_path / "goal.db"
    with Database.open(str(goal)) as other:
        other.save(graph, RevisionRecord("precious"))
    opened: list[Database] = []

    def save() -> None:
        other = Database.open(str(goal))
        other.save(graph, RevisionRecord("precious"))
        opened.append(other)
        if not is_open:
            other.close()

    with monkeypatch.context() as patch:
        meanwhile(patch, save)
        with cf.open_store(source) as store, pytest.raises(StoreError) as caught:
            store.export(goal, force=True)
    assert ("replaced now" if is_open else "changed meanwhile") in str(caught.value)
    opened[0].close()
    with Database.open(str(goal)) as other:
        assert len(other.log("precious")) == 2
    with cf.open_store(source) as store:
        store.export(goal, force=True)
    with Database.open(str(goal)) as other:
        assert [entry.name for entry in other.models()] == ["arm", "hand", "leg"]
        assert other.check() == []


def test_what_is_left_of_an_earlier_file_is_not_read(source: Path, tmp_path: Path) -> None:
    goal = tmp_path / "goal.db"
    for ending in ("-wal", "-shm", "-journal"):
        Path(f"{goal}{ending}").write_bytes(b"old" * 20_000)
    with cf.open_store(source) as store:
        store.export(goal)
    with Database.open(str(goal)) as other:
        assert len(other.models()) == 3
