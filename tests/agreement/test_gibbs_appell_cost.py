"""Operations of the Gibbs-Appell equations, below those of Korayem and Shafei, and their growth."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from sliding_chains import CHAINS, sliding_chain
from zoo import reference_data

pytestmark = pytest.mark.usefixtures("cheapest_axes")

EQUATIONS = ("mass_matrix", "bias")
"""Inertia matrix and right-hand side, which the paper counts."""


def operations(links: int, kind: str, outputs: tuple[str, ...], parameters: str = "numeric") -> int:
    return sum(counted(links, kind, outputs, parameters))


def counted(
    links: int, kind: str, outputs: tuple[str, ...], parameters: str = "numeric"
) -> tuple[int, int]:
    count = cf.derive(
        sliding_chain(links, kind), outputs, formulation="gibbs_appell", parameters=parameters
    ).count()
    return count.multiplications, count.additions


@pytest.mark.parametrize("parameters", ["numeric", "symbolic"])
@pytest.mark.parametrize("kind", CHAINS)
def test_fewer_than_the_paper_prints(kind: str, parameters: str) -> None:
    for n in range(1, 11):
        multiplications, additions = counted(n, kind, EQUATIONS, parameters)
        assert multiplications < 0.4 * printed(n)[0]
        assert additions < 0.4 * printed(n)[1]


def printed(n: int) -> tuple[int, int]:
    """Return the multiplications and additions that the paper prints for n links."""
    return 197 * n**2 - 265 * n + 109, 157 * n**2 - 168 * n + 92


def test_the_printed_formulas() -> None:
    for n, counts in reference_data("sliding_links_3")["operation_counts"]["values"].items():
        assert printed(int(n)) == (counts["multiplications"], counts["additions"])


@pytest.mark.slow
def test_inverse_dynamics_grows_linearly() -> None:
    lengths, outputs = (20, 40, 100), ("inverse_dynamics",)
    short, double, long = (operations(n, CHAINS[2], outputs) for n in lengths)
    assert long - double == 3 * (double - short)


@pytest.mark.parametrize("kind", CHAINS[1:3])
def test_the_mass_matrix_grows_quadratically(kind: str) -> None:
    counts = [operations(n, kind, ("mass_matrix",)) for n in (8, 12, 16, 20)]
    second = np.diff(counts, 2)
    assert second[0] == second[1] > 0
    # Each pair of links costs so many operations, against 354 in the paper.
    assert second[0] / 4**2 / 2 < 60
