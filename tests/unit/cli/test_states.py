"""State files: what they may hold, and how each fault is named."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.cli.states import State, read_state
from chainform.errors import ReadError
from chainform.mechanism import Mechanism
from chainform.readers import read

COORDINATES = ("waist", "shoulder", "elbow", "wrist_pitch", "wrist_yaw", "wrist_roll")


@pytest.fixture(scope="module")
def mechanism(arm: Path) -> Mechanism:
    return read(arm)


@pytest.fixture(scope="module")
def linkage(four_bar: Path) -> Mechanism:
    return read(four_bar)


@pytest.fixture
def state_of(tmp_path: Path) -> Callable[[Any, Mechanism], State]:
    """Write a state, given as data, text or bytes, and read it."""

    def make(content: Any, mechanism: Mechanism) -> State:
        path = tmp_path / "state.json"
        if not isinstance(content, bytes):
            text = content if isinstance(content, str) else json.dumps(content)
            content = text.encode("utf-8", "surrogatepass")
        path.write_bytes(content)
        return read_state(str(path), mechanism)

    return make


def test_one_state(state_of: Callable[[Any, Mechanism], State], mechanism: Mechanism) -> None:
    state = state_of({"q": [1, 2, 3, 4, 5, 6.5], "values": {"m_2": 5}}, mechanism)
    assert state.groups["q"].tolist() == [1, 2, 3, 4, 5, 6.5]
    assert state.values["m_2"] == 5
    assert state.batch == ()


def test_batches_spread_over_each_other(
    state_of: Callable[[Any, Mechanism], State], mechanism: Mechanism
) -> None:
    q = np.arange(36).reshape(3, 2, 6)
    state = state_of(
        {"q": q.tolist(), "qd": [0] * 6, "values": {"m_2": [1, 2], "g": [[1]] * 3}}, mechanism
    )
    assert (state.groups["q"] == q).all()
    assert state.batch == (3, 2)


def test_by_coordinate_names(
    state_of: Callable[[Any, Mechanism], State], mechanism: Mechanism
) -> None:
    names = dict.fromkeys(COORDINATES, 0)
    state = state_of({"q": names | {"elbow": [1, 2]}, "tau": names}, mechanism)
    assert state.groups["q"].tolist() == [[0, 0, 1, 0, 0, 0], [0, 0, 2, 0, 0, 0]]
    assert state.groups["tau"].shape == (6,)
    numbered = {f"q{i}": i for i in range(1, 7)}
    assert state_of({"q": numbered}, mechanism).groups["q"].tolist() == [1, 2, 3, 4, 5, 6]


def test_rates_have_their_own_names(
    state_of: Callable[[Any, Mechanism], State], hand: Path
) -> None:
    mechanism = read(hand)
    rates = dict.fromkeys(mechanism.rates, 0)
    q = dict.fromkeys(mechanism.coordinates, 0) | {"base_qw": 1}
    state = state_of({"q": q, "qd": rates | {"base_wz": 2}, "tau": [0] * 7}, mechanism)
    assert state.groups["q"].tolist() == [0, 0, 0, 0, 0, 0, 1, 0]
    assert state.groups["qd"].tolist() == [0, 0, 0, 0, 0, 2, 0]
    numbered = {f"qd{i}": i for i in range(1, 8)}
    assert state_of({"qdd": numbered}, mechanism).groups["qdd"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    for content, words in (
        ({"qd": [0] * 8}, "last dimension must be 7"),
        ({"q": [0] * 7}, "last dimension must be 8"),
        ({"qd": rates | {"base_qw": 1}}, "there is no rate named 'base_qw'"),
        ({"qd": rates | {"qd1": 1}}, "given twice for base_vx"),
        ({"tau": {}}, "no value for base_vx"),
    ):
        with pytest.raises(ReadError) as caught:
            state_of(content, mechanism)
        assert words in str(caught.value)
    assert caught.value.remedy


def test_sigma_has_the_length_of_the_closure(
    state_of: Callable[[Any, Mechanism], State], linkage: Mechanism
) -> None:
    assert state_of({"sigma": [1, 2, 3]}, linkage).groups["sigma"].tolist() == [1, 2, 3]


def test_empty_table_and_byte_order_mark(
    state_of: Callable[[Any, Mechanism], State], mechanism: Mechanism
) -> None:
    assert state_of({}, mechanism).groups == {}
    assert state_of(b'\xef\xbb\xbf{"qd": [0,0,0,0,0,0]}', mechanism).groups.keys() == {"qd"}


def test_many_parameters_in_batches(
    state_of: Callable[[Any, Mechanism], State], mechanism: Mechanism
) -> None:
    values = {f"p{i}": [1, 2] for i in range(100)}
    assert state_of({"values": values}, mechanism).batch == (2,)


BAD = [
    ("", None, "empty"),
    ("  \n", None, "empty"),
    (b"\xff\xfe\x00", "byte 1", "UTF-8"),
    ('{"q": [1,}', "line 1, column", "JSON"),
    ('{"q": [1]} x', "line 1, column", "JSON"),
    ("{'q': [1]}", "line 1, column", "JSON"),
    ('{"q": [01]}', "line 1, column", "JSON"),
    ('{"q": [1], "q": [1]}', "'q'", "twice"),
    ('{"values": {"a": 1, "a": 2}}', "'a'", "twice"),
    ("[" * 100_000, None, "nested"),
    ('{"q": ' + "[" * 100_000 + "]" * 100_000 + "}", None, "nested"),
    ('{"q": ' + "[" * 20 + "1" + "]" * 20 + "}", "q", "nested"),
    ('{"a":' * 100_000, None, "nested"),
    ("null", None, "nothing"),
    ("[]", None, "a list"),
    ('"q"', None, "a text"),
    ("1", None, "a number"),
    ({"qq": [1]}, None, "did you mean"),
    ({"Q": [1]}, None, "unknown field 'Q'"),
    ({"": [1]}, None, "unknown field"),
    ('{"\\ud800": 1}', None, "unknown field"),
    ({"q": None}, "q", "nothing"),
    ({"q": 1}, "q", "a number"),
    ({"q": "1 2 3"}, "q", "a text"),
    ({"q": [0, 0, 0, 0, 0, "0"]}, "q[6]", "a text"),
    ({"q": [0, 0, 0, 0, 0, True]}, "q[6]", "true"),
    ({"q": [0, 0, 0, 0, 0, None]}, "q[6]", "nothing"),
    ({"q": [None] * 6}, "q[1]", "nothing"),
    ({"q": [0, 0, 0, 0, 0, {}]}, "q[6]", "a table"),
    ({"q": [0, 0, [0], 0, 0, 0]}, "q[3]", "a list"),
    ({"q": [[0] * 6, [0] * 5]}, "q[2]", "expected 6 entries, got 5"),
    ({"q": [[0] * 6, 0]}, "q[2]", "a number"),
    ({"q": [[[0] * 6], [[0] * 6, [0] * 6]]}, "q[2]", "expected 1 entries, got 2"),
    ({"q": [0] * 5}, "q", "last dimension must be 6"),
    ({"q": []}, "q", "last dimension must be 6"),
    ({"q": [[], []]}, "q", "last dimension must be 6"),
    ({"qdd": [0] * 7}, "qdd", "last dimension must be 6"),
    ({"sigma": [1]}, "sigma", "last dimension must be 0"),
    ({"sigma": {"waist": 1}}, "sigma", "a table"),
    ({"wrench": [0] * 6}, "wrench", "named in `wrenches`"),
    ({"wrench": {"hand": [0] * 6}}, "wrench", "expected a list, got a table"),
    ('{"q": [0,0,0,0,0,NaN]}', "q[6]", "finite"),
    ('{"q": [0,0,0,0,-Infinity,0]}', "q[5]", "finite"),
    ('{"q": [0,0,0,1e999,0,0]}', "q[4]", "finite"),
    ('{"q": [0,0,0,%s,0,0]}' % ("9" * 10_000), "q[4]", "finite"),
    ({"q": dict.fromkeys(COORDINATES[:-1], 0)}, "q", "no value for wrist_roll"),
    ({"q": dict.fromkeys(COORDINATES, 0) | {"elbw": 1}}, "q", "did you mean 'elbow'"),
    ({"q": dict.fromkeys(COORDINATES, 0) | {"q3": 1}}, "q", "twice"),
    ({"q": dict.fromkeys(COORDINATES, 0) | {"elbow": "1"}}, "q, elbow", "a text"),
    ({"q": {key: [1, 2] for key in COORDINATES} | {"elbow": [1, 2, 3]}}, "q", "do not fit"),
    ({"q": {}}, "q", "no value for waist"),
    ({"q": [[0] * 6] * 2, "qd": [[0] * 6] * 3}, None, "do not fit"),
    ({"q": [[0] * 6] * 2, "values": {"m_2": [1, 2, 3]}}, None, "do not fit"),
    ({"values": []}, "values", "a list"),
    ({"values": {"m_2": "5"}}, "values, m_2", "a text"),
    ({"values": {"m_2": [1, [2]]}}, "values, m_2[2]", "a list"),
    ('{"values": {"m_2": NaN}}', "values, m_2", "finite"),
]


@pytest.mark.parametrize(("content", "element", "words"), BAD)
def test_faults(
    state_of: Callable[[Any, Mechanism], State],
    mechanism: Mechanism,
    content: Any,
    element: str | None,
    words: str,
) -> None:
    with pytest.raises(ReadError) as caught:
        state_of(content, mechanism)
    assert caught.value.file is not None
    assert caught.value.file.endswith("state.json")
    assert words in str(caught.value)
    if element is None:
        assert caught.value.element is None
    else:
        assert (caught.value.element or "").startswith(element)


@pytest.mark.parametrize("source", ["missing.json", "", ".", "\0", "x" * 5000])
def test_files_that_cannot_be_read(mechanism: Mechanism, source: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_state(source, mechanism)
    assert caught.value.file == source


def test_state_on_the_command_line(mechanism: Mechanism) -> None:
    state = read_state(' {"q": [0, 0, 0, 0, 0, 1]}', mechanism)
    assert state.groups["q"].tolist() == [0, 0, 0, 0, 0, 1]
    assert state.file == "the state given"
    for text in ('{"q": [0', "{}}", '{"\udcff": 1}'):
        with pytest.raises(ReadError, match="the state given") as caught:
            read_state(text, mechanism)
        assert caught.value.remedy


def test_stdin(monkeypatch: pytest.MonkeyPatch, mechanism: Mechanism) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"q": [0,0,0,0,0,1]}')))
    assert read_state("-", mechanism).file == "standard input"
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ReadError):
        read_state("-", mechanism)


DRIVEN = Path(__file__).parents[3] / "examples" / "driven_arm.toml"
CRANE = Path(__file__).parents[3] / "examples" / "portal_crane.toml"


def test_states_signals_and_forces_by_name(state_of: Callable[[Any, Mechanism], State]) -> None:
    driven, crane = read(DRIVEN), read(CRANE)
    entries = {name: float(k) for k, name in enumerate(driven.states)}
    signals = {actuator.name: [1, 2] for actuator in driven.actuators}
    state = state_of({"x": dict(reversed(entries.items())), "u": signals}, driven)
    assert state.groups["x"].tolist() == list(entries.values())
    assert state.groups["u"].shape == (2, len(driven.signals))
    forces = dict.fromkeys(crane.unknowns, 7)
    assert state_of({"force": forces}, crane).groups["force"].tolist() == [7] * len(forces)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"x": [1]}, "its last dimension must be"),
        ({"u": []}, "its last dimension must be"),
        ({"force": [1]}, "its last dimension must be 0"),
        ({"u": {"nobody": 1}}, "there is no entry 'nobody'"),
        ({"x": {}}, "x has no value for"),
        ({"x": 3}, "a table by names"),
    ],
)
def test_faults_of_drives(
    state_of: Callable[[Any, Mechanism], State], content: Any, words: str
) -> None:
    with pytest.raises(ReadError) as caught:
        state_of(content, read(DRIVEN))
    assert words in caught.value.message
    assert caught.value.element in ("x", "u", "force")
