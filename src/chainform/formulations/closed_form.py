"""Closed-form equations of chains, trees and closed loops (Racković 1996, algorithms 1.1 to 1.3).

    tau = H qdd + qd^T C qd + hG (+ B sigma)

symbol     meaning, for a segment j and joints i, k, l between it and the base   frame
v_j_i      velocity of the mass centre of j per unit rate of joint i             world
           e_i x r_j_i for a revolute joint, e_i for a prismatic one
p_j_i      m_j v_j_i, the momentum that goes with it                             world
a_j_l_k    dv_j_k / dq_l for l before or at k: e_l x v_j_k, zero for a           world
           prismatic l
n_j_i      J_j w_j_i, the angular momentum per unit rate of joint i              body j
u_j_i_k    w_j_i x w_j_k, that is e_i x e_k in the axes of the body              body j

With sums over the segments j beyond all joints named,

    H_i_k   = sum_j p_j_i . v_j_k + n_j_i . w_j_k                                    (1.25)
    C_i_k_l = sum_j p_j_i . a_j_l_k + (n_j_i . u_j_l_k + n_j_k . u_j_i_l
              + n_j_l . u_j_i_k) / 2,   l before or at k                             (1.26)
    hG_i    = - sum_j p_j_i . g                                                      (1.27)

The paper has revolute joints and principal axes only. A prismatic joint has no w, n and u;
its other columns follow from v = e. Body axes need not be principal, since n takes the whole
tensor. The terms in w, n and u are the paper's: scalar products of axes with the q_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product as pairs
from math import prod

from chainform.formulations.shared.closure_jacobian import Closure
from chainform.formulations.shared.forces import outer_forces, rotor_inertias
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.options import AxisChoices, Options
from chainform.formulations.shared.outputs import (
    Key,
    SymmetricSums,
    add_all,
    add_to,
    declare_equation,
    label,
)
from chainform.formulations.shared.scope import refuse_quaternions
from chainform.formulations.shared.world import Columns
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND, Attachment, Mechanism
from chainform.spatial import Matrix, Vector, add, apply, cross, dot, scale


def closed_form(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build the closed form; joints with quaternions are refused."""
    refuse_quaternions(mechanism, "the closed form", 'formulation="auto"')
    work = _ClosedForm(builder, mechanism, options)
    makers = {
        "mass_matrix": work.mass_matrix,
        "coriolis": work.coriolis,
        "gravity": work.gravity,
        "inverse_dynamics": work.inverse_dynamics,
    }
    for output in outputs:
        if output in makers:
            declare_equation(builder, mechanism, output, makers[output]())
        else:
            work.closure.declare(output)
    return {}


class _ClosedForm:
    """The closed form of one mechanism, in the order of its coordinates."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options) -> None:
        self.mechanism = mechanism
        self.builder = builder
        self.kinematics = Kinematics(mechanism, self.builder)
        self.kinematics.build_all()
        self.options = options
        self.closure = Closure(builder, mechanism, self._attachment_columns)
        self.velocity = cache(self._velocity)
        self.momentum = cache(self._momentum)
        self.acceleration = cache(self._acceleration)
        self.angular_momentum = cache(self._angular_momentum)
        self.turn = cache(self._turn)
        self.mass_matrix = cache(self._mass_matrix)
        self.coriolis = cache(self._coriolis)
        self.gravity = cache(self._gravity)

    # --- columns ------------------------------------------------------------------------

    def _velocity(self, j: int, i: int) -> Vector:
        axis = self.kinematics.axis(i)
        if not self.kinematics.is_revolute(i):
            return axis
        value = cross(axis, self.kinematics.offset(j, i))
        return self.kinematics.named_vector(f"v_{j + 1}_{i + 1}", value)

    def _momentum(self, j: int, i: int) -> Vector:
        mass = self.kinematics.number(self.mechanism.segments[j].body.mass)
        value = scale(mass, self.velocity(j, i))
        return self.kinematics.named_vector(f"p_{j + 1}_{i + 1}", value)

    def _acceleration(self, j: int, i: int, k: int) -> Vector | None:
        """Return a_j_i_k for i before or at k, or None where it vanishes."""
        if not self.kinematics.is_revolute(i):
            return None
        value = cross(self.kinematics.axis(i), self.velocity(j, k))
        return self.kinematics.named_vector(f"a_{j + 1}_{i + 1}_{k + 1}", value)

    def _angular_momentum(self, j: int, i: int) -> Vector:
        rows = self.mechanism.segments[j].body.inertia
        number = self.kinematics.vector
        tensor: Matrix = (number(rows[0]), number(rows[1]), number(rows[2]))
        value = apply(tensor, self.kinematics.axis_in_body(j, i))
        return self.kinematics.named_vector(f"n_{j + 1}_{i + 1}", value)

    def _turn(self, j: int, i: int, k: int) -> Vector:
        """Return u_j_i_k; u_j_k_i is its opposite and is not computed again."""
        if i > k:
            x, y, z = self.turn(j, k, i)
            return (-x, -y, -z)
        in_body = self.kinematics.axis_in_body
        value = cross(in_body(j, i), in_body(j, k))
        return self.kinematics.named_vector(f"u_{j + 1}_{i + 1}_{k + 1}", value)

    # --- sums over segments -------------------------------------------------------------

    def _loaded(self, *, turning: bool) -> list[int]:
        """Return the segments with inertia, or those with mass."""
        bodies = [segment.body for segment in self.mechanism.segments]
        if turning:
            return [
                j for j, b in enumerate(bodies) if any(x != 0 for row in b.inertia for x in row)
            ]
        return [j for j, body in enumerate(bodies) if body.mass != 0]

    def _turning_path(self, j: int) -> list[int]:
        return [i for i in self.kinematics.moving_path(j) if self.kinematics.is_revolute(i)]

    def _coordinate(self, i: int) -> int:
        coordinate = self.mechanism.segments[i].coordinate
        assert coordinate is not None
        return coordinate

    def _key(self, *joints: int) -> Key:
        return tuple(self._coordinate(i) for i in joints)

    def _geared(self, value: Scalar, *joints: int) -> Scalar:
        """Return a value for unit rates of the coordinates, given it for unit joint rates."""
        ratio = prod(self.mechanism.segments[i].ratio for i in joints)
        return value * ratio

    def _mass_matrix(self) -> dict[Key, Scalar]:
        """Return H_i_k."""
        sums = SymmetricSums()

        def contribute(i: int, k: int, value: Scalar) -> None:
            sums.add(self._key(i, k), self._geared(value, i, k), same_joint=i == k)

        for j in self._loaded(turning=False):
            path = self.kinematics.moving_path(j)
            for i, k in _ordered_pairs(path):
                contribute(i, k, dot(self.momentum(j, i), self.velocity(j, k)))
        for j in self._loaded(turning=True):
            for i, k in _ordered_pairs(self._turning_path(j)):
                in_body = self.kinematics.axis_in_body(j, k)
                contribute(i, k, dot(self.angular_momentum(j, i), in_body))
        sums.add_diagonal(rotor_inertias(self.builder, self.mechanism, self.options))
        return sums.named(self.builder, "H")

    def _coriolis(self) -> dict[Key, Scalar]:
        """Return C_i_k_l."""
        sums, doubled = SymmetricSums(), SymmetricSums()

        def contribute(to: SymmetricSums, i: int, k: int, l: int, value: Scalar) -> None:
            to.add(self._key(i, k, l), self._geared(value, i, k, l), same_joint=k == l)

        for j in self._loaded(turning=False):
            path = self.kinematics.moving_path(j)
            for i, (l, k) in pairs(path, _ordered_pairs(path)):
                acceleration = self.acceleration(j, l, k)
                if acceleration is not None:
                    contribute(sums, i, k, l, dot(self.momentum(j, i), acceleration))
        for j in self._loaded(turning=True):
            path = self._turning_path(j)
            for i, (l, k) in pairs(path, _ordered_pairs(path)):
                contribute(doubled, i, k, l, self._turning_term(j, i, k, l))
        for key, value in doubled.values.items():
            # A whole sum is halved, not each of its terms.
            add_to(sums.values, key, value / 2)
        return sums.named(self.builder, "C")

    def _turning_term(self, j: int, i: int, k: int, l: int) -> Scalar:
        n, u = self.angular_momentum, self.turn
        return dot(n(j, i), u(j, l, k)) + dot(n(j, k), u(j, i, l)) + dot(n(j, l), u(j, i, k))

    def _gravity(self) -> dict[Key, Scalar]:
        """Return hG_i."""
        field = self.kinematics.vector(self.mechanism.gravity)
        sums: dict[Key, Scalar] = {}
        for j in self._loaded(turning=False):
            for i in self.kinematics.moving_path(j):
                value = -dot(self.momentum(j, i), field)
                add_to(sums, self._key(i), self._geared(value, i))
        return {key: self.builder.name(label("hG", key), sums[key]) for key in sorted(sums)}

    def inverse_dynamics(self) -> dict[Key, Scalar]:
        """Return tau = H qdd + qd^T C qd + hG + closure, row by row."""
        q = self.kinematics.q
        rows: dict[Key, Scalar] = {}
        for (i, k), value in sorted(self.mass_matrix().items()):
            add_to(rows, (i,), value * q(k, "qdd"))
        for (i, k, l), value in sorted(self.coriolis().items()):
            add_to(rows, (i,), value * q(k, "qd") * q(l, "qd"))
        add_all(rows, self.gravity())
        outer = outer_forces(self.builder, self.mechanism, self.options, self.closure)
        add_all(rows, {(i,): value for i, value in outer.items()})
        return rows

    def _attachment_columns(self, name: str, end: Attachment) -> Columns:
        """Return the velocities of a point held by a loop, from e and r."""
        columns: Columns = {}
        path = () if end.segment == GROUND else self.kinematics.moving_path(end.segment)
        zero = self.builder.number(0)
        for i in path:
            axis, ratio = self.kinematics.axis(i), self.mechanism.segments[i].ratio
            linear, angular = axis, (zero, zero, zero)
            if self.kinematics.is_revolute(i):
                point = self.kinematics.vector(end.point)
                offset = self.kinematics.offset_of_point(name, end.segment, point, i)
                linear, angular = cross(axis, offset), axis
            before = columns.get(self._coordinate(i), ((zero, zero, zero), (zero, zero, zero)))
            columns[self._coordinate(i)] = (
                add(before[0], scale(ratio, linear)),
                add(before[1], scale(ratio, angular)),
            )
        return columns


def _ordered_pairs(path: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs (i, k) of a path with i before or at k."""
    return [(i, k) for index, i in enumerate(path) for k in path[index:]]
