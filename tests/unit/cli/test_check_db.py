"""`chainform check-db`: a whole store, one that can be mended, one that cannot."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from chainform.cli.commands.schema import schema_text

Call = Callable[..., Any]


@pytest.fixture
def file(call: Call, four_bar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one model."""
    path = tmp_path / "models.db"
    monkeypatch.setenv("CHAINFORM_DB", str(path))
    options = ("--outputs", "hG", "--reduce", "none", "--save", "linkage")
    assert call("derive", four_bar, *options).code == 0
    return path


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(statement)
        connection.commit()


def document(result: Any) -> Any:
    Draft202012Validator(json.loads(schema_text("check-db"))).validate(result.document)
    return result.document


def test_a_whole_store(call: Call, file: Path) -> None:
    before = file.read_bytes()
    assert (call("check-db").code, call("check-db").out) == (0, "the store is whole\n")
    found = document(call("check-db", "--json"))
    assert (found["is_whole"], found["problems"]) == (True, [])
    assert file.read_bytes() == before


def test_rows_are_mended(call: Call, file: Path) -> None:
    change(file, "UPDATE terms SET value = 7 WHERE owner = (SELECT max(owner) FROM terms)")
    result = call("check-db")
    assert (result.code, result.err) == (1, "")
    assert result.out.endswith("check-db --repair mends what can be mended\n")
    found = document(call("check-db", "--json"))
    assert not found["is_whole"]
    assert all(not problem["repaired"] for problem in found["problems"])
    mended = call("check-db", "--repair")
    assert mended.code == 0
    assert mended.out.endswith(" repaired; the store is whole\n")
    assert call("check-db").out == "the store is whole\n"


def test_what_a_person_wrote_stays(call: Call, file: Path) -> None:
    change(file, "UPDATE revisions SET note = 'forged'")
    result = call("check-db", "--repair", "--json")
    assert result.code == 1
    (problem,) = document(result)["problems"]
    assert (problem["repaired"], "note" in problem["text"]) == (False, True)
    assert call("check-db", "--repair").out.endswith("take the store from a backup\n")


def test_changed_rows_name_the_command(call: Call, refused: Call, file: Path) -> None:
    change(file, "DELETE FROM caches")
    change(file, "UPDATE terms SET coefficient = '7'")
    message = refused(call("show", "linkage", "hG_1"))
    assert "chainform check-db --repair puts them back" in message
    assert "check(" not in message
