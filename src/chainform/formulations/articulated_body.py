"""Articulated bodies: forward dynamics at a cost linear in the joints.

Outward, motion and inertia forces are found for accelerations qdd = 0. Inward, each limb
becomes an articulated body: with U its resistance to the freedom of its joint
and D = S . U, the limb before feels I - U U^T / D, and the freedom has u = tau - S . p left
over. Outward again, qdd = (u - U . a) / D, a what the limb before adds to the acceleration.
The inertia of a rotor is added to D.

The joints beyond an articulated body are free to give way. Force f and moment n about its joint are
linear in the accelerations a and alpha there:

    n = J alpha + K a + n0,      f = K^T alpha + M a + f0

with J and M symmetric. For one rigid body J = tr S - S, K = [h x], M = m 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.formulations.shared.forces import outer_forces, rotor_inertias
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.newton_euler_recursion import NewtonEulerRecursion
from chainform.formulations.shared.options import AxisChoices, Options
from chainform.formulations.shared.outputs import declare_equation
from chainform.formulations.shared.scope import refuse_coupled, refuse_massless
from chainform.formulations.shared.tree import Column, Limb, Skeleton
from chainform.formulations.shared.turns import FrameTurn, turned_matrix
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import GROUND, Mechanism
from chainform.spatial import Matrix, Vector, add, cross, dot, matrix, replaced, scale, symmetric
from chainform.spatial import column as matrix_column


@dataclass(frozen=True, slots=True)
class JointResponse:
    """What a joint freedom needs of the body it moves: U = (n, f) per unit acceleration."""

    column: Column
    moment: Vector
    force: Vector
    inverse: Scalar
    """1 / D, D the resistance of the freedom itself."""
    drive: Scalar
    """What is left of tau to accelerate the freedom."""


@dataclass(frozen=True, slots=True)
class Articulated:
    """J, K, M, and the forces n0, f0 at zero acceleration."""

    J: Matrix
    K: Matrix
    M: Matrix
    moment: Vector
    force: Vector

    @staticmethod
    def of_limb(limb: Limb, moment: Vector, force: Vector) -> Articulated:
        """Return a limb as one rigid body."""
        builder = limb.mass.builder
        zero, h, s = builder.number(0), limb.moment, limb.second
        trace = s[0][0] + s[1][1] + s[2][2]
        return Articulated(
            J=matrix(lambda i, k: builder.keep((trace if i == k else 0) - s[i][k])),
            K=((zero, -h[2], h[1]), (h[2], zero, -h[0]), (-h[1], h[0], zero)),
            M=matrix(lambda i, k: limb.mass if i == k else zero),
            moment=moment,
            force=force,
        )

    def plus(self, other: Articulated) -> Articulated:
        """Return two bodies held together."""
        return Articulated(
            J=matrix(lambda i, k: self.J[i][k] + other.J[i][k]),
            K=matrix(lambda i, k: self.K[i][k] + other.K[i][k]),
            M=matrix(lambda i, k: self.M[i][k] + other.M[i][k]),
            moment=add(self.moment, other.moment),
            force=add(self.force, other.force),
        )

    def as_variables(self) -> Articulated:
        """Make every component a variable."""
        keep = self.moment[0].builder.keep

        def vector(v: Vector) -> Vector:
            return (keep(v[0]), keep(v[1]), keep(v[2]))

        return Articulated(
            J=symmetric(lambda i, k: keep(self.J[i][k])),
            K=matrix(lambda i, k: keep(self.K[i][k])),
            M=symmetric(lambda i, k: keep(self.M[i][k])),
            moment=vector(self.moment),
            force=vector(self.force),
        )

    # --- joints -------------------------------------------------------------------------

    def released(
        self, column: Column, tau: Scalar, rotor: Scalar | None = None
    ) -> tuple[Articulated, JointResponse]:
        """Return the body as felt from before a freedom, and what the freedom remembers.

        A rotor resists the freedom, too, and is felt by nothing else.
        """
        keep, z = tau.builder.keep, column.axis
        if column.turning:
            moment, force = matrix_column(self.J, z), self.K[z]
            resistance, drive = self.J[z][z], tau - column.ratio * self.moment[z]
        else:
            moment, force = matrix_column(self.K, z), matrix_column(self.M, z)
            resistance, drive = self.M[z][z], tau - column.ratio * self.force[z]
        if rotor is not None:
            resistance = keep(resistance + rotor)
        if is_zero(resistance):
            raise refuse_massless(column.rate)
        inverse = tau.builder.call("reciprocal", resistance)
        drive = keep(drive)
        gain = keep(column.ratio * drive * inverse)
        n = [keep(inverse * part) for part in moment]
        f = [keep(inverse * part) for part in force]
        reduced = Articulated(
            J=symmetric(lambda i, k: self.J[i][k] - moment[i] * n[k]),
            K=matrix(lambda i, k: self.K[i][k] - moment[i] * f[k]),
            M=symmetric(lambda i, k: self.M[i][k] - force[i] * f[k]),
            moment=add(self.moment, scale(gain, moment)),
            force=add(self.force, scale(gain, force)),
        )
        # With a rotor the freedom does not give way freely, so some resistance is left.
        cleared = reduced.without(column) if rotor is None else reduced
        return cleared.as_variables(), JointResponse(column, moment, force, inverse, drive)

    def without(self, column: Column) -> Articulated:
        """Put zeros where a released freedom leaves no resistance."""
        zero, z = self.moment[0].builder.number(0), column.axis
        if column.turning:
            return Articulated(
                J=matrix(lambda i, k: zero if z in (i, k) else self.J[i][k]),
                K=matrix(lambda i, k: zero if i == z else self.K[i][k]),
                M=self.M,
                moment=self.moment,
                force=self.force,
            )
        return Articulated(
            J=self.J,
            K=matrix(lambda i, k: zero if k == z else self.K[i][k]),
            M=matrix(lambda i, k: zero if z in (i, k) else self.M[i][k]),
            moment=self.moment,
            force=self.force,
        )

    # --- other frames -------------------------------------------------------------------

    def turned_back(self, turn: FrameTurn) -> Articulated:
        """Return a body of the inner frame of a turn in the axes of the outer one."""
        return Articulated(
            J=turned_matrix(turn, self.J),
            K=turned_matrix(turn, self.K),
            M=turned_matrix(turn, self.M),
            moment=turn.back(self.moment),
            force=turn.back(self.force),
        )

    def moved(self, d: Vector) -> Articulated:
        """Return the body about another point, from which this one is seen at d.

        K' = K + [d x] M and J' = J - K [d x] + [d x] K'^T.
        """
        m = [cross(d, matrix_column(self.M, k)) for k in range(3)]
        K = matrix(lambda i, k: self.K[i][k] + m[k][i])
        back = [cross(d, K[k]) for k in range(3)]
        # Row i of K [d x] is (row i of K) x d with the sign of d x turned round.
        side = [cross(self.K[i], d) for i in range(3)]
        return Articulated(
            J=symmetric(lambda i, k: self.J[i][k] - side[i][k] + back[k][i]),
            K=K,
            M=self.M,
            moment=add(self.moment, cross(d, self.force)),
            force=self.force,
        ).as_variables()


# --- the method -----------------------------------------------------------------------------------


def articulated_body(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build forward dynamics."""
    del outputs
    refuse_coupled(mechanism, "the articulated body", 'formulation="composite_body"')
    skeleton = Skeleton(Kinematics(mechanism, builder))
    skeleton.regroup()
    outer = outer_forces(builder, mechanism, options)
    rotors = rotor_inertias(builder, mechanism, options)
    qdd = _ArticulatedBody(skeleton, outer, rotors).accelerations()
    declare_equation(builder, mechanism, "forward_dynamics", qdd)
    return {}


class _ArticulatedBody:
    def __init__(
        self, skeleton: Skeleton, outer: dict[int, Scalar], rotors: dict[int, Scalar]
    ) -> None:
        self.skeleton = skeleton
        self.outer = outer
        self.rotors = rotors
        self.builder = skeleton.builder
        self.limbs = skeleton.limbs
        self.sweep = NewtonEulerRecursion(skeleton, frozenset(), ("base", "qd"))
        self.sweep.outward()
        self.responses: dict[int, list[JointResponse]] = {}

    def accelerations(self) -> dict[int, Scalar]:
        """Return qdd by coordinate."""
        self._inward()
        return self._outward()

    def _inward(self) -> None:
        bodies: dict[int, Articulated] = {}
        for k in reversed(range(len(self.limbs))):
            limb = self.limbs[k]
            force, moment = self.sweep.inertia_forces(k, limb)
            body = Articulated.of_limb(limb, moment, force)
            if k in bodies:
                body = body.plus(bodies[k])
            body = body.as_variables()
            self.responses[k] = []
            for column in reversed(limb.columns):
                tau = self.skeleton.kinematics.q(column.rate, "tau")
                if column.rate in self.outer:
                    tau = tau - self.outer[column.rate]
                body, response = body.released(column, tau, self.rotors.get(column.rate))
                self.responses[k].append(response)
            if limb.parent == GROUND:
                continue
            for turn in reversed(self.sweep.path[k]):
                body = body.turned_back(turn)
            body = body.moved(self.skeleton.reach(limb))
            bodies[limb.parent] = bodies[limb.parent].plus(body) if limb.parent in bodies else body

    def _outward(self) -> dict[int, Scalar]:
        zero = self.builder.number(0)
        none: Vector = (zero, zero, zero)
        motion: list[tuple[Vector, Vector]] = []
        qdd: dict[int, Scalar] = {}
        for k, limb in enumerate(self.limbs):
            alpha, a = (none, none) if limb.parent == GROUND else motion[limb.parent]
            a = self.sweep.builder.keep_vector(add(a, cross(alpha, self.skeleton.reach(limb))))
            for turn in self.sweep.path[k]:
                alpha, a = turn.into(alpha), turn.into(a)
            for response in reversed(self.responses[k]):
                alpha, a, value = self._answer(response, alpha, a)
                qdd[response.column.rate] = value
            motion.append((alpha, a))
        return qdd

    def _answer(
        self, response: JointResponse, alpha: Vector, a: Vector
    ) -> tuple[Vector, Vector, Scalar]:
        """Return the accelerations behind a freedom, and that of the freedom itself."""
        column = response.column
        carried = dot(response.moment, alpha) + dot(response.force, a)
        left = self.builder.keep(response.drive - column.ratio * carried)
        value = self.builder.name(f"qdd_{column.rate + 1}", left * response.inverse)
        before = alpha if column.turning else a
        gained = self.builder.keep(before[column.axis] + column.ratio * value)
        moved = replaced(before, column.axis, gained)
        return (moved, a, value) if column.turning else (alpha, moved, value)
