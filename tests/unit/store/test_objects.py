"""Compiled objects and runs: kept, found, removed, and swept with what they belong to."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.errors import StoreError
from chainform.graph import Graph, set_defaults
from chainform.store import Database, RevisionRecord


def test_objects_by_key(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    assert database.objects.get("a") is None
    database.objects.put("a", b"one")
    database.objects.put("a", b"two\x00", "arm")
    database.objects.put("b", b"three")
    assert (database.objects.get("a"), database.objects.get("b")) == (b"two\x00", b"three")
    assert database.objects.delete("b")
    assert not database.objects.delete("b")
    for bad in ("text", None, 5):
        with pytest.raises(StoreError, match="expected bytes"):
            database.objects.put("c", bad)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="expected a text"):
        database.objects.get(5)  # type: ignore[arg-type]


def test_objects_go_with_their_graph(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    database.save(set_defaults(graph, {"m_1": Fraction(7)}), RevisionRecord("leg"))
    for key, reference in (("a", "arm"), ("b", "leg"), ("c", None)):
        database.objects.put(key, b"code", reference)
    assert database.gc().objects == 1
    database.delete("arm")
    database.gc()
    assert [database.objects.get(key) for key in "abc"] == [None, b"code", None]


def test_a_damaged_object_is_none(database: Database) -> None:
    database.objects.put("a", b"code")
    with database.connection.writing() as connection:
        connection.exec_driver_sql("UPDATE objects SET bytes = '12'")
    assert database.objects.get("a") is None


COLUMNS: dict[str, Any] = {
    "t": np.linspace(0, 1, 5),
    "q": np.arange(10.0).reshape(5, 2),
    "step": np.arange(5),
    "hit": np.array([True, False]),
    "one": np.float32(2.5),
    "none": np.zeros((0, 3)),
}


def test_runs_come_back(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    database.save(graph, RevisionRecord("arm"))
    run = database.runs.save("arm@1", "swing", COLUMNS, {"h": 0.01}, seconds=2)
    database.runs.save("arm@1", "fall", {})
    assert (run.name, run.revision, run.kind, run.seconds) == ("swing", "arm@1", "simulation", 2.0)
    assert [found.name for found in database.runs.list("arm@1")] == ["swing", "fall"]
    assert database.runs.list("arm@2") == []
    found, known = database.runs.load("arm@1", "swing")
    assert known == run
    assert known.options == {"h": 0.01}
    assert list(found) == list(COLUMNS)
    for name, array in COLUMNS.items():
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)
    database.runs.delete("arm@1", "fall")
    assert [found.name for found in database.runs.list("arm@1")] == ["swing"]
    assert database.check() == []


def test_runs_that_cannot_be(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    database.runs.save("arm", "swing", {})
    cases: dict[str, tuple[Any, ...]] = {
        "already": ("arm", "swing", {}),
        "real numbers": ("arm", "a", {"x": ["a"]}),
        "expected a mapping": ("arm", "a", [1]),
        "not plain data": ("arm", "a", {}, {"x": object()}),
        "cannot be a name": ("arm", "a\n", {}),
        "no model": ("leg", "a", {}),
    }
    for message, arguments in cases.items():
        with pytest.raises(StoreError, match=message):
            database.runs.save(*arguments)
    for task in (database.runs.load, database.runs.delete):
        with pytest.raises(StoreError, match="no such run"):
            task("arm", "fall")


def test_a_damaged_run_is_refused(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    database.runs.save("arm", "swing", {"t": [1.0]})
    with database.connection.writing() as connection:
        connection.exec_driver_sql("UPDATE runs SET bytes = '12'")
    with pytest.raises(StoreError, match=r"damaged|expected bytes"):
        database.runs.load("arm", "swing")


def test_runs_go_along_with_their_model(database: Database, graph: Graph, tmp_path: Path) -> None:
    database.save(graph, RevisionRecord("arm"))
    database.runs.save("arm", "swing", COLUMNS)
    with Database.open(str(tmp_path / "other.db")) as other:
        database.copy("arm", other)
        assert set(other.runs.load("arm", "swing")[0]) == set(COLUMNS)
        other.delete("arm")
        assert other.query("SELECT count(*) AS n FROM runs") == [{"n": 0}]
