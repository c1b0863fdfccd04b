"""Operations per joint stay constant along a chain of a hundred joints."""

from __future__ import annotations

import random

import pytest

import chainform as cf
from zoo import inertia, rational

pytestmark = pytest.mark.usefixtures("cheapest_axes")


def chain(joints: int) -> cf.Mechanism:
    """Return a chain whose axes take turns, every body with a full tensor."""
    rng = random.Random(7)
    builder = cf.Mechanism.builder(f"chain{joints}")
    for j in range(1, joints + 1):
        builder.segment(
            f"s{j}",
            parent=f"s{j - 1}" if j > 1 else "ground",
            axis="xyz"[j % 3],
            position=[rational(rng, 1, 9) for _ in range(3)] if j > 1 else [0, 0, 0],
            mass=rational(rng, 1, 30),
            com=[rational(rng, 1, 9) for _ in range(3)],
            inertia=inertia(rng),
        )
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("output", ["inverse_dynamics", "forward_dynamics"])
def test_cost_per_joint(output: str) -> None:
    def operations(joints: int) -> int:
        count = cf.derive(chain(joints), [output]).count()
        return count.multiplications + count.additions

    short, double, long = (operations(n) for n in (21, 42, 105))
    # A length that happens to be one or two saves an operation here and there.
    assert long - double == pytest.approx(3 * (double - short), rel=0.01)
