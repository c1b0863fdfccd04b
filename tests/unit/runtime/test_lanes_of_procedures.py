"""Procedures with several lanes: numbers that all lanes share, and others that take a place."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from chainform.runtime.engine import Library, compiled
from chainform.runtime.procedures import FLOATS, NONE, Floats, Ints, Number, Numbers, Translation
from chainform.runtime.target import target_for

ATTRIBUTES = "attributes #0 = { nounwind }\n"
ADDRESS, INTEGER = ctypes.c_void_p, ctypes.c_int64
HALF = 0.5


def advanced(y: Floats, rates: Floats, steps: Numbers, count: int, n: int) -> int:
    """Add steps, as long as they are positive, times rates; return how many there were."""
    done = 0
    total: Number = 0.0
    for i in range(count):
        h = steps[i]
        if h <= 0.0 * HALF or not h < 1e3:
            break
        for e in range(n):
            y[e] += h * rates[e]
        total += fabs_of(-h)
        done += 1
    y[n] = total
    return done + decided(y)


def fabs_of(x: Number) -> Number:
    """Return a size."""
    if x < 0.0:
        return -x
    return x


def decided(y: Floats) -> int:
    """Look at a state, which lanes cannot."""
    if y[0] > 0.0:
        return 100
    return 200


def outer(x: Floats, out: Floats) -> None:
    """Call what another module has."""
    inner(x, out)
    inner(out, out)


def inner(x: Floats, out: Floats) -> None:
    """Stand for a function in another module."""


INNER = """define void @inner(ptr %x, ptr %out) #0 {
  %a = load double, ptr %x
  %b = fadd double %a, %a
  store double %b, ptr %out
  ret void
}
attributes #0 = { nounwind }
"""


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_numbers_are_the_same_in_all_lanes(lanes: int) -> None:
    translation = Translation({}, lanes, instead={"decided": 7})
    translation.add(advanced)
    library = Library(compiled(translation.text(ATTRIBUTES), target_for()), ["advanced"])
    kinds = [ADDRESS, ADDRESS, ADDRESS, INTEGER, INTEGER]
    code = ctypes.CFUNCTYPE(INTEGER, *kinds)(library.address("advanced"))
    rng = np.random.default_rng(1)
    y, rates = rng.normal(size=(4, lanes)), rng.normal(size=(3, lanes))
    steps = np.array([0.5, 0.25, 2.0, -1.0, 3.0])
    found = y.copy()
    count = code(found.ctypes.data, rates.ctypes.data, steps.ctypes.data, len(steps), 3)
    assert count == 3 + 7
    np.testing.assert_allclose(found[:3], y[:3] + 2.75 * rates, rtol=1e-14)
    np.testing.assert_array_equal(found[3], 2.75)


def test_states_decide_nothing_in_lanes() -> None:
    with pytest.raises(SyntaxError, match="different ways"):
        Translation({}, 4).add(advanced)


def test_a_call_can_be_left_out() -> None:
    translation = Translation({}, instead={"inner": None})
    translation.add(outer)
    library = Library(compiled(translation.text(ATTRIBUTES), target_for()), ["outer"])
    code = ctypes.CFUNCTYPE(None, ADDRESS, ADDRESS)(library.address("outer"))
    x, out = np.array([3.0]), np.array([5.0])
    code(x.ctypes.data, out.ctypes.data)
    assert out[0] == 5.0


def test_procedures_in_a_module_of_their_own() -> None:
    translation = Translation({"inner": ([FLOATS, FLOATS], NONE), "unused": ([FLOATS], NONE)})
    translation.add(outer)
    assert "unused" not in translation.alone()
    parts = [compiled(text, target_for()) for text in (translation.alone(), INNER)]
    library = Library(parts[0], ["outer"], parts[1:])
    code = ctypes.CFUNCTYPE(None, ADDRESS, ADDRESS)(library.address("outer"))
    x, out = np.array([3.0]), np.zeros(1)
    code(x.ctypes.data, out.ctypes.data)
    assert out[0] == 12.0


def counted(k: Ints, n: int) -> int:
    """Write to an array of integers."""
    for i in range(n):
        k[i] = i * i
    return k[n - 1]


def test_procedures_that_are_only_called_are_hidden() -> None:
    translation = Translation({}, instead={"decided": 1})
    translation.add(advanced)
    translation.add(counted)
    text = translation.text(ATTRIBUTES)
    assert "define i64 @counted(" in text
    assert "define internal double @fabs_of(" in text
