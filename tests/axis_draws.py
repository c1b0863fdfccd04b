"""Formulations agree, and laws hold, in any axes: these are drawn, instead of the cheapest.

So more of them are tried, and half of the time is saved. Tests that count operations, or that are
about the choice, use the fixture `cheapest_axes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from chainform.formulations.shared import axes
from chainform.formulations.shared.axes import Build, run_members
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.options import AxisChoice
from chainform.formulations.shared.tree import Skeleton
from chainform.graph import Builder
from chainform.mechanism import Mechanism

CHEAPEST = axes.by_price


def drawn(mechanism: Mechanism, build: Build, *, runs_only: bool = False) -> list[AxisChoice]:
    """Stand for `by_price`: each limb that may be is in the axes before its joint, or is not.

    The draw is the same in every run.
    """
    skeleton = Skeleton(Kinematics(mechanism, Builder()))
    turning = [k for k, limb in enumerate(skeleton.limbs) if limb.is_revolute]
    limbs = run_members(skeleton) if runs_only else turning
    source = Random(repr((runs_only, mechanism.segments)))
    return [AxisChoice(frozenset(k for k in limbs if source.random() < 0.5))]


@pytest.fixture(autouse=True, scope="module")
def drawn_axes() -> Iterator[None]:
    """Draw the axes in all tests of a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(axes, "by_price", drawn)
        yield


@pytest.fixture
def cheapest_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for the cheapest axes, as the product does."""
    monkeypatch.setattr(axes, "by_price", CHEAPEST)
