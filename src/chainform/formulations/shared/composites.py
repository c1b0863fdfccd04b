"""Composite bodies: each limb with everything it carries, taken as one rigid body.

M, h and S of the composite are about the joint of its first limb, in the axes E in which that
limb is described. With unit direction e of a joint its momentum for unit rate is

    turning   f = e x h,   n = (tr S - S) e          sliding   f = M e,   n = h x e

f the linear momentum, n the moment of momentum about the joint.

H, C and hG follow from the inertia of everything beyond each joint. With f and n for joint k, S and
h of its composite body, and for a joint i at or before it w_i the angular velocity and t_i the
velocity of the point at joint k, both for unit rate,

    H_ik  = w_i . n + t_i . f                  hG_k = - g . f
    C^i_kl = w_i . ((S e_l) x e_k) + t_i . (e_l x (e_k x h))        k and l turning, l <= k
    C^i_kl = w_i . (h x (e_l x e_k)) + t_i . M (e_l x e_k)          k sliding, l turning

and zero for l sliding; "<=" is the order from the base outward. For i beyond k, and l before
both, C^i_kl = - C^k_il, since neither H_ik nor H_il depends on q_l then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.formulations.shared.axes import Axes
from chainform.formulations.shared.outputs import Key, SymmetricSums, add_to
from chainform.formulations.shared.tree import Column, Skeleton
from chainform.formulations.shared.turns import FrameTurn, MatrixTurn, others, turned_symmetric
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND
from chainform.spatial import Matrix, Vector, add, apply, cross, dot, scale, symmetric, unit


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
            body = turned_back(own, keep_composite(axes.builder, body))
        for c in children[k]:
            if axes.continues(c):
                body, across = joined(body, result[c], axes.reach(c)), None
        result[k] = replace(keep_composite(axes.builder, body), across=across)
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


def turned_back(turn: FrameTurn, body: Composite) -> Composite:
    """Return a body of the inner frame of a turn in the axes of the outer one."""
    return Composite(body.mass, turn.back(body.moment), turned_symmetric(turn, body.second))


def keep_composite(builder: Builder, body: Composite) -> Composite:
    """Make every component a variable."""
    keep = builder.keep
    return Composite(
        keep(body.mass),
        builder.keep_vector(body.moment),
        symmetric(lambda i, k: keep(body.second[i][k])),
    )


def _times(ratio: Fraction, v: list[Scalar]) -> Vector:
    return (ratio * v[0], ratio * v[1], ratio * v[2])


# --- H, C and hG ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Twist:
    """FrameMotion of a joint's place per unit rate of an earlier freedom: angular w, linear t."""

    column: Column
    w: Vector
    t: Vector


class CompositeWork:
    """The composite bodies of a skeleton, and the sums over them."""

    def __init__(self, skeleton: Skeleton, shared: frozenset[int]) -> None:
        self.skeleton = skeleton
        self.builder = skeleton.builder
        self.limbs = skeleton.limbs
        self.axes = Axes(skeleton, shared)
        self.bodies = composites(self.axes)
        self.zero = self.builder.number(0)
        self.none: Vector = (self.zero, self.zero, self.zero)

    def _unit(self, column: Column) -> Vector:
        return unit(column.axis, self.builder.number(column.ratio), self.zero)

    # --- earlier joints, seen from each limb ---------------------------------------------

    def twists(self) -> list[list[Twist]]:
        """Return for each limb the twists of all freedoms before it, at its joint, in E."""
        result: list[list[Twist]] = []
        for k, limb in enumerate(self.limbs):
            before = (
                [] if limb.parent == GROUND else result[limb.parent] + self.own_twists(limb.parent)
            )
            result.append([self._moved(k, twist) for twist in before])
        return result

    def own_twists(self, k: int) -> list[Twist]:
        """Return the motions of limb k, at its joint, for unit rates of its own freedoms."""
        return [
            Twist(c, self._unit(c), self.none) if c.turning else Twist(c, self.none, self._unit(c))
            for c in self.limbs[k].columns
        ]

    def _moved(self, k: int, twist: Twist) -> Twist:
        axes = self.axes
        w, t = axes.outward(k, twist.w), axes.outward(k, twist.t)
        t = axes.builder.keep_vector(add(t, cross(w, axes.reach(k))))
        return Twist(twist.column, axes.through(k, w), axes.through(k, t))

    # --- H by passing momenta inward ------------------------------------------------------

    def mass_matrix(self) -> SymmetricSums:
        """Return H."""
        sums = SymmetricSums()
        for k, limb in enumerate(self.limbs):
            for index, column in enumerate(limb.columns):
                force, moment = self.bodies[k].momentum(column)
                self._collect(sums, column, limb.columns[: index + 1], force, moment)
                self._pass_inward(sums, k, column, force, moment)
        return sums

    def _pass_inward(
        self, sums: SymmetricSums, k: int, column: Column, force: Vector, moment: Vector
    ) -> None:
        axes = self.axes
        while self.limbs[k].parent != GROUND:
            force, moment = axes.returned(k, force), axes.returned(k, moment)
            moment = axes.builder.keep_vector(add(moment, cross(axes.reach(k), force)))
            force, moment = axes.inward(k, force), axes.inward(k, moment)
            k = self.limbs[k].parent
            self._collect(sums, column, self.limbs[k].columns, force, moment)

    def _collect(
        self,
        sums: SymmetricSums,
        column: Column,
        earlier: Sequence[Column],
        force: Vector,
        moment: Vector,
    ) -> None:
        for other in earlier:
            part = (moment if other.turning else force)[other.axis] * other.ratio
            sums.add((other.rate, column.rate), part, same_joint=other is column)

    # --- H, C and hG from twists ----------------------------------------------------------

    def gravity(self) -> dict[Key, Scalar]:
        """Return hG, with gravity seen from each limb."""
        entries: dict[Key, Scalar] = {}
        fields: list[Vector] = []
        mechanism = self.skeleton.mechanism
        world = self.skeleton.kinematics.vector(mechanism.gravity)
        ground = MatrixTurn(self.builder, self.skeleton.kinematics.base.rotation).into(world)
        for k, limb in enumerate(self.limbs):
            before = ground if limb.parent == GROUND else self.axes.outward(k, fields[limb.parent])
            fields.append(self.axes.through(k, before))
            for column in limb.columns:
                force, _ = self.bodies[k].momentum(column)
                add_to(entries, (column.rate,), -dot(force, fields[k]))
        return entries

    def mass_matrix_from_twists(self, twists: list[list[Twist]]) -> SymmetricSums:
        """Return H, by scalar products with the twists."""
        sums = SymmetricSums()
        for k, limb in enumerate(self.limbs):
            for index, column in enumerate(limb.columns):
                force, moment = self.bodies[k].momentum(column)
                self._collect(sums, column, limb.columns[: index + 1], force, moment)
                for twist in twists[k]:
                    value = dot(twist.w, moment) + dot(twist.t, force)
                    sums.add((twist.column.rate, column.rate), value, same_joint=False)
        return sums

    def coriolis(self, twists: list[list[Twist]]) -> SymmetricSums:
        """Return C, for joints of one freedom each."""
        sums = SymmetricSums()
        for k in range(len(self.limbs)):
            (own,) = self.own_twists(k)
            path = [*twists[k], own]
            for index, outer in enumerate(path):
                if not outer.column.turning:
                    continue
                force, moment = self._rate_of_momentum(k, own.column, outer.w)
                k_l = (own.column.rate, outer.column.rate)
                for rank, twist in enumerate(path[:-1]):
                    value = self.builder.keep(dot(twist.w, moment) + dot(twist.t, force))
                    i = twist.column.rate
                    sums.add((i, *k_l), value, same_joint=outer is own)
                    if index <= rank:
                        turned = (k_l[0], i, k_l[1])
                        sums.add(turned, -value, same_joint=index == rank)
        return sums

    def _rate_of_momentum(self, k: int, column: Column, e_l: Vector) -> tuple[Vector, Vector]:
        """Return force and moment at joint k for unit rates of its own freedom and of e_l."""
        body, e_k, axes = self.bodies[k], self._unit(column), self.axes
        if column.turning:
            moment = cross(axes.builder.keep_vector(apply(body.second, e_l)), e_k)
            return axes.builder.keep_vector(
                cross(e_l, axes.builder.keep_vector(cross(e_k, body.moment)))
            ), axes.builder.keep_vector(moment)
        across = axes.builder.keep_vector(cross(e_l, e_k))
        return axes.builder.keep_vector(scale(body.mass, across)), axes.builder.keep_vector(
            cross(body.moment, across)
        )
