"""A tree of segments as a model of Pinocchio, built joint by joint."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import GROUND, JointKind
from chainform.verification.peers.peer_tree import Peer, PeerState, TreeNumbers

Array = NDArray[np.float64]


class PinocchioPeer(Peer):
    """A tree in Pinocchio, whose orders and frames are ours.

    `model` is its model, and `places` are joint and placement of each segment there.
    """

    title = "Pinocchio"

    def __init__(self, numbers: TreeNumbers) -> None:
        super().__init__(numbers)
        self.pin: Any = import_module("pinocchio")
        self.model: Any = self.pin.Model()
        self.model.gravity.linear = numbers.gravity
        ground = self.pin.SE3(numbers.base_rotation, numbers.base_position)
        self.places: dict[int, tuple[int, Any]] = {GROUND: (0, ground)}
        for i in numbers.depth_first():
            self._add(i)
        self.nq, self.nv = int(self.model.nq), int(self.model.nv)
        self.frames = {i: self._frame(i, *place) for i, place in self.places.items()}
        self.bare: Any = self.model.copy()
        self.armature = np.zeros(self.nv)
        for i, (_, row) in self.joints.items():
            self.armature[row] = numbers.rotors[i]
        self.model.armature = self.armature
        self.data: Any = self.model.createData()

    def _add(self, i: int) -> None:
        pin, tree, numbers = self.pin, self.numbers.tree, self.numbers
        parent, carried = self.places[tree.parents[i]]
        placement = carried * pin.SE3(tree.rotations[i], tree.positions[i])
        joint = parent
        if tree.kinds[i] is not JointKind.FIXED:
            joint = self.model.addJoint(parent, self._joint(i), placement, f"joint {i}")
            placed = self.model.joints[joint]
            self.joints[i] = (int(placed.idx_q), int(placed.idx_v))
            placement = pin.SE3.Identity()
        body = pin.Inertia(float(numbers.masses[i]), numbers.centres[i], numbers.inertias[i])
        self.model.appendBodyToJoint(joint, body, placement)
        self.places[i] = (joint, placement)

    def _joint(self, i: int) -> Any:
        axis = self.numbers.tree.axes[i]
        match self.numbers.tree.kinds[i]:
            case JointKind.REVOLUTE:
                return self.pin.JointModelRevoluteUnaligned(axis)
            case JointKind.PRISMATIC:
                return self.pin.JointModelPrismaticUnaligned(axis)
            case JointKind.SPHERICAL:
                return self.pin.JointModelSpherical()
            case _:
                return self.pin.JointModelFreeFlyer()

    def _frame(self, i: int, joint: int, placement: Any) -> int:
        kind = self.pin.FrameType.OP_FRAME
        return int(self.model.addFrame(self.pin.Frame(f"segment {i}", joint, placement, kind)))

    def move_to(self, state: PeerState) -> None:
        """Take a state."""
        self.q, self.v = state.q, state.v
        self.pin.computeJointJacobiansTimeVariation(self.model, self.data, self.q, self.v)
        self.pin.updateFramePlacements(self.model, self.data)

    def mass_matrix(self) -> Array:
        """Return M, from the algorithm of composite bodies."""
        upper = np.triu(np.array(self.pin.crba(self.model, self.data, self.q)))
        return (upper + np.triu(upper, 1).T).reshape(self.nv, self.nv)

    def efforts(self, v: Array, a: Array) -> Array:
        """Return inverse dynamics, by the recursion of Newton and Euler."""
        return np.array(self.pin.rnea(self.model, self.data, self.q, v, a))

    def energies(self) -> tuple[float, float]:
        """Return kinetic and potential energy; those of rotors are added, without a coupling."""
        args = (self.bare, self.bare.createData(), self.q)
        kinetic = float(self.pin.computeKineticEnergy(*args, self.v))
        rotors = float(self.armature @ self.v**2) / 2
        return kinetic + rotors, float(self.pin.computePotentialEnergy(*args))

    def centre(self) -> tuple[Array, Array]:
        """Return the mass centre and its Jacobian."""
        args = (self.model, self.data, self.q)
        place = np.array(self.pin.centerOfMass(*args))
        return place, np.array(self.pin.jacobianCenterOfMass(*args)).reshape(3, self.nv)

    def momentum_matrix(self) -> Array:
        """Return the centroidal momentum matrix."""
        self.pin.dccrba(self.model, self.data, self.q, self.v)
        return np.array(self.data.Ag).reshape(6, self.nv)

    def momentum_matrix_rate(self) -> Array:
        """Return the derivative by time of the centroidal momentum matrix."""
        self.pin.dccrba(self.model, self.data, self.q, self.v)
        return np.array(self.data.dAg).reshape(6, self.nv)

    def coriolis_matrix(self) -> Array:
        """Return Pinocchio's Coriolis matrix."""
        args = (self.model, self.data, self.q, self.v)
        return np.array(self.pin.computeCoriolisMatrix(*args)).reshape(self.nv, self.nv)

    def frame(self, segment: int, point: Array) -> tuple[Array, Array, Array, Array]:
        """Return rotation, point, Jacobian and its derivative; `move_to` has prepared them."""
        pin, number = self.pin, self.frames[segment]
        # The frame of the segment is moved to the point for the moment.
        frame = self.model.frames[number]
        placed = pin.SE3(frame.placement)
        frame.placement = placed * pin.SE3(np.eye(3), point)
        try:
            at = pin.updateFramePlacement(self.model, self.data, number)
            where = (self.model, self.data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            six = np.array(pin.getFrameJacobian(*where)).reshape(6, self.nv)
            rate = np.array(pin.getFrameJacobianTimeVariation(*where)).reshape(6, self.nv)
        finally:
            frame.placement = placed
        return np.array(at.rotation), np.array(at.translation), six, rate
