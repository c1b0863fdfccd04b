"""`chainform count --by-pass` and its picture."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli.commands.schema import schema_text
from chainform.cli.model_report import COLUMNS
from chainform.graph import Cost
from chainform.reports.html import WIDTH, waterfall
from chainform.search import PUBLISHED

Call = Callable[..., Any]
REFERENCE = Path(__file__).parents[2] / "data" / "reference"
STEPS = ["formulation", "choose_start", "extract_divisors", "search_neighbourhoods"]
SVG = "{http://www.w3.org/2000/svg}"


def valid(result: Any) -> Any:
    """Return the document of `count` after a check against its schema."""
    assert (result.code, result.err) == (0, "")
    document = result.document
    Draft202012Validator(json.loads(schema_text("count"))).validate(document)
    return document


@pytest.fixture
def saved(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, four_bar: Path) -> str:
    """A store with the model `bar`, derived and reduced."""
    url = str(tmp_path / "models.db")
    monkeypatch.setenv("CHAINFORM_DB", url)
    assert (
        call("derive", four_bar, "--outputs", "H,hG", "--reduce", "fast", "--save", "bar").code == 0
    )
    return url


@pytest.mark.slow
def test_of_a_file(call: Call, four_bar: Path) -> None:
    arguments = ("count", four_bar, "--outputs", "H,hG", "--reduce", "fast", "--by-pass")
    document = valid(call(*arguments, "--json"))
    model = cf.derive(four_bar, ["mass_matrix", "gravity"]).reduce()
    assert [step["name"] for step in document["passes"]] == STEPS
    assert [step["operations"] for step in document["passes"]] == [
        stage.cost.as_dict() for stage in model.stages
    ]
    assert document["passes"][-1]["operations"] == document["total"]
    lines = call(*arguments).out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["after", *STEPS]


def test_derivatives_of_a_stored_model(call: Call, saved: str) -> None:
    arguments = ("count", "bar", "--outputs", "d(hG)/d(q)", "--by-pass", "--by-entry", "--json")
    document = valid(call(*arguments))
    model = cf.open_store(saved).load("bar")
    names = [step["name"] for step in document["passes"]]
    assert names == ["derive", *STEPS[1:]]
    assert [step["name"] for step in document["by_entry"]] == names
    last = model.count(["d(hG)/d(q)"]).as_dict()
    assert document["passes"][-1]["operations"] == last
    alone = model.count(["d(hG[1])/d(q1)"]).as_dict()
    assert document["by_entry"][-1]["entries"]["hG_1_by_q1"] == alone
    assert model.count_by_entry(["d(hG[1])/d(q1)"])["model"]["hG_1_by_q1"].as_dict() == alone
    with pytest.raises(cf.Error, match="no quantity gravty"):
        model.count_by_entry(["gravty"])


def test_both_ways_at_once(call: Call, four_bar: Path) -> None:
    arguments = (
        "count",
        four_bar,
        "--outputs",
        "H,hG",
        "--reduce",
        "fast",
        "--by-pass",
        "--by-quantity",
    )
    words = [line.split()[0] for line in call(*arguments).out.splitlines()[1:]]
    assert words == ["output", "mass_matrix", "gravity", "together", "after", *STEPS]


def test_without_a_reduction(call: Call, four_bar: Path) -> None:
    arguments = ("count", four_bar, "--outputs", "H", "--by-pass", "--json")
    assert [step["name"] for step in valid(call(*arguments))["passes"]] == ["formulation"]
    assert "passes" not in valid(call("count", four_bar, "--outputs", "H", "--json"))


@pytest.mark.slow
def test_of_a_stored_model(call: Call, saved: str) -> None:
    call("reduce", "bar@1", "--reduce", "deep", "--steps", "8", "--cores", "1")
    expected = {
        "bar@4": ["derive", *STEPS[1:]],
        "bar@2": ["derive", STEPS[1]],
        "bar": ["derive", "search_deep"],
    }
    with cf.open_store(saved) as store:
        costs = {r.reference: r.cost.as_dict() for r in store.log("bar")}
    for name, steps in expected.items():
        document = valid(call("count", name, "--by-pass", "--json"))
        assert [step["name"] for step in document["passes"]] == steps
        last = costs[name if "@" in name else "bar@5"]
        assert document["passes"][-1]["operations"] == last


def test_of_some_outputs_of_a_stored_model(call: Call, saved: str) -> None:
    document = valid(call("count", "bar", "--by-pass", "--outputs", "H", "--json"))
    assert document["passes"][-1]["operations"] == document["total"]
    assert document["total"] != valid(call("count", "bar", "--json"))["total"]


# --- the picture ------------------------------------------------------------------------------


def texts(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def test_the_picture_is_written(call: Call, four_bar: Path, tmp_path: Path) -> None:
    path = tmp_path / "steps.svg"
    arguments = ("count", four_bar, "--outputs", "H,hG", "--reduce", "fast", "--picture", path)
    result = call(*arguments)
    assert result.code == 0
    assert f"picture written to {path}" in result.out.replace("\n", "")
    words = texts(path.read_text("utf-8"))
    assert "four_bar, auto, reduced (fast)" in words
    assert [word for word in words if word in STEPS] == STEPS


def test_a_picture_is_svg(call: Call, refused: Call, four_bar: Path, tmp_path: Path) -> None:
    arguments = ("count", four_bar, "--outputs", "H", "--picture", tmp_path / "steps.png")
    assert "ends with .svg" in refused(call(*arguments))
    assert not (tmp_path / "steps.png").exists()


def test_a_file_is_not_overwritten_unasked(
    call: Call, refused: Call, four_bar: Path, tmp_path: Path
) -> None:
    path = tmp_path / "steps.svg"
    path.write_text("mine", "utf-8")
    arguments = ("count", four_bar, "--outputs", "H", "--picture", path)
    assert "the file exists" in refused(call(*arguments))
    assert path.read_text("utf-8") == "mine"
    document = valid(call(*arguments, "--force", "--json"))
    assert document["picture"] == str(path)
    assert texts(path.read_text("utf-8"))


def test_where_no_picture_can_be(call: Call, refused: Call, four_bar: Path, tmp_path: Path) -> None:
    arguments = ("count", four_bar, "--outputs", "H", "--picture")
    assert "a picture needs a file" in refused(call(*arguments, "-"))
    assert "this is a folder" in refused(call(*arguments, tmp_path))
    own = tmp_path / "own.toml"
    own.write_bytes(four_bar.read_bytes())
    message = refused(call("count", own, "--outputs", "H", "--picture", own, "--force"))
    assert "this is the mechanism itself" in message
    missing = call(*arguments, tmp_path / "no" / "steps.svg")
    assert missing.code != 0
    assert "Traceback" not in missing.err


def test_the_picture_of_a_stored_model(call: Call, saved: str, tmp_path: Path) -> None:
    path = tmp_path / "steps.svg"
    assert call("count", "bar", "--picture", path).code == 0
    assert [word for word in texts(path.read_text("utf-8")) if word in STEPS] == STEPS[1:]


def test_bars_are_as_long_as_the_counts() -> None:
    counts = [("a < b & c", Cost(30, 10)), ("b", Cost(10, 10)), ("c", Cost(12, 10))]
    picture = waterfall("x > y", counts)
    assert {"x > y", "a < b & c", "30/10", "10/10 (-20)", "12/10"} <= set(texts(picture))
    bars = [
        float(bar.get("width", "0"))
        for bar in ElementTree.fromstring(picture).iter(f"{SVG}rect")
        if bar.get("height") == "20"
    ]
    assert bars[0] == pytest.approx(3 * bars[1], abs=0.2)
    assert bars[2] == pytest.approx(bars[0] / 3, abs=0.2)
    assert max(bars[0] + bars[1], 0) < WIDTH


def test_nothing_to_draw() -> None:
    assert texts(waterfall("empty", [])) == ["empty", "multiplications", "additions"]
    assert "0/0" in texts(waterfall("zero", [("derive", Cost())]))


THESIS = ("--outputs", "H,C,hG", "--formulation", "closed_form", "--reduce", "thesis")
PAPER = (*THESIS, "--published", "example_2_1")


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """The arm of Example 2.1."""
    return Path(shutil.copy(REFERENCE / "rackovic_2_1.json", tmp_path))


def test_beside_what_is_published(call: Call, arm: Path) -> None:
    result = call("count", arm, *PAPER)
    rows = [re.split(r"\s{2,}", line.strip()) for line in result.out.splitlines()[1:]]
    assert rows[0] == ["after", "branch", *COLUMNS, "published", "fate"]
    figures = [cell for row in rows[1:] for cell in row if "/" in cell]
    assert figures == [f"{m}/{a}" for m, a in PUBLISHED["example_2_1"].values()]
    document = valid(call("count", arm, *PAPER, "--json"))
    assert document["published"] == "example_2_1"
    last = document["passes"][-1]
    assert last["published"] == {"multiplications": 140, "additions": 107}
    assert (last["name"], last["fate"]) == ("final graph", "taken")
    assert last["operations"] == document["total"]
    ways = [step["branch"] for step in document["passes"] if step["name"] == "final graph"]
    assert len({*ways}) == len(ways) == 3
    fates = {step.get("fate", "").partition(":")[0] for step in document["passes"]}
    assert fates == {"", "taken", "left"}


def test_no_step_is_shown_twice(call: Call, arm: Path) -> None:
    document = valid(call("count", arm, *THESIS, "--by-pass", "--json"))
    steps = [(step["name"], step.get("branch")) for step in document["passes"]]
    assert len({*steps}) == len(steps)


@pytest.mark.parametrize(
    ("name", "options", "remedy"),
    [
        ("example_21", (), "did you mean 'example_2_1'?"),
        ("example_2_1", ("--reduce", "merge_equal"), "add --reduce thesis"),
        ("example_2_1", ("--reduce", "thesis"), "leave --published out"),
    ],
)
def test_what_is_not_published(
    call: Call, four_bar: Path, name: str, options: tuple[str, ...], remedy: str
) -> None:
    result = call("count", four_bar, "--outputs", "hG", "--published", name, *options)
    assert result.code == 2
    assert remedy in result.err


def test_what_is_published_is_of_three_outputs(call: Call, arm: Path) -> None:
    result = call("count", arm, "--outputs", "hG", *PAPER[4:])
    assert result.code == 2
    assert "add --outputs H,C,hG" in result.err


def test_what_was_tried_is_in_the_store(
    call: Call, arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    assert call("derive", arm, *THESIS, "--save", "arm").code == 0
    from_file = valid(call("count", arm, *THESIS, "--by-pass", "--json"))["passes"]
    stored = valid(call("count", "arm", "--by-pass", "--json"))["passes"]
    assert [stored[0]["name"], *stored[1:]] == ["derive", *from_file[1:]]
    log = call("log", "arm").out
    assert "given angles" in log
    assert re.search(r"left: \d+ operations more", log)
    path = valid(call("count", "arm", "--by-entry", "--json"))["by_entry"]
    assert [step["name"] for step in path][-1] == "final graph"
    assert len(path) == 6
    number = next(i for i, step in enumerate(stored, 1) if step["name"] == "new subgraph")
    assert "Q_2_xy" in call("show", f"arm@{number}", "part").out
    assert call("export-db", tmp_path / "sent.db", "arm").code == 0
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "other.db"))
    assert call("import-db", tmp_path / "sent.db", "arm").code == 0
    assert valid(call("count", "arm", "--by-pass", "--json"))["passes"] == stored
    assert call("check-db").code == 0


def test_passes(call: Call) -> None:
    result = call("passes", "--json")
    Draft202012Validator(json.loads(schema_text("passes"))).validate(result.document)
    names = {entry["name"]: entry for entry in result.document["passes"]}
    options = [option["name"] for option in names["thesis"]["options"]]
    assert options[:2] == ["by_parts", "factoring"]
    assert "by_parts" in call("passes").out
