"""Which limbs of runs of parallel joints share their axes: the choice that costs least."""

from __future__ import annotations

from collections.abc import Callable

from chainform.formulations.axes import run_members
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.skeleton import Skeleton
from chainform.graph import Builder, cost
from chainform.mechanism import Mechanism

Build = Callable[[Builder, frozenset[int]], None]

SMALL = 12
"""Up to this many limbs in runs each is tried on its own; beyond, all or none."""


def cheapest(mechanism: Mechanism, build: Build) -> frozenset[int]:
    """Return the limbs that pass their axes on, found by building and counting.

    Starts from the better of none and all, then changes one limb at a time while it pays.
    """
    members = run_members(Skeleton(Kinematics(mechanism, Builder())))
    best = min((frozenset[int](), frozenset(members)), key=lambda chosen: _price(build, chosen))
    if not members or len(members) > SMALL:
        return best
    price, improved = _price(build, best), True
    while improved:
        improved = False
        for limb in members:
            trial = best ^ {limb}
            found = _price(build, trial)
            if found < price:
                best, price, improved = trial, found, True
    return best


def _price(build: Build, chosen: frozenset[int]) -> int:
    builder = Builder()
    build(builder, chosen)
    count = cost(builder.finish())
    return count.multiplications + count.additions
