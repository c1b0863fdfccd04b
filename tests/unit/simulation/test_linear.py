"""Small systems that may lack rank: elimination with both pivots, as it stands in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chainform.simulation.machine.linear import (
    cholesky,
    eliminated,
    least_norm,
    pivoted,
    solve_eliminated,
    solve_pivoted,
    spread_pivoted,
)


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


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_redundant_rows_share_forces_of_least_norm(m: int, n: int, seed: int) -> None:
    """Rows come in units of their own, which say nothing of the rank."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(m, n)) * 10.0 ** random.integers(-2, 3, size=(m, 1))
    singular = np.linalg.svd(rows / np.linalg.norm(rows, axis=1, keepdims=True), compute_uv=False)
    assume(singular[-1] > 1e-4 * singular[0])
    square = rows @ rows.T
    any_forces = random.normal(size=m)
    b = square @ any_forces
    factors, order, x = square.copy().ravel(), np.zeros(m, dtype=np.int64), np.zeros(m)
    rank = pivoted(factors, order, 1 / np.diag(square), m, 1e-11)
    assert rank == min(m, n)
    solve_pivoted(factors, order, b, x, m, rank)
    spread = np.zeros(m * m)
    spread_pivoted(factors, spread, m, rank)
    least_norm(spread, np.zeros(m * m + m), order, x, m, rank)
    forces = np.linalg.lstsq(rows.T, rows.T @ any_forces)[0]
    np.testing.assert_allclose(rows.T @ x, rows.T @ forces, atol=1e-6 * np.abs(b).max())
    assert np.linalg.norm(x) <= np.linalg.norm(forces) * (1 + 1e-5)


def test_a_pivot_that_is_rounding_fails_and_tells_its_row() -> None:
    whole = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    assert cholesky(whole.copy().ravel(), 3, 1e-14) == 2
    assert cholesky((whole + np.diag([0, 1e-6, 0])).ravel(), 3, 1e-14) == 0
    assert cholesky((whole + np.diag([0, 1e-6, 0])).ravel(), 3, 1e-5) == 2
    assert cholesky((whole * np.nan).ravel(), 3, 1e-14) == -1
