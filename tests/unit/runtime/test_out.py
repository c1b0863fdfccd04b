"""Results in arrays of the caller: in any layout, over arguments, and what is refused."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import RunError
from chainform.runtime import Program, arguments
from strategies import examples
from unit.runtime.programs import Array, arm, close, graph_of, model, same_bits, state_of


@cache
def program(lanes: int | None = None) -> Program:
    """Return a program whose result has two dimensions, and another with as many entries as q."""
    graph = graph_of(
        *(f"input q {i} q{i + 1}" for i in range(6)),
        *("a = q1*q6", "b = q1 - q2", "c = q3*q3", "d = 2*q5 - q4", "e = q2*q4", "f = q6 + 1"),
        "output matrix [2 3]: a b c d e f",
        "output vector [6]: f_1:f e_1:e d_1:d c_1:c b_1:b a_1:a",
        "output number []: a",
    )
    return Program(graph, lanes=lanes)


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).uniform(-3, 3, shape)


ROOMS = ("natural", "fortran", "lanes", "strided", "backwards", "misaligned", "transposed")


def room_for(shape: tuple[int, ...], kind: str) -> tuple[Array, Array]:
    """Return an array to write to, as part of a larger one that must otherwise stay as it is."""
    size = int(np.prod(shape))
    match kind:
        case "fortran":
            whole = np.full(shape, 7.0, order="F")
            return whole, whole
        case "lanes":
            whole = np.full((*shape[1:], shape[0] + 2), 7.0)
            return whole, np.moveaxis(whole[..., 1:-1], -1, 0)
        case "strided":
            whole = np.full((2 * shape[0] + 1, *shape[1:-1], 3 * shape[-1]), 7.0)
            return whole, whole[1::2, ..., 1::3]
        case "backwards":
            whole = np.full((shape[0] + 2, *shape[1:]), 7.0)
            return whole, whole[-2:0:-1, ..., ::-1]
        case "misaligned":
            raw = np.full(8 * size + 9, 7, dtype=np.uint8)
            return raw, np.frombuffer(raw.data, np.float64, size, 1).reshape(shape)
        case "transposed":
            whole = np.full(shape[::-1], 7.0)
            return whole, whole.T
        case _:
            whole = np.full((shape[0] + 2, *shape[1:]), 7.0)
            return whole, whole[1:-1]


@given(st.sampled_from(ROOMS), st.integers(1, 20), st.sampled_from([2, 4, 8]), st.booleans())
@examples(120)
def test_results_go_where_they_should(kind: str, count: int, lanes: int, is_matrix: bool) -> None:
    q = numbers(count, 6)
    function = program(lanes)["matrix" if is_matrix else "vector"]
    expected = function(q)
    whole, out = room_for(expected.shape, kind)
    found = function(q, out=out)
    assert found is out
    np.testing.assert_array_equal(out, expected)
    out[...] = np.frombuffer(b"\x07" * 8) if kind == "misaligned" else 7.0
    assert (whole == 7).all()


@pytest.mark.parametrize("kind", ["natural", "strided", "backwards", "misaligned", "transposed"])
def test_results_of_one_state(kind: str) -> None:
    q = numbers(6)
    whole, out = room_for((2, 3), kind)
    assert program().matrix(q, out=out) is out
    np.testing.assert_array_equal(out, program().matrix(q))
    out[...] = np.frombuffer(b"\x07" * 8) if kind == "misaligned" else 7.0
    assert (whole == 7).all()


def test_more_leading_dimensions() -> None:
    q = numbers(2, 3, 5, 6)
    expected = program().matrix(q)
    for out in (np.empty((2, 3, 5, 2, 3)), np.empty((2, 3, 2, 3, 5)).transpose(0, 1, 4, 2, 3)):
        assert program().matrix(q, out=out) is out
        np.testing.assert_array_equal(out, expected)
    nothing = np.empty((4, 0, 2, 3))
    assert program().matrix(np.empty((4, 0, 6)), out=nothing) is nothing


def test_a_number_as_a_result() -> None:
    q = numbers(6)
    out = np.zeros(())
    assert program().number(q, out=out) is out
    assert out == q[0] * q[5]
    several = np.zeros((3, 2))
    assert program().number(numbers(3, 6), out=several[:, 1]) is not None
    np.testing.assert_array_equal(several[:, 1], program().number(numbers(3, 6)))
    assert not several[:, 0].any()


def test_machine_code_gets_aligned_arrays() -> None:
    """Most processors put up with others; LLVM does not promise to."""
    _, odd = room_for((5, 2, 3), "misaligned")
    assert not odd.flags.aligned
    assert arguments.numbers("q", odd, odd.dtype).flags.aligned
    assert arguments.rows_of_result(odd, 5, 6) is None


# --- over the arguments ---------------------------------------------------------------------


@given(st.integers(0, 25), st.integers(-7, 7), st.sampled_from([2, 4, 8]), st.booleans())
@examples(100)
def test_a_result_over_its_argument(count: int, shift: int, lanes: int, is_single: bool) -> None:
    """As integrators do: the state is replaced by what is computed from it, or nearly so."""
    function = program(lanes).vector
    shape = (6,) if is_single else (count, 6)
    size = int(np.prod(shape))
    memory = numbers(size + 20)
    q = memory[10 : 10 + size].reshape(shape)
    out = memory[10 + shift : 10 + shift + size].reshape(shape)
    expected = function(q.copy())
    assert function(q, out=out) is out
    same_bits(out, expected)


@pytest.mark.parametrize("place", ["q", "qd", "qdd"])
def test_over_any_of_several_arguments(place: str) -> None:
    some = arm()
    function = some.compile().inverse_dynamics
    for batch in ((), (9,)):
        state = state_of(some, 3, *batch)
        expected = some.evaluate(**state)["inverse_dynamics"]
        close(function(state["q"], state["qd"], state["qdd"], out=state[place]), expected)
        close(state[place], expected)


def test_in_place_through_another_layout() -> None:
    memory = numbers(6, 6)
    expected = program().vector(memory.copy())
    program().vector(memory, out=memory.T)
    np.testing.assert_array_equal(memory.T, expected)


# --- several results ------------------------------------------------------------------------


def test_several_results() -> None:
    some = model("tree 42")
    compiled = some.compile()
    function = compiled.function("mass_matrix", "bias")
    state = state_of(some, 1, 11)
    expected = some.evaluate(**state)
    n = some.mechanism.nv
    for batch, chosen in (((), 4), ((11,), slice(None))):
        given = (state["q"][chosen], state["qd"][chosen])
        outs = [np.empty((*batch, n, n)), np.empty((n, *batch)).T]
        for out in (outs, tuple(outs)):
            found = function(*given, out=out)
            assert isinstance(found, tuple)
            assert found[0] is outs[0]
            assert found[1] is outs[1]
            close(outs[0], expected["mass_matrix"][chosen])
            close(outs[1], expected["bias"][chosen])
            outs[0][...] = outs[1][...] = 0
    q, qd = state["q"], state["qd"]
    for bad in (np.zeros((11, n)), [np.zeros((11, n, n))], 5, [None, None]):
        with pytest.raises(RunError, match="out") as e:
            function(q, qd, out=bad)
        assert e.value.element == "out"


# --- refused --------------------------------------------------------------------------------


class Pretender:
    """Has what an array has, but is none."""

    shape, dtype, flags = (2, 3), np.dtype(float), np.zeros(1).flags


def read_only(*shape: int) -> Array:
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


BAD: dict[str, Any] = {
    "not an array": [[0.0] * 3] * 2,
    "is not an array": Pretender(),
    "has the shape": np.zeros((3, 2)),
    r"the shape \(6,\)": np.zeros(6),
    r"the shape \(1, 2, 3\)": np.zeros((1, 2, 3)),
    "type float32": np.zeros((2, 3), np.float32),
    "type int64": np.zeros((2, 3), np.int64),
    "type complex": np.zeros((2, 3), np.complex128),
    "type object": np.zeros((2, 3), object),
    "type >f8": np.zeros((2, 3), ">f8"),
    "cannot be written to": read_only(2, 3),
}


@pytest.mark.parametrize("message", BAD)
def test_what_out_cannot_be(message: str) -> None:
    out = BAD[message]
    before = repr(out)
    with pytest.raises(RunError, match=message) as e:
        program().matrix(numbers(6), out=out)
    assert e.value.element == "out"
    assert "matrix" in str(e.value)
    assert repr(out) == before


def test_what_out_cannot_be_for_a_batch() -> None:
    q = numbers(5, 6)
    for bad in (np.zeros((2, 3)), np.zeros((4, 2, 3)), read_only(5, 2, 3), np.zeros((5, 6)), "x"):
        with pytest.raises(RunError, match="out for matrix") as e:
            program().matrix(q, out=bad)
        assert e.value.element == "out"
    broadcast = np.broadcast_to(np.zeros((2, 3)), (5, 2, 3))
    with pytest.raises(RunError, match="cannot be written to"):
        program().matrix(q, out=broadcast)
