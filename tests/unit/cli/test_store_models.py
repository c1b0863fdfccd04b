"""Stored models on the command line: in place of files, and saved by `derive`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli.commands.schema import schema_text
from chainform.readers import read_text

Call = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty store, which the environment names."""
    url = str(tmp_path / "models.db")
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    monkeypatch.setenv("CHAINFORM_DB", url)
    return url


@pytest.fixture
def saved(call: Call, filled_once: Call, db: str, four_bar: Path) -> str:
    """A store with the model `linkage`, whose parameters are free."""

    def fill() -> None:
        result = call("derive", four_bar, "--outputs", "H,hG", "--parameters", "symbolic", *SAVE)
        assert (result.code, result.err) == (0, "")
        assert result.out.endswith("saved as linkage@1\n")

    filled_once(db, "store models", fill)
    return db


SAVE = (
    *("--reduce", "none", "--save", "linkage"),
    *("--tag", "drawn", "--tag", "v1.0", "--note", "as drawn"),
)


def valid(result: Any, command: str) -> Any:
    """Return the document of a call after a check against its schema."""
    assert (result.code, result.err) == (0, "")
    document = result.document
    Draft202012Validator(json.loads(schema_text(command))).validate(document)
    return document


# --- derive --save --------------------------------------------------------------------------


def test_derive_saves_only_when_asked(call: Call, db: str, four_bar: Path, tmp_path: Path) -> None:
    document = valid(call("derive", four_bar, "--json"), "derive")
    assert "saved" not in document
    assert not (tmp_path / "models.db").exists()


def test_the_saved_revision_is_told(call: Call, db: str, four_bar: Path) -> None:
    arguments = ("derive", four_bar, *SAVE, "--author", "Ada", "--json")
    told = valid(call(*arguments), "derive")["saved"]
    assert (told["name"], told["revision"], told["author"]) == ("linkage", 1, "Ada")
    assert (told["tags"], told["note"]) == (["drawn", "v1.0"], "as drawn")
    assert told["seconds"] > 0
    assert valid(call(*arguments), "derive")["saved"]["revision"] == 2


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
@pytest.mark.parametrize("option", ["--tag", "--note", "--author"])
def test_what_goes_with_save(call: Call, refused: Call, db: str, arm: Path, option: str) -> None:
    message = refused(call("derive", arm, option, "x"))
    assert f"{option} goes with --save" in message
    assert f"remedy: add --save NAME, or leave out {option}" in message


# What is refused does not depend on the database.
@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["", "a@b", " ", "a\nb"])
def test_bad_names(call: Call, refused: Call, db: str, arm: Path, name: str) -> None:
    message = refused(call("derive", arm, "--outputs", "hG", "--save", name))
    assert "cannot be a name" in message or "looks like a file" in message
    assert not Path(db).exists()


def test_db_goes_before_the_environment(
    call: Call, db: str, four_bar: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    assert call("derive", four_bar, "--save", "x", "--db", f"sqlite:///{other}").code == 0
    with cf.open_store(other) as store:
        assert [entry.name for entry in store.models()] == ["x"]


# --- in place of a file ---------------------------------------------------------------------


def test_show(call: Call, saved: str, four_bar: Path) -> None:
    for name in ("linkage", "linkage@1", "linkage@drawn"):
        document = valid(call("show", name, "H_1_1", "--expand", "--json"), "show")
        assert document["file"] == name
        (entry,) = document["quantities"][0]["entries"]
        model = cf.derive(four_bar, ["mass_matrix"], parameters="symbolic")
        assert entry["formula"] == str(model["mass_matrix"][0, 0].expand())
    listed = valid(call("show", "linkage", "--json"), "show")
    assert [row["name"] for row in listed["outputs"]] == ["mass_matrix", "gravity"]
    assert listed["of_frame"] == []
    assert "outputs of a frame" not in call("show", "linkage").out


def test_eval(call: Call, saved: str, four_bar: Path) -> None:
    state = b'{"q": [1, -0.8, 1.9], "values": {"a": [0.1, 0.2]}}'
    document = valid(call("eval", "linkage", "--at", "-", "--json", stdin=state), "eval")
    model = cf.derive(four_bar, ["gravity"], parameters="symbolic")
    expected = model.evaluate(q=[1, -0.8, 1.9], values={"a": [0.1, 0.2]})["gravity"]
    assert document["batch"] == [2]
    np.testing.assert_allclose(document["outputs"]["gravity"]["values"], expected, rtol=1e-12)


def test_eval_refuses_what_is_a_number(call: Call, refused: Call, db: str, four_bar: Path) -> None:
    call("derive", four_bar, "--outputs", "hG", "--parameters", "a", "--save", "linkage")
    state = b'{"q": [0, 0, 0], "values": {"b": 1}}'
    assert "a number in the stored model" in refused(
        call("eval", "linkage", "--at", "-", stdin=state)
    )


def test_count(call: Call, saved: str, four_bar: Path) -> None:
    document = valid(call("count", "linkage", "--outputs", "hG", "--json"), "count")
    assert list(document["outputs"]) == ["gravity"]
    outputs = ("mass_matrix", "gravity")
    whole = cf.derive(four_bar, outputs, parameters="symbolic")
    assert document["total"]["cos"] == whole.count(["gravity"]).cos > 0


def test_export(call: Call, saved: str, tmp_path: Path) -> None:
    document = valid(call("export", "linkage", "--to", "text", "--json"), "export")
    assert document["outputs"] == ["mass_matrix", "gravity"]
    target = tmp_path / "linkage.py"
    assert call("export", "linkage", "--to", "python", "-o", target).code == 0
    assert "def model" in target.read_text("utf-8")


def test_export_native(call: Call, saved: str, four_bar: Path) -> None:
    for name in ("linkage", four_bar):
        document = valid(call("export", name, "--to", "native", "--json"), "export")
        assert read_text(document["text"], "json").segments == cf.read(four_bar).segments


def test_what_cannot_be_read_does_not_stand_before_a_model(
    call: Call,
    saved: str,
    arm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Call,
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = call("show", "linkage", "hG_1").out
    assert shown.startswith("hG_1 = ")
    Path("linkage").write_text("not a mechanism", "utf-8")
    assert call("show", "linkage", "hG_1").out == shown
    Path("linkage").unlink()
    Path("linkage").mkdir()
    for reference in ("linkage", "linkage@1"):
        assert call("show", reference, "hG_1").out == shown
    Path("other").write_text("not a mechanism", "utf-8")
    assert "ending of the name" in refused(call("show", "other"))


def test_a_stored_model_that_looks_like_a_file(call: Call, refused: Call, saved: str) -> None:
    with cf.open_store(saved) as store:
        store.rename("linkage", "linkage.toml")
    message = refused(call("show", "linkage.toml", "hG_1"))
    assert "no such file" in message
    assert "there is a stored model linkage.toml" in message
    assert "chainform rename linkage.toml OTHER" in message
    assert call("rename", "linkage.toml", "linkage").code == 0
    assert call("show", "linkage", "hG_1").code == 0


def test_an_empty_store_is_the_same_everywhere(
    call: Call, refused: Call, db: str, four_bar: Path
) -> None:
    if not db.startswith("postgresql"):
        call("derive", four_bar, "--outputs", "hG", "--save", "x")
        call("delete", "x", "--yes")
    assert (call("models").code, call("models").out) == (0, "no models\n")
    assert "there is no model x\n  remedy: chainform models lists" in refused(call("log", "x"))
    assert "neither a file nor a stored model" in refused(call("show", "x"))
    assert call("check-db").out == "the store is whole\n"


# --- what is refused ------------------------------------------------------------------------


# What is refused does not depend on the database.
@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
@pytest.mark.parametrize("command", ["show", "count", "eval", "export"])
def test_neither_file_nor_model(call: Call, refused: Call, saved: str, command: str) -> None:
    more = {"eval": ("--at", "-"), "export": ("--to", "python")}.get(command, ())
    assert "neither a file nor a stored model" in refused(call(command, "nothing", *more))
    assert "neither a file nor a stored model" in refused(call(command, "nothing@1", *more))
    assert "no revision 9" in refused(call(command, "linkage@9", *more))
    assert "no revision tag" in refused(call(command, "linkage@tag", *more))
    assert "missing after @" in refused(call(command, "linkage@", *more))
    assert "no such file" in refused(call(command, "nothing.toml", *more))


def test_no_store_is_made_by_looking(
    call: Call, refused: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder" / "models.db"
    monkeypatch.setenv("CHAINFORM_DB", str(path))
    assert "neither a file nor a stored model" in refused(call("show", "nothing"))
    for command in (["models"], ["log", "x"], ["diff", "x", "y"], ["revert", "x", "1"]):
        assert "there is no store" in refused(call(*command))
    for command in (["delete", "x", "--yes"], ["gc"], ["export-db", str(tmp_path / "out.db")]):
        assert "there is no store" in refused(call(*command))
    assert not path.parent.exists()


# What is refused does not depend on the database.
@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "options",
    [
        ("--formulation", "newton_euler"),
        ("--parameters", "numeric"),
        ("--reduce", "none"),
        ("--closure", "basic"),
        ("--base", "fixed"),
        ("--no-snap",),
        ("--tip", "x"),
    ],
)
def test_options_of_files(call: Call, refused: Call, saved: str, options: tuple[str, ...]) -> None:
    assert "goes with a file" in refused(call("count", "linkage", *options))


def test_outputs_that_were_not_saved(call: Call, refused: Call, saved: str) -> None:
    message = refused(call("count", "linkage", "--outputs", "tau"))
    assert "does not have this output" in message
    assert "it has mass_matrix, gravity" in message


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
@pytest.mark.parametrize("command", ["check", "derive"])
def test_other_commands_take_files_only(
    call: Call, refused: Call, saved: str, command: str
) -> None:
    message = refused(call(command, "linkage"))
    assert f"this is a stored model, and {command} takes a file" in message


def test_a_file_that_is_no_store(call: Call, refused: Call, tmp_path: Path, arm: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be looked at as one " * 100, "utf-8")
    assert "not a database" in refused(call("show", "nothing", "--db", text))
    assert "not a database" in refused(call("models", "--db", text))
    assert "not a database" in refused(
        call("derive", arm, "--outputs", "hG", "--save", "x", "--db", text)
    )
    assert "no store in mysql" in refused(call("models", "--db", "mysql://host/x"))


def test_a_server_out_of_reach_is_a_failed_task(call: Call) -> None:
    result = call("models", "--db", "postgresql://user@127.0.0.1:9/x?connect_timeout=2")
    assert (result.code, result.out) == (1, "")
    assert "cannot be reached" in result.err
