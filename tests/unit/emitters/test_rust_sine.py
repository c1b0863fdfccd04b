"""Sine and cosine in Rust: compiled here, compared with balls that hold the exact values."""

from __future__ import annotations

import ctypes
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from chainform.emitters.languages.rust_sine import sine_text
from chainform.emitters.sine import LIMIT

Values = np.ndarray[Any, Any]

BOUND = {"float64": 1.05, "float32": 0.6}
"""The largest error in units of the last place."""
HARD = {
    "float64": [6381956970095103.0 * 2.0**797, 6411027962775774.0 * 2.0**-48, 45.553093477052],
    "float32": [16367173.0 * 2.0**72, 45.553092956542969, 13176795.0, 1.1e36],
}
"""Numbers that lie closer to a multiple of a quarter turn than all others of their format."""
MANY = """
#[no_mangle]
pub unsafe extern "C" fn many(x: *const REAL, sine: *mut REAL, cosine: *mut REAL, count: usize) {
    for i in 0..count {
        let (s, c) = sines(&[*x.add(i), 1e9]);
        *sine.add(i) = s[0];
        *cosine.add(i) = c[0];
    }
}
"""


def compiled(precision: str, folder: Path) -> Any:
    """Return a function of arrays: angles, then sines and cosines."""
    real = "f64" if precision == "float64" else "f32"
    source = folder / "sine.rs"
    source.write_text(sine_text(precision) + MANY.replace("REAL", real))
    command = ["rustc", "--edition", "2021", "--crate-type", "cdylib", "-O"]
    checks = ["-C", "debug-assertions=on", "-o", "sine.so", "sine.rs"]
    subprocess.run([*command, *checks], cwd=folder, check=True, capture_output=True)
    library = ctypes.CDLL(str(folder / "sine.so"))

    def function(x: Values) -> tuple[Values, Values]:
        sine, cosine = np.empty_like(x), np.empty_like(x)
        places = [ctypes.c_void_p(array.ctypes.data) for array in (x, sine, cosine)]
        library.many(*places, ctypes.c_size_t(len(x)))
        return sine, cosine

    return function


def angles(precision: str) -> Values:
    """Return angles of every size, next to multiples of quarter turns, and hard ones."""
    random = np.random.default_rng(1)
    top = float(np.log(np.finfo(precision).max))
    low = float(np.log(np.finfo(precision).tiny))
    large = np.exp(random.uniform(math.log(LIMIT), top, 800))
    small = np.exp(random.uniform(low, 0, 200))
    turns = np.concatenate([np.arange(1, 101), random.integers(1, 10**9, 300)])
    limits = [random.uniform(-limit, limit, 1000) for limit in (0.8, 10.0, LIMIT)]
    largest = [float(np.finfo(precision).max), LIMIT]
    x = np.concatenate([*limits, large, small, turns * (math.pi / 2), HARD[precision], largest])
    return np.concatenate([x, -x]).astype(precision)


@pytest.mark.any_processor
@pytest.mark.parametrize("precision", list(BOUND))
def test_errors_are_about_a_unit_in_the_last_place(precision: str, tmp_path: Path) -> None:
    function, x = compiled(precision, tmp_path), angles(precision)
    sine, cosine = function(x)
    digits, lowest = np.finfo(precision).nmant + 1, np.finfo(precision).minexp
    before, ctx.prec = ctx.prec, 1300
    try:
        for name, found in (("sin", sine), ("cos", cosine)):
            for given, value in zip(x.tolist(), found.tolist(), strict=True):
                exact = getattr(arb(given), name)()
                place = max(math.frexp(float(exact))[1], lowest) - digits
                error = abs(float((exact - arb(value)) * arb(2) ** -place))
                assert error <= BOUND[precision], (name, given)
    finally:
        ctx.prec = before
    nothing = np.array([0.0, -0.0, math.inf, -math.inf, math.nan], precision)
    sine, cosine = function(nothing)
    assert np.array_equal(np.signbit(sine[:2]), [False, True])
    assert cosine[:2].tolist() == [1.0, 1.0]
    assert np.isnan([*sine[2:], *cosine[2:]]).all()
