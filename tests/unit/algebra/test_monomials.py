"""Monomials by number: products, quotients, common parts, and what they cost."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.algebra.monomials import EMPTY, Monomials
from strategies import examples

CONSTANT = [False, False, False, False, True, True]
factors = st.lists(st.integers(0, 5), max_size=6).map(lambda found: tuple(sorted(found)))


@examples(100)
@given(factors, factors)
def test_as_multisets(x: tuple[int, ...], y: tuple[int, ...]) -> None:
    monomials = Monomials(CONSTANT)
    a, b = monomials.of(x), monomials.of(y)
    product = monomials.product(a, b)
    assert Counter(monomials.factors[product]) == Counter(x) + Counter(y)
    assert monomials.product(b, a) == product
    common, rest_a, rest_b = monomials.shared(a, b)
    assert Counter(monomials.factors[common]) == Counter(x) & Counter(y)
    assert monomials.product(common, rest_a) == a
    assert monomials.product(common, rest_b) == b
    assert monomials.shared(b, a) == (common, rest_b, rest_a)
    assert monomials.quotient(product, b) == a
    assert (monomials.quotient(a, b) is not None) == (Counter(y) <= Counter(x))


@examples(50)
@given(factors, st.integers(0, 5))
def test_times_and_products(x: tuple[int, ...], v: int) -> None:
    monomials = Monomials(CONSTANT)
    a = monomials.of(x)
    assert monomials.factors[monomials.times(a, v)] == tuple(sorted((*x, v)))
    pairs = {(p, q) for i, p in enumerate(x) for q in x[i + 1 :]}
    assert set(monomials.products(a)) == {
        (p, q) for p, q in pairs if not (CONSTANT[p] and CONSTANT[q])
    }


def test_any_number_of_constants_is_one_factor() -> None:
    monomials = Monomials(CONSTANT, multiplication=2.0)
    costs = {
        (): (0, 0),
        (0,): (0, 2),
        (0, 0, 1): (4, 6),
        (4,): (0, 0),
        (4, 5): (0, 0),
        (0, 4): (2, 2),
        (0, 1, 4, 4, 5): (4, 4),
    }
    for given_factors, (unit, scaled) in costs.items():
        a = monomials.of(given_factors)
        assert monomials.unit_cost[a] == unit, given_factors
        assert monomials.scaled_cost[a] == scaled, given_factors
        assert monomials.has_constant[a] == any(v in (4, 5) for v in given_factors)
    assert monomials.of(()) == EMPTY


def test_what_is_forgotten_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainform.algebra.monomials._LARGEST_CACHE", 3)
    monomials = Monomials(CONSTANT)
    chosen = [monomials.of((k, k + 1)) for k in range(5)]
    expected = [
        (a, b, monomials.product(a, b), monomials.shared(a, b)) for a in chosen for b in chosen
    ]
    for a, b, product, shared in expected:
        assert monomials.product(a, b) == product
        assert monomials.shared(a, b) == shared
        assert monomials.product(shared[0], shared[1]) == a
