"""Small systems that may lack rank: elimination with both pivots, as it stands in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chainform.simulation.machine.factors import LIGHT, strengthen
from chainform.simulation.machine.linear import (
    cholesky,
    eliminated,
    least_norm,
    pivoted,
    solve_eliminated,
    solve_pivoted,
    spread_eliminated,
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


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 10_000))
def test_columns_left_out_follow_from_the_others(n: int, inner: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rank = min(n, inner)
    a = random.normal(size=(n, inner)) @ random.normal(size=(inner, n))
    factors = a.copy().ravel()
    rows, columns = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    assert eliminated(factors, rows, columns, n, 1e-11) == rank
    spread = np.zeros(n * n)
    spread_eliminated(factors, spread, n, rank)
    for j, column in enumerate(columns[rank:]):
        weights = spread[j * n : j * n + rank]
        size = 1 + np.abs(weights).max()
        np.testing.assert_allclose(a[:, columns[:rank]] @ weights, a[:, column], atol=1e-8 * size)


def test_a_light_row_is_strengthened_by_the_heaviest_coordinate() -> None:
    """The weight is about the mass that a row meets, or a share of the largest mass of all."""
    n = m = 2
    heavy, light = 8.0, 1e-9
    area = np.zeros(n * n + n + m * n + m)
    area[: n * n] = np.diag([light, heavy]).ravel()
    area[n * n + n : n * n + n + m * n] = np.diag([2.0, 1.0]).ravel()
    diagonal, weights = np.array([light, heavy, 0.0, 0.0]), np.zeros(m)
    strengthen(area, np.ones(m), diagonal, np.ones(m), weights, n, m)
    # A coordinate is measured by the largest entry of its column: 2 of the first, 1 of the second.
    np.testing.assert_allclose(weights, [LIGHT * heavy, heavy], rtol=1e-12)
    strengthened = np.diag([light + 4 * weights[0], heavy + weights[1]])
    np.testing.assert_allclose(area[: n * n], strengthened.ravel(), rtol=1e-12)
