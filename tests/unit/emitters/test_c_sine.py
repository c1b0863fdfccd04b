"""The sine of exported C, against exact values, however it is compiled."""

from __future__ import annotations

import ctypes
import importlib
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chainform.emitters.languages.c.sine_text import sine_text

mpmath: Any = importlib.import_module("mpmath")
FLAGS = {
    "plain": ["gcc", "-O2"],
    "vectors": ["gcc", "-O3", "-march=x86-64-v2"],
    "clang": ["clang", "-O2"],
    "fused": ["gcc", "-O3", "-march=native", "-ffp-contract=fast"],
    "fused by clang": ["clang", "-O2", "-march=native", "-ffp-contract=fast"],
}
KINDS = {"float64": ("double", np.float64, 1.02), "float32": ("float", np.float32, 0.9)}


@cache
def angles(precision: str) -> NDArray[Any]:
    """Return angles of all sizes, near multiples of a quarter turn too."""
    random, largest = np.random.default_rng(3), 1020 if precision == "float64" else 126
    some = [
        random.uniform(-7, 7, 300),
        random.uniform(-1e5, 1e5, 200),
        10.0 ** random.uniform(-10, 5, 100),
        random.choice([-1, 1], 200) * 2.0 ** random.uniform(17, largest, 200),
        np.arange(1, 200) * np.pi / 2,
        np.arange(1, 100) * np.pi / 2 * 1e3,
        [0.0, -0.0, 1e5, 100001.0, -1e5],
    ]
    if precision == "float64":
        # The double that is nearest to a multiple of pi/2.
        some.append([6381956970095103 * 2.0**797, 1e22, 1e300, 0.0])
    found = np.concatenate(some).astype(KINDS[precision][1])
    return found[len(found) % 8 :]


@cache
def exact(precision: str) -> tuple[tuple[NDArray[Any], NDArray[Any]], ...]:
    """Return sines and cosines, each as the nearest doubles and what these lack."""
    with mpmath.workprec(1400):
        given = [mpmath.mpf(float(x)) for x in angles(precision)]
        values = [[function(x) for x in given] for function in (mpmath.sin, mpmath.cos)]
        near = [[float(x) for x in each] for each in values]
        pairs = [zip(*pair, strict=True) for pair in zip(values, near, strict=True)]
        rest = [[float(x - mpmath.mpf(n)) for x, n in each] for each in pairs]
    return tuple((np.array(n), np.array(r)) for n, r in zip(near, rest, strict=True))


def units_off(found: NDArray[Any], near: NDArray[Any], rest: NDArray[Any]) -> float:
    """Return the largest deviation, in units of the last place of the exact value."""
    steps = np.spacing(np.abs(near).astype(found.dtype)).astype(np.float64)
    return float(np.max(np.abs((found.astype(np.float64) - near) - rest) / steps))


LANES = (1, 2, 4)
ONE = """
#define M$N_INSIDE inline
#define M$N_SIDE_BY_SIDE
#define M$N_LANES $N
$TEXT
void sines$N(int count, const $REAL *x, $REAL *s, $REAL *c) { m$N_sine(count, x, s, c); }
"""


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize("compiler", FLAGS)
@pytest.mark.parametrize("precision", KINDS)
def test_sine_and_cosine(precision: str, compiler: str, tmp_path: Path) -> None:
    kind, dtype, bound = KINDS[precision]
    source, library = tmp_path / "sine.c", tmp_path / "sine.so"
    texts = [
        ONE.replace("$TEXT", sine_text(f"m{n}", precision))
        .replace("$N", str(n))
        .replace("$REAL", kind)
        for n in LANES
    ]
    source.write_text("".join(["#include <math.h>\n#include <stdint.h>\n", *texts]), "utf-8")
    command = [*FLAGS[compiler], "-std=c99", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    given, loaded = angles(precision), ctypes.CDLL(str(library))
    for lanes in LANES:
        sine, cosine = np.full_like(given, np.nan), np.full_like(given, np.nan)
        places = [ctypes.c_void_p(array.ctypes.data) for array in (given, sine, cosine)]
        loaded[f"sines{lanes}"](len(given), *places)
        assert units_off(sine, *exact(precision)[0]) < bound
        assert units_off(cosine, *exact(precision)[1]) < bound
        assert sine.dtype == dtype
        assert np.array_equal(np.signbit(sine[given == 0]), np.signbit(given[given == 0]))
