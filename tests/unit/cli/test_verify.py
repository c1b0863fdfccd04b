"""`chainform verify`: what it prints, where it keeps it, and its exit codes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.cli.commands import verify as command
from chainform.simulation import simulate
from chainform.verification import VerificationInterrupted

ROOT = Path(__file__).parents[3]
FOUR_BAR = str(ROOT / "examples" / "four_bar.toml")
PENDULUM = str(ROOT / "examples" / "scenarios" / "pendulum.toml")
ELEMENTS = str(ROOT / "examples" / "stanford_elements.toml")
QUICK = ("--only", "reference,rows", "--states", "2")


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A store with two revisions of a model."""
    file = str(tmp_path / "models.db")
    with cf.open_store(file) as store:
        model = cf.derive(FOUR_BAR, ["gravity"], parameters="symbolic")
        store.save(model, "linkage")
        store.bind("linkage", {"a": "0.25"})
    return file


def test_a_file_is_verified(call: Callable[..., Any], tmp_path: Path) -> None:
    target = tmp_path / "four_bar.txt"
    result = call("verify", FOUR_BAR, *QUICK, "--outputs", "hG,tau", "-o", str(target))
    assert result.code == 0, result.err
    assert "the independent reference gives the same" in result.out
    assert "2 checks hold" in result.out
    assert f"written to {target}" in result.out
    assert "Certificate of four_bar" in target.read_text()
    assert call("verify", FOUR_BAR, *QUICK, "-o", str(target)).code == 2


def test_the_document(call: Callable[..., Any]) -> None:
    document = call("verify", FOUR_BAR, *QUICK, "--seed", "3", "--json").document
    assert document["saved"] is None
    certificate = document["certificate"]
    assert certificate["holds"]
    assert certificate["seed"] == 3
    assert [check["states"] for check in certificate["checks"]] == [2, 2, 2]
    assert {check["kind"] for check in certificate["checks"]} == {"reference", "rows"}


def test_a_stored_model_keeps_its_certificate(call: Callable[..., Any], db: str) -> None:
    result = call("verify", "linkage@1", *QUICK, "--db", db)
    assert result.code == 0, result.err
    assert "saved in the store with linkage@1 as verification1" in result.out
    log = call("log", "linkage", "--db", db)
    (first,) = [line for line in log.out.splitlines() if "bind" not in line and "derive" in line]
    assert "2 checks hold" in first
    assert "chainform" in first
    (second,) = [line for line in log.out.splitlines() if "bind" in line]
    assert "checks" not in second
    document = call("log", "linkage", "--db", db, "--json").document
    assert [(v["revision"], v["holds"]) for v in document["verifications"]] == [(1, True)]
    listed = call("runs", "linkage", "--db", db)
    assert "verification1" in listed.out
    shown = call("runs", "linkage@1", "verification1", "--db", db)
    assert shown.out.startswith("Certificate of linkage@1, four_bar")
    assert call("runs", "linkage@1", "verification1", "--db", db, "--json").document["certificate"]
    assert call("runs", "linkage@1", "verification1", "--plot", "x.svg", "--db", db).code == 2
    assert call("runs", "linkage@1", "verification1", "--delete", "--db", db).code == 0
    assert "checks" not in call("log", "linkage", "--db", db).out


def test_no_difference_is_no_number_in_the_log(call: Callable[..., Any], db: str) -> None:
    assert call("verify", "linkage", "--only", "rows", "--db", db).code == 0
    log = call("log", "linkage", "--db", db).out
    assert "1 check holds, " in log
    assert "0.0e+00" not in log


def test_what_is_not_kept(call: Callable[..., Any], db: str) -> None:
    assert call("verify", "linkage", *QUICK, "--no-save", "--db", db).code == 0
    part = call("verify", "linkage", *QUICK, "--outputs", "hG[1]", "--db", db)
    assert part.code == 0
    assert "is not saved" in part.err
    assert "no runs" in call("runs", "linkage", "--db", db).out


def test_a_model_that_disagrees_ends_with_1(call: Callable[..., Any], db: str) -> None:
    with sqlite3.connect(db) as base:
        base.execute("UPDATE terms SET value = -value WHERE value > 0")
    result = call("verify", "linkage", *QUICK, "--db", db)
    assert result.code == 1
    assert "FAILS" in result.out
    assert "1 of 2 checks FAILS" in result.out
    assert "checks FAIL" in call("log", "linkage", "--db", db).out


def test_nothing_compared_ends_with_1(call: Callable[..., Any]) -> None:
    result = call("verify", ELEMENTS, "--only", "reference")
    assert result.code == 1
    assert "nothing was compared" in result.out


BAD = [
    ([FOUR_BAR, "--only", "guess"], "there is no kind of check"),
    ([FOUR_BAR, "--states", "0"], "states"),
    ([FOUR_BAR, "--states", "many"], "--states"),
    ([FOUR_BAR, "--seed", "x"], "--seed"),
    ([FOUR_BAR, "--formulation", "guess"], "guess"),
    ([FOUR_BAR, "-o", "found.docx"], "no name of a certificate"),
    (["nothing.toml"], "nothing.toml"),
    (["nothing"], "neither a file nor a stored model"),
    ([PENDULUM, "--outputs", "H"], "this is a motion"),
    ([PENDULUM, "--states", "3"], "--states goes with a model"),
    ([PENDULUM, "--seed", "3"], "--seed goes with a model"),
    ([PENDULUM, "--only", "laws"], "those of a model, and this is a motion"),
    ([FOUR_BAR, "--only", "motion"], "those of a motion, and this is a model"),
    ([FOUR_BAR, "--outputs", "heat"], "heat"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input_ends_with_2(
    call: Callable[..., Any], tmp_path: Path, arguments: list[str], words: str
) -> None:
    result = call("verify", *arguments, "--db", str(tmp_path / "none.db"))
    assert result.code == 2
    assert words in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_ctrl_c_shows_what_was_made(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cf.verify(FOUR_BAR, ["gravity"], only="reference", states=1)

    def stopped(*_: Any, **__: Any) -> cf.Certificate:
        document = json.loads(json.dumps(whole.document))
        assert document["holds"]
        raise VerificationInterrupted(whole)

    monkeypatch.setattr(command, "verify", stopped)
    result = call("verify", FOUR_BAR)
    assert result.code == 130
    assert "the independent reference" in result.out
    assert "interrupted: the certificate is not whole" in result.err
    result = call("verify", FOUR_BAR, "--json")
    assert result.code == 130
    assert result.document["certificate"]["subject"] == whole.subject


def test_a_scenario_and_a_file_of_its_run_are_verified(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    scenario = str(ROOT / "examples" / "scenarios" / "bouncing_ball.toml")
    result = call("verify", scenario)
    assert result.code == 0, result.out
    assert "5 checks hold" in result.out
    run, wrong = simulate(scenario), tmp_path / "run.npz"
    replace(run, q=run.q + 1e-3).save(wrong)
    result = call("verify", str(wrong))
    assert result.code == 1
    assert "FAILS" in result.out
