"""Machine code in the store, beside the model that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.model import Store
from chainform.runtime import kernel
from unit.runtime.programs import Array, Counted, arm, refuse, same_bits, state_of

pytestmark = pytest.mark.any_processor


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "models.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A store with one model, `arm`."""
    with cf.open_store(path) as opened:
        opened.save(arm(), "arm")
        yield opened


def results(model: cf.Model, **options: Any) -> tuple[Array, Array]:
    """Return results for one state and for a batch, so that all machine code is needed."""
    state = state_of(model, 1, 9)
    function = model.compile(**options).gravity
    return function(state["q"][0]), function(state["q"])


def compare(found: tuple[Array, ...], expected: tuple[Array, ...]) -> None:
    for a, b in zip(found, expected, strict=True):
        same_bits(a, b)


def count(store: Store) -> int:
    return store.database.query("SELECT count(*) AS n FROM objects")[0]["n"]


def test_the_second_time_nothing_is_compiled(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = results(store.load("arm"))
    assert count(store) == 2
    monkeypatch.setattr(kernel, "compiled", refuse)
    compare(results(store.load("arm")), expected)
    compare(results(store.load("arm@1")), expected)
    with cf.open_store(path) as again:
        compare(results(again.load("arm")), expected)
    with cf.open_store(path, read_only=True) as again:
        compare(results(again.load("arm")), expected)
    assert count(store) == 2


def test_other_options_are_kept_apart(store: Store) -> None:
    results(store.load("arm"), lanes=2)
    results(store.load("arm"), lanes=4)
    results(store.load("arm"), precision="float32", lanes=4)
    assert count(store) == 6


def test_bound_models_use_the_code_of_their_origin(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    results(store.load("arm"))
    bound = store.load("arm").bind({"m_1": 7}, keep_free=True)
    store.save(bound, "arm")
    monkeypatch.setattr(kernel, "compiled", refuse)
    compare(results(bound), results(store.load("arm@2")))
    assert count(store) == 2


def test_code_goes_with_its_model(store: Store) -> None:
    loaded = store.load("arm")
    results(loaded)
    store.gc()
    assert count(store) == 2
    store.delete("arm")
    store.gc()
    assert count(store) == 0
    # The model that is still in memory compiles as before, and keeps nothing.
    results(loaded)
    store.gc()
    assert count(store) == 0


EXCHANGE = (
    "UPDATE objects SET bytes = (SELECT bytes FROM objects ORDER BY key LIMIT 1), "
    "hash = (SELECT hash FROM objects ORDER BY key LIMIT 1)"
)
"""The code of one function under the key of another: whole, but not what it is taken for."""


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE objects SET bytes = '12'",
        "UPDATE objects SET bytes = x'00'",
        "UPDATE objects SET hash = 'x'",
        "UPDATE objects SET key = 'x' || key",
        EXCHANGE,
        "DELETE FROM objects",
        "DROP TABLE objects",
    ],
)
def test_damaged_rows_are_compiled_again(
    store: Store, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = results(store.load("arm"))
    loaded = store.load("arm")
    with store.database.connection.writing() as connection:
        connection.exec_driver_sql(change)
    compiler = Counted()
    monkeypatch.setattr(kernel, "compiled", compiler)
    compare(results(loaded), expected)
    assert compiler.calls == (1 if change == EXCHANGE else 2)


def test_code_of_another_user_is_not_loaded(
    store: Store, tmp_path: Path, user_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = results(store.load("arm"))
    compiler = Counted()
    monkeypatch.setattr(kernel, "compiled", compiler)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another user"))
    compare(results(store.load("arm")), expected)
    assert compiler.calls == 2
    compare(results(store.load("arm")), expected)
    assert compiler.calls == 2
    # Nor is it lost: each user has places of their own.
    assert count(store) == 4
    monkeypatch.setattr(kernel, "compiled", refuse)
    monkeypatch.setenv("XDG_DATA_HOME", str(user_data))
    compare(results(store.load("arm")), expected)
    store.delete("arm")
    store.gc()
    assert count(store) == 0


def test_a_store_for_reading_only(store: Store, path: Path) -> None:
    expected = results(arm())
    with cf.open_store(path, read_only=True) as reading:
        compare(results(reading.load("arm")), expected)
        assert count(reading) == 0


def test_a_store_that_was_closed(path: Path, store: Store) -> None:
    with cf.open_store(path) as other:
        loaded = other.load("arm")
    compare(results(loaded), results(arm()))


def test_without_a_key(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(path))
    compare(results(store.load("arm")), results(arm()))
    assert count(store) == 0


def test_in_another_thread(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation in a thread compiles there."""
    program = store.load("arm").compile()
    found: list[Array] = []
    thread = Thread(target=lambda: found.append(program.gravity(np.zeros((9, 2)))))
    thread.start()
    thread.join()
    assert count(store) == 2
    monkeypatch.setattr(kernel, "compiled", refuse)
    same_bits(store.load("arm").compile().gravity(np.zeros((9, 2))), found[0])


def test_objects_of_a_database(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """For models that are not stored; what belongs to none goes at the next sweep."""
    expected = results(arm(), code_cache=store.database.objects)
    assert count(store) == 2
    monkeypatch.setattr(kernel, "compiled", refuse)
    compare(results(arm(), code_cache=store.database.objects), expected)
    store.gc()
    assert count(store) == 0


def test_models_without_a_store_keep_nothing(user_data: Path) -> None:
    results(arm())
    assert not user_data.exists()
