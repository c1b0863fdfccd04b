"""Small systems that may lack rank: elimination with both pivots, as it stands in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from chainform.simulation.loops.linear import eliminated, solve_eliminated


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_elimination_finds_rank_and_a_solution(n: int, inner: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rank = min(n, inner)
    a = random.normal(size=(n, inner)) @ random.normal(size=(inner, n))
    b = a @ random.normal(size=n)
    factors, x = a.copy().ravel(), np.zeros(n)
    rows, columns = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    assert eliminated(factors, rows, columns, n, 1e-11) == rank
    solve_eliminated(factors, rows, columns, b, x, n, rank)
    np.testing.assert_allclose(a @ x, b, atol=1e-7 * max(1.0, np.abs(x).max()))
    assert np.count_nonzero(x) <= rank
