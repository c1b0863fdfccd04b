"""Exports that would destroy something are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import chainform as cf

FOUR_BAR = Path(__file__).parents[3] / "examples" / "four_bar.toml"


@pytest.fixture
def model() -> cf.Model:
    return cf.derive(FOUR_BAR, ["gravity", "kinetic_energy"])


def test_a_store_is_not_exported_onto_itself(model: cf.Model, tmp_path: Path) -> None:
    path = tmp_path / "own.db"
    with cf.open_store(path) as store:
        store.save(model, "one")
        store.save(model, "two")
        (tmp_path / "link.db").symlink_to(path)
        for target in (path, tmp_path / "link.db"):
            with pytest.raises(cf.Error, match="the store itself"):
                store.export(target, ["one"], force=True)
        assert len(store.models()) == 2


def test_only_a_store_is_replaced(model: cf.Model, tmp_path: Path) -> None:
    precious = tmp_path / "precious.toml"
    precious.write_text("a = 1")
    with cf.open_store(tmp_path / "own.db") as store:
        store.save(model, "one")
        with pytest.raises(cf.Error):
            store.export(precious, force=True)
        assert precious.read_text() == "a = 1"


def test_a_store_in_use_is_not_replaced(model: cf.Model, tmp_path: Path) -> None:
    target = tmp_path / "live.db"
    with cf.open_store(tmp_path / "own.db") as store, cf.open_store(target) as live:
        store.save(model, "one")
        live.save(model, "kept")
        with pytest.raises(cf.Error, match="cannot be replaced now"):
            store.export(target, force=True)
        assert [entry.name for entry in live.models()] == ["kept"]
    with cf.open_store(tmp_path / "own.db") as store:
        store.export(target, force=True)
    with cf.open_store(target) as replaced:
        assert [entry.name for entry in replaced.models()] == ["one"]


def test_scalar_outputs_are_evaluated_in_sql(model: cf.Model, tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "own.db") as store:
        store.save(model, "one")
        q, qd = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
        expected = model.evaluate(q=q, qd=qd)["kinetic_energy"]
        assert store.evaluate("one", q=q, qd=qd)["kinetic_energy"] == pytest.approx(expected)


def test_names_are_found_in_any_script(model: cf.Model, tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "own.db") as store:
        store.save(model, "Ärm")
        assert [entry.name for entry in store.models("äRM")] == ["Ärm"]
