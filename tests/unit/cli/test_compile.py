"""`chainform compile`: machine code, timed, and kept with a stored model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import chainform as cf
from chainform.cli.commands import compile as command
from chainform.cli.commands.schema import schema_text
from chainform.emitters import Argument, ResultArray, Signature
from chainform.runtime import host, kernel

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the key of machine code out of the user's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def valid(result: Any) -> Any:
    """Return the document after a check against its schema."""
    assert (result.code, result.err) == (0, "")
    Draft202012Validator(json.loads(schema_text("compile"))).validate(result.document)
    return result.document


def test_a_file(call: Call, four_bar: Path) -> None:
    document = valid(call("compile", four_bar, "--outputs", "H,hG", "--json"))
    assert [each["name"] for each in document["functions"]] == ["mass_matrix", "gravity"]
    assert document["functions"][0]["prototype"] == (
        "void mass_matrix(const double *q, double *out);"
    )
    assert not document["kept"]
    assert all(each["nanoseconds"]["single"] > 0 for each in document["functions"])


def test_the_text(call: Call, four_bar: Path) -> None:
    arguments = ("--outputs", "H,tau", "--precision", "float32", "--lanes", "4")
    lines = call("compile", four_bar, *arguments).out.splitlines()
    assert lines[0] == "four_bar, auto, not reduced"
    assert "float32, 4 lanes" in lines[1]
    assert lines[3].split()[0] == "mass_matrix(q)"
    assert lines[4].startswith("  inverse_dynamics(q, qd, qdd, sigma)")


def test_another_processor(call: Call, four_bar: Path) -> None:
    common = "x86-64" if host().triple.startswith("x86_64") else "generic"
    document = valid(call("compile", four_bar, "--outputs", "H", "--cpu", common, "--json"))
    assert (document["processor"], document["lanes"]) == (common, 2)
    refused = call("compile", four_bar, "--cpu", "x86-64-v9")
    assert (refused.code, refused.out) == (2, "")
    assert "--cpu: LLVM knows no processor 'x86-64-v9'" in refused.err
    assert "native" in refused.err


def test_parameters_without_values(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "arm.toml"
    file.write_text(
        'name = "arm"\n[parameters]\nm = {}\n[[segments]]\nname = "a"\n'
        'joint = { type = "revolute", axis = [0, 1, 0] }\nmass = "m"\ncom = [1, 0, 0]\n',
        "utf-8",
    )
    document = valid(call("compile", file, "--outputs", "hG", "--parameters", "m", "--json"))
    assert document["functions"][0]["nanoseconds"] is None
    assert "-" in call("compile", file, "--outputs", "hG", "--parameters", "m").out


def test_a_stored_model_keeps_its_code(
    call: Call, four_bar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINFORM_DB", str(tmp_path / "models.db"))
    assert call("derive", four_bar, "--outputs", "H,hG", "--save", "bar").code == 0
    first = valid(call("compile", "bar", "--json"))
    assert first["kept"]

    def refuse(*_: object) -> bytes:
        raise AssertionError("compiled again")

    monkeypatch.setattr(kernel, "compiled", refuse)
    assert "the machine code is in the store" in call("compile", "bar").out
    with cf.open_store() as store:
        program = store.load("bar").compile()
        assert program.mass_matrix([0.1, 0.2, 0.3]).shape == (3, 3)


def test_large_outputs_are_timed_in_smaller_batches(
    call: Call, four_bar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    best = command._best

    def counted(function: Any, arguments: Any, calls: int) -> float:
        counts.append(arguments[0].shape[0] if arguments[0].ndim == 2 else 1)
        return best(function, arguments, calls)

    monkeypatch.setattr(command, "_best", counted)
    monkeypatch.setattr(command, "BYTES", 8 * 12 * 100)
    document = valid(call("compile", four_bar, "--outputs", "H,hG", "--json"))
    assert counts == [1, 100, 1, 200]
    assert all(each["nanoseconds"]["batch"] > 0 for each in document["functions"])


@pytest.mark.parametrize(
    ("length", "precision", "states"),
    [
        (3, "float64", 8192),
        (27_000, "float64", 310),
        (27_000, "float32", 620),
        (10**8, "float64", 1),
    ],
)
def test_batches_are_bounded_by_their_bytes(length: int, precision: str, states: int) -> None:
    signature = Signature((Argument("q", 30),), (ResultArray("coriolis", (length,)),))
    assert command._states(signature, precision) == states


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lanes", "3"), "there is no number of lanes"),
        (("--lanes", "many"), "there is no number of lanes"),
        (("--precision", "float16"), "float16"),
        (("--outputs", "gravitas"), "gravitas"),
    ],
)
def test_bad_options(
    call: Call, refused: Call, four_bar: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in refused(call("compile", four_bar, *arguments))
