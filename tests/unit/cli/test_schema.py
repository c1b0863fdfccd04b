"""The JSON Schemas: they are frozen, and every command keeps to its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from chainform.cli.command import SUMMARIES
from chainform.cli.commands.schema import NAMES, schema_text

FROZEN = Path(__file__).with_name("schemas.sha256")


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema_text(name)))


@pytest.mark.parametrize("name", NAMES)
def test_schemas_do_not_change_silently(name: str) -> None:
    """A document that changes its form needs a new number in `schema`, and a decision."""
    frozen = dict(line.split()[::-1] for line in FROZEN.read_text("ascii").splitlines())
    assert hashlib.sha256(schema_text(name).encode()).hexdigest() == frozen[f"{name}.json"]


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name: str) -> None:
    schema = json.loads(schema_text(name))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert every_record_is_closed(schema)


def every_record_is_closed(part: Any) -> bool:
    if isinstance(part, list):
        return all(map(every_record_is_closed, part))
    if not isinstance(part, dict):
        return True
    if part.get("type") == "object" and "additionalProperties" not in part:
        return False
    return all(map(every_record_is_closed, part.values()))


@pytest.mark.parametrize("name", NAMES)
def test_schema_command(call: Callable[..., Any], name: str) -> None:
    result = call("schema", name)
    assert result.code == 0
    assert result.out == schema_text(name)
    assert call("schema", name, "--json").out == result.out


def test_every_command_has_a_schema() -> None:
    assert {*SUMMARIES, "state"} == {*NAMES, "schema"}


CLOSED_FORM = ("--formulation", "closed_form", "--reduce", "none")
CALLS = [
    ["check", "{arm}"],
    ["check", "{four_bar}"],
    ["check", "{pendulum}"],
    ["check", "{hand}"],
    ["quantities"],
    ["quantities", "{four_bar}", "--formulation", "closed_form"],
    ["verify", "{four_bar}", "--only", "reference,rows", "--states", "2"],
    ["verify", "{hand}", "--only", "reference", "--outputs", "H"],
    ["derive", "{arm}"],
    ["derive", "{arm}", "--outputs", "hG", "--parameters", "symbolic"],
    ["derive", "{four_bar}", "--outputs", "B,J,tau", "--closure", "basic"],
    ["derive", "{pendulum}", "--parameters", "g,weight"],
    ["derive", "{arm}", "--formulation", "newton_euler"],
    ["show", "{arm}"],
    ["show", "{four_bar}"],
    ["derive", "{hand}", "--outputs", "T,pose(grasp),J(palm, local)", "--wrenches", "grasp"],
    ["derive", "{four_bar}", "--outputs", "qdd", "--parameters", "symbolic"],
    ["show", "{hand}", "--wrenches", "grasp"],
    ["show", "{arm}", "H", "e_2_x", "Q_3[1,:]", "q1", *CLOSED_FORM],
    ["show", "{arm}", "jacobian(hand)[1,:]", "T", "--steps"],
    ["show", "{arm}", "hG", "--expand"],
    ["show", "{arm}", "hG", "--expand", "--latex"],
    ["show", "{arm}", "H", "--latex"],
    ["show", "{pendulum}", "H", "--sympy"],
    ["eval", "{arm}", "--at", "{state}"],
    ["eval", "{arm}", "--at", "{state}", "--outputs", "H"],
    ["count", "{arm}"],
    ["eval", "{arm}", "--at", "{state}", "--outputs", "T,V,pose(hand),v(hand,mixed)"],
    ["count", "{four_bar}", "--outputs", "B"],
    ["count", "{hand}", "--outputs", "a(grasp)", "--parameters", "symbolic"],
    ["bind", "{four_bar}", "a=0.25", "g=1.62", "--parameters", "symbolic"],
    ["bind", "{pendulum}", "length=1/3"],
    ["export", "{arm}", "--to", "python"],
    ["export", "{four_bar}", "--to", "latex", "--outputs", "J"],
    ["export", "{arm}", "--to", "text", "-o", "{new}"],
]


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_documents_keep_their_schema(
    call: Callable[..., Any],
    tmp_path: Path,
    arm: Path,
    four_bar: Path,
    pendulum: Path,
    hand: Path,
    state: Path,
    arguments: list[str],
) -> None:
    files = {"arm": arm, "four_bar": four_bar, "pendulum": pendulum, "hand": hand, "state": state}
    named = [a.format(new=tmp_path / "new.txt", **files) for a in arguments]
    result = call(*named, "--json")
    assert result.code == 0, result.err
    document = result.document
    assert document["schema"] == "chainform/1"
    assert document["command"] == arguments[0]
    validator(arguments[0]).validate(document)


def test_a_foreign_field_is_not_valid(call: Callable[..., Any], arm: Path) -> None:
    document = call("check", arm, "--json").document
    with pytest.raises(ValidationError):
        validator("check").validate(document | {"more": 1})


@pytest.mark.parametrize(
    ("state", "valid"),
    [
        ({}, True),
        ({"q": [1, 2], "values": {"m": 1}}, True),
        ({"q": [[1, 2], [3, 4]], "qd": {"a": 1, "b": [1, 2]}, "values": {"m": [1, 2]}}, True),
        ({"Q": [1]}, False),
        ({"q": 1}, False),
        ({"q": ["1"]}, False),
        ({"q": [True]}, False),
        ({"sigma": {"a": 1}}, False),
        ({"wrench": [1, 2, 3, 4, 5, 6]}, True),
        ({"wrench": {"hand": [1, 2, 3, 4, 5, 6]}}, False),
        ({"values": [1]}, False),
        ([], False),
    ],
)
def test_state_schema(state: Any, valid: bool) -> None:
    assert validator("state").is_valid(state) is valid


def test_example_state_is_valid(state: Path) -> None:
    document = json.loads(state.read_text("utf-8"))
    assert set(document) == {"q", "qd", "qdd"}
    assert validator("state").is_valid(document)
