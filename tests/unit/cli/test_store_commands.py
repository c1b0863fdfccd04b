"""The commands of the store: models, log, diff, revert, delete, gc, export-db, import-db."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli import main
from chainform.cli.commands.schema import schema_text

Call = Callable[..., Any]
ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["sqlite", "postgresql"])
def filled(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a model of two revisions, and another one; the environment names it."""
    url = str(tmp_path / "models.db")
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    monkeypatch.setenv("CHAINFORM_DB", url)
    path = ROOT / "examples" / "four_bar.toml"
    with cf.open_store(url) as store:
        model = cf.derive(path, ["mass_matrix", "gravity"], parameters="symbolic")
        store.save(model, "linkage", ["drawn"], "as drawn", "Ada")
        store.bind("linkage", {"a": "0.25"}, "longer", "Grace")
        store.save(cf.derive(path, ["gravity"]), "weight", author="Ada")
    return url


def valid(result: Any, command: str) -> Any:
    """Return the document of a call after a check against its schema."""
    assert (result.code, result.err) == (0, "")
    document = result.document
    assert document["command"] == command
    Draft202012Validator(json.loads(schema_text(command))).validate(document)
    return document


def names(call: Call, *options: str) -> list[str]:
    document = valid(call("models", *options, "--json"), "models")
    return [entry["name"] for entry in document["models"]]


# --- models, log, diff ----------------------------------------------------------------------


def test_models(call: Call, filled: str) -> None:
    assert names(call) == ["linkage", "weight"]
    assert names(call, "link") == ["linkage"]
    assert names(call, "--author", "Grace") == ["linkage"]
    assert names(call, "--mechanism", "four_bar") == ["linkage", "weight"]
    assert names(call, "--mechanism", "arm") == []
    assert names(call, "--tag", "drawn") == ["linkage"]
    assert names(call, "--quantity", "H") == ["linkage"]
    assert names(call, "--quantity", "gravity") == ["linkage", "weight"]
    assert names(call, "--since", "2020-01-01") == ["linkage", "weight"]
    assert names(call, "--until", "2020-01-01") == []
    printed = call("models").out
    assert printed.splitlines()[0].split()[:2] == ["name", "revisions"]
    assert call("models", "xyz").out == "no models\n"


def test_dates(call: Call, refused: Call, filled: str) -> None:
    assert "is not a date" in refused(call("models", "--since", "yesterday"))


def test_log(call: Call, filled: str) -> None:
    document = valid(call("log", "linkage", "--json"), "log")
    first, second = document["revisions"]
    assert (first["step"], first["author"], first["tags"]) == ("derive", "Ada", ["drawn"])
    assert (second["step"], second["parent"], second["note"]) == ("bind", 1, "longer")
    assert second["options"]["values"] == {"a": "0.25"}
    assert first["content"] != second["content"]
    lines = call("log", "linkage").out.splitlines()
    assert lines[0] == "linkage"
    assert len(lines) == 4


def test_diff(call: Call, filled: str) -> None:
    document = valid(call("diff", "linkage@1", "linkage", "--json"), "diff")
    assert (document["before"]["revision"], document["after"]["revision"]) == (1, 2)
    changed = [row["name"] for row in document["formulas"]["changed"]]
    assert changed
    printed = call("diff", "linkage@drawn", "linkage@2").out
    for name in changed:
        assert f"- {name} = " in printed
        assert f"+ {name} = " in printed
    same = call("diff", "linkage", "linkage")
    assert "the formulas are the same" in same.out
    other = valid(call("diff", "linkage", "weight", "--json"), "diff")
    assert other["outputs"]["removed"] == ["mass_matrix"]
    assert "outputs removed: mass_matrix" in call("diff", "linkage", "weight").out


# --- revert, delete, gc ---------------------------------------------------------------------


def test_revert(call: Call, filled: str) -> None:
    options = ("--note", "back", "--author", "Ada", "--json")
    document = valid(call("revert", "linkage", "drawn", *options), "revert")
    assert (document["reverted_to"], document["saved"]["revision"]) == (1, 3)
    assert (document["saved"]["note"], document["saved"]["author"]) == ("back", "Ada")
    assert call("revert", "linkage", "2").out == "linkage@4 is as linkage@2 was\n"
    shown = [call("show", f"linkage@{number}", "H", "--expand").out for number in (1, 2, 3, 4)]
    assert shown[0] == shown[2] != shown[1] == shown[3]


def test_delete_needs_consent(call: Call, refused: Call, filled: str) -> None:
    assert "add --yes" in refused(call("delete", "linkage"))
    assert names(call) == ["linkage", "weight"]
    document = valid(call("delete", "linkage", "--yes", "--json"), "delete")
    assert (document["deleted"], document["revisions"]) == (True, 2)
    assert call("delete", "weight", "--yes").out == "deleted weight with 1 revision\n"
    assert names(call) == []


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "left"), [("y\n", ["weight"]), ("no\n", ["linkage", "weight"]), ("", None)]
)
def test_delete_asks(
    call: Call,
    filled: str,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    left: list[str] | None,
) -> None:
    out, err = io.StringIO(), io.StringIO()
    with monkeypatch.context() as context, redirect_stdout(out), redirect_stderr(err):
        context.setattr(sys, "stdin", Terminal(answer))
        assert main(["delete", "linkage", "--json"]) == 0
    assert err.getvalue() == "delete linkage with 2 revisions? [y/N] "
    assert json.loads(out.getvalue())["deleted"] is (answer == "y\n")
    assert names(call) == (left or ["linkage", "weight"])


def test_gc(call: Call, filled: str) -> None:
    assert valid(call("gc", "--json"), "gc")["graphs"] == 0
    call("delete", "linkage", "--yes")
    document = valid(call("gc", "--json"), "gc")
    assert (document["graphs"], document["mechanisms"]) == (2, 1)
    assert call("show", "weight", "hG_1").code == 0


# --- from store to store --------------------------------------------------------------------


def test_export_and_import(call: Call, refused: Call, filled: str, tmp_path: Path) -> None:
    path, other = tmp_path / "out.db", tmp_path / "other.db"
    document = valid(call("export-db", path, "linkage", "--json"), "export-db")
    assert (document["written"], document["models"]) == (str(path), ["linkage"])
    assert "--force" in refused(call("export-db", path))
    assert call("export-db", path, "--force").out == f"wrote {path}: linkage, weight\n"
    taken = valid(call("import-db", path, "linkage", "--db", other, "--json"), "import-db")
    assert [row["revision"] for row in taken["models"]] == [2]
    assert "already has" in refused(call("import-db", path, "--db", other))
    assert call("import-db", path, "weight", "--db", other).out == f"read {path}: weight@1\n"
    assert names(call, "--db", str(other)) == ["linkage", "weight"]
    one, two = (call("show", "linkage@drawn", "H", *db).out for db in ((), ("--db", other)))
    assert one == two


def test_files_that_cannot_be_imported(
    call: Call, refused: Call, tmp_path: Path, filled: str
) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("long enough to be looked at as a database " * 100, "utf-8")
    new = tmp_path / "new.db"
    for path in (text, tmp_path, tmp_path / "missing.db"):
        refused(call("import-db", path, "--db", new))
    assert not new.exists()
    assert "no such model" in refused(call("export-db", new, "nothing"))
    assert not new.exists()


# --- unknown names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("log", "nothing"),
        ("log", "linkage@1"),
        ("diff", "linkage", "nothing"),
        ("diff", "linkage@1", "linkage@9"),
        ("revert", "nothing", "1"),
        ("revert", "linkage", "9"),
        ("revert", "linkage", "-1"),
        ("revert", "linkage", "x y"),
        ("revert", "linkage@1", "1"),
        ("delete", "nothing", "--yes"),
        ("delete", "linkage@1", "--yes"),
        ("import-db", "nothing.db"),
        ("export-db", "", "linkage"),
        ("models", "a", "b"),
        ("log",),
        ("diff", "linkage"),
        ("gc", "x"),
    ],
)
def test_bad_input(
    call: Call, refused: Call, filled: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    refused(call(*arguments))
    assert names(call) == ["linkage", "weight"]
