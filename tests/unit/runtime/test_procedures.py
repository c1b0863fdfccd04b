"""Procedures: the same function in Python and as machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import fabs, floor, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.runtime.engine import Library, compiled
from chainform.runtime.procedures import (
    FLOATS,
    INT,
    NONE,
    Floats,
    Ints,
    Translation,
    fmax,
    fmin,
    integers,
)
from chainform.runtime.target import target_for
from strategies import examples

WEIGHTS = (0.5, 2.0, -1.5)
LIMIT = 3


def total(x: Floats, n: int) -> float:
    """Return a weighted sum, the weights repeating."""
    found = 0.0
    for i in range(n):
        found += WEIGHTS[i - 3 * (i // 3)] * x[i]
    return found


def collatz(n: int) -> int:
    """Return how many steps lead to one."""
    steps = 0
    while n != 1:
        if n - 2 * (n // 2) == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 1000:
            break
    return steps


def mixed(x: Floats, k: Ints, n: int) -> float:
    """Use everything: branches, both kinds of numbers, parts of arrays, other procedures."""
    best = -1e300
    for i in range(1, n, 2):
        if x[i] < 0.0 and x[i - 1] > 0.0:
            continue
        if x[i] > 1e6 or not x[i] > -1e6:
            return -1.0
        value = sqrt(fabs(x[i])) + pow(fmax(x[i - 1], 1.0), 0.5) - floor(x[i])
        if value > best:
            best = value
            k[0] = i
    part = x[1:]
    k[1] = int(fmin(7.9, 100.0))
    return best + total(part, n - 1) + LIMIT / 2


def with_given(x: Floats, out: Floats) -> None:
    """Call what the module gets from elsewhere."""
    doubled(x, out)
    out[1] = out[0] + 1


def doubled(x: Floats, out: Floats) -> None:
    """Stand for a function that is given."""
    out[0] = 2 * x[0]


DOUBLED = """define internal void @doubled(ptr %x, ptr %out) #0 {
  %a = load double, ptr %x
  %b = fadd double %a, %a
  store double %b, ptr %out
  ret void
}
attributes #0 = { nounwind }
"""
PLAIN = "attributes #0 = { nounwind }\n"


def machine(
    procedure: Callable[..., Any], result: Any, kinds: list[Any], given: str = ""
) -> tuple[Library, Callable[..., Any]]:
    translation = Translation({"doubled": ([FLOATS, FLOATS], NONE)} if given else {})
    translation.add(procedure)
    library = Library(
        compiled(translation.text(given or PLAIN), target_for()), [procedure.__name__]
    )
    return library, ctypes.CFUNCTYPE(result, *kinds)(library.address(procedure.__name__))


ADDRESS, INTEGER = ctypes.c_void_p, ctypes.c_int64


@pytest.fixture(scope="module")
def mixed_code() -> tuple[Library, Callable[..., Any]]:
    return machine(mixed, ctypes.c_double, [ADDRESS, ADDRESS, INTEGER])


@examples(100)
@given(st.lists(st.floats(-1e7, 1e7), min_size=2, max_size=12))
def test_python_and_machine_code_agree(
    mixed_code: tuple[Library, Callable[..., Any]], numbers: list[float]
) -> None:
    x = np.array(numbers)
    first, second = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    expected = mixed(x, first, len(x))
    found = mixed_code[1](x.ctypes.data, second.ctypes.data, len(x))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert first.tolist() == second.tolist()


def test_loops_of_integers() -> None:
    library, code = machine(collatz, INTEGER, [INTEGER])
    assert [code(n) for n in range(1, 60)] == [collatz(n) for n in range(1, 60)]
    del library


def numbered(x: Floats, n: int) -> int:
    """Put integers where floats may stand."""
    order = integers(x[1:])
    for i in range(n):
        order[i] = n - i
    return order[0] + integers(x[1:])[n - 1]


def test_integers_in_an_array_of_floats() -> None:
    library, code = machine(numbered, INTEGER, [ADDRESS, INTEGER])
    first, second = np.full(5, 0.5), np.full(5, 0.5)
    assert numbered(first, 3) == code(second.ctypes.data, 3) == 4
    assert first.tobytes() == second.tobytes()
    assert first[1:4].view(np.int64).tolist() == [3, 2, 1]
    assert first[[0, 4]].tolist() == [0.5, 0.5]
    del library


def test_functions_that_are_given() -> None:
    library, code = machine(with_given, None, [ADDRESS, ADDRESS], DOUBLED)
    x, out = np.array([4.0]), np.zeros(2)
    code(x.ctypes.data, out.ctypes.data)
    assert out.tolist() == [8.0, 9.0]
    del library


def test_several_lanes_compute_side_by_side() -> None:
    translation = Translation({}, lanes=4)
    translation.add(total)
    text = translation.text(
        PLAIN
        + "define void @four(ptr %x, ptr %out) {\n"
        + "  %r = call <4 x double> @total(ptr %x, i64 5)\n"
        + "  store <4 x double> %r, ptr %out, align 8\n  ret void\n}\n"
    )
    library = Library(compiled(text, target_for()), ["four"])
    x = np.random.default_rng(1).normal(size=(5, 4))
    out = np.zeros(4)
    code = ctypes.CFUNCTYPE(None, ADDRESS, ADDRESS)(library.address("four"))
    code(x.ctypes.data, out.ctypes.data)
    expected = [total(np.ascontiguousarray(x[:, lane]), 5) for lane in range(4)]
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def wrong_word(x: Floats) -> float:
    """Use what is not part of the language."""
    return sum(v for v in x)


def unknown_name(n: int) -> int:
    """Name nothing."""
    return n + nothing  # pyright: ignore[reportUndefinedVariable] # noqa: F821


def two_kinds(n: int) -> int:
    """Give a name a number of another kind."""
    k: int = n
    k = 0.5  # pyright: ignore[reportAssignmentType]
    return k


def lanes_apart(x: float) -> float:
    """Go different ways in different lanes."""
    if x > 0.0:
        return x
    return 0.0


def outcome(x: Floats) -> int:
    """Return a status."""
    return 1


def unread(x: Floats) -> None:
    """Drop a status."""
    outcome(x)


def read(x: Floats) -> None:
    """Read a status."""
    if outcome(x) < 0:
        x[0] = 0.0


def stored_only(x: Floats) -> None:
    """Drop a status by a name."""
    status = outcome(x)  # pyright: ignore[reportUnusedVariable] # noqa: F841
    x[0] = 0.0


def test_a_status_that_nobody_reads_is_refused() -> None:
    with pytest.raises(SyntaxError, match="status is not read"):
        Translation({}).add(stored_only)
    with pytest.raises(SyntaxError, match=r"outcome\(x\) returns is not read"):
        Translation({}).add(unread)
    with pytest.raises(SyntaxError, match="is not read"):
        Translation({"outcome": ([FLOATS], INT)}).add(unread)
    Translation({"outcome": ([FLOATS], NONE)}).add(unread)
    Translation({}).add(read)


@pytest.mark.parametrize(
    ("procedure", "words"),
    [(wrong_word, "not a procedure|not part"), (unknown_name, "not known"), (two_kinds, "float")],
)
def test_what_is_not_part_of_the_language_is_refused(
    procedure: Callable[..., Any], words: str
) -> None:
    with pytest.raises(SyntaxError, match=words):
        Translation({}).add(procedure)


def test_lanes_cannot_go_different_ways() -> None:
    with pytest.raises(SyntaxError, match="different ways"):
        Translation({}, lanes=4).add(lanes_apart)


def idle(x: Floats) -> None:
    """Do nothing, in a word of the language."""
    if x[0] > 0.0:
        pass


def deleted(x: Floats) -> None:
    """Use a statement that is not part of the language."""
    del x


def assigned_twice(x: Floats) -> None:
    """Assign to two names at once."""
    (a, b) = x[0]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
    x[0] = a + b


def truth(x: Floats) -> None:
    """Store a truth value as a number of places."""
    known = True
    while known:
        known = False
        x[0] = 1.0


@pytest.mark.parametrize(
    ("procedure", "words"),
    [
        (deleted, "is not part of the language"),
        (assigned_twice, "only names, entries and fields"),
    ],
)
def test_statements_that_are_not_part_of_the_language(
    procedure: Callable[..., Any], words: str
) -> None:
    with pytest.raises(SyntaxError, match=words):
        Translation({}).add(procedure)


@pytest.mark.parametrize(("procedure", "expected"), [(idle, 0.0), (truth, 1.0)])
def test_words_without_effect(procedure: Callable[..., Any], expected: float) -> None:
    library, code = machine(procedure, None, [ADDRESS])
    x = np.zeros(2)
    code(x.ctypes.data)
    assert (x[0], bool(library)) == (expected, True)
