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
def filled(
    request: pytest.FixtureRequest,
    filled_once: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """A store with a model of two revisions, and another one; the environment names it."""
    url = str(tmp_path / "models.db")
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    monkeypatch.setenv("CHAINFORM_DB", url)
    path = ROOT / "examples" / "four_bar.toml"

    def fill() -> None:
        with cf.open_store(url) as store:
            model = cf.derive(path, ["mass_matrix", "gravity"], parameters="symbolic")
            store.save(model, "linkage", ["drawn"], "as drawn", "Ada")
            store.bind("linkage", {"a": "0.25"}, "longer", "Grace")
            store.save(cf.derive(path, ["gravity"]), "weight", author="Ada")

    filled_once(url, "store commands", fill)
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
    assert printed.splitlines()[0].split()[:2] == ["name", "revision"]
    assert printed.splitlines()[1].split()[:4] == ["linkage", "2", "of", "2"]
    assert call("models", "xyz").out == "no models\n"


def test_the_revisions_that_fit_are_shown(call: Call, filled: str) -> None:
    for options in (("--tag", "drawn"), ("--author", "Ada", "link"), ("as drawn",)):
        lines = call("models", *options).out.splitlines()
        assert lines[1].split()[:4] == ["linkage", "1", "of", "2"]
        assert "Ada" in lines[1]
    (entry,) = valid(call("models", "--author", "Grace", "--json"), "models")["models"]
    assert [revision["revision"] for revision in entry["matching"]] == [2]
    assert names(call, "LONGER") == ["linkage"]


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
    assert " a = 0.25 " in lines[3]
    assert "values" not in call("log", "weight").out


def test_diff(call: Call, filled: str) -> None:
    document = valid(call("diff", "linkage@1", "linkage", "--json"), "diff")
    assert (document["before"]["revision"], document["after"]["revision"]) == (1, 2)
    changed = [row["name"] for row in document["entries"] if not row["same_values"]]
    assert {"H_1_1", "hG_1"} <= set(changed)
    assert "H_3_3" not in changed
    assert document["outputs"]["changed"] == ["mass_matrix", "gravity"]
    state = {"name": "a", "before": {"value": "0.2", "is_free": True}}
    assert document["parameters"] == [{**state, "after": {"value": "0.25", "is_free": False}}]
    printed = call("diff", "linkage@drawn", "linkage@2", "--expand").out
    assert "\n  a 0.2 (free) -> 0.25 (number)\n" in printed
    for name in changed:
        assert f"- {name} = " in printed
        assert f"+ {name} = " in printed
    plain = call("diff", "linkage@drawn", "linkage@2").out.splitlines()
    told = {line.split()[1] for line in plain if line[:2] in ("- ", "+ ", "~ ")}
    assert set(changed) <= told
    same = call("diff", "linkage", "linkage")
    assert "the formulas are the same" in same.out
    other = valid(call("diff", "linkage", "weight", "--json"), "diff")
    assert other["outputs"]["removed"] == ["mass_matrix"]
    assert "b" in {row["name"] for row in other["parameters"]}
    assert "outputs removed: mass_matrix" in call("diff", "linkage", "weight").out


def test_the_same_values_by_other_formulas(call: Call, filled: str, four_bar: Path) -> None:
    for formulation in ("closed_form", "newton_euler"):
        options = ("--outputs", "hG", "--formulation", formulation, "--save", "twice")
        assert call("derive", four_bar, *options).code == 0
    document = valid(call("diff", "twice@1", "twice@2", "--json"), "diff")
    assert document["outputs"] == {
        "added": [],
        "removed": [],
        "changed": [],
        "rewritten": ["gravity"],
    }
    assert all(row["same_values"] for row in document["entries"])
    assert "same values, other formulas: gravity\n" in call("diff", "twice@1", "twice@2").out


# --- tag, rename ----------------------------------------------------------------------------


def test_tags(call: Call, refused: Call, filled: str) -> None:
    document = valid(call("tag", "linkage", "good", "v1", "--json"), "tag")
    assert document["tags"] == {"drawn": "linkage@1", "good": "linkage@2", "v1": "linkage@2"}
    moved = "tagged linkage@1: good\ntag good moved from linkage@2 to linkage@1\n"
    assert call("tag", "linkage@1", "good").out == moved
    assert call("show", "linkage@good", "hG_1").out == call("show", "linkage@1", "hG_1").out
    assert "v1 is a tag of linkage@2" in refused(call("tag", "linkage@1", "v1", "--delete"))
    assert "has no tag x" in refused(call("tag", "linkage", "x", "--delete"))
    assert call("tag", "linkage", "--delete", "v1").out == "tag v1 taken from linkage@2\n"
    assert "v1" not in call("log", "linkage").out
    assert "cannot be a tag" in refused(call("tag", "linkage", "1"))


def test_rename(call: Call, refused: Call, filled: str) -> None:
    assert call("rename", "linkage", "bar").out == "linkage is bar now\n"
    assert names(call) == ["bar", "weight"]
    valid(call("rename", "bar", "linkage", "--json"), "rename")
    assert "already" in refused(call("rename", "linkage", "weight"))
    assert "looks like a file" in refused(call("rename", "linkage", "x.toml"))
    assert "no model nothing" in refused(call("rename", "nothing", "x"))


# What is refused does not depend on the database.
@pytest.mark.parametrize("filled", ["sqlite"], indirect=True)
@pytest.mark.parametrize("command", [("log",), ("delete", "--yes"), ("rename",), ("export-db",)])
def test_the_whole_model_is_meant(
    call: Call, refused: Call, filled: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    name, *options = command
    if name == "export-db":
        options = ["linkage@2"]
    more = {"rename": ["x"]}.get(name, [])
    first = tmp_path / "new.db" if name == "export-db" else "linkage@2"
    message = refused(call(name, first, *more, *options))
    assert "this names one revision" in message
    assert "remedy: write linkage\n" in message


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


@pytest.mark.slow
def test_export_and_import(call: Call, refused: Call, filled: str, tmp_path: Path) -> None:
    path, other = tmp_path / "out.db", tmp_path / "other.db"
    document = valid(call("export-db", path, "linkage", "--json"), "export-db")
    assert (document["written"], document["models"]) == (str(path), ["linkage"])
    assert "--force" in refused(call("export-db", path))
    assert call("export-db", path, "--force").out == f"wrote {path}: linkage, weight\n"
    taken = valid(call("import-db", path, "linkage", "--db", other, "--json"), "import-db")
    assert [row["revision"] for row in taken["models"]] == [2]
    message = refused(call("import-db", path, "--db", other))
    assert "already has" in message
    assert "import-db FILE linkage --as OTHER, or rename yours by chainform rename" in message
    renamed = call("import-db", path, "linkage", "--as", "second", "--db", other)
    assert renamed.out == f"read {path}: second@2\n"
    assert call("delete", "second", "--yes", "--db", other).code == 0
    assert "2 are meant" in refused(call("import-db", path, "--as", "x", "--db", other))
    assert "looks like" in refused(call("import-db", path, "weight", "--as", "x.toml"))
    assert "this is an address" in refused(call("import-db", "postgresql://host/x"))
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


# What is refused does not depend on the database.
@pytest.mark.parametrize("filled", ["sqlite"], indirect=True)
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
