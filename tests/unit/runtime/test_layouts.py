"""Arguments in any layout: where the numbers lie does not change the results."""

from __future__ import annotations

from array import array
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.errors import RunError
from chainform.runtime import Program, kernel
from strategies import examples
from unit.runtime.programs import Array, arm, close, graph_of, same_bits, small, state_of

LAYOUTS = (
    *("natural", "fortran", "lanes", "backwards", "entries backwards", "every second state"),
    *("every second entry", "misaligned", "read only", "wide rows", "other bytes"),
)
layouts = st.sampled_from(LAYOUTS)


def laid_out(values: Array, layout: str) -> Array:
    """Return the same numbers (states, entries), as they lie in some larger array."""
    count, length = values.shape
    match layout:
        case "fortran":
            found = np.asfortranarray(values)
        case "lanes":
            found = np.full((length, count + 3), np.nan, values.dtype)[:, :count].T
        case "backwards":
            found = np.full((count, length), np.nan, values.dtype)[::-1]
        case "entries backwards":
            found = np.full((count, length), np.nan, values.dtype)[:, ::-1]
        case "every second state":
            found = np.full((2 * count, length), np.nan, values.dtype)[::2]
        case "every second entry":
            found = np.full((count, 2 * length), np.nan, values.dtype)[:, ::2]
        case "misaligned":
            room = bytearray(values.nbytes + 1)
            found = np.frombuffer(room, values.dtype, values.size, 1).reshape(values.shape)
            assert not found.flags.aligned or not values.size
        case "wide rows":
            found = np.full((count, length + 5), np.nan, values.dtype)[:, 2 : 2 + length]
        case "other bytes":
            found = np.empty((count, length), values.dtype.newbyteorder())
        case _:
            found = np.empty_like(values)
    found[...] = values
    found.flags.writeable = layout != "read only"
    return found


def stack(*arrays: Array) -> Array:
    return np.stack(arrays, axis=-1)


def expected_of(q: Array) -> Array:
    """Return what the small graph computes."""
    s, c = np.sin(q[..., 0]), np.cos(q[..., 1])
    return stack(2 * s * q[..., 2] - c / 3, c**2 * q[..., 0] + 0.5)


@cache
def program(lanes: int | None = None, precision: str = "float64", threads: int = 1) -> Program:
    return Program(small(), lanes=lanes, precision=precision, threads=threads)


def numbers(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(-3, 3, shape)


# --- batches --------------------------------------------------------------------------------


@given(layouts, st.integers(0, 40), st.sampled_from([2, 4, 8]))
@examples(150)
def test_every_layout_of_every_size(layout: str, count: int, lanes: int) -> None:
    values = numbers(count, count, 3)
    result = program(lanes).o(laid_out(values, layout))
    assert result.flags.c_contiguous
    close(result, expected_of(values))
    same_bits(result, program(lanes).o(values))


@given(layouts, st.integers(0, 40))
@examples(60)
def test_single_precision_layouts(layout: str, count: int) -> None:
    values = numbers(count, count, 3).astype(np.float32)
    result = program(precision="float32").o(laid_out(values, layout))
    close(result, expected_of(values.astype(float)), 1e-4)
    same_bits(result, program(precision="float32").o(values))


@given(st.permutations(range(40)), st.integers(1, 40))
@examples(40)
def test_a_state_has_the_same_bits_at_every_place(places: list[int], count: int) -> None:
    values = numbers(3, 40, 3)
    whole = program().o(values)
    chosen = places[:count]
    same_bits(program().o(values[chosen]), whole[chosen])


@given(st.integers(0, 100), layouts, layouts)
@examples(60)
def test_threads_change_no_bit(count: int, layout: str, of_result: str) -> None:
    values = laid_out(numbers(count, count, 3), layout)
    out = np.empty((count, 2))
    if of_result not in ("read only", "other bytes"):
        out = laid_out(np.zeros((count, 2)), of_result)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "PIECE", 1)
        result = program(threads=2).o(values, out=out)
    assert result is out
    same_bits(np.ascontiguousarray(result), program().o(values))


@pytest.mark.parametrize("shape", [(), (7,), (0,), (3, 4), (2, 0, 3), (1, 1), (2, 3, 2)])
def test_leading_dimensions(shape: tuple[int, ...]) -> None:
    values = numbers(1, *shape, 3)
    close(program().o(values), expected_of(values))
    transposed = np.swapaxes(numbers(2, *shape[::-1], 3), 0, -2) if len(shape) > 1 else values
    close(program().o(transposed), expected_of(transposed))
    close(program().o(np.asfortranarray(values)), expected_of(values))


@pytest.mark.parametrize(
    ("q", "qd", "qdd"),
    [((5, 1), (1, 4), ()), ((), (9,), ()), ((3, 1), (3, 1), (1, 1)), ((2, 1, 1), (3, 1), (4,))],
)
def test_arguments_are_broadcast(q: Any, qd: Any, qdd: Any) -> None:
    some = arm()
    shapes = {"q": q, "qd": qd, "qdd": qdd}
    state = {g: numbers(i, *shape, 2) for i, (g, shape) in enumerate(shapes.items())}
    found = some.compile().inverse_dynamics(*state.values())
    expected = some.evaluate(**state)["inverse_dynamics"]  # type: ignore[arg-type]
    assert found.shape[:-1] == np.broadcast_shapes(q, qd, qdd)
    close(found, expected)


def test_dimensions_that_do_not_fit() -> None:
    function = arm().compile().inverse_dynamics
    with pytest.raises(RunError, match=r"do not fit together: q \(3,\), qd \(4,\), qdd \(\)") as e:
        function(np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2))
    assert e.value.element == "q, qd, qdd"
    for bad in (np.zeros((2, 3)), np.zeros(()), 1.0, [], np.zeros((2, 0)), [[1], [2]]):
        with pytest.raises(RunError, match=r"qd has the shape .* must be 2") as e:
            function(np.zeros(2), bad, np.zeros(2))
        assert e.value.element == "qd"


def test_overlapping_rows() -> None:
    """A window that slides over one long array has states with common numbers."""
    values = np.lib.stride_tricks.sliding_window_view(numbers(0, 40), 3)
    close(program().o(values), expected_of(values))
    close(program().o(values[::-1]), expected_of(values[::-1]))


# --- kinds of numbers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["float32", "float16", "longdouble", "int8", "int64", "uint64", ">f8", ">i4", "<f4"]
)
def test_other_types_are_converted(kind: str) -> None:
    values = np.arange(33).reshape(11, 3).astype(kind)
    close(program().o(values), expected_of(values.astype(float)))
    close(program().o(values[4]), expected_of(values[4].astype(float)))
    single = program(precision="float32").o(values)
    assert single.dtype == np.float32
    close(single, expected_of(values.astype(float)), 1e-4)


def test_lists_and_other_sequences() -> None:
    expected = expected_of(np.array([1.0, 2.0, 3.0]))
    rows: list[Any] = [[1, 2, 3], (1.0, 2, 3), range(1, 4), [np.float32(1), 2, np.int8(3)]]
    for row in (*rows, array("d", [1, 2, 3])):
        close(program().o(row), expected)
    close(program().o([[1, 2, 3], [1, 2, 3]]), np.stack([expected] * 2))


def test_groups_in_different_layouts() -> None:
    some = arm()
    state = state_of(some, 4, 21)
    expected = some.evaluate(**state)["inverse_dynamics"]
    function = some.compile().inverse_dynamics
    for i in range(len(LAYOUTS)):
        chosen = (LAYOUTS[i], LAYOUTS[i - 1], LAYOUTS[i - 2])
        arrays = [state[group] for group in ("q", "qd", "qdd")]
        close(function(*map(laid_out, arrays, chosen)), expected)


def test_long_rows_reach_no_further_than_they_should() -> None:
    """Rows are moved in squares; the last square of a row is not whole."""
    for length in (1, 3, 4, 5, 8, 11):
        names = [f"q{i + 1}" for i in range(length)]
        lines = [f"input q {i} {name}" for i, name in enumerate(names)]
        graph = graph_of(*lines, f"output o [{length}]: {' '.join(names[::-1])}")
        values = laid_out(numbers(length, 17, length), "wide rows")
        room = np.full((17, length + 9), 7.0)
        Program(graph, lanes=4).o(values, out=room[:, 4:-5])
        assert (room[:, 4:-5] == values[:, ::-1]).all()
        assert (room[:, :4] == 7).all()
        assert (room[:, -5:] == 7).all()
