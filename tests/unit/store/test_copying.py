"""Taking models over: all of them or none, and nothing is left of what failed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.errors import StoreError
from chainform.graph import Graph, set_defaults
from chainform.store import Database, Record, copying


@pytest.fixture
def source(tmp_path: Path, graph: Graph) -> Path:
    """A file with three models."""
    path = tmp_path / "source.db"
    with Database.open(str(path)) as database:
        for number, name in enumerate(("arm", "hand", "leg")):
            database.save(set_defaults(graph, {"m_1": Fraction(number)}), Record(name))
    return path


def break_last(path: Path) -> None:
    with Database.open(str(path)) as database:
        database.drop_caches()
        with database.link.writing() as connection:
            connection.exec_driver_sql("DELETE FROM terms WHERE graph = 3")


def test_all_models_come_or_none(url: str, source: Path) -> None:
    break_last(source)
    with cf.open_store(url) as store:
        with pytest.raises(StoreError, match="not those that were saved"):
            store.import_(source)
        assert store.models() == []
        assert store.gc().graphs == 0
        assert [r.reference for r in store.import_(source, ["hand", "arm"])] == ["hand@1", "arm@1"]


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
            cf.open_store(target).close()
        with cf.open_store(target) as store:
            with pytest.raises(StoreError):
                store.import_(source)
            if name == "later.db":
                store.database.save(graph, Record("own"))
        assert target.is_file()


def test_an_interrupted_import(url: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, calls = copying.add_revision, [0]

    def interrupted(*arguments: Any) -> int:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return plain(*arguments)

    monkeypatch.setattr(copying, "add_revision", interrupted)
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
