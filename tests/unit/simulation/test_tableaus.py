"""The coefficients of Runge-Kutta methods fulfil the conditions for their order.

For each rooted tree the elementary weight of a method must be one by the density of the tree
(Butcher; Hairer, Norsett, Wanner, II.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import pytest

from chainform.simulation.solvers.explicit import (
    DOPRI853,
    EULER,
    HEUN,
    RK4,
    VERNER65,
    Coefficients,
    Tableau,
)
from chainform.simulation.solvers.symplectic import GAUSS4, GAUSS6, MIDPOINT

Tree: TypeAlias = "tuple[Tree, ...]"
"""A root with its branches, in a fixed order."""


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """Return all rooted trees with so many vertices."""
    return tuple(dict.fromkeys(tuple(sorted(found)) for found in forests(order - 1, order - 1)))


def forests(size: int, largest: int) -> Iterator[list[Tree]]:
    """Go through all lists of trees with so many vertices, none with more than `largest`."""
    if size == 0:
        yield []
    for first in range(min(size, largest), 0, -1):
        for tree in trees(first):
            for rest in forests(size - first, first):
                yield [tree, *rest]


def size_of(tree: Tree) -> int:
    return 1 + sum(map(size_of, tree))


def density(tree: Tree) -> int:
    product = size_of(tree)
    for branch in tree:
        product *= density(branch)
    return product


def weights(tableau: Tableau, tree: Tree) -> list[Fraction]:
    """Return, for each stage, the product over branches of sums of a with their weights."""
    found = [Fraction(1)] * tableau.stages
    for branch in tree:
        inner = weights(tableau, branch)
        for i, row in enumerate(tableau.a):
            found[i] *= sum((Fraction(a) * inner[j] for j, a in row.items()), Fraction(0))
    return found


def defects(tableau: Tableau, b: Coefficients, order: int) -> list[Fraction]:
    """Return by how much the conditions up to an order are missed."""
    found: list[Fraction] = []
    for tree in (tree for size in range(1, order + 1) for tree in trees(size)):
        inner = weights(tableau, tree)
        total = sum((Fraction(x) * inner[i] for i, x in b.items()), Fraction(0))
        found.append(total - Fraction(1, density(tree)))
    return found


def without(b: Coefficients, error: Coefficients | None) -> Coefficients:
    assert error is not None
    both = {i: Fraction(b.get(i, 0)) - Fraction(error.get(i, 0)) for i in {*b, *error}}
    return dict(both)


def test_there_are_as_many_trees_as_known() -> None:
    assert [len(trees(order)) for order in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("tableau", [VERNER65, RK4, HEUN, EULER], ids=lambda t: t.name)
def test_rational_methods_have_their_order_exactly(tableau: Tableau) -> None:
    assert not any(defects(tableau, tableau.b, tableau.order))
    assert any(defects(tableau, tableau.b, tableau.order + 1))


def test_the_estimate_of_verner_belongs_to_a_method_of_order_five() -> None:
    other = without(VERNER65.b, VERNER65.error)
    assert not any(defects(VERNER65, other, 5))
    assert any(defects(VERNER65, other, 6))


@pytest.mark.slow
def test_dormand_prince_has_order_eight_to_rounding() -> None:
    assert max(map(abs, defects(DOPRI853, DOPRI853.b, 8))) < 1e-15
    assert max(map(abs, defects(DOPRI853, DOPRI853.b, 9))) > 1e-8


@pytest.mark.parametrize(("row", "order"), [("error", 5), ("second_error", 3)])
def test_the_estimates_of_dormand_prince(row: str, order: int) -> None:
    other = without(DOPRI853.b, getattr(DOPRI853, row))
    assert max(map(abs, defects(DOPRI853, other, order))) < 2e-15
    assert max(map(abs, defects(DOPRI853, other, order + 1))) > 1e-6


@pytest.mark.parametrize("tableau", [MIDPOINT, GAUSS4, GAUSS6], ids=lambda t: t.name)
def test_methods_of_gauss_have_twice_the_order_of_their_stages(tableau: Tableau) -> None:
    assert tableau.order == 2 * tableau.stages
    assert max(map(abs, defects(tableau, tableau.b, tableau.order))) < 1e-15
    assert max(map(abs, defects(tableau, tableau.b, tableau.order + 1))) > 1e-6


@pytest.mark.parametrize("tableau", [MIDPOINT, GAUSS4, GAUSS6], ids=lambda t: t.name)
def test_methods_of_gauss_are_symplectic(tableau: Tableau) -> None:
    b, a = tableau.b, tableau.a
    for i in range(tableau.stages):
        for j in range(tableau.stages):
            assert float(b[i] * a[i][j] + b[j] * a[j][i] - b[i] * b[j]) == pytest.approx(
                0, abs=1e-16
            )


@pytest.mark.parametrize(
    "tableau",
    [VERNER65, DOPRI853, RK4, HEUN, EULER, MIDPOINT, GAUSS4, GAUSS6],
    ids=lambda t: t.name,
)
def test_rows_add_up_to_their_times(tableau: Tableau) -> None:
    for c, row in zip(tableau.c, tableau.a, strict=True):
        total = sum((Fraction(a) for a in row.values()), Fraction(0))
        assert float(total - Fraction(c)) == pytest.approx(0, abs=2e-15)
