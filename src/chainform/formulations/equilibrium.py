"""Equilibrium of everything beyond a joint (Turek 1993): reactions and drives, in world axes.

symbol   meaning, for a segment j with mass m_j                               frame   Turek 1993
w, eps   angular velocity and acceleration                                    world   (II.19-20)
c_j      from the origin of its limb to the mass centre                       world   r_jj
a_j      acceleration of the mass centre, less gravity                        world   w_j, (II.20)
J_j      inertia about the mass centre                                        world   (II.35)
F_j      inertia force and weight, - m_j a_j                                  world   (II.27)
L_j      moment of inertia forces, - J_j eps - w x J_j w                      world   (II.34)
FR_j     force that the parent of j exerts on j                               world   R_i, (II.39)
MR_j     moment of it about the joint                                         world   M_i, (II.39)

d'Alembert: inertia forces, weights, loads from outside and the reaction of a joint are in
equilibrium for whatever lies beyond it, so with sums over the segments j at or beyond i

    FR_i = - sum_j (F_j + load_j),     MR_i = - sum_j (L_j + R_ji x F_j + moment of load_j)

The sums are carried from the tips to the base. Moments are taken about the origin of the limb,
which is where its joint is, also that of a sliding body; for a joint that is fixed, the moment is
moved to the origin of its segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from chainform.formulations.loads import Load
from chainform.formulations.world import World
from chainform.graph import Scalar
from chainform.mechanism import Frame, Matrix3, Segment
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    cross,
    dot,
    product,
    scale,
    subtract,
    symmetric,
    transpose,
)

Pair: TypeAlias = tuple[Vector, Vector]
"""A force and a moment."""


class Equilibrium:
    """The reactions of a mechanism in the motion that `world` knows, under some loads.

    They are quantities FR_j and MR_j of the graph where they are `named`.
    """

    def __init__(self, world: World, loads: Sequence[Load] = (), *, named: bool = False) -> None:
        self.world = world
        self.named = named
        self.builder = world.builder
        self.mechanism = world.skeleton.mechanism
        self.children = self.mechanism.children
        self.loads: dict[int, list[Load]] = {}
        for load in loads:
            self.loads.setdefault(load.frame.segment, []).append(load)
        self.tensor = cache(self._tensor)
        self._carried: dict[int, Pair] = {}

    # --- what is asked for --------------------------------------------------------------

    def reaction(self, j: int) -> Pair:
        """Return FR_j and MR_j, the moment about the origin of the frame of segment j."""
        force, moment = self.about(Frame(self.mechanism.segments[j].name, j))
        if self.named:
            name = self.world.skeleton.kinematics.named_vector
            force, moment = name(f"FR_{j + 1}", force), name(f"MR_{j + 1}", moment)
        return force, moment

    def about(self, frame: Frame) -> Pair:
        """Return what the parent exerts on the segment of a frame, the moment about its origin."""
        force, moment = self.carried(frame.segment)
        arm = self.world.frame_arm(frame)
        return force, self.world.axes.kept(subtract(moment, cross(arm, force)))

    def drives(self) -> dict[int, Scalar]:
        """Return the components of the reactions along the freedoms, by rate (II.40)."""
        totals: dict[int, Scalar] = {}
        for k, limb in enumerate(self.world.limbs):
            force, moment = self.reaction(limb.segment)
            for column in limb.columns:
                along = self.world.direction(k, column)
                drive = dot(along, moment if column.turning else force)
                before = totals.get(column.rate)
                totals[column.rate] = drive if before is None else before + drive
        return totals

    # --- sums over all that lies beyond -------------------------------------------------

    def carried(self, j: int) -> Pair:
        """Return what the parent of j exerts, the moment about the origin of the limb of j."""
        if j not in self._carried:
            beyond = [j]
            for i in beyond:
                beyond += self.children[i]
            for i in sorted(beyond, reverse=True):
                if i not in self._carried:
                    self._carried[i] = self._sum(i)
        return self._carried[j]

    def _sum(self, j: int) -> Pair:
        world, kept = self.world, self.world.axes.kept
        force, moment = self._needed(j)
        for child in self.children[j]:
            outer, turning = self._carried[child]
            if self.mechanism.segments[child].coordinate is not None:
                arm = world.arm(world.skeleton.places[child].limb)
                turning = add(turning, cross(arm, outer))
            force, moment = add(force, outer), add(moment, turning)
        return kept(force), kept(moment)

    def _needed(self, j: int) -> Pair:
        """Return the force and moment that body j itself needs, about the origin of its limb."""
        world, none = self.world, self.world.none
        segment = self.mechanism.segments[j]
        force, moment = (none, none) if segment.body.is_massless else self._inertia(j, segment)
        for load in self.loads.get(j, ()):
            arm = world.frame_arm(load.frame)
            force = subtract(force, load.force)
            moment = subtract(moment, add(load.moment, cross(arm, load.force)))
        return force, moment

    # --- inertia ------------------------------------------------------------------------

    def _inertia(self, j: int, segment: Segment) -> Pair:
        """Return what moves body j and carries its weight: - F_j and its moment."""
        world, kept = self.world, self.world.axes.kept
        frame = Frame(segment.name, j, segment.body.com)
        k, arm = self._followed(world.limb_of(frame)), world.frame_arm(frame)
        w, eps = world.angular_velocity(k), world.angular_acceleration(k)
        swing = add(cross(eps, arm), cross(w, kept(cross(w, arm))))
        mass = world.skeleton.kinematics.number(segment.body.mass)
        force = kept(scale(mass, kept(add(world.acceleration(k), swing))))
        moment = cross(arm, force)
        tensor = self.tensor(j)
        if tensor is not None:
            spin = kept(apply(tensor, w))
            moment = add(moment, add(apply(tensor, eps), cross(w, spin)))
        return force, moment

    def _followed(self, k: int) -> int:
        """Find the motion of all limbs from the base outward to k, and return k."""
        for limb in self.world.path(k):
            self.world.angular_velocity(limb)
            self.world.angular_acceleration(limb)
            self.world.acceleration(limb)
        return k

    def _tensor(self, j: int) -> Matrix | None:
        """Return J_j; None for a body without inertia about its mass centre."""
        rows = self.mechanism.segments[j].body.inertia
        if all(entry == 0 for row in rows for entry in row):
            return None
        world, kept = self.world, self.world.axes.kept
        vector, place = world.skeleton.kinematics.vector, world.skeleton.places[j]
        own: Matrix = (vector(rows[0]), vector(rows[1]), vector(rows[2]))
        if _is_alike(rows):
            return own
        in_limb = product(product(place.rotation, own), transpose(place.rotation))
        turn = world.rotation(place.limb)
        half = [kept(row) for row in product(turn, in_limb)]
        return symmetric(lambda i, k: self.builder.keep(dot(half[i], turn[k])))


def _is_alike(rows: Matrix3) -> bool:
    """Tell whether a body has the same moment of inertia about all axes."""
    (a, *_), (_, b, _), (*_, c) = rows
    off = (rows[i][k] for i in range(3) for k in range(3) if i != k)
    return a == b == c and all(entry == 0 for entry in off)
