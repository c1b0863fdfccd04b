"""`chainform bind`: stored models, files, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli.commands.schema import schema_text

Call = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgresql"])
def linkage(
    request: pytest.FixtureRequest,
    call: Call,
    filled_once: Call,
    four_bar: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """A store with the model `linkage`, whose parameters are free."""
    url = str(tmp_path / "models.db")
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    monkeypatch.setenv("CHAINFORM_DB", url)

    def fill() -> None:
        result = call(
            *("derive", four_bar, "--outputs", "H,hG", "--parameters", "symbolic"),
            *("--save", "linkage", "--tag", "drawn", "--reduce", "none"),
        )
        assert result.code == 0, result.err

    filled_once(url, "bind", fill)
    return url


def valid(result: Any) -> Any:
    """Return the document of a call after a check against its schema."""
    assert (result.code, result.err) == (0, "")
    Draft202012Validator(json.loads(schema_text("bind"))).validate(result.document)
    return result.document


def test_a_stored_model_gets_a_revision(call: Call, linkage: str) -> None:
    result = call("bind", "linkage", "a=0.25", "b=1/3", "--note", "longer", "--author", "Ada")
    assert result.code == 0
    assert result.out.endswith("bound: a = 0.25, b = 1/3\nsaved as linkage@2\n")
    with cf.open_store(linkage) as store:
        last = store.log("linkage")[-1]
        assert (last.step, last.parent, last.note, last.author) == ("bind", 1, "longer", "Ada")
        assert last.options["values"] == {"a": "0.25", "b": "1/3"}
        assert "a" not in store.load("linkage").free_parameters


def test_an_earlier_revision(call: Call, linkage: str) -> None:
    valid(call("bind", "linkage", "a=1", "--json"))
    document = valid(call("bind", "linkage@drawn", "a=0.3", "--json"))
    assert (document["saved"]["revision"], document["saved"]["parent"]) == (3, 1)
    assert document["values"] == {"a": "0.3"}
    assert "a" not in document["free_parameters"]


def test_under_another_name(call: Call, linkage: str) -> None:
    document = valid(call("bind", "linkage", "a=1", "--save", "short", "--tag", "t", "--json"))
    saved = document["saved"]
    assert (saved["name"], saved["tags"]) == ("short", ["t"])
    assert (saved["step"], saved["parent"]) == ("bind", None)
    assert saved["options"]["values"] == {"a": "1"}
    assert saved["options"]["origin"] == "linkage@1"
    with cf.open_store(linkage) as store:
        assert len(store.log("linkage")) == 1
        assert "a" not in store.load("short").free_parameters


def test_into_its_own_name(call: Call, linkage: str) -> None:
    """`--save` with the same name, and no `--save`, are the same step from the same revision."""
    call("bind", "linkage", "b=1")
    for save in (("--save", "linkage"), ()):
        call_ = call("bind", "linkage@1", "g=1.62", *save, "--tag", "moon", "--json")
        saved = valid(call_)["saved"]
        assert (saved["step"], saved["parent"], saved["tags"]) == ("bind", 1, ["moon"])
        assert saved["options"]["values"] == {"g": "1.62"}
    out = call("bind", "linkage@1", "g=1.63", "--tag", "moon").out
    assert out.endswith(
        "saved as linkage@5\n"
        "it was made from linkage@1, and is the last revision of linkage now\n"
        "tag moon moved from linkage@4 to linkage@5\n"
    )
    assert "it was made from" not in call("bind", "linkage", "b=2").out


def test_outputs_of_a_stored_model(call: Call, linkage: str) -> None:
    document = valid(call("bind", "linkage", "a=1", "--outputs", "hG", "--save", "w", "--json"))
    assert list(document["outputs"]) == ["gravity"]
    assert document["saved"]["outputs"] == ["gravity"]


def test_defaults_of_parameters_that_stay_free(call: Call, linkage: str) -> None:
    out = call("bind", "linkage", "a=0.25", "--keep-free").out
    assert "new default values: a = 0.25\n" in out
    assert "free parameters: a, b" in out
    assert "a = 0.25 (free)" in call("log", "linkage").out
    told = call("diff", "linkage@1", "linkage@2").out
    assert "  a 0.2 (free) -> 0.25 (free)\n" in told
    assert "the formulas are the same; only values of parameters changed\n" in told


def test_a_model_without_free_parameters(
    call: Call, refused: Call, linkage: str, four_bar: Path
) -> None:
    call("derive", four_bar, "--outputs", "hG", "--reduce", "none", "--save", "numbers")
    message = refused(call("bind", "numbers", "m_1=2"))
    assert "derive it with --parameters m_1 to keep it free" in message


def test_a_file_is_not_saved_unless_asked(call: Call, linkage: str, four_bar: Path) -> None:
    document = valid(call("bind", four_bar, "a=1/3", "--outputs", "hG", "--json"))
    assert "saved" not in document
    assert (document["parameters"], document["free_parameters"]) == ("numeric", [])
    some = valid(call("bind", four_bar, "a=1/3", "--parameters", "a,b", "--json"))
    assert some["free_parameters"] == ["b"]
    assert call("bind", four_bar, "a=1/3", "--save", "third").out.endswith("saved as third@1\n")
    (third,) = call("log", "third", "--json").document["revisions"]
    assert (third["step"], third["options"]["values"]) == ("bind", {"a": "1/3"})
    shown = call("show", "third", "hG_1", "--expand").out
    state = '{"q": [1, 0, 0], "values": {"a": 0.3333333333333333}}'
    there = call("eval", "third", "--at", '{"q": [1, 0, 0]}', "--outputs", "hG", "--json").document
    here = call("eval", four_bar, "--at", state, "--outputs", "hG", "--json").document
    assert shown.startswith("hG_1 = ")
    assert there["outputs"]["gravity"]["values"] == pytest.approx(
        here["outputs"]["gravity"]["values"], rel=1e-14
    )


# What is refused does not depend on the database.
@pytest.mark.parametrize("linkage", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("linkage", "a"), "is not PARAMETER=VALUE"),
        (("linkage", "a="), "is not PARAMETER=VALUE"),
        (("linkage", "=1"), "is not PARAMETER=VALUE"),
        (("linkage", "a=1", "a=2"), "a is given twice"),
        (("linkage", "nothing=1"), "nothing is not a free parameter"),
        (("linkage", "a=b"), "may not name parameters"),
        (("linkage", "a=2"), "the loop cannot close"),
        (("linkage", "crank_mass=-1"), "not possible: "),
        (("linkage", "a=x y"), ""),
        (("linkage", "a=1/0"), ""),
        (("linkage", "a=1", "--outputs", "H"), "--outputs goes with a file"),
        (("linkage", "a=1", "--tag", "1"), "cannot be a tag"),
        (("linkage", "a=1", "--parameters", "a"), "goes with a file"),
        (("linkage", "a=1", "--save", "x.toml"), "looks like a file"),
        (("nothing", "a=1"), "neither a file nor a stored model"),
        (("linkage",), "required"),
    ],
)
def test_what_is_refused(
    call: Call, refused: Call, linkage: str, arguments: tuple[str, ...], reason: str
) -> None:
    assert reason in refused(call("bind", *arguments))
    with cf.open_store(linkage) as store:
        assert [(entry.name, entry.revisions) for entry in store.models()] == [("linkage", 1)]


def test_a_note_on_nothing(call: Call, refused: Call, four_bar: Path) -> None:
    message = refused(call("bind", four_bar, "a=1", "--note", "x"))
    assert "--note goes with --save" in message
    assert "remedy: add --save NAME, or leave out --note" in message
