"""H, C and hG from the inertia of everything beyond each joint.

With f and n the momentum of the composite body beyond joint k for unit rate (see
composites.py), S and h its moments about the joint, and for a joint i at or before it w_i the
angular velocity and t_i the velocity of the point at joint k, both for unit rate,

    H_ik  = w_i . n + t_i . f                  hG_k = - g . f
    C^i_kl = w_i . ((S e_l) x e_k) + t_i . (e_l x (e_k x h))        k and l turning, l <= k
    C^i_kl = w_i . (h x (e_l x e_k)) + t_i . M (e_l x e_k)          k sliding, l turning

and zero for l sliding; "<=" is the order from the base outward. For i beyond k, and l before
both, C^i_kl = - C^k_il, since neither H_ik nor H_il depends on q_l then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.formulations.axes import Axes
from chainform.formulations.composites import composites
from chainform.formulations.motion import MatrixTurn
from chainform.formulations.outputs import Key, Sums, add_to
from chainform.formulations.skeleton import Column, Skeleton
from chainform.graph import Scalar
from chainform.mechanism import GROUND
from chainform.spatial import Vector, add, apply, cross, dot, scale, unit


@dataclass(frozen=True, slots=True)
class Twist:
    """Motion of a joint's place per unit rate of an earlier freedom: angular w, linear t."""

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
        t = axes.kept(add(t, cross(w, axes.reach(k))))
        return Twist(twist.column, axes.through(k, w), axes.through(k, t))

    # --- H by passing momenta inward ------------------------------------------------------

    def mass_matrix(self) -> Sums:
        """Return H."""
        sums = Sums()
        for k, limb in enumerate(self.limbs):
            for place, column in enumerate(limb.columns):
                force, moment = self.bodies[k].momentum(column)
                self._collect(sums, column, limb.columns[: place + 1], force, moment)
                self._pass_inward(sums, k, column, force, moment)
        return sums

    def _pass_inward(
        self, sums: Sums, k: int, column: Column, force: Vector, moment: Vector
    ) -> None:
        axes = self.axes
        while self.limbs[k].parent != GROUND:
            force, moment = axes.returned(k, force), axes.returned(k, moment)
            moment = axes.kept(add(moment, cross(axes.reach(k), force)))
            force, moment = axes.inward(k, force), axes.inward(k, moment)
            k = self.limbs[k].parent
            self._collect(sums, column, self.limbs[k].columns, force, moment)

    def _collect(
        self,
        sums: Sums,
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

    def mass_matrix_from_twists(self, twists: list[list[Twist]]) -> Sums:
        """Return H, by scalar products with the twists."""
        sums = Sums()
        for k, limb in enumerate(self.limbs):
            for place, column in enumerate(limb.columns):
                force, moment = self.bodies[k].momentum(column)
                self._collect(sums, column, limb.columns[: place + 1], force, moment)
                for twist in twists[k]:
                    value = dot(twist.w, moment) + dot(twist.t, force)
                    sums.add((twist.column.rate, column.rate), value, same_joint=False)
        return sums

    def coriolis(self, twists: list[list[Twist]]) -> Sums:
        """Return C, for joints of one freedom each."""
        sums = Sums()
        for k in range(len(self.limbs)):
            (own,) = self.own_twists(k)
            path = [*twists[k], own]
            for place, outer in enumerate(path):
                if not outer.column.turning:
                    continue
                force, moment = self._rate_of_momentum(k, own.column, outer.w)
                k_l = (own.column.rate, outer.column.rate)
                for rank, twist in enumerate(path[:-1]):
                    value = self.builder.keep(dot(twist.w, moment) + dot(twist.t, force))
                    i = twist.column.rate
                    sums.add((i, *k_l), value, same_joint=outer is own)
                    if place <= rank:
                        turned = (k_l[0], i, k_l[1])
                        sums.add(turned, -value, same_joint=place == rank)
        return sums

    def _rate_of_momentum(self, k: int, column: Column, e_l: Vector) -> tuple[Vector, Vector]:
        """Return force and moment at joint k for unit rates of its own freedom and of e_l."""
        body, e_k, axes = self.bodies[k], self._unit(column), self.axes
        if column.turning:
            moment = cross(axes.kept(apply(body.second, e_l)), e_k)
            return axes.kept(cross(e_l, axes.kept(cross(e_k, body.moment)))), axes.kept(moment)
        across = axes.kept(cross(e_l, e_k))
        return axes.kept(scale(body.mass, across)), axes.kept(cross(body.moment, across))
