"""Arrays for results that are not quite arrays, or that lie over each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from chainform.errors import RunError
from chainform.runtime import Program, arguments
from unit.runtime.programs import Array, graph_of, same_bits


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(
        graph_of(
            *(f"input q {i} q{i + 1}" for i in range(3)),
            *("a = q1*q2", "b = q1 - q2", "c = q3*q3", "d = 2*q3 - q1"),
            "output o [3]: a b c",
            "output p [3]: d b_1:b a_1:a",
        )
    )


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).uniform(-3, 3, shape)


# --- several results ------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (9,), (2, 5)])
def test_results_over_each_other_are_refused(program: Program, batch: tuple[int, ...]) -> None:
    function = program.function("o", "p")
    q = numbers(*batch, 3)
    memory = np.full((*batch, 5), 7.0)
    same = memory[..., :3]
    for outs in ((same, same), (same, memory[..., 2:]), (same, memory[..., 2::-1])):
        with pytest.raises(RunError, match="out for o and out for p overlap") as e:
            function(q, out=outs)
        assert e.value.element == "out"
        assert e.value.remedy
    assert (memory == 7).all()


@pytest.mark.parametrize("batch", [(), (9,), (2, 5)])
def test_results_between_each_other_are_taken(program: Program, batch: tuple[int, ...]) -> None:
    """Rows of one table, say: their memory is interlaced, but no number is in both."""
    function = program.function("o", "p")
    q = numbers(*batch, 3)
    expected = function(q)
    table = np.zeros((*batch, 6))
    for outs in ((table[..., :3], table[..., 3:]), (table[..., ::2], table[..., 1::2])):
        found = function(q, out=outs)
        assert found[0] is outs[0]
        for out, wanted in zip(outs, expected, strict=True):
            np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("batch", [(), (9,)])
def test_several_results_over_arguments(program: Program, batch: tuple[int, ...]) -> None:
    """As in numpy, where an operation on its own argument gives what it would give elsewhere."""
    function = program.function("o", "p")
    q = numbers(*batch, 3)
    expected = function(q.copy())
    other = np.empty_like(q)
    function(q, out=(q, other))
    np.testing.assert_array_equal(q, expected[0])
    np.testing.assert_array_equal(other, expected[1])


def test_what_is_too_hard_to_tell_overlaps(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: Any) -> bool:
        raise np.exceptions.TooHardError

    memory = np.zeros((4, 4))
    arguments.check_apart(["a", "b"], [memory[:, :2], memory[:, 2:]])
    monkeypatch.setattr(np, "shares_memory", give_up)
    with pytest.raises(RunError, match="overlap"):
        arguments.check_apart(["a", "b"], [memory[:, :2], memory[:, 2:]])


# --- one result over itself -----------------------------------------------------------------


def folded(count: int, state: int, entry: int) -> Array:
    """Return an array of states whose numbers are so many bytes from each other."""
    return as_strided(np.zeros(200), (count, 3), (state, entry))


@pytest.mark.parametrize(("state", "entry"), [(0, 8), (24, 0), (8, 8), (16, 8), (8, 16), (24, 4)])
def test_a_result_over_itself_is_refused(program: Program, state: int, entry: int) -> None:
    out = folded(4, state, entry)
    with pytest.raises(RunError, match="several entries of out for o lie in the same place"):
        program.o(numbers(4, 3), out=out)


@pytest.mark.parametrize(("state", "entry"), [(24, 8), (8, 32), (40, 16), (16, 56), (24, 16)])
def test_strange_layouts_without_overlap_are_taken(
    program: Program, state: int, entry: int
) -> None:
    """Such as 24 and 16 bytes for two states: they are interlaced, and no place is used twice."""
    q = numbers(4 if state != 24 or entry == 8 else 2, 3)
    out = folded(len(q), state, entry)
    assert program.o(q, out=out) is out
    np.testing.assert_array_equal(out, program.o(q))


def test_lengths_of_one_do_not_matter(program: Program) -> None:
    out = folded(1, 0, 8)
    assert program.o(numbers(1, 3), out=out) is out
    assert folded(0, 0, 0).size == 0
    assert program.o(numbers(0, 3), out=folded(0, 0, 0)).shape == (0, 3)


# --- kinds of arrays ------------------------------------------------------------------------


class Doubling(np.ndarray[Any, Any]):
    """An array with ideas of its own about numbers and shapes."""

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, 2 * value)

    def reshape(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("this is not for others")


@pytest.mark.parametrize("batch", [(), (9,)])
def test_subclasses_are_filled_as_plain_arrays(program: Program, batch: tuple[int, ...]) -> None:
    q = numbers(*batch, 3)
    expected = program.o(q)
    for room in (np.zeros((*batch, 3)), np.zeros((*batch, 6))[..., ::2], q.copy()):
        out = room.view(Doubling)
        assert program.o(q, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), expected)
    over = q.copy().view(Doubling)
    assert program.o(over, out=over) is over
    same_bits(np.asarray(over), expected)


@pytest.mark.filterwarnings("ignore:.*matrix")
def test_a_matrix_of_numpy(program: Program) -> None:
    out = np.asmatrix(np.zeros((9, 3)))
    assert program.o(numbers(9, 3), out=out) is out
    np.testing.assert_array_equal(np.asarray(out), program.o(numbers(9, 3)))


@pytest.mark.parametrize("mask", [False, True])
def test_masked_arrays_are_refused(program: Program, mask: bool) -> None:
    """What would be written behind the mask would not be seen."""
    for batch in ((), (9,)):
        out = np.ma.array(np.zeros((*batch, 3)), mask=mask)
        with pytest.raises(RunError, match="out for o is a masked array") as e:
            program.o(numbers(*batch, 3), out=out)
        assert e.value.remedy == "give the array behind it: out=array.data"
        assert not out.data.any()
        assert program.o(numbers(*batch, 3), out=out.data) is not None
