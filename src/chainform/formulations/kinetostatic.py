"""The kinetostatic method (Turek 1993): every joint is cut, and what holds it is the reaction.

symbol     meaning, for a body j and joints i, k between it and the base        frame   Turek 1993
e_k        direction of the freedom of joint k                                  world   (II.18)
R_jk       from joint k to the mass centre of j                                 world   (II.26)
alpha_jk   angular acceleration of j per unit qdd_k: e_k; 0 if k slides         world   (II.26a)
beta_jk    acceleration of its mass centre: e_k x R_jk; e_k if k slides         world   (II.26b)
theta_j    angular acceleration that is left at qdd = 0                         world   (II.26a)
eta_j      acceleration of the mass centre that is left at qdd = 0              world   (II.26b)
J_j, m_j   inertia about the mass centre, mass                                  world   (II.35)

    eps_j = sum_k alpha_jk qdd_k + theta_j,    a_j = sum_k beta_jk qdd_k + eta_j         (II.21)

Inertia forces and moments follow, and equilibrium of everything beyond a joint gives the reaction
in it, whose component along the freedom is the drive (equilibrium.py, II.27-II.40). Hence, with
sums over the bodies beyond both joints (II.41-II.43, V.1),

    H_ik = sum_j e_i . (J_j alpha_jk + R_ji x m_j beta_jk)       i turns
    H_ik = sum_j e_i . m_j beta_jk                               i slides
    h_i  = the drive at qdd = 0

The problem g, from motion to drives, needs no split: the whole accelerations (II.20) go through
the same equilibrium. The problem f, from drives to qdd, takes H and h and factorises H. H is
symmetric, so for a pair of joints only the reaction in the inner one to qdd of the outer one is
found. The base is body 0, whose motion is given (base.py) and is part of theta and eta.

Beyond the paper: trees, loops, fixed and sliding joints, joints with a quaternion, joints that
share a coordinate. In (II.25) and (II.26) the angular acceleration of the base stands twice and
must stand once; eta_0 is the acceleration of the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chainform.formulations.applied import outer_forces
from chainform.formulations.equilibrium import Equilibrium
from chainform.formulations.factorisation import solve
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.loads import Load, all_loads, spring_loads, wrench_loads
from chainform.formulations.options import AxisChoices, Options
from chainform.formulations.outputs import Key, Sums, declare
from chainform.formulations.passive import rotor_inertias
from chainform.formulations.skeleton import Column, Skeleton
from chainform.formulations.world import World
from chainform.graph import Builder, Scalar
from chainform.mechanism import Frame, Mechanism
from chainform.spatial import Vector, add, apply, apply_transposed, cross, dot, scale, subtract

MOTIONS = {
    "inverse_dynamics": ("tau", "gravity", "base", "qd", "qdd"),
    "bias": ("h", "gravity", "base", "qd"),
    "gravity": ("hG", "gravity"),
}
"""The drives: the letter of each, and the motions that are not taken as zero."""


def kinetostatic(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build drives, H and qdd from the equilibrium beyond each joint."""
    work = _Kinetostatic(builder, mechanism, options)
    for output in outputs:
        if output == "mass_matrix":
            declare(builder, output, "H", (mechanism.nv,) * 2, work.mass_matrix())
        elif output == "forward_dynamics":
            declare(builder, output, "qdd", (mechanism.nv,), work.accelerations())
        elif output == "reactions":
            declare(builder, output, "R", (len(mechanism.segments), 6), work.reactions())
        else:
            letter, *motions = MOTIONS[output]
            values = work.drives(motions, loaded=output == "inverse_dynamics")
            declare(builder, output, letter, (mechanism.nv,), _keyed(values))
    return {}


class _Kinetostatic:
    """The equations of one mechanism."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.skeleton = Skeleton(Kinematics(mechanism, builder))
        self.bodies = [
            j for j, segment in enumerate(mechanism.segments) if not segment.body.is_massless
        ]

    # --- reactions ----------------------------------------------------------------------

    def reactions(self) -> dict[Key, Scalar]:
        """Return force and moment in every joint, in the axes of the child."""
        world = World(self.skeleton, MOTIONS["inverse_dynamics"][1:])
        equilibrium = Equilibrium(world, all_loads(world, self.options), named=True)
        values: dict[Key, Scalar] = {}
        for j, segment in enumerate(self.mechanism.segments):
            rotation = world.frame_rotation(Frame(segment.name, j))
            force, moment = equilibrium.reaction(j)
            row = (*apply_transposed(rotation, force), *apply_transposed(rotation, moment))
            values |= {(j, i): value for i, value in enumerate(row)}
        return values

    # --- drives -------------------------------------------------------------------------

    def drives(self, motions: Sequence[str], *, loaded: bool) -> dict[int, Scalar]:
        """Return the drives by rate for a motion, with loads and what joints do by themselves."""
        world = World(self.skeleton, motions)
        if not loaded:
            return Equilibrium(world).drives()
        named = "qdd" in motions and self.is_complete
        drives = Equilibrium(world, self._loads(world), named=named).drives()
        for rate, value in self._beside_loads().items():
            drives[rate] = drives[rate] + value
        if "qdd" in motions:
            q = self.skeleton.kinematics.q
            for rate, inertia in self._rotors().items():
                drives[rate] = drives[rate] + inertia * q(rate, "qdd")
        return drives

    @property
    def is_complete(self) -> bool:
        """Whether the reactions of loops act on every joint, as forces on bodies do."""
        return self.options.closure == "complete"

    def _loads(self, world: World) -> list[Load]:
        """Return the forces and moments from outside, C_j of the paper."""
        if self.is_complete:
            return all_loads(world, self.options)
        return [*wrench_loads(world, self.options), *spring_loads(world, self.options)]

    def _beside_loads(self) -> dict[int, Scalar]:
        """Return by rate what does not enter as a load on a body."""
        loops = () if self.is_complete else self.mechanism.loops
        springs = tuple(spring for spring in self.mechanism.springs if spring.ends is None)
        left = replace(self.mechanism, loops=loops, springs=springs)
        return outer_forces(self.builder, left, replace(self.options, wrenches=()))

    def _rotors(self) -> dict[int, Scalar]:
        return rotor_inertias(self.builder, self.mechanism, self.options)

    # --- parts linear in qdd ------------------------------------------------------------

    def mass_matrix(self) -> dict[Key, Scalar]:
        """Return H."""
        sums = Sums()
        world = World(self.skeleton, ())
        equilibrium = Equilibrium(world)
        for k, limb in enumerate(world.limbs):
            for place, column in enumerate(limb.columns):
                force, moment = self._reaction(equilibrium, k, column)
                inner = [(k, other) for other in limb.columns[: place + 1]]
                inner += [(i, c) for i in world.path(k)[:-1] for c in world.limbs[i].columns]
                for i, other in inner:
                    linear, angular = world.column(i, other, world.origin(k))
                    value = dot(linear, force) + dot(angular, moment)
                    sums.add((other.rate, column.rate), value, same_joint=other is column)
        for rate, inertia in self._rotors().items():
            sums.add((rate, rate), inertia, same_joint=True)
        return sums.mirrored()

    def _reaction(self, equilibrium: Equilibrium, k: int, column: Column) -> tuple[Vector, Vector]:
        """Return the reaction in joint k to unit qdd of one of its freedoms (II.39)."""
        world = equilibrium.world
        kept, number = world.axes.kept, self.skeleton.kinematics.number
        force = moment = world.none
        for j in self._beyond(k):
            body = self.mechanism.segments[j].body
            point = world.frame_origin(Frame("", j, body.com))
            beta, alpha = world.column(k, column, point)
            push = kept(scale(number(body.mass), beta))
            arm = kept(subtract(point, world.origin(k)))
            force, moment = add(force, push), add(moment, cross(arm, push))
            tensor = equilibrium.tensor(j)
            if tensor is not None:
                moment = add(moment, apply(tensor, alpha))
        return kept(force), kept(moment)

    def _beyond(self, k: int) -> list[int]:
        """Return the bodies at or beyond limb k."""
        own = self.skeleton.limbs[k].segment
        return [j for j in self.bodies if own in self.mechanism.path_to(j)]

    def accelerations(self) -> dict[Key, Scalar]:
        """Return qdd from H qdd = tau - h."""
        q = self.skeleton.kinematics.q
        drives = self.drives(("gravity", "base", "qd"), loaded=True)
        rest = {rate: q(rate, "tau") - value for rate, value in drives.items()}
        return _keyed(solve(self.mass_matrix(), rest))


def _keyed(values: dict[int, Scalar]) -> dict[Key, Scalar]:
    return {(rate,): value for rate, value in values.items()}
