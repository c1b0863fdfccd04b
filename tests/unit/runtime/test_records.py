"""Records of procedures: one piece of memory, the same for Python and machine code."""

from __future__ import annotations

import copy
import ctypes
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chainform.runtime.engine import Library, compiled
from chainform.runtime.procedures import (
    Floats,
    Ints,
    Number,
    Numbers,
    Struct,
    Structs,
    Translation,
)
from chainform.runtime.target import target_for

ATTRIBUTES = "attributes #0 = { nounwind }\n"


class Limit(Struct):
    """A record within others."""

    most: float
    count: int


class Walk(Struct):
    """A record with a field of every kind."""

    t: Number
    speed: float
    done: int
    low: Limit
    y: Floats
    room: Floats
    weights: Numbers
    order: Ints
    high: Limit
    limits: Structs[Limit]


def walk(walk: Walk, n: int) -> int:
    """Read and write fields of every kind, and hand records and arrays on."""
    walk.room = walk.y[1:]
    high = walk.high
    for i in range(n):
        walk.t += walk.weights[i]
        walk.y[i] = walk.speed * walk.t + walk.low.most
        walk.order[walk.done] = i
        walk.done += 1
        limit = walk.limits[i]
        limit.most = walk.room[0]
        walk.limits[i].count += raise_count(walk.low) + i
    high.most = walk.limits[n - 1].most
    return walk.low.count


def raise_count(limit: Limit) -> int:
    """Write into a record that stands in another."""
    limit.count = 2 * limit.count + 1
    return limit.count


def prepared(lanes: int, n: int) -> Walk:
    rng = np.random.default_rng(3)
    record = Walk(lanes=lanes)
    record.t, memory = 0.5, record.memory
    memory["speed"], memory["low"]["most"] = rng.normal(size=(2, lanes)).squeeze()
    record.y, record.weights = rng.normal(size=(n + 1) * lanes), rng.normal(size=n)
    record.order, record.limits = np.zeros(n, dtype=np.int64), Structs(Limit, n, lanes)
    return record


def code_of(procedure: Callable[..., Any], lanes: int) -> tuple[Library, Any]:
    translation = Translation({}, lanes)
    translation.add(procedure)
    library = Library(compiled(translation.text(ATTRIBUTES), target_for()), [procedure.__name__])
    address, number = ctypes.c_void_p, ctypes.c_int64
    return library, ctypes.CFUNCTYPE(number, address, number)(library.address(procedure.__name__))


def test_python_and_machine_code_share_a_record() -> None:
    first, second, n = prepared(1, 3), prepared(1, 3), 3
    library, code = code_of(walk, 1)
    assert code(second.address, n) == walk(first, n) == 7
    assert (first.done, first.low.count) == (second.done, second.low.count) == (3, 7)
    assert [limit.count for limit in second.limits] == [1, 4, 9]
    assert first.order.tolist() == second.order.tolist() == [0, 1, 2]
    for name in ("t", "speed"):
        assert getattr(second, name) == pytest.approx(getattr(first, name), rel=1e-15)
    np.testing.assert_allclose(second.y, first.y, rtol=1e-14)
    assert second.high.most == second.limits[2].most == pytest.approx(first.high.most, rel=1e-14)
    del library


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_a_record_has_numbers_for_each_lane_and_common_ones(lanes: int) -> None:
    record, n = prepared(lanes, 3), 3
    weights, memory = record.weights.copy(), record.memory
    start, shift = memory["speed"].copy(), memory["low"]["most"].copy()
    library, code = code_of(walk, lanes)
    assert code(record.address, n) == 7
    assert record.t == pytest.approx(0.5 + weights.sum(), rel=1e-14)
    expected = start * (0.5 + np.cumsum(weights))[:, None] + shift
    np.testing.assert_allclose(record.y.reshape(-1, lanes)[:n], expected, rtol=1e-13)
    np.testing.assert_array_equal(memory["high"]["most"], record.limits.memory["most"][2])
    del library


def test_the_layout_has_no_gaps_and_is_that_of_numpy() -> None:
    assert Limit.layout(4).itemsize == 8 * 5
    assert Walk.layout(1).itemsize == 8 * (3 + 2 + 4 + 2 + 1)
    assert Walk.offset("low", 4) == 8 * (1 + 4 + 1)
    many = Structs(Limit, 3)
    many.memory["count"] = [1, 2, 3]
    assert [limit.count for limit in many] == [1, 2, 3]
    many[1].count = 7
    assert many.memory["count"].tolist() == [1, 7, 3]


def test_only_arrays_that_machine_code_can_read_are_taken() -> None:
    record = Walk()
    wrong_ones = (np.zeros(4)[::2], np.zeros(4, dtype=np.int64), [0.0], Structs(Limit, 2), None)
    for wrong in wrong_ones:
        with pytest.raises(TypeError, match="floats, in one piece"):
            record.y = wrong
    with pytest.raises(TypeError):
        record.order = np.zeros(2)
    with pytest.raises(TypeError, match="Limit"):
        record.limits = np.zeros(2)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="no array that Python"):
        assert record.y
    with pytest.raises(AttributeError, match="set its fields"):
        record.low = Limit()
    with pytest.raises(TypeError, match="no kind of a field"):
        type("Wrong", (Struct,), {"__annotations__": {"x": "str"}, "__module__": __name__})
    with pytest.raises(TypeError, match="something of that name"):
        type("Wrong", (Struct,), {"__annotations__": {"layout": "int"}, "__module__": __name__})


def test_an_array_that_machine_code_put_there_is_not_mistaken() -> None:
    record = prepared(1, 3)
    record.room = np.zeros(2)
    library, code = code_of(walk, 1)
    code(record.address, 3)
    with pytest.raises(AttributeError, match="room is no array that Python"):
        assert record.room
    assert record.y.size == 4
    del library


def test_records_are_not_copied_with_their_addresses() -> None:
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor sent"):
            copied(prepared(1, 2))


def test_records_of_other_lanes_do_not_fit() -> None:
    with pytest.raises(TypeError, match="limits has 2 lanes, and the record 4"):
        prepared(4, 2).limits = Structs(Limit, 2, 2)


def other_field(walk: Walk, n: int) -> int:
    """Read what is not there."""
    return walk.nothing + n  # pyright: ignore[reportAttributeAccessIssue]


def whole_record(walk: Walk, n: int) -> int:
    """Assign a record."""
    walk.low = walk.high
    return n


def other_record(walk: Walk, n: int) -> int:
    """Pass a record of another class."""
    return raise_count(walk) + n  # pyright: ignore[reportArgumentType]


def number_for_lanes(walk: Walk, n: int) -> int:
    """Write what lanes have each into what is common to all."""
    walk.t = walk.speed
    return n


@pytest.mark.parametrize(
    ("procedure", "words"),
    [
        (other_field, "walk.nothing is not a field"),
        (whole_record, "fields are assigned"),
        (other_record, "Walk is not .*Limit"),
        (number_for_lanes, "float is not number"),
    ],
)
def test_what_records_do_not_have_is_refused(procedure: Callable[..., Any], words: str) -> None:
    with pytest.raises(SyntaxError, match=words):
        Translation({}, lanes=4).add(procedure)
