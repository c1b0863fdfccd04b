"""Which limbs are not turned with their joint but described in the axes before it."""

from __future__ import annotations

from collections.abc import Callable

from chainform.formulations.axes import run_members
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.options import BODIES, AxisChoice, AxisChoices, Options, Part
from chainform.formulations.skeleton import Skeleton
from chainform.graph import Builder, cost
from chainform.mechanism import Mechanism

Build = Callable[[Builder, frozenset[int], Options], None]

SMALL = 12
"""Up to this many turning limbs each is tried on its own; beyond, those in runs and the last."""
MOST = 24
"""With more than this many to try, the best start is taken as it is."""


def build_in_axes(
    builder: Builder,
    mechanism: Mechanism,
    part: Part,
    options: Options,
    build: Build,
    *,
    runs_only: bool = False,
) -> AxisChoices:
    """Build a part in the axes that the options choose for it, or else in the cheapest ones.

    Returns the choices of axes that were ranked for it, if any.
    """
    choices: AxisChoices = {}
    if part not in options.axes:
        choices = {part: by_price(mechanism, build, runs_only=runs_only)}
    build(builder, options.in_axes(choices).axes[part].limbs, options)
    return choices


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
    prices = {chosen: _price(build, chosen) for chosen in starts}
    tried = sorted(runs | last) if runs_only or len(turning) > SMALL else turning
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
