"""Reductions on the command line: the table of `derive`, and `reduce` with its revisions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli import progress
from chainform.cli.commands.schema import schema_text
from chainform.search import workers

Call = Callable[..., Any]
FAST = ["extract_divisors", "search_neighbourhoods"]
STEPS = ["choose_start", *FAST]
DEEP = ("--reduce", "deep", "--steps", "8", "--cores", "1")


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty store, which the environment names."""
    url = str(tmp_path / "models.db")
    monkeypatch.setenv("CHAINFORM_DB", url)
    return url


@pytest.fixture
def saved(call: Call, filled_once: Call, db: str, four_bar: Path) -> str:
    """A store with the model `bar` as it was derived."""

    def fill() -> None:
        assert call("derive", four_bar, "--outputs", "H,hG", "--save", "bar").code == 0

    filled_once(db, "reduce", fill)
    return db


def valid(result: Any, command: str) -> Any:
    """Return the document of a call after a check against its schema."""
    assert (result.code, result.err) == (0, "")
    document = result.document
    Draft202012Validator(json.loads(schema_text(command))).validate(document)
    return document


def table(text: str) -> dict[str, list[str]]:
    """Return the rows of the table of stages, by their first word."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  after"))
    rows: dict[str, list[str]] = {"after": lines[first].split()[1:]}
    for line in lines[first + 1 :]:
        if not line.startswith("  "):
            break
        name, *figures = [part for part in line.split("  ") if part]
        rows[name.strip()] = [figure.strip() for figure in figures]
    return rows


def column(text: str, title: str) -> list[str]:
    """Return the words of a column whose entries begin below its title."""
    first, *rows = [line for line in text.splitlines() if line.startswith("  ")]
    place = first.index(title)
    return [row[place:].split()[0] for row in rows]


# --- derive -----------------------------------------------------------------------------------


def test_derive_tells_each_step(call: Call, four_bar: Path) -> None:
    rows = table(call("derive", four_bar, "--outputs", "H,hG", "--reduce", "fast").out)
    assert list(rows) == ["after", "formulation", *STEPS]
    model = cf.derive(four_bar, ["mass_matrix", "gravity"]).reduce()
    for stage in model.stages:
        assert rows[stage.name][:6] == [str(n) for n in stage.cost.as_dict().values()]


def test_the_document_has_the_steps(call: Call, four_bar: Path) -> None:
    arguments = ("derive", four_bar, "--outputs", "H", "--reduce", "fast", "--json")
    document = valid(call(*arguments), "derive")
    assert [stage["name"] for stage in document["stages"]] == ["formulation", *FAST]
    assert document["stages"][-1]["operations"] == document["operations"]
    assert document["reduce"] == "fast"


@pytest.mark.parametrize("options", [(), ("--reduce", "none")])
def test_nothing_is_reduced_unasked(call: Call, four_bar: Path, options: tuple[str, ...]) -> None:
    plain = valid(call("derive", four_bar, *options, "--json"), "derive")
    assert plain["reduce"] == "none"
    assert [stage["name"] for stage in plain["stages"]] == ["formulation"]
    out = call("derive", four_bar, *options).out
    assert out.startswith("four_bar, auto, not reduced\n")
    assert "after" not in out
    for command in ("count", "show", "compile"):
        result = call(command, four_bar, *options)
        assert result.out.startswith("four_bar, auto, not reduced\n"), command


def test_every_summary_says_how_it_is_reduced(call: Call, saved: str, four_bar: Path) -> None:
    assert call("bind", four_bar, "a=1/3", "--reduce", "fast").out.startswith(
        "four_bar, auto, reduced (fast)\n"
    )
    call("reduce", "bar")
    call("revert", "bar", "1")
    call("reduce", "bar@1", "--reduce", "merge_equal")
    states = ["no", "fast", "fast", "fast", "no", "merge_equal"]
    assert column(call("log", "bar").out, "reduced") == states
    assert column(call("models").out, "reduced") == ["merge_equal"]
    for number, state in enumerate(states, start=1):
        expected = "not reduced" if state == "no" else f"reduced ({state})"
        assert call("count", f"bar@{number}").out.startswith(f"four_bar, auto, {expected}\n")


def test_derive_takes_the_options_of_a_search(call: Call, four_bar: Path) -> None:
    arguments = ("derive", four_bar, "--outputs", "H", *DEEP, "--seed", "3", "--sine-cost", "5")
    document = valid(call(*arguments, "--json"), "derive")
    assert [stage["name"] for stage in document["stages"]] == ["formulation", "search_deep"]
    assert document["reduce"] == "deep"


def test_each_step_is_saved(call: Call, db: str, four_bar: Path) -> None:
    arguments = (
        "--outputs",
        "H",
        "--reduce",
        "fast",
        "--save",
        "bar",
        "--tag",
        "v1",
        "--note",
        "as drawn",
    )
    document = valid(call("derive", four_bar, *arguments, "--json"), "derive")
    assert (document["saved"]["revision"], document["saved"]["parent"]) == (3, 2)
    with cf.open_store(db) as store:
        log = store.log("bar")
        assert [(r.step, r.parent) for r in log] == [("derive", None), (FAST[0], 1), (FAST[1], 2)]
        assert [r.tags for r in log] == [(), (), ("v1",)]
        assert [r.note for r in log] == ["", "", "as drawn"]
        assert log[0].options["reduce"] == "none"
        assert log[2].options["seed"] == 0


# --- reduce -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_reduce_adds_revisions(call: Call, saved: str) -> None:
    document = valid(call("reduce", "bar", "--json"), "reduce")
    assert [stage["name"] for stage in document["stages"]] == ["before", *STEPS]
    assert document["saved"]["step"] == FAST[1]
    assert (document["saved"]["revision"], document["saved"]["parent"]) == (4, 3)
    again = valid(call("reduce", "bar", *DEEP, "--json"), "reduce")
    assert (again["saved"]["revision"], again["saved"]["parent"]) == (5, 4)
    assert again["saved"]["step"] == "search_deep"
    assert again["saved"]["options"]["steps"] == 8
    with cf.open_store(saved) as store:
        assert [r.parent for r in store.log("bar")] == [None, 1, 2, 3, 4]
        sizes = [r.cost.multiplications + r.cost.additions for r in store.log("bar")]
        assert sizes[1:] == sorted(sizes[1:], reverse=True)
        assert sizes[-1] < sizes[0]


@pytest.mark.slow
def test_reduce_an_earlier_revision(call: Call, saved: str) -> None:
    assert call("reduce", "bar").code == 0
    out = call("reduce", "bar@1", *DEEP, "--tag", "again").out
    assert out.endswith(
        "saved as bar@5\nit was made from bar@1, and is the last revision of bar now\n"
    )
    with cf.open_store(saved) as store:
        assert [r.number for r in store.lineage("bar@again")] == [1, 5]


def test_reduce_under_another_name(call: Call, saved: str) -> None:
    document = valid(call("reduce", "bar", "--save", "short", "--json"), "reduce")
    assert (document["saved"]["name"], document["saved"]["revision"]) == ("short", 4)
    with cf.open_store(saved) as store:
        assert len(store.log("bar")) == 1
        assert [r.step for r in store.log("short")] == ["copy", *STEPS]
        assert store.revision("short@1").options["origin"] == "bar@1"


def test_reduce_by_passes(call: Call, saved: str) -> None:
    document = valid(call("reduce", "bar", "--reduce", "expand,merge_equal", "--json"), "reduce")
    assert [stage["name"] for stage in document["stages"]] == ["before", "expand", "merge_equal"]


def test_reduce_to_nothing(call: Call, refused: Call, saved: str) -> None:
    assert "leaves the model as it is" in refused(call("reduce", "bar", "--reduce", "none"))


def test_nothing_better(call: Call, saved: str) -> None:
    call("reduce", "bar")
    out = call("reduce", "bar", "--reduce", "merge_equal").out
    assert "nothing better was found" in out


def test_the_text_of_reduce(call: Call, saved: str) -> None:
    out = call("reduce", "bar", "--note", "shorter").out
    assert out.startswith("four_bar, auto, reduced (fast)\n")
    assert list(table(out)) == ["after", "before", *STEPS]
    assert out.endswith("saved as bar@4\n")


def test_values_stay(call: Call, saved: str) -> None:
    state = b'{"q": [1, -0.8, 1.9]}'
    before = call("eval", "bar", "--at", "-", "--json", stdin=state).document["outputs"]
    call("reduce", "bar")
    after = call("eval", "bar@4", "--at", "-", "--json", stdin=state).document["outputs"]
    for name in before:
        expected = np.asarray(before[name]["values"])
        np.testing.assert_allclose(after[name]["values"], expected, rtol=1e-12, atol=1e-12)


def test_options_of_a_reduction_need_one(call: Call, refused: Call, four_bar: Path) -> None:
    for option in ("--seed", "--sine-cost", "--cores"):
        text = refused(call("derive", four_bar, option, "2"))
        assert f"{option} goes with --reduce fast" in text


# --- what is refused --------------------------------------------------------------------------

BAD = [
    (("--reduce", "fsat"), "there is no effort 'fsat'"),
    (("--reduce", "fast", "--steps", "4"), "--steps goes with --reduce deep"),
    (("--budget", "10"), "--budget goes with --reduce deep"),
    (("--reduce", "depe", "--budget", "10"), "there is no effort 'depe'"),
    (("--reduce", "expand", "--budget", "10"), "takes no budget"),
    (("--reduce", "deep", "--budget", "9" * 400), "too long a time"),
    (("--reduce", "deep", "--budget", "soon"), "'soon' is no time"),
    (("--reduce", "deep", "--steps", "x"), "--steps: 'x' is not a whole number"),
    (("--reduce", "deep", "--steps", "0"), "steps: expected a whole number from 1"),
    (("--reduce", "deep", "--cores", "0"), "cores: expected a whole number from 1"),
    (("--reduce", "fast", "--seed", "1.5"), "--seed: '1.5' is not a whole number"),
    (("--reduce", "fast", "--sine-cost", "-1"), "sine_cost: the number is negative"),
    (("--reduce", "fast", "--sine-cost", "1e17"), "sine_cost: the number is above 1e+06"),
    (("--reduce", "fast", "--sine-cost", "much"), "--sine-cost: 'much' is not a number"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_options(
    call: Call, refused: Call, saved: str, four_bar: Path, options: tuple[str, ...], message: str
) -> None:
    for command in (("derive", four_bar, "--outputs", "H"), ("reduce", "bar")):
        text = refused(call(*command, *options))
        assert message in text.splitlines()[0]
        assert [line[:10] for line in text.splitlines()[1:]] == ["  remedy: "]
    with cf.open_store(saved) as store:
        assert len(store.log("bar")) == 1


def test_only_stored_models_are_reduced(call: Call, refused: Call, saved: str, arm: Path) -> None:
    assert "is no stored model" in refused(call("reduce", arm))
    assert "neither a file nor a stored model" in refused(call("reduce", "nothing"))
    assert "this looks like a file" in refused(call("reduce", "bar", "--save", "a/b"))
    refused(call("reduce", "bar@7"))


def test_a_stored_model_is_taken_as_it_is(call: Call, refused: Call, saved: str) -> None:
    for command in (("count", "bar"), ("show", "bar", "H")):
        assert "--reduce goes with a file" in refused(call(*command, "--reduce", "fast"))


# --- a deep search that is disturbed ----------------------------------------------------------


def test_a_search_that_cannot_go_on_says_so(
    call: Call, four_bar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (sys.executable, "-S", "-c", "import sys; sys.exit('no room')")
    monkeypatch.setattr(workers, "_COMMAND", command)
    result = call("derive", four_bar, "--outputs", "H", *DEEP, "--json")
    assert result.code == 0
    assert result.document["stages"][-1]["name"] == "search_deep"
    (line,) = result.err.splitlines()
    assert line.startswith("chainform: note: the search ended early, with the best so far: ")


def children(process: int) -> list[int]:
    place = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in place.read_text("utf-8").split()] if place.exists() else []


def is_alive(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize(
    ("number", "wait"), [(signal.SIGINT, 0.0), (signal.SIGINT, 0.5), (signal.SIGTERM, 0.1)]
)
def test_a_signal_to_all_of_the_terminal(arm: Path, number: signal.Signals, wait: float) -> None:
    """As Ctrl-C comes: to the command and all that it started, while these still begin."""
    command = [sys.executable, "-m", "chainform", "derive", str(arm), "--outputs", "hG", "--json"]
    command += ["--reduce", "deep", "--budget", "30s", "--cores", "2"]
    pipe = subprocess.PIPE

    def heed() -> None:
        """Take interrupts, even where the tests themselves run in the background."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(
        command,
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
        preexec_fn=heed,  # noqa: PLW1509, no threads in the tests
    ) as process:
        end = monotonic() + 20
        while len(workers := children(process.pid)) < 2:
            assert monotonic() < end
            sleep(0.005)
        sleep(wait)
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=20)
    assert err == ""
    assert process.returncode == (0 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        stages = json.loads(out)["stages"]
        before, after = (sum(stage["operations"].values()) for stage in stages)
        assert after < before
    while any(is_alive(worker) for worker in workers):
        assert monotonic() < end
        sleep(0.02)


def test_the_line_of_a_search(monkeypatch: pytest.MonkeyPatch, four_bar: Path) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: clock[0])
    graph = cf.derive(four_bar, ["mass_matrix"], reduce="none").graph
    line = progress.Status(5400.0)
    assert str(line) == "deriving the model"
    line.progress(0, 9.0, graph)
    clock[0] += 65
    assert str(line).startswith("1:05, 1:28:55 left: a first look, best ")
    line.progress(1200, 9.0, graph)
    assert "left: 1200 steps, best " in str(line)
    clock[0] += 6000
    assert ", 0:00 left: " in str(line)
    unbounded = progress.Status(None)
    unbounded.progress(3, 9.0, graph)
    assert str(unbounded).startswith("0:00: 3 steps, best ")
