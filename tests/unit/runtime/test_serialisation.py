"""Programs as bytes: in other processes, of other users, and damaged on the way."""

from __future__ import annotations

import json
import multiprocessing
import zlib
from array import array
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bombs import MUCH, peak_of, zlib_bomb
from chainform.errors import RunError
from chainform.runtime import Program, kernel
from chainform.runtime.serialisation import MAGIC
from strategies import examples
from unit.runtime.programs import (
    Counted,
    arm,
    graph_of,
    model,
    refuse,
    run_elsewhere,
    same_bits,
    small,
    state_of,
)
from unit.runtime.programs import given as arguments_of

pytestmark = pytest.mark.any_processor

Q = np.linspace(-1, 1, 33).reshape(11, 3)


@pytest.mark.slow
def test_another_process_has_the_same_bits() -> None:
    some = model("floating")
    program = some.compile()
    state = state_of(some, 1, 21)
    arrays = arguments_of(program, ["inverse_dynamics"], state)
    function = program.inverse_dynamics
    expected = function(*[x[0] for x in arrays]).tobytes(), function(*arrays).tobytes()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        task = pool.submit(run_elsewhere, program.to_bytes(), "inverse_dynamics", arrays)
        assert task.result(100) == expected


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_everything_comes_along(precision: str) -> None:
    program = arm().compile(precision=precision, lanes=2, threads=2).bind({"m_1": 4.5})
    q = np.linspace(-1, 1, 18).reshape(9, 2)
    expected = program.gravity(q), program.gravity(q[0])
    again = Program.from_bytes(program.to_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "compiled", refuse)
        same_bits(again.gravity(q), expected[0])
        same_bits(again.gravity(q[0]), expected[1])
        # What was not used before did not come along.
        with pytest.raises(AssertionError, match="compiled"):
            again.inverse_dynamics(q, q, q)
    assert (again.precision, again.lanes, again.threads) == (precision, 2, 2)
    assert (again.parameters, again.lengths) == (program.parameters, program.lengths)
    assert again.outputs == program.outputs
    same_bits(again.inverse_dynamics(q, q, q), program.inverse_dynamics(q, q, q))


def test_reduced_graphs_keep_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coefficients that nothing uses any more must not change what the code goes by."""
    program = model("tree 47").reduce("fast").compile()
    state = state_of(model("tree 47"), 1, 9)
    arrays = arguments_of(program, ["inverse_dynamics"], state)
    expected = program.inverse_dynamics(*arrays)
    monkeypatch.setattr(kernel, "compiled", refuse)
    again = Program.from_bytes(Program.from_bytes(program.to_bytes()).to_bytes())
    same_bits(Program.from_bytes(program.to_bytes()).inverse_dynamics(*arrays), expected)
    assert again.outputs == program.outputs


def test_several_results_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(graph_of("input q 0 q1", "a = q1*q1", "output o []: a", "output p []: q1"))
    program.function("o", "p")([[3.0]])
    data = program.to_bytes()
    monkeypatch.setattr(kernel, "compiled", refuse)
    found = Program.from_bytes(data).function("o", "p")([[3.0]])
    assert [x.tolist() for x in found] == [[9.0], [3.0]]


def test_code_of_another_user_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(small())
    expected = program.o(Q)
    data = program.to_bytes()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another user"))
    compiler = Counted()
    monkeypatch.setattr(kernel, "compiled", compiler)
    again = Program.from_bytes(data)
    same_bits(again.o(Q), expected)
    assert compiler.calls == 2
    same_bits(Program.from_bytes(again.to_bytes()).o(Q), expected)
    assert compiler.calls == 2


def test_code_that_was_not_used_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(small())
    expected = program.o(Q), program.o(Q[0])
    monkeypatch.setattr(kernel, "compiled", refuse)
    data = program.to_bytes()
    for _ in range(3):
        data = Program.from_bytes(data).bind({}).to_bytes()
    again = Program.from_bytes(data)
    same_bits(again.o(Q), expected[0])
    same_bits(again.o(Q[0]), expected[1])
    assert len(Program.from_bytes(again.to_bytes()).to_bytes()) == len(data)


def test_code_comes_back_through_another_user(
    user_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They cannot use it, and compile their own beside it."""
    program = Program(small())
    expected, data = program.o(Q), program.to_bytes()
    monkeypatch.setenv("XDG_DATA_HOME", str(user_data.parent / "another user"))
    other = Program.from_bytes(data)
    other.o(Q)
    data = other.to_bytes()
    monkeypatch.setenv("XDG_DATA_HOME", str(user_data))
    monkeypatch.setattr(kernel, "compiled", refuse)
    same_bits(Program.from_bytes(data).o(Q), expected)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_of_any_kind(kind: Any) -> None:
    again = Program.from_bytes(kind(Program(small()).to_bytes()))
    assert again.o(Q).shape == (11, 2)


def test_parameters_without_a_value_travel() -> None:
    lines = ["input q 0 q1", "input parameter 0 b", "input parameter 1 a = 2", "c = a*q1 - b"]
    again = Program.from_bytes(Program(graph_of(*lines, "output o []: c")).to_bytes())
    assert again.parameters == {"b": None, "a": 2.0}
    assert again.bind({"b": 1}).o([5.0]) == 9.0


# --- damage ---------------------------------------------------------------------------------


@cache
def without_code() -> bytes:
    """Return a program with parameters and no machine code."""
    return arm().compile().to_bytes()


@given(st.data())
@examples(60)
def test_flipped_and_cut_bytes(draw: st.DataObject) -> None:
    data = without_code()
    place = draw.draw(st.integers(0, len(data) - 1))
    flipped = bytearray(data)
    flipped[place] ^= draw.draw(st.integers(1, 255))
    for bad in (bytes(flipped), data[:place]):
        with pytest.raises(RunError, match=r"not a program|damaged") as e:
            Program.from_bytes(bad)
        assert "to_bytes" in (e.value.remedy or "")


@pytest.mark.parametrize(
    "bad",
    [b"", b"\x7fELF", MAGIC, None, "text", 5, bytearray(MAGIC), MAGIC + zlib.compress(b"{}")]
    + [memoryview(b"text"), array("d", [1.0]), np.zeros(3)]
    + [MAGIC + zlib.compress(text) for text in (b"[]", b"5", b"\xff", b"[" * 100_000, b'"x"')],
)
def test_foreign_bytes(bad: Any) -> None:
    with pytest.raises(RunError, match=r"not a program|damaged"):
        Program.from_bytes(bad)


def forged(data: bytes, **changes: Any) -> bytes:
    """Return bytes that are whole, but say something else."""
    content = json.loads(zlib.decompress(data[len(MAGIC) :]))
    return MAGIC + zlib.compress(json.dumps(content | changes).encode())


FORGED: list[dict[str, Any]] = [
    {"graph": "nothing"},
    {"graph": "chainform graph 1\na = 2*b"},
    {"graph": f"chainform graph 1\ninput q 0 q1\na = {'9' * 5000}*q1"},
    {"graph": None},
    {"graph": 5},
    {"parameters": {}},
    {"parameters": {"m_1": 1.0}},
    {"parameters": None},
    {"parameters": {"m_1": "x"}},
    {"lengths": {"q": 1}},
    {"lengths": {"q": 0, "qd": 0, "qdd": 0}},
    {"lengths": {"q": float("inf")}},
    {"lengths": {"q": 2.5, "qd": 2, "qdd": 2}},
    {"lengths": [1]},
    {"lanes": 3},
    {"lanes": 4.5},
    {"lanes": "4"},
    {"lanes": [4]},
    {"precision": "float16"},
    {"precision": ["float64"]},
    {"threads": 0},
    {"threads": "many"},
    {"codes": {"a": "\x00"}},
    {"codes": {"a": 5}},
    {"codes": "x"},
]


@pytest.mark.parametrize("changes", FORGED, ids=str)
def test_forged_bytes_reach_no_memory_of_others(changes: dict[str, Any]) -> None:
    """Too few numbers for what the graph reads must be noticed before anything runs."""
    with pytest.raises(RunError):
        Program.from_bytes(forged(without_code(), **changes)).gravity([0.0, 0.0])


@pytest.mark.parametrize("length", [0, 1])
def test_forged_lengths_are_noticed(length: int) -> None:
    program = Program.from_bytes(forged(without_code(), lengths={"q": length}))
    with pytest.raises(RunError, match="q has at least 2 entries"):
        program.gravity(np.zeros(length))


def test_forged_lengths_of_parameters_do_not_count() -> None:
    lengths = {"q": 2, "qd": 2, "qdd": 2, "parameter": 0}
    again = Program.from_bytes(forged(without_code(), lengths=lengths))
    same_bits(again.gravity([0.1, 0.2]), arm().compile().gravity([0.1, 0.2]))


def test_parameters_in_another_order() -> None:
    backwards = dict(reversed(list(arm().compile().parameters.items())))
    again = Program.from_bytes(forged(without_code(), parameters=backwards))
    same_bits(again.gravity([0.1, 0.2]), arm().compile().gravity([0.1, 0.2]))


def test_forged_code_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(small())
    expected = program.o(Q)
    content = json.loads(zlib.decompress(program.to_bytes()[len(MAGIC) :]))
    assert len(content["codes"]) == 2
    wrong = {key: code[:-5] + "abcde" for key, code in content["codes"].items()}
    compiler = Counted()
    monkeypatch.setattr(kernel, "compiled", compiler)
    same_bits(Program.from_bytes(forged(program.to_bytes(), codes=wrong)).o(Q), expected)
    assert compiler.calls == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "bomb",
    [
        zlib_bomb,
        lambda: zlib_bomb(b'{"graph": "', b"a"),
        lambda: zlib.compress(b"[" + b"[]," * 2_000_000 + b"0]"),
        lambda: zlib.compress(b'{"graph": "' + b"a\\n" * 3_000_000 + b'"}'),
    ],
    ids=["blanks", "text", "lists", "lines"],
)
def test_short_bytes_do_not_fill_the_memory(bomb: Callable[[], bytes]) -> None:
    data = bomb()

    def task() -> None:
        with pytest.raises(RunError, match="damaged"):
            Program.from_bytes(MAGIC + data)

    assert len(data) < 2**21
    assert peak_of(task) < MUCH
