"""Articulated bodies: forward dynamics at a cost linear in the joints.

Outward, motion and inertia forces are found for accelerations qdd = 0. Inward, each limb
becomes an articulated body (articulated.py): with U its resistance to the freedom of its joint
and D = S . U, the limb before feels I - U U^T / D, and the freedom has u = tau - S . p left
over. Outward again, qdd = (u - U . a) / D, a what the limb before adds to the acceleration.
The inertia of a rotor is added to D.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.applied import outer_forces
from chainform.formulations.articulated import Articulated, Response
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.options import AxisChoices, Options
from chainform.formulations.outputs import declare
from chainform.formulations.passive import rotor_inertias
from chainform.formulations.refusals import refuse_coupled
from chainform.formulations.skeleton import Skeleton
from chainform.formulations.sweep import Sweep
from chainform.graph import Builder, Scalar
from chainform.mechanism import GROUND, Mechanism
from chainform.spatial import Vector, add, cross, dot, replaced


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
    values = {(i,): value for i, value in qdd.items()}
    declare(builder, "forward_dynamics", "qdd", (mechanism.nv,), values)
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
        self.sweep = Sweep(skeleton, frozenset(), ("base", "qd"))
        self.sweep.outward()
        self.responses: dict[int, list[Response]] = {}

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
            body = body.kept()
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
            a = self.sweep.kept(add(a, cross(alpha, self.skeleton.reach(limb))))
            for turn in self.sweep.path[k]:
                alpha, a = turn.into(alpha), turn.into(a)
            for response in reversed(self.responses[k]):
                alpha, a, value = self._answer(response, alpha, a)
                qdd[response.column.rate] = value
            motion.append((alpha, a))
        return qdd

    def _answer(
        self, response: Response, alpha: Vector, a: Vector
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
