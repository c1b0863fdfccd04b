"""Anything at all on the command line and in state files ends in a result or a clean error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chainform.cli.commands.schema import schema_text
from damaged import MODELS, damaged

SUPPRESSED = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)

numbers = st.integers(-3, 8) | st.floats() | st.just(1e308)
words = st.sampled_from(
    ["q", "qd", "qdd", "tau", "sigma", "wrench", "values", "crank", "q2", "a", "g", ""]
)
scalars = st.none() | st.booleans() | numbers | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(words | st.text(), inner, max_size=4)
    ),
    max_leaves=20,
)
vectors = st.lists(numbers, min_size=2, max_size=4)
likely = st.fixed_dictionaries(
    {},
    optional={
        "q": vectors | st.lists(vectors, max_size=3) | anything,
        "qd": vectors,
        "qdd": vectors | st.lists(vectors, max_size=3),
        "tau": vectors,
        "sigma": vectors,
        "wrench": vectors,
        "values": st.dictionaries(words, numbers | vectors, max_size=3) | anything,
    },
)
fuzzed = settings(max_examples=150, deadline=None)


def is_clean(result: Any) -> bool:
    """Tell whether a call gave a document and no message, or a message and no document."""
    if result.code == 0:
        return result.err == "" and isinstance(result.document, dict)
    return (
        result.code == 2
        and result.out == ""
        and result.err.startswith("chainform: error: ")
        and "Traceback" not in result.err
        and result.err.replace("\n", "").isprintable()
    )


@pytest.mark.slow
@fuzzed
@given(anything | likely)
def test_states(call: Callable[..., Any], four_bar: Path, state: Any) -> None:
    text = json.dumps(state).encode()
    assert is_clean(call("eval", four_bar, "--at", "-", "--json", stdin=text))


@pytest.mark.slow
@fuzzed
@given(
    st.binary(max_size=60)
    | st.text(alphabet='{}[]",:q1.eE-+ nulNaIfity\\u0', max_size=40).map(str.encode)
)
def test_bytes_as_states(call: Callable[..., Any], four_bar: Path, data: bytes) -> None:
    assert is_clean(call("eval", four_bar, "--at", "-", "--json", stdin=data))


quantities = (
    st.text(alphabet="HChGBJtaueQq_[]:, 0123456789xyz", max_size=12)
    | st.text(alphabet="JvTd(crank,locl)[]12:", max_size=16)
    | st.text(max_size=8)
)


@pytest.mark.slow
@fuzzed
@given(st.lists(quantities.filter(lambda text: not text.startswith("-")), min_size=1, max_size=2))
def test_quantities(call: Callable[..., Any], four_bar: Path, texts: list[str]) -> None:
    assert is_clean(call("show", four_bar, "--json", *texts))


arguments = st.sampled_from(
    ["check", "derive", "show", "eval", "count", "export", "bind", "schema", "state"]
)
options = st.sampled_from(
    [
        "--json",
        "--outputs",
        "H",
        "hG,tau",
        "--parameters",
        "symbolic",
        "--closure",
        "basic",
        "-",
        "--at",
        "--to",
        "text",
        "--expand",
        "--latex",
        "--reduce",
        "none",
        "--force",
        "--",
        "--formulation",
        "newton_euler",
        "--wrenches",
        "rod",
        "J(rod,local)",
        "--steps",
        "length=2",
        "weight=1e9999",
        "length=",
    ]
)


@pytest.mark.slow
@fuzzed
@given(arguments, st.lists(options | st.text(max_size=4), max_size=6), st.booleans())
def test_arguments(
    call: Callable[..., Any], pendulum: Path, command: str, rest: list[str], named: bool
) -> None:
    chosen = [text for text in rest if not text.startswith(("-h", "-o"))]
    result = call(command, *([pendulum] if named else []), *chosen, stdin=b'{"q": [1]}')
    assert result.code in (0, 2)
    assert (result.code == 0) == (result.err == "")
    assert result.code == 0 or result.out == ""


STATE = json.dumps(
    {
        "q": [0.1, 0.2, 0.3],
        "qd": [0.1, 0.2, 0.3],
        "qdd": [1, 2, 3],
        "tau": [1, 2, 3],
        "t": [0.5, 0.7],
        "values": {"free": 2},
    }
)
MOTION = json.dumps({"x": "0.3*t", "y": "sin(t)", "phi": "k*t^2"})
COMMANDS: dict[str, tuple[str, ...]] = {
    "check": ("--json",),
    "compare": ("--outputs", "inverse_dynamics", "constrained_dynamics", "--json"),
    "eval": ("--at", STATE, "--json"),
    "linearise": ("--at", '{"q": [0.1, 0.2, 0.3], "qd": [1, 2, 3], "t": 0.5}', "--json"),
    "inverse-dynamics": ("--motion", MOTION, "--times", "0:1:3", "--values", "free=2", "--json"),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("command", COMMANDS)
@settings(max_examples=20, deadline=None, suppress_health_check=list(SUPPRESSED))
@given(data=st.data())
def test_damaged_models(
    call: Callable[..., Any], tmp_path: Path, command: str, model: str, data: st.DataObject
) -> None:
    """A document that keeps to its schema, or a message that names the file or what was given."""
    path = tmp_path / "model.json"
    path.write_text(json.dumps(damaged(data, model)))
    result = call(command, path, *COMMANDS[command])
    if result.code == 0:
        jsonschema.validate(result.document, json.loads(schema_text(command)))
    else:
        assert result.code in (1, 2)
        assert result.err.startswith("chainform: error: ")
        assert result.out == ""
        assert "remedy: " in result.err
