"""Articulated bodies: how a limb answers forces while the joints beyond it are free to give way.

Force f and moment n about the joint are linear in the accelerations a and alpha there:

    n = J alpha + K a + n0,      f = K^T alpha + M a + f0

with J and M symmetric. For one rigid body J = tr S - S, K = [h x], M = m 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from chainform.formulations.motion import Turn, is_zero
from chainform.formulations.refusals import refuse_massless
from chainform.formulations.skeleton import Column, Limb
from chainform.formulations.tensors import turned_matrix
from chainform.graph import Builder, Scalar
from chainform.spatial import Matrix, Vector, add, cross, matrix, scale, symmetric
from chainform.spatial import column as matrix_column


@dataclass(frozen=True, slots=True)
class Response:
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
        builder: Builder = limb.mass.builder
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

    def kept(self) -> Articulated:
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
    ) -> tuple[Articulated, Response]:
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
        # Beside a rotor the freedom does not give way freely, so some resistance is left.
        cleared = reduced.without(column) if rotor is None else reduced
        return cleared.kept(), Response(column, moment, force, inverse, drive)

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

    def turned_back(self, turn: Turn) -> Articulated:
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
        ).kept()
