"""Composite bodies: each limb with everything it carries, taken as one rigid body.

M, h and S of the composite are about the joint of its first limb, in the axes E in which that
limb is described. With unit direction e of a joint its momentum for unit rate is

    turning   f = e x h,   n = (tr S - S) e          sliding   f = M e,   n = h x e

f the linear momentum, n the moment of momentum about the joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.formulations.axes import Axes
from chainform.formulations.motion import Turn, others
from chainform.formulations.skeleton import Column
from chainform.formulations.tensors import turned_symmetric
from chainform.graph import Builder, Scalar
from chainform.spatial import Matrix, Vector, add, symmetric


@dataclass(frozen=True, slots=True)
class Composite:
    """Mass, first moment and second moments about one point, in one set of axes."""

    mass: Scalar
    moment: Vector
    second: Matrix
    across: Scalar | None = None
    """S_xx + S_yy across the axis of the limb, where it is known from before the limb turned."""

    def momentum(self, freedom: Column) -> tuple[Vector, Vector]:
        """Return f and n for unit rate of a joint freedom whose direction is a coordinate axis."""
        builder = self.mass.builder
        z = freedom.axis
        x, y = others(z)
        zero = builder.number(0)
        force, moment = [zero] * 3, [zero] * 3
        h, s = self.moment, self.second
        if freedom.turning:
            force[x], force[y] = -h[y], h[x]
            moment[x], moment[y] = -s[x][z], -s[y][z]
            both = s[x][x] + s[y][y] if self.across is None else self.across
            moment[z] = builder.keep(both)
        else:
            force[z] = self.mass
            moment[x], moment[y] = h[y], -h[x]
        return _times(freedom.ratio, force), _times(freedom.ratio, moment)


def composites(axes: Axes) -> list[Composite]:
    """Return the composite body of every limb."""
    limbs = axes.limbs
    children = [axes.skeleton.children(k) for k in range(len(limbs))]
    result: dict[int, Composite] = {}
    for k in reversed(range(len(limbs))):
        body = Composite(limbs[k].mass, limbs[k].moment, limbs[k].second)
        for c in children[k]:
            if not axes.continues(c):
                outer = result[c]
                for turn in reversed(axes.joint_turns(c)):
                    outer = turned_back(turn, outer)
                body = joined(body, outer, axes.reach(c))
        own = axes.own_turn(k)
        across: Scalar | None = None
        if own is not None:
            x, y = others(limbs[k].axis)
            # Turning about the axis does not change this sum.
            across = axes.builder.keep(body.second[x][x] + body.second[y][y])
            body = turned_back(own, kept(axes.builder, body))
        for c in children[k]:
            if axes.continues(c):
                body, across = joined(body, result[c], axes.reach(c)), None
        result[k] = replace(kept(axes.builder, body), across=across)
    return [result[k] for k in range(len(limbs))]


def joined(body: Composite, other: Composite, d: Vector) -> Composite:
    """Return two bodies as one; the other's reference point lies at d.

    S grows by the integral of (r + d)(r + d)^T = S + h d^T + d (h + M d)^T.
    """
    keep = body.mass.builder.keep
    h = other.moment
    moved: Vector = (
        keep(h[0] + other.mass * d[0]),
        keep(h[1] + other.mass * d[1]),
        keep(h[2] + other.mass * d[2]),
    )

    def entry(i: int, k: int) -> Scalar:
        return body.second[i][k] + other.second[i][k] + h[i] * d[k] + d[i] * moved[k]

    return Composite(
        body.mass + other.mass,
        add(body.moment, moved),
        symmetric(entry),
    )


def turned_back(turn: Turn, body: Composite) -> Composite:
    """Return a body of the inner frame of a turn in the axes of the outer one."""
    return Composite(body.mass, turn.back(body.moment), turned_symmetric(turn, body.second))


def kept(builder: Builder, body: Composite) -> Composite:
    """Make every component a variable."""
    keep = builder.keep
    h = body.moment
    return Composite(
        keep(body.mass),
        (keep(h[0]), keep(h[1]), keep(h[2])),
        symmetric(lambda i, k: keep(body.second[i][k])),
    )


def _times(ratio: Fraction, v: list[Scalar]) -> Vector:
    return (ratio * v[0], ratio * v[1], ratio * v[2])
