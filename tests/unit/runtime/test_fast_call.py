"""The function in machine code that Python calls: what it takes itself, and what it passes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import pytest

from chainform.errors import RunError
from chainform.runtime import Program, fastcall, kernel
from unit.runtime.programs import Array, close, given, graph_of, model, same_bits, small, state_of


class Subclass(np.ndarray[Any, Any]):
    """An array with another name."""


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(small())


@pytest.fixture
def only_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whatever is passed on to Python fail."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("this was passed on")

    monkeypatch.setattr(kernel.CompiledFunction, "__call__", refuse)


Q = np.array([0.3, -0.7, 1.1])
O = np.array([2 * np.sin(0.3) * 1.1 - np.cos(0.7) / 3, np.cos(0.7) ** 2 * 0.3 + 0.5])

# --- the short way --------------------------------------------------------------------------


@pytest.mark.usefixtures("only_fast")
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_prepared_arrays_go_the_short_way(precision: str) -> None:
    function = Program(small(), precision=precision).o
    q = Q.astype(precision)
    found = function(q)
    assert type(found) is np.ndarray
    assert found.dtype == precision
    assert found.flags.owndata
    close(found, O, 1e-15 if precision == "float64" else 1e-6)
    out = np.empty(2, precision)
    assert function(q, out=out) is out
    same_bits(out, found)
    rows = np.stack([q, q])
    rows.flags.writeable = False
    same_bits(function(rows[1]), found)


@pytest.mark.usefixtures("only_fast")
def test_every_shape_goes_the_short_way() -> None:
    lines = ["input q 0 q1", "a = q1*q1", "b = 2*q1"]
    shapes = {"none": "[0]:", "one": "[]: a", "matrix": "[1 2]: a b", "deep": "[2 1 2]: a b b a"}
    program = Program(graph_of(*lines, *(f"output {n} {text}" for n, text in shapes.items())))
    for name, expected in {"none": [], "one": 9, "matrix": [[9, 6]]}.items():
        for out in (None, np.empty(np.shape(expected))):
            found = program[name](np.array([3.0]), **({} if out is None else {"out": out}))
            assert found.tolist() == expected
            assert found.shape == np.shape(expected)
    assert program.deep(np.array([3.0])).tolist() == [[[9, 6]], [[6, 9]]]


@pytest.mark.usefixtures("only_fast")
def test_several_arguments_and_parameters_go_the_short_way() -> None:
    some = model("loops")
    program = some.compile()
    state = state_of(some, 1)
    out = np.empty(3)
    found = program.inverse_dynamics(*given(program, ["inverse_dynamics"], state), out=out)
    close(found, some.evaluate(**state)["inverse_dynamics"])


def test_what_the_function_is(program: Program) -> None:
    assert type(program.o) is type(len)
    assert program.o is program["o"] is program.function("o")
    assert (program.o.__name__, program.o.__module__) == ("o", "chainform.runtime")
    assert (program.o.__doc__ or "").startswith("Return o, (..., 2), compiled.")
    assert callable(program.o)


def test_where_it_is_not_possible(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fastcall.is_possible()
    monkeypatch.setattr(fastcall, "is_possible", lambda: False)
    slow = Program(small()).o
    assert isinstance(slow, kernel.CompiledFunction)
    same_bits(slow(Q), program.o(Q))
    out = np.empty(2)
    assert slow(Q, out=out) is out
    same_bits(out, program.o(Q))


# --- passed on ------------------------------------------------------------------------------


def other_forms(values: Array) -> Iterator[Any]:
    """Yield the same numbers in forms that are no prepared arrays."""
    yield values.tolist()
    yield tuple(values)
    yield values.view(Subclass)
    yield np.ma.array(values, mask=False)
    yield np.repeat(values, 2)[::2]
    yield values[::-1].copy()[::-1]
    yield values.astype(values.dtype.newbyteorder())
    yield values.astype(np.longdouble)
    yield np.array(values, dtype=np.dtype(values.dtype, metadata={"unit": "rad"}))
    yield np.frombuffer(b"x" + values.tobytes(), offset=1)


def test_other_forms_give_the_same(program: Program) -> None:
    expected = program.o(Q)
    for form in other_forms(Q):
        found = program.o(form)
        assert type(found) is np.ndarray
        same_bits(found, expected)


def test_other_forms_of_out(program: Program) -> None:
    for out in (np.zeros(2).view(Subclass), np.zeros(4)[::2], np.zeros(3)[:2]):
        assert program.o(Q, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), program.o(Q))
    assert program.o(Q, out=None) is not None
    name = "".join(["o", "u", "t"])
    out = np.zeros(2)
    assert program.o(Q, **{name: out}) is out


def test_masked_numbers_are_refused(program: Program) -> None:
    q = np.ma.array(np.ones((3, 3)), mask=np.eye(3, dtype=np.bool_))
    for bad in (q, q[0]):
        with pytest.raises(
            RunError, match="q is not an array of real numbers but of masked numbers"
        ) as e:
            program.o(bad)
        assert e.value.element == "q"


WRONG: dict[str, tuple[Any, ...]] = {
    "o takes q, not 0 arguments": (),
    "o takes q, not 2 arguments": (Q, Q),
    r"q has the shape \(2,\)": (Q[:2],),
    r"q has the shape \(\)": (1.0,),
    r"q has the shape \(0,\)": (np.empty(0),),
    "not an array of real numbers but of object": (None,),
    "numbers but of <U3": ("abc",),
    r"numbers but of \|S1": (b"q",),
    "numbers but of complex": (Q + 1j,),
    "numbers but of bool": (Q > 0,),
    "numbers but of datetime": (np.zeros(3, "M8[s]"),),
    "but of object": (object(),),
    "is not an array of real numbers": ({"q1": 1},),
    "array of real numbers but": ([[1, 2, 3], [1, 2]],),
    "real numbers but of object": ([1, None, 2],),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_said(program: Program, message: str) -> None:
    arguments = WRONG[message]
    for out in ({}, {"out": np.zeros(2)}):
        with pytest.raises(RunError, match=message) as e:
            program.o(*arguments, **out)
        assert e.value.element in ("q", "o")
        assert e.value.remedy


def test_arguments_by_name(program: Program) -> None:
    same_bits(program.o(q=Q), program.o(Q))
    out = np.zeros(2)
    assert program.o(out=out, q=Q.tolist()) is out
    same_bits(out, program.o(Q))
    some = model("loops")
    function = some.compile().inverse_dynamics
    state = state_of(some, 1)
    expected = function(*(state[group] for group in ("q", "qd", "qdd", "sigma")))
    same_bits(
        function(sigma=state["sigma"], qd=state["qd"], q=state["q"], qdd=state["qdd"]), expected
    )
    same_bits(function(state["q"], state["qd"], sigma=state["sigma"], qdd=state["qdd"]), expected)


def test_keywords_that_do_not_exist(program: Program) -> None:
    for keywords in ({"ouut": np.zeros(2)}, {"out": np.zeros(2), "x": 1}, {"q1": 1}):
        with pytest.raises(TypeError, match=r"o\(q, out=None, values=None\) got an unexpected"):
            program.o(Q, **keywords)
    with pytest.raises(TypeError, match="got twice: q"):
        program.o(Q, q=Q)
    with pytest.raises(RunError, match="o takes q, not 0 arguments"):
        program.o(out=np.zeros(2))
    with pytest.raises(RunError, match="no free parameters"):
        program.o(Q, out=np.zeros(2), values={"m": 1})


AT_THE_END = """
import ctypes, gc, weakref
import numpy as np
import chainform as cf
arm = cf.Mechanism.builder("arm", gravity=(0, "-9.81", 0))
arm = arm.segment("rod", axis="z", mass=1, com=[1, 0, 0]).build()
function = cf.derive(arm, ["gravity"]).compile().gravity
weakref.finalize._exitfunc()
gc.collect()
sizes = [size for size in range(16, 80) for _ in range(200)]
others = [ctypes.create_string_buffer(b"\\xff" * size) for size in sizes]
assert function.__name__ == "gravity"
print(float(function(np.zeros(1))[0]))
"""


def test_a_function_outlives_what_is_done_at_the_end_of_the_process() -> None:
    """What a module holds goes after everything else, and reads its definition then."""
    found = subprocess.run(
        [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout) == (0, "9.81\n"), found.stderr
