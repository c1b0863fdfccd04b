"""Energies, momentum and mass centre, from the velocities of limbs in their own axes.

Outward from the base, w (angular velocity) and v (velocity of the origin) of each limb; then with
its mass M, first moment h and second moments S

    linear momentum  f = M v + w x h        moment of momentum  n = (tr S - S) w + h x v
    kinetic energy   (v . f + w . n) / 2
"""

from __future__ import annotations

from fractions import Fraction

from chainform.errors import DeriveError
from chainform.formulations.motion import AxisTurn, MatrixTurn, Turn, is_zero
from chainform.formulations.skeleton import Limb, Skeleton
from chainform.formulations.world import World
from chainform.graph import Scalar
from chainform.mechanism import GROUND
from chainform.spatial import Vector, add, apply, cross, dot, scale, subtract, unit


class Velocities:
    """Velocities of all limbs in their own axes, and the turns that lead from limb to limb."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.builder = skeleton.builder
        zero = self.builder.number(0)
        self.none: Vector = (zero, zero, zero)
        self.turns = [turns_to(skeleton, limb) for limb in skeleton.limbs]
        self.w: list[Vector] = []
        self.v: list[Vector] = []
        for k, limb in enumerate(skeleton.limbs):
            self._outward(k, limb)

    def kept(self, v: Vector) -> Vector:
        """Make the components variables."""
        keep = self.builder.keep
        return (keep(v[0]), keep(v[1]), keep(v[2]))

    def _of_base(self) -> tuple[Vector, Vector]:
        """Return angular velocity and velocity of the base in its own axes."""
        base = self.skeleton.kinematics.base
        turn = MatrixTurn(self.builder, base.rotation)
        return turn.into(base.angular_velocity), turn.into(base.velocity)

    def _outward(self, k: int, limb: Limb) -> None:
        at_ground = limb.parent == GROUND
        w, v = self._of_base() if at_ground else (self.w[limb.parent], self.v[limb.parent])
        v = self.kept(add(v, cross(w, self.skeleton.reach(limb))))
        for turn in self.turns[k]:
            w, v = turn.into(w), turn.into(v)
        for column in limb.columns:
            rate = self.skeleton.kinematics.q(column.rate, "qd") * column.ratio
            own = unit(column.axis, rate, self.builder.number(0))
            if column.turning:
                w = add(w, own)
            else:
                v = add(v, own)
        self.w.append(self.kept(w))
        self.v.append(self.kept(v))

    def momentum(self, k: int) -> tuple[Vector, Vector]:
        """Return f and n of a limb, about its origin, in its own axes."""
        limb, w, v = self.skeleton.limbs[k], self.w[k], self.v[k]
        s = limb.second
        trace = self.builder.keep(s[0][0] + s[1][1] + s[2][2])
        linear = add(scale(limb.mass, v), cross(w, limb.moment))
        spin = subtract(scale(trace, w), apply(s, w))
        return self.kept(linear), self.kept(add(spin, cross(limb.moment, v)))


def turns_to(skeleton: Skeleton, limb: Limb) -> list[Turn]:
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


def momentum(skeleton: Skeleton) -> tuple[Vector, Vector]:
    """Return linear momentum and moment of momentum about the world origin, world axes."""
    velocities = Velocities(skeleton)
    kept, limbs = velocities.kept, skeleton.limbs
    # The place after the last limb, index -1, is the ground.
    linear = [velocities.none] * (len(limbs) + 1)
    angular = [velocities.none] * (len(limbs) + 1)
    for k in reversed(range(len(limbs))):
        f, n = velocities.momentum(k)
        f, n = kept(add(f, linear[k])), kept(add(n, angular[k]))
        for turn in reversed(velocities.turns[k]):
            f, n = turn.back(f), turn.back(n)
        parent = limbs[k].parent
        linear[parent] = add(linear[parent], f)
        angular[parent] = add(angular[parent], add(n, cross(skeleton.reach(limbs[k]), f)))
    base = skeleton.kinematics.base
    turn = MatrixTurn(skeleton.builder, base.rotation)
    f, n = turn.back(kept(linear[GROUND])), turn.back(kept(angular[GROUND]))
    return f, kept(add(n, cross(base.position, f)))


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


def centre_of_mass(world: World) -> Vector:
    """Return the mass centre of all moving bodies, world axes."""
    kept, builder = world.axes.kept, world.builder
    total, mass = world.none, builder.number(0)
    for k, limb in enumerate(world.limbs):
        mass = mass + limb.mass
        own = add(scale(limb.mass, world.origin(k)), apply(world.rotation(k), limb.moment))
        total = add(total, own)
    if is_zero(mass):
        raise DeriveError(
            "the moving bodies have no mass, so there is no mass centre",
            file=world.skeleton.mechanism.file,
            element="com",
            remedy="give a body mass, or ask for momentum instead of centroidal_momentum",
        )
    return kept(scale(builder.call("reciprocal", mass), kept(total)))
