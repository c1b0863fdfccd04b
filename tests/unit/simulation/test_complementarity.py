"""Forces within bounds: the conditions hold, whatever the rows are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainform.simulation.complementarity import depends, solve_bounded


def bounds_of(kinds: str) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds: `u` pushes, `b` does both, `f` holds with at most 1."""
    lower = np.array([{"u": 0.0, "b": -np.inf, "f": -1.0}[kind] for kind in kinds])
    upper = np.array([{"u": np.inf, "b": np.inf, "f": 1.0}[kind] for kind in kinds])
    return lower, upper


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 5),
    st.text("ubf", min_size=1, max_size=7),
    st.integers(0, 10_000),
)
def test_conditions(n: int, kinds: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.integers(-2, 3, (len(kinds), n)).astype(float)
    # b = J a with some a: what rows that depend on each other ask for agrees.
    S, b = rows @ rows.T, rows @ random.normal(size=n)
    lower, upper = bounds_of(kinds)
    found = solve_bounded(S, b, lower, upper)
    w = S @ found.s + b
    assert np.all(found.s >= lower)
    assert np.all(found.s <= upper)
    assert np.all(w[found.s > lower] <= 1e-9)
    assert np.all(w[found.s < upper] >= -1e-9)
    np.testing.assert_allclose(found.w, w, atol=1e-9)
    np.testing.assert_allclose(w[found.holds], 0, atol=1e-9)


def test_a_table_on_four_legs_stands_on_three() -> None:
    corners = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], dtype=float)
    rows = np.column_stack([np.ones(4), corners])
    lower, upper = bounds_of("uuuu")
    weight = np.array([-1.0, -0.2, -0.3])
    found = solve_bounded(rows @ rows.T, rows @ weight, lower, upper)
    assert found.holds.sum() == 3
    np.testing.assert_allclose(rows.T @ found.s, -weight, atol=1e-12)
    (left,) = np.flatnonzero(~found.holds)
    assert depends(rows @ rows.T, found.holds, int(left))


def test_a_row_of_its_own_does_not_depend() -> None:
    assert not depends(np.eye(2), np.array([True, False]), 1)
    assert depends(np.zeros((2, 2)), np.array([False, False]), 1)


def test_friction_holds_up_to_its_bound() -> None:
    lower, upper = bounds_of("f")
    for push, force, left in ((0.5, -0.5, 0.0), (3.0, -1.0, 2.0), (-3.0, 1.0, -2.0)):
        found = solve_bounded(np.eye(1), np.array([push]), lower, upper)
        assert found.s == pytest.approx([force])
        assert found.w == pytest.approx([left])
