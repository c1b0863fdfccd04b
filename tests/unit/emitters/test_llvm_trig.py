"""Sine and cosine in LLVM text: compiled here, compared with balls that hold the exact values."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from flint import arb, ctx

from chainform.emitters.llvm.trig import sincos, sincos_name, sincos_support
from chainform.emitters.sine import LIMIT

Values = np.ndarray[Any, Any]
Function = Callable[[Values], tuple[Values, Values]]

LANES = {"float64": (1, 2, 4, 8), "float32": (1, 2, 4, 8, 16)}
BOUND = {
    ("float64", True): 0.9,
    ("float64", False): 1.05,
    ("float32", True): 0.9,
    ("float32", False): 0.6,
}
"""The largest error in units of the last place, by precision and whether products are fused."""

EVERY = pytest.mark.parametrize(("precision", "fused"), list(BOUND))

LOOP = """
define void @many.{lanes}(ptr %x, ptr %sine, ptr %cosine, i64 %size) {{
start:
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %loop]
  %x.at = getelementptr {element}, ptr %x, i64 %i
  %sine.at = getelementptr {element}, ptr %sine, i64 %i
  %cosine.at = getelementptr {element}, ptr %cosine, i64 %i
  %value = load {type}, ptr %x.at, align 4
  %both = call {{{type}, {type}}} @{name}({type} %value)
  %s = extractvalue {{{type}, {type}}} %both, 0
  %c = extractvalue {{{type}, {type}}} %both, 1
  store {type} %s, ptr %sine.at, align 4
  store {type} %c, ptr %cosine.at, align 4
  %next = add i64 %i, {lanes}
  %more = icmp ult i64 %next, %size
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def _module(precision: str, fused: bool) -> str:
    """Return one module with the functions of all numbers of lanes."""
    parts = [*(sincos(precision, n, fused) for n in LANES[precision]), sincos_support([precision])]
    element = "double" if precision == "float64" else "float"
    loops = [
        LOOP.format(
            lanes=n,
            element=element,
            type=f"<{n} x {element}>" if n > 1 else element,
            name=sincos_name(precision, n),
        )
        for n in LANES[precision]
    ]
    declarations = set[str]().union(*(part.declarations for part in parts))
    return "\n".join([*sorted(declarations), *(part.definitions for part in parts), *loops])


@cache
def _engine(precision: str, fused: bool) -> Any:
    """Return what holds the compiled module; its functions are gone when it is."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(_module(precision, fused))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


@cache
def _functions(precision: str, fused: bool) -> dict[int, Function]:
    """Return the compiled functions of arrays by their number of lanes."""
    engine = _engine(precision, fused)
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)

    def function_of(lanes: int) -> Function:
        raw = kind(engine.get_function_address(f"many.{lanes}"))

        def function(x: Values) -> tuple[Values, Values]:
            assert len(x) % lanes == 0
            given = np.ascontiguousarray(x, precision)
            sine, cosine = np.empty_like(given), np.empty_like(given)
            raw(given.ctypes.data, sine.ctypes.data, cosine.ctypes.data, len(given))
            return sine, cosine

        return function

    return {lanes: function_of(lanes) for lanes in LANES[precision]}


def _largest_error(x: Values, result: Values, name: str) -> float:
    """Return the largest distance from the exact values, in units of their last place."""
    information = np.finfo(result.dtype)
    digits, lowest = information.nmant + 1, information.minexp - information.nmant
    worst = 0.0
    for given, found in zip(x.tolist(), result.tolist(), strict=True):
        exact = getattr(arb(given), name)()
        place = max(math.frexp(float(exact))[1] - digits, lowest)
        error = abs(float((exact - arb(found)) * arb(2) ** -place))
        assert error < math.inf
        worst = max(worst, error)
    return worst


def _check(x: Values, precision: str, fused: bool) -> None:
    given = x.astype(precision)
    sine, cosine = _functions(precision, fused)[8](given)
    bound = BOUND[precision, fused]
    before = ctx.prec
    # The largest doubles need all their digits of pi, and more for what is left of them.
    ctx.prec = 1300 if abs(given).max() > LIMIT else 220
    try:
        assert _largest_error(given, sine, "sin") <= bound
        assert _largest_error(given, cosine, "cos") <= bound
    finally:
        ctx.prec = before


def _bits(pair: Sequence[Values]) -> list[bytes]:
    return [values.tobytes() for values in pair]


@EVERY
@pytest.mark.parametrize("limit", [0.8, 10.0, LIMIT])
def test_errors_are_below_a_unit_in_the_last_place(precision: str, fused: bool, limit: float):
    _check(np.random.default_rng(1).uniform(-limit, limit, 2400), precision, fused)


@EVERY
def test_errors_are_as_small_over_the_whole_range(precision: str, fused: bool):
    random = np.random.default_rng(2)
    largest = float(np.log(np.finfo(precision).max))
    small = np.exp(random.uniform(float(np.log(np.finfo(precision).tiny)), 0, 400))
    large = np.exp(random.uniform(math.log(LIMIT), largest, 1600))
    _check(np.concatenate([small, -small, large, -large]), precision, fused)


@EVERY
def test_errors_are_as_small_next_to_multiples_of_quarter_turns(precision: str, fused: bool):
    random = np.random.default_rng(3)
    near = [*range(1, 101), *random.integers(1, 63662, 1300).tolist()]
    far = [int(10.0**e) for e in random.uniform(5, 30, 400)]
    before = ctx.prec
    ctx.prec = 220
    nearest = np.array([float(arb.pi() / 2 * k) for k in (*near, *far)]).astype(precision)
    ctx.prec = before
    for side in (-np.inf, np.inf):
        beside = np.nextafter(nearest[:200], np.dtype(precision).type(side))
        _check(beside, precision, fused)
    _check(nearest, precision, fused)


@EVERY
def test_hard_numbers(precision: str, fused: bool):
    """Some numbers lie closer to a multiple of a quarter turn than all others of their format."""
    double = [6381956970095103.0 * 2.0**797, 6411027962775774.0 * 2.0**-48, 45.553093477052]
    single = [16367173.0 * 2.0**72, 45.553092956542969, 13176795.0, 1.1e36]
    limits = [LIMIT, *(float(np.nextafter(np.dtype(precision).type(LIMIT), s)) for s in (0, 1e6))]
    largest = float(np.finfo(precision).max)
    x = np.array([*(double if precision == "float64" else single), *limits, largest])
    _check(np.resize(np.concatenate([x, -x]), 16), precision, fused)


@EVERY
def test_zeros_and_what_is_not_finite(precision: str, fused: bool):
    x = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, 0.0, -0.0, 0.0] * 2)
    for function in _functions(precision, fused).values():
        sine, cosine = function(x)
        is_zero = x == 0
        assert np.array_equal(np.signbit(sine[is_zero]), np.signbit(x[is_zero]))
        assert np.all(sine[is_zero] == 0)
        assert np.all(cosine[is_zero] == 1)
        assert np.all(np.isnan(sine[~is_zero]) & np.isnan(cosine[~is_zero]))


@EVERY
def test_tiny_numbers_are_their_own_sines(precision: str, fused: bool):
    smallest = float(np.finfo(precision).smallest_subnormal)
    sizes = smallest * np.array([1, 2, 3, 1e3, 12345, 1e6, 2.0**23, 2.0**30])
    x = np.concatenate([sizes, -sizes]).astype(precision)
    for function in _functions(precision, fused).values():
        sine, cosine = function(x)
        assert np.array_equal(sine, x)
        assert np.all(cosine == 1)


@EVERY
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
def test_every_lane_gives_the_same_bits(precision: str, fused: bool, share: float):
    random = np.random.default_rng(4)
    x = random.uniform(-20, 20, 1600)
    is_far = random.random(1600) < share
    x[is_far] = 10.0 ** random.uniform(5, 37, int(is_far.sum()))
    x[random.random(1600) < share / 10] = math.inf
    one, *several = _functions(precision, fused).values()
    expected = one(x)
    for function in several:
        assert _bits(function(x)) == _bits(expected)
        turned = function(np.roll(x, 1))
        assert _bits([np.roll(values, -1) for values in turned]) == _bits(expected)


def test_sine_is_odd_and_cosine_even():
    x = np.random.default_rng(5).normal(0, 1e4, 800)
    function = _functions("float64", True)[8]
    (sine, cosine), (sine_of_minus, cosine_of_minus) = function(x), function(-x)
    assert np.array_equal(sine, -sine_of_minus)
    assert np.array_equal(cosine, cosine_of_minus)


def test_products_are_fused_on_request_only():
    assert sincos_name("float32", 16) == "sincos.float32.16"
    for precision in LANES:
        assert "llvm.fma" in sincos(precision, 4, fused=True).definitions
        assert "llvm.fma" not in sincos(precision, 4, fused=False).definitions
