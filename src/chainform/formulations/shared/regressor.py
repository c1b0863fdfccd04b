"""The regressor: inverse dynamics per unit of each dynamic parameter.

    tau = Y theta,     theta = mechanism.dynamic_parameters()

holds for what the bodies, friction, rotors and springs need; forces given by laws, wrenches and the
reactions of loops are not in it. With the angular velocity w, the angular acceleration alpha and
U = [alpha x] + [w x][w x] of a body, and the acceleration a of its origin less gravity, all in
its axes, a unit of mass, of first moment along e_i and of inertia I needs

    f = a                  n = 0
    f = U e_i              n = e_i x a
    f = 0                  n = I alpha + w x I w

about the origin. Each is carried inward to the joints before; what is fixed to a limb is described
in the axes of the limb, and its columns are put together from those of the limb.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from chainform.formulations.shared.forces import passive_column
from chainform.formulations.shared.newton_euler_recursion import NewtonEulerRecursion
from chainform.formulations.shared.outputs import add_to
from chainform.graph import Scalar, is_zero
from chainform.mechanism import (
    GROUND,
    INERTIAL,
    PAIRS,
    DynamicParameter,
    moved_inertia,
    unit_inertia,
)
from chainform.spatial import Vector, add, cross, unit


class RegressorColumns:
    """The columns of one mechanism; `sweep` has the motion of all limbs, each in its own axes."""

    def __init__(self, sweep: NewtonEulerRecursion) -> None:
        self.sweep = sweep
        self.skeleton = sweep.skeleton
        self.builder = sweep.builder
        self.of_limb = cache(self._of_limb)

    def of(self, parameter: DynamicParameter) -> dict[int, Scalar]:
        """Return a column by rate; entries that are not there are zero."""
        if not parameter.is_inertial:
            return passive_column(self.builder, self.skeleton.mechanism, parameter)
        pose, total = self.skeleton.poses[parameter.place], dict[int, Scalar]()
        if pose.limb == GROUND:
            return total
        mass, moment, inertia = moved_inertia(
            *unit_inertia(parameter.kind), pose.rotation, pose.position
        )
        shares: Sequence[Scalar] = (mass, *moment, *(inertia[i][k] for i, k in PAIRS))
        for kind, share in zip(INERTIAL, shares, strict=True):
            known = share + self.builder.number(0)
            if not is_zero(known):
                for rate, value in self.of_limb(pose.limb, kind).items():
                    add_to(total, rate, self.builder.keep(known) * value)
        return total

    def _of_limb(self, limb: int, kind: str) -> dict[int, Scalar]:
        """Return the column of a parameter about the origin of a limb, in its axes."""
        force, moment = self._wrench(limb, kind)
        column: dict[int, Scalar] = {}
        keep, k = self.builder.keep_vector, limb
        while k != GROUND:
            body = self.skeleton.limbs[k]
            for freedom in body.columns:
                part = (moment if freedom.turning else force)[freedom.axis]
                if not is_zero(part):
                    add_to(column, freedom.rate, part * freedom.ratio)
            for turn in reversed(self.sweep.path[k]):
                force, moment = turn.back(force), turn.back(moment)
            moment = keep(add(moment, cross(self.skeleton.reach(body), force)))
            k = body.parent
        return {rate: self.builder.keep(value) for rate, value in column.items()}

    def _wrench(self, limb: int, kind: str) -> tuple[Vector, Vector]:
        """Return force and moment that a unit of a parameter needs."""
        motion, a = self.sweep.motion[limb], self.sweep.acceleration[limb]
        one, zero = self.builder.number(1), self.builder.number(0)
        none, keep, index = (zero, zero, zero), self.builder.keep_vector, INERTIAL.index(kind)
        if index == 0:
            return a, none
        if index <= len(a):
            axis = unit(index - 1, one, zero)
            return motion.along(index - 1), keep(cross(axis, a))
        i, k = PAIRS[index - len(a) - 1]
        moment = self._turning(limb, i, k)
        return none, keep(moment if i == k else add(moment, self._turning(limb, k, i)))

    def _turning(self, limb: int, i: int, k: int) -> Vector:
        """Return e_i alpha_k + w x e_i w_k."""
        motion = self.sweep.motion[limb]
        before, after = (i + 2) % 3, (i + 1) % 3
        entries = {i: motion.alpha(k), after: motion.product(before, k)}
        entries[before] = -motion.product(after, k)
        return (entries[0], entries[1], entries[2])
