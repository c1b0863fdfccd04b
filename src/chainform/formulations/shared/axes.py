"""The axes in which composite bodies are described, and their choice by operations.

The inertia of a limb and all it carries is described in the axes just before its joint turns,
E, in which the joint axis is constant. Where axes are parallel one after another, the limbs
of such a run may share the axes of its root; the limb's own axes B are then turned against E
by the sum of the angles of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.options import BODIES, AxisChoice, AxisChoices, Method, Options
from chainform.formulations.shared.tree import Limb, Skeleton
from chainform.formulations.shared.turns import AxisTurn, FrameTurn
from chainform.graph import Builder, Scalar, cost
from chainform.mechanism import GROUND, Mechanism
from chainform.spatial import Vector


class Axes:
    """How the axes of each limb follow from those of the limb before; `shared` names the limbs
    that pass their own axes E on to the next limb of a run."""

    def __init__(self, skeleton: Skeleton, shared: frozenset[int]) -> None:
        self.skeleton = skeleton
        self.limbs = skeleton.limbs
        self.builder = skeleton.builder
        self.shared = shared
        self.angle = cache(self._angle)
        self.own_turn = cache(self._own_turn)
        self.reach = cache(self._reach)

    def continues(self, k: int) -> bool:
        """Whether limb k is described in the axes of the limb before."""
        limb = self.limbs[k]
        return limb.parent in self.shared and is_parallel(self.limbs[limb.parent], limb)

    def _angle(self, k: int) -> Scalar:
        """Return the angle of a revolute limb's own axes against those it is described in."""
        limb = self.limbs[k]
        own = self.skeleton.displacement(limb)
        return self.builder.keep(self.angle(limb.parent) + own) if self.continues(k) else own

    def _own_turn(self, k: int) -> AxisTurn | None:
        """Return the turn from E to B of a limb, None where they are the same."""
        if not self.limbs[k].is_revolute:
            return None
        angle, call = self.angle(k), self.builder.call
        return AxisTurn(self.limbs[k].axis, call("cos", angle), call("sin", angle))

    def joint_turns(self, k: int) -> list[FrameTurn]:
        """Return the turns from B of the limb before to E of limb k."""
        return self.skeleton.turns(self.limbs[k])

    def _reach(self, k: int) -> Vector:
        """Return the vector to joint k from the joint before, in B of the limb before.

        For a run it is given in E, which the two limbs share.
        """
        limb = self.limbs[k]
        reach = self.skeleton.reach(limb)
        if self.continues(k):
            turn = self.own_turn(limb.parent)
            assert turn is not None
            reach = turn.back(reach)
        return self.builder.keep_vector(reach)

    # --- moving vectors from limb to limb ----------------------------------------------

    def outward(self, k: int, v: Vector) -> Vector:
        """Return a vector from E of the limb before in the axes in which `reach` is given."""
        parent = self.limbs[k].parent
        if parent == GROUND or self.continues(k):
            return v
        turn = self.own_turn(parent)
        return v if turn is None else turn.into(v)

    def inward(self, k: int, v: Vector) -> Vector:
        """Return a vector from the axes in which `reach` is given in E of the limb before."""
        parent = self.limbs[k].parent
        if parent == GROUND or self.continues(k):
            return v
        turn = self.own_turn(parent)
        return v if turn is None else turn.back(v)

    def through(self, k: int, v: Vector) -> Vector:
        """Return a vector from the axes of `reach` in E of limb k."""
        if not self.continues(k):
            for turn in self.joint_turns(k):
                v = turn.into(v)
        return v

    def returned(self, k: int, v: Vector) -> Vector:
        """Return a vector from E of limb k in the axes of `reach`."""
        if not self.continues(k):
            for turn in reversed(self.joint_turns(k)):
                v = turn.back(v)
        return v


def is_parallel(limb: Limb, child: Limb) -> bool:
    """Whether two limbs turn about parallel axes, one after the other."""
    return (
        limb.is_revolute
        and child.is_revolute
        and child.rotation is None
        and child.axis == limb.axis
    )


def run_members(skeleton: Skeleton) -> list[int]:
    """Return the limbs that could pass their axes on: those with a parallel limb after them."""
    limbs = skeleton.limbs
    return [
        k
        for k, limb in enumerate(limbs)
        if any(is_parallel(limb, limbs[c]) for c in skeleton.children(k))
    ]


# --- the cheapest choice --------------------------------------------------------------------------

Build = Callable[[Builder, frozenset[int], Options], None]
BuildInAxes = Callable[[Builder, Mechanism, Sequence[str], frozenset[int], Options], None]
"""Builds outputs of a mechanism with some limbs described in the axes before their joint."""

SMALL = 12
"""Up to this many turning limbs each is tried on its own; beyond, those in runs and the last."""
MOST = 24
"""With more than this many to try, the best start is taken as it is."""


def in_cheapest_axes(name: str, build: BuildInAxes, *, runs_only: bool = False) -> Method:
    """Return a method that builds in the axes that its options choose, or else in the cheapest.

    It returns the choices of axes that it ranked, if any.
    """

    def method(
        builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
    ) -> AxisChoices:
        def build_part(trial: Builder, limbs: frozenset[int], given: Options) -> None:
            build(trial, mechanism, outputs, limbs, given)

        part = (name, *outputs)
        choices: AxisChoices = {}
        if part not in options.axes:
            choices = {part: by_price(mechanism, build_part, runs_only=runs_only)}
        build_part(builder, options.in_axes(choices).axes[part].limbs, options)
        return choices

    return method


def by_price(mechanism: Mechanism, build: Build, *, runs_only: bool = False) -> list[AxisChoice]:
    """Return choices of limbs that are described in the axes before their joint, cheapest first.

    A limb in a run of parallel joints may be, and so may the last one of a branch: nothing follows
    that would need its own axes. Starts from the best of none, the runs, the last ones and both,
    then changes one limb at a time while it pays. Composite bodies ask for `runs_only`.
    """
    skeleton = Skeleton(Kinematics(mechanism, Builder()))
    turning = [k for k, limb in enumerate(skeleton.limbs) if limb.is_revolute]
    runs = frozenset(run_members(skeleton))
    last = frozenset(k for k in turning if not runs_only and not skeleton.children(k))
    starts = dict.fromkeys((frozenset[int](), runs, last, runs | last))
    tried = sorted(runs | last) if runs_only or len(turning) > SMALL else turning
    if not tried:
        return [AxisChoice(frozenset())]
    prices = {chosen: _price(build, chosen) for chosen in starts}
    improved = len(tried) <= (SMALL if runs_only else MOST)
    while improved:
        improved = False
        for limb in tried:
            best = min(prices, key=prices.__getitem__)
            trial = best ^ {limb}
            if trial not in prices:
                prices[trial] = _price(build, trial)
                improved = improved or prices[trial] < prices[best]
    ranked = sorted(prices, key=prices.__getitem__)
    return [AxisChoice(limbs, prices[limbs]) for limbs in ranked]


def _price(build: Build, chosen: frozenset[int]) -> int:
    builder = Builder()
    build(builder, chosen, BODIES)
    count = cost(builder.finish())
    return count.multiplications + count.additions
