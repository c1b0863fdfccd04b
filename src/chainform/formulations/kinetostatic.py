"""The kinetostatic method (Turek 1993): every joint is cut, and what holds it is the reaction.

symbol     meaning, for a body j and joints i, k between it and the base        frame   Turek 1993
e_k        direction of the freedom of joint k                                  world   (II.18)
R_jk       from joint k to the mass centre of j                                 world   (II.26)
alpha_jk   angular acceleration of j per unit qdd_k: e_k; 0 if k slides         world   (II.26a)
beta_jk    acceleration of its mass centre: e_k x R_jk; e_k if k slides         world   (II.26b)
theta_j    angular acceleration that is left at qdd = 0                         world   (II.26a)
eta_j      acceleration of the mass centre that is left at qdd = 0              world   (II.26b)

    eps_j = sum_k alpha_jk qdd_k + theta_j,    a_j = sum_k beta_jk qdd_k + eta_j         (II.21)

Inertia forces and moments follow, and equilibrium of everything beyond a joint gives the reaction
in it, whose component along the freedom is the drive (II.27-II.40). With sums over the bodies
beyond both joints (II.41-II.43, V.1),

    H_ik = sum_j e_i . (J_j alpha_jk + R_ji x m_j beta_jk)       i turns
    H_ik = sum_j e_i . m_j beta_jk                               i slides
    h_i  = the drive at qdd = 0

The problem g, from motion to drives, needs no split: the whole accelerations (II.20) go through
the same equilibrium. The problem f, from drives to qdd, takes H and h and factorises H. H is
symmetric, so for a pair of joints only the reaction in the inner one to qdd of the outer one is
found. The base is body 0, whose motion is given (base.py) and is part of theta and eta.

Quantities of the graph, by numbers of segments: e_k, R_j_k, alpha_j_k, beta_j_k and the shares of
bodies H_i_k_j = alpha_ji . J_j alpha_jk + m_j beta_ji . beta_jk (V.3) with the mass matrix, theta_j
and eta_j with the bias. A joint with several freedoms has a further number for each.

Beyond the paper: trees, loops, fixed and sliding joints, joints with a quaternion, joints that
share a coordinate. In (II.25) and (II.26) the angular acceleration of the base stands twice and
must stand once; eta_0 is the acceleration of the base.

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

The sums are carried from the tips to the base. Moments are about the origin of the limb, where its
joint is, also that of a sliding body; those of fixed joints are moved to the origin of the segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from chainform.formulations.shared.forces import outer_forces, rotor_inertias
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.options import AxisChoices, Options
from chainform.formulations.shared.outputs import (
    Key,
    SymmetricSums,
    add_all,
    add_to,
    declare,
    declare_equation,
    solve,
)
from chainform.formulations.shared.reactions import Load, all_loads, spring_loads, wrench_loads
from chainform.formulations.shared.tree import Column, Limb, Skeleton
from chainform.formulations.shared.world import World
from chainform.graph import Builder, Scalar
from chainform.mechanism import Frame, Matrix3, Mechanism, Segment
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    product,
    scale,
    subtract,
    symmetric,
    transpose,
)

# --- equilibrium of everything beyond a joint -----------------------------------------------------

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

    # --- results ------------------------------------------------------------------------

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
        return force, self.world.builder.keep_vector(subtract(moment, cross(arm, force)))

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
        world, keep = self.world, self.world.builder.keep_vector
        force, moment = self._needed(j)
        for child in self.children[j]:
            outer, turning = self._carried[child]
            if self.mechanism.segments[child].coordinate is not None:
                arm = world.arm(world.skeleton.poses[child].limb)
                turning = add(turning, cross(arm, outer))
            force, moment = add(force, outer), add(moment, turning)
        return keep(force), keep(moment)

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
        world, keep = self.world, self.world.builder.keep_vector
        frame = Frame(segment.name, j, segment.body.com)
        a, eps = world.frame_acceleration(frame)
        force = keep(scale(world.skeleton.kinematics.number(segment.body.mass), a))
        moment = cross(world.frame_arm(frame), force)
        tensor, w = self.tensor(j), world.angular_velocity(world.limb_of(frame))
        if tensor is not None:
            spin = keep(apply(tensor, w))
            moment = add(moment, add(apply(tensor, eps), cross(w, spin)))
        return force, moment

    def _tensor(self, j: int) -> Matrix | None:
        """Return J_j; None for a body without inertia about its mass centre."""
        rows = self.mechanism.segments[j].body.inertia
        if all(entry == 0 for row in rows for entry in row):
            return None
        world, keep = self.world, self.world.builder.keep_vector
        vector, pose = world.skeleton.kinematics.vector, world.skeleton.poses[j]
        own: Matrix = (vector(rows[0]), vector(rows[1]), vector(rows[2]))
        if _is_alike(rows):
            return own
        in_limb = product(product(pose.rotation, own), transpose(pose.rotation))
        turn = world.rotation(pose.limb)
        half = [keep(row) for row in product(turn, in_limb)]
        return symmetric(lambda i, k: self.builder.keep(dot(half[i], turn[k])))


def _is_alike(rows: Matrix3) -> bool:
    """Tell whether a body has the same moment of inertia about all axes."""
    return all(rows[i][k] == (rows[0][0] if i == k else 0) for i in range(3) for k in range(3))


# --- the method -----------------------------------------------------------------------------------

MOTIONS = {
    "inverse_dynamics": ("gravity", "base", "qd", "qdd"),
    "bias": ("gravity", "base", "qd"),
    "gravity": ("gravity",),
}
"""The drives, and the motions that are not zero in each."""


def kinetostatic(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build drives, H and qdd from the equilibrium beyond each joint."""
    work = _Kinetostatic(builder, mechanism, options)
    for output in outputs:
        match output:
            case "reactions":
                declare(builder, output, "R", (len(mechanism.segments), 6), work.reactions())
            case "mass_matrix":
                declare_equation(builder, mechanism, output, work.mass_matrix())
            case "forward_dynamics":
                declare_equation(builder, mechanism, output, work.accelerations())
            case _:
                values = work.drives(MOTIONS[output], loaded=output == "inverse_dynamics")
                declare_equation(builder, mechanism, output, values)
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
        world = World(self.skeleton, MOTIONS["inverse_dynamics"])
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
        if "qd" in motions and "qdd" not in motions:
            self._name_rest(world)
        if not loaded:
            return Equilibrium(world).drives()
        named = "qdd" in motions and self.is_complete
        drives = Equilibrium(world, self._loads(world), named=named).drives()
        add_all(drives, self._other_forces())
        if "qdd" in motions:
            q = self.skeleton.kinematics.q
            for rate, inertia in self._rotors().items():
                add_to(drives, rate, inertia * q(rate, "qdd"))
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

    def _other_forces(self) -> dict[int, Scalar]:
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
        sums = SymmetricSums()
        world = World(self.skeleton, ())
        equilibrium = Equilibrium(world)
        for k, limb in enumerate(world.limbs):
            for index, column in enumerate(limb.columns):
                force, moment = self._reaction(equilibrium, k, column)
                inner = [(k, other) for other in limb.columns[: index + 1]]
                inner += [(i, c) for i in world.path(k)[:-1] for c in world.limbs[i].columns]
                for i, other in inner:
                    linear, angular = world.column(i, other, world.origin(k))
                    value = dot(linear, force) + dot(angular, moment)
                    sums.add((other.rate, column.rate), value, same_joint=other is column)
        sums.add_diagonal(self._rotors())
        self._name_parts(equilibrium)
        return sums.mirrored()

    def _reaction(self, equilibrium: Equilibrium, k: int, column: Column) -> tuple[Vector, Vector]:
        """Return the reaction in joint k to unit qdd of one of its freedoms (II.39)."""
        world = equilibrium.world
        keep, number = world.builder.keep_vector, self.skeleton.kinematics.number
        force = moment = world.none
        for j in self._beyond(k):
            body = self.mechanism.segments[j].body
            point = world.frame_origin(Frame("", j, body.com))
            beta, alpha = world.column(k, column, point)
            push = keep(scale(number(body.mass), beta))
            arm = keep(subtract(point, world.origin(k)))
            force, moment = add(force, push), add(moment, cross(arm, push))
            tensor = equilibrium.tensor(j)
            if tensor is not None:
                moment = add(moment, apply(tensor, alpha))
        return keep(force), keep(moment)

    def _beyond(self, k: int) -> list[int]:
        """Return the bodies at or beyond limb k."""
        own = self.skeleton.limbs[k].segment
        return [j for j in self.bodies if own in self.mechanism.path_to(j)]

    # --- names --------------------------------------------------------------------------

    def _name_parts(self, equilibrium: Equilibrium) -> None:
        """Name e, R, alpha, beta and the shares of bodies in H."""
        world, kinematics = equilibrium.world, self.skeleton.kinematics
        for k, limb in enumerate(world.limbs):
            for word, column in _words(limb):
                kinematics.named_vector(f"e_{word}", world.direction(k, column))
        for j in self.bodies:
            body = self.mechanism.segments[j].body
            point, mass = world.frame_origin(Frame("", j, body.com)), kinematics.number(body.mass)
            tensor, parts = equilibrium.tensor(j), list[tuple[str, Vector, Vector]]()
            for k in world.path(self.skeleton.poses[j].limb):
                arm = subtract(point, world.origin(k))
                kinematics.named_vector(f"R_{j + 1}_{world.limbs[k].segment + 1}", arm)
                for word, column in _words(world.limbs[k]):
                    beta, alpha = world.column(k, column, point)
                    kinematics.named_vector(f"alpha_{j + 1}_{word}", alpha)
                    kinematics.named_vector(f"beta_{j + 1}_{word}", beta)
                    parts.append((word, alpha, beta))
                    for other, turning, moving in parts:
                        share = mass * dot(moving, beta)
                        if tensor is not None:
                            share = share + dot(turning, apply(tensor, alpha))
                        kinematics.named_scalar(f"H_{other}_{word}_{j + 1}", share)

    def _name_rest(self, world: World) -> None:
        """Name theta and eta, the accelerations of bodies at qdd = 0, without gravity."""
        name = self.skeleton.kinematics.named_vector
        for j in self.bodies:
            frame = Frame("", j, self.mechanism.segments[j].body.com)
            a, theta = world.frame_acceleration(frame)
            name(f"theta_{j + 1}", theta)
            name(f"eta_{j + 1}", add(a, world.gravity or world.none))

    def accelerations(self) -> dict[int, Scalar]:
        """Return qdd from H qdd = tau - h."""
        q = self.skeleton.kinematics.q
        drives = self.drives(MOTIONS["bias"], loaded=True)
        right = {rate: q(rate, "tau") - value for rate, value in drives.items()}
        return solve(self.mass_matrix(), right)


def _words(limb: Limb) -> list[tuple[str, Column]]:
    """Return the freedoms of a joint, each with the number of the joint, and its own if several."""
    number = str(limb.segment + 1)
    if len(limb.columns) == 1:
        return [(number, limb.columns[0])]
    return [(f"{number}_{place}", column) for place, column in enumerate(limb.columns, 1)]
