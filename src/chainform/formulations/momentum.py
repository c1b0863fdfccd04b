"""Energies, momentum and mass centre of the whole mechanism, and what each rate has of them.

Energies and momentum come from the velocities of limbs in their own axes. Outward from the base, w
(angular velocity) and v (velocity of the origin) of each limb; then with its mass M, first moment h
and second moments S

    linear momentum  f = M v + w x h        moment of momentum  n = (tr S - S) w + h x v
    kinetic energy   (v . f + w . n) / 2

The rate of the momentum is the sum of the inertia forces M a + ..., which the recursive equations
have (newton_euler_recursion.py), taken without weights.

The centroidal momentum matrix (Orin and Goswami 2008) has one column for each rate: the momentum of
everything beyond a joint, for unit rate of its freedom. With f and n about the joint, P its place,
and c the mass centre of the whole

    linear  f          angular  n + (P - c) x f

Its rate has F and N + z in place of f and n, with the letters of composite_body.py, and
(P' - c') x f besides. The mass centre moves by f / M per unit rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from chainform.errors import DeriveError
from chainform.formulations.composite_body import CompositeRates, momentum_rates
from chainform.formulations.shared.axes import run_members
from chainform.formulations.shared.composites import CompositeWork
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.newton_euler_recursion import NewtonEulerRecursion
from chainform.formulations.shared.outputs import Key, add_to
from chainform.formulations.shared.tree import Limb, Skeleton
from chainform.formulations.shared.turns import AxisTurn, FrameTurn, MatrixTurn
from chainform.formulations.shared.world import RATES, World
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import GROUND, ZERO, Mechanism
from chainform.spatial import Vector, add, apply, cross, dot, scale, subtract, unit

Six: TypeAlias = tuple[Vector, Vector]
"""Linear and angular part."""


class Velocities:
    """Velocities of all limbs in their own axes, and the turns that lead from limb to limb."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.builder = skeleton.builder
        self.turns = [turns_to(skeleton, limb) for limb in skeleton.limbs]
        self.w: list[Vector] = []
        self.v: list[Vector] = []
        for k, limb in enumerate(skeleton.limbs):
            self._outward(k, limb)

    def _of_base(self) -> tuple[Vector, Vector]:
        """Return angular velocity and velocity of the base in its own axes."""
        base = self.skeleton.kinematics.base
        turn = MatrixTurn(self.builder, base.rotation)
        return turn.into(base.angular_velocity), turn.into(base.velocity)

    def _outward(self, k: int, limb: Limb) -> None:
        at_ground = limb.parent == GROUND
        w, v = self._of_base() if at_ground else (self.w[limb.parent], self.v[limb.parent])
        v = self.builder.keep_vector(add(v, cross(w, self.skeleton.reach(limb))))
        for turn in self.turns[k]:
            w, v = turn.into(w), turn.into(v)
        for column in limb.columns:
            rate = self.skeleton.kinematics.q(column.rate, "qd") * column.ratio
            own = unit(column.axis, rate, self.builder.number(0))
            if column.turning:
                w = add(w, own)
            else:
                v = add(v, own)
        self.w.append(self.builder.keep_vector(w))
        self.v.append(self.builder.keep_vector(v))

    def momentum(self, k: int) -> tuple[Vector, Vector]:
        """Return f and n of a limb, about its origin, in its own axes."""
        limb, w, v = self.skeleton.limbs[k], self.w[k], self.v[k]
        s = limb.second
        trace = self.builder.keep(s[0][0] + s[1][1] + s[2][2])
        linear = add(scale(limb.mass, v), cross(w, limb.moment))
        spin = subtract(scale(trace, w), apply(s, w))
        return self.builder.keep_vector(linear), self.builder.keep_vector(
            add(spin, cross(limb.moment, v))
        )


def turns_to(skeleton: Skeleton, limb: Limb) -> list[FrameTurn]:
    """Return the turns from the axes of the limb before to those of a limb."""
    turns = skeleton.turns(limb)
    if limb.is_revolute:
        angle, call = skeleton.displacement(limb), skeleton.builder.call
        turns.append(AxisTurn(limb.axis, call("cos", angle), call("sin", angle)))
    return turns


def kinetic_energy(skeleton: Skeleton) -> Scalar:
    """Return the kinetic energy."""
    velocities = Velocities(skeleton)
    total = skeleton.builder.number(0)
    for k in range(len(skeleton.limbs)):
        f, n = velocities.momentum(k)
        total = total + dot(velocities.v[k], f) + dot(velocities.w[k], n)
    return total * Fraction(1, 2)


def momentum(skeleton: Skeleton) -> Six:
    """Return linear momentum and moment of momentum about the world origin, world axes."""
    velocities = Velocities(skeleton)
    parts = [velocities.momentum(k) for k in range(len(skeleton.limbs))]
    return _gathered(skeleton, velocities.turns, parts)


def momentum_rate(mechanism: Mechanism, builder: Builder) -> Six:
    """Return the rate of both, which is the force and moment of all inertia forces."""
    weightless = replace(mechanism, gravity=(ZERO, ZERO, ZERO))
    skeleton = Skeleton(Kinematics(weightless, builder))
    sweep = NewtonEulerRecursion(skeleton, frozenset(), RATES)
    sweep.outward()
    parts = [sweep.inertia_forces(k, limb) for k, limb in enumerate(skeleton.limbs)]
    return _gathered(skeleton, sweep.path, parts)


def _gathered(
    skeleton: Skeleton, turns: Sequence[Sequence[FrameTurn]], parts: Sequence[Six]
) -> Six:
    """Return the sum over limbs of pairs in their own axes: in world axes, about the origin."""
    keep, limbs = skeleton.builder.keep_vector, skeleton.limbs
    zero = skeleton.builder.number(0)
    # The index after the last limb, -1, is the ground.
    linear: list[Vector] = [(zero, zero, zero)] * (len(limbs) + 1)
    angular: list[Vector] = [(zero, zero, zero)] * (len(limbs) + 1)
    for k in reversed(range(len(limbs))):
        f, n = parts[k]
        f, n = keep(add(f, linear[k])), keep(add(n, angular[k]))
        for turn in reversed(turns[k]):
            f, n = turn.back(f), turn.back(n)
        parent = limbs[k].parent
        linear[parent] = add(linear[parent], f)
        angular[parent] = add(angular[parent], add(n, cross(skeleton.reach(limbs[k]), f)))
    base = skeleton.kinematics.base
    turn = MatrixTurn(skeleton.builder, base.rotation)
    f, n = turn.back(keep(linear[GROUND])), turn.back(keep(angular[GROUND]))
    return f, keep(add(n, cross(base.position, f)))


def potential_energy(skeleton: Skeleton) -> Scalar:
    """Return the potential of gravity: - g . (M P + h), summed over limbs, each in its own axes."""
    builder, base = skeleton.builder, skeleton.kinematics.base
    world = skeleton.kinematics.vector(skeleton.mechanism.gravity)
    ground = MatrixTurn(builder, base.rotation).into(world)
    level = builder.keep(dot(world, base.position))
    fields: list[Vector] = []
    levels: list[Scalar] = []
    total = builder.number(0)
    for limb in skeleton.limbs:
        at_ground = limb.parent == GROUND
        field = ground if at_ground else fields[limb.parent]
        before = level if at_ground else levels[limb.parent]
        levels.append(builder.keep(before + dot(field, skeleton.reach(limb))))
        for turn in turns_to(skeleton, limb):
            field = turn.into(field)
        fields.append(field)
        total = total - limb.mass * levels[-1] - dot(field, limb.moment)
    return total


# --- mass centre ----------------------------------------------------------------------------------


class MassCentre:
    """The mass centre of all moving bodies, its motion, and the momentum about it; world axes."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.builder = world.builder
        self.mechanism = world.skeleton.mechanism

    @cached_property
    def share(self) -> Scalar:
        """The reciprocal of the whole mass."""
        mass = self.builder.number(0)
        for limb in self.world.limbs:
            mass = mass + limb.mass
        if is_zero(mass):
            raise refuse_without_mass(self.mechanism, "moving bodies")
        return self.builder.call("reciprocal", mass)

    @cached_property
    def position(self) -> Vector:
        """Its position."""
        world, total = self.world, self.world.none
        for k, limb in enumerate(world.limbs):
            own = add(scale(limb.mass, world.origin(k)), apply(world.rotation(k), limb.moment))
            total = add(total, own)
        share, keep = self.share, self.builder.keep_vector
        return keep(scale(share, keep(total)))

    @cached_property
    def momentum(self) -> Six:
        """Linear and angular momentum about the world origin."""
        return momentum(self.world.skeleton)

    @cached_property
    def momentum_rate(self) -> Six:
        """The rate of it."""
        return momentum_rate(self.mechanism, self.builder)

    @cached_property
    def velocity(self) -> Vector:
        """Its velocity."""
        return self._per_mass(self.momentum[0])

    @cached_property
    def acceleration(self) -> Vector:
        """Its acceleration."""
        return self._per_mass(self.momentum_rate[0])

    def _per_mass(self, v: Vector) -> Vector:
        return self.builder.keep_vector(scale(self.share, v))

    def about(self, parts: Six) -> Six:
        """Return momentum, or its rate, with the angular part about the mass centre."""
        linear, angular = parts
        return linear, subtract(angular, cross(self.position, linear))

    # --- per unit rate ------------------------------------------------------------------

    @cached_property
    def _work(self) -> CompositeWork:
        skeleton = self.world.skeleton
        return CompositeWork(skeleton, frozenset(run_members(skeleton)))

    def jacobian(self) -> dict[Key, Scalar]:
        """Return the derivatives of its velocity by the rates."""
        entries: dict[Key, Scalar] = {}
        for k, limb in enumerate(self.world.limbs):
            for column in limb.columns:
                force, _ = self._work.bodies[k].momentum(column)
                _add_column(entries, column.rate, scale(self.share, self._turned(k, force)))
        return entries

    def matrix(self) -> dict[Key, Scalar]:
        """Return the derivatives of the centroidal momentum by the rates."""
        entries: dict[Key, Scalar] = {}
        for k, limb in enumerate(self.world.limbs):
            arm = self._arm(k)
            for column in limb.columns:
                f, n = (self._turned(k, v) for v in self._work.bodies[k].momentum(column))
                _add_column(entries, column.rate, (*f, *add(n, cross(arm, f))))
        return entries

    def matrix_rate(self) -> dict[Key, Scalar]:
        """Return the derivatives of the entries of `matrix` by time."""
        world, base = self.world, self.world.base
        ground = MatrixTurn(self.builder, base.rotation).into(base.angular_velocity)
        rates, entries = CompositeRates(self._work, ground), dict[Key, Scalar]()
        for k, limb in enumerate(world.limbs):
            world.follow(k)
            arm = self._arm(k)
            sway = self.builder.keep_vector(subtract(world.velocity(k), self.velocity))
            for column in limb.columns:
                own = momentum_rates(self._work, rates, k, column)
                f, F = self._turned(k, own.f), self._turned(k, own.F)
                n = self._turned(k, self.builder.keep_vector(add(own.N, own.z)))
                moment = add(n, add(cross(arm, F), cross(sway, f)))
                _add_column(entries, column.rate, (*F, *moment))
        return entries

    def _turned(self, k: int, v: Vector) -> Vector:
        """Return a vector of the composite body of limb k in world axes."""
        return self.builder.keep_vector(apply(self.world.described_rotation(k), v))

    def _arm(self, k: int) -> Vector:
        return self.builder.keep_vector(subtract(self.world.origin(k), self.position))


def _add_column(entries: dict[Key, Scalar], rate: int, values: Sequence[Scalar]) -> None:
    for i, value in enumerate(values):
        add_to(entries, (i, rate), value)


def refuse_without_mass(mechanism: Mechanism, bodies: str) -> DeriveError:
    """Return the error for a mass centre of nothing."""
    return DeriveError(
        f"the {bodies} have no mass, so there is no mass centre",
        file=mechanism.file,
        element="com",
        remedy="give a body mass, or ask for momentum instead of centroidal_momentum",
    )
