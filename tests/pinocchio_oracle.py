"""Pinocchio as an independent oracle: the same mechanism, built by `chainform verify`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chainform as cf
from chainform.verification.peers.peer_tree import TreeNumbers
from chainform.verification.peers.pinocchio_peer import PinocchioPeer

# The library has no types; it is a compiled module.
pin: Any = importlib.import_module("pinocchio")

Array = NDArray[np.float64]


class Oracle:
    """A Pinocchio model of a mechanism, with results in the mechanism's own order.

    Rotors are left to those who ask for them: `model.armature` is zero.
    """

    def __init__(self, mechanism: cf.Mechanism) -> None:
        self.mechanism = mechanism
        peer = PinocchioPeer(TreeNumbers.of(mechanism, {}, rotors=False))
        self.model: Any = peer.model
        self.places = [peer.places[i] for i in range(len(mechanism.segments))]
        self.q_order = np.zeros(mechanism.nq, dtype=int)
        self.v_order = np.zeros(mechanism.nv, dtype=int)
        for i, (first, row) in peer.joints.items():
            segment = mechanism.segments[i]
            q, v, kind = segment.coordinate, segment.rate, segment.joint.kind
            assert q is not None
            assert v is not None
            self.q_order[q : q + kind.coordinates] = first + np.arange(kind.coordinates)
            self.v_order[v : v + kind.rates] = row + np.arange(kind.rates)
        self.data: Any = self.model.createData()

    def q(self, ours: Array) -> Array:
        """Return q in Pinocchio's order."""
        theirs = np.zeros(self.model.nq)
        theirs[self.q_order] = ours
        return theirs

    def v(self, ours: Array) -> Array:
        """Return qd, qdd or tau in Pinocchio's order."""
        theirs = np.zeros(self.model.nv)
        theirs[self.v_order] = ours
        return theirs

    def random_q(self, seed: int) -> Array:
        """Return a random configuration, quaternions of unit length, in our order."""
        pin.seed(seed)
        bound = np.ones(self.model.nq)
        return np.array(pin.randomConfiguration(self.model, -2 * bound, 2 * bound))[self.q_order]

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return tau."""
        result = pin.rnea(self.model, self.data, self.q(q), self.v(qd), self.v(qdd))
        return np.array(result)[self.v_order]

    def mass_matrix(self, q: Array) -> Array:
        """Return H column by column from inverse dynamics, which holds for any numbering."""
        zero = np.zeros(self.model.nv)
        at_rest = self.inverse_dynamics(q, zero, zero)
        columns = [self.inverse_dynamics(q, zero, u) - at_rest for u in np.eye(self.model.nv)]
        return np.array(columns).T

    def gravity(self, q: Array) -> Array:
        """Return hG."""
        zero = np.zeros(self.model.nv)
        return self.inverse_dynamics(q, zero, zero)

    def coriolis(self, q: Array) -> Array:
        """Return C by polarising the velocity terms of inverse dynamics."""
        n = len(q)
        zero, unit = np.zeros(n), np.eye(n)
        rest = self.gravity(q)
        square = [self.inverse_dynamics(q, unit[k], zero) - rest for k in range(n)]
        result = np.zeros((n, n, n))
        for k in range(n):
            result[:, k, k] = square[k]
            for l in range(k):
                both = self.inverse_dynamics(q, unit[k] + unit[l], zero) - rest
                result[:, k, l] = result[:, l, k] = (both - square[k] - square[l]) / 2
        return result

    def coriolis_matrix(self, q: Array, qd: Array) -> Array:
        """Return Pinocchio's own Coriolis matrix; joints are numbered branch by branch for it."""
        matrix = pin.computeCoriolisMatrix(self.model, self.data, self.q(q), self.v(qd))
        return np.array(matrix)[np.ix_(self.v_order, self.v_order)]

    def frame(self, segment: int) -> FrameOracle:
        """Return what Pinocchio knows of the frame of a segment."""
        return FrameOracle(self, segment)

    def energies(self, q: Array, qd: Array) -> tuple[float, float]:
        """Return kinetic and potential energy."""
        args = (self.model, self.data, self.q(q))
        kinetic = pin.computeKineticEnergy(*args, self.v(qd))
        return float(kinetic), float(pin.computePotentialEnergy(*args))

    def centroidal_momentum(self, q: Array, qd: Array) -> Array:
        """Return linear and angular momentum about the mass centre."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(qd))
        return np.concatenate([h.linear, h.angular])


class FrameOracle:
    """Pose, Jacobian and motion of one segment's frame."""

    def __init__(self, oracle: Oracle, segment: int) -> None:
        self.oracle = oracle
        self.model: Any = oracle.model.copy()
        joint, placement = oracle.places[segment]
        kind = pin.FrameType.OP_FRAME
        self.id = self.model.addFrame(pin.Frame("asked", joint, placement, kind))
        self.data: Any = self.model.createData()

    def pose(self, q: Array) -> Array:
        """Return the 4 x 4 transformation to the world."""
        pin.framesForwardKinematics(self.model, self.data, self.oracle.q(q))
        return np.array(self.data.oMf[self.id].homogeneous)

    def jacobian(self, q: Array, axes: str) -> Array:
        """Return the six rows in world or local axes at the point."""
        args = (self.model, self.data, self.oracle.q(q), self.id, _reference(axes))
        return np.array(pin.computeFrameJacobian(*args)).reshape(6, -1)[:, self.oracle.v_order]

    def jacobian_rate(self, q: Array, qd: Array, axes: str) -> Array:
        """Return the time derivative of the Jacobian."""
        args = (self.model, self.data, self.oracle.q(q), self.oracle.v(qd))
        pin.computeJointJacobiansTimeVariation(*args)
        pin.updateFramePlacements(self.model, self.data)
        rate = pin.getFrameJacobianTimeVariation(self.model, self.data, self.id, _reference(axes))
        return np.array(rate).reshape(6, -1)[:, self.oracle.v_order]

    def motion(self, q: Array, qd: Array, qdd: Array, axes: str) -> tuple[Array, Array]:
        """Return velocity and acceleration of the point, linear part first."""
        v = self.oracle.v
        pin.forwardKinematics(self.model, self.data, self.oracle.q(q), v(qd), v(qdd))
        pin.updateFramePlacements(self.model, self.data)
        args = (self.model, self.data, self.id, _reference(axes))
        velocity = pin.getFrameVelocity(*args)
        acceleration = pin.getFrameClassicalAcceleration(*args)
        return (
            np.concatenate([velocity.linear, velocity.angular]),
            np.concatenate([acceleration.linear, acceleration.angular]),
        )


def _reference(axes: str) -> Any:
    frames = pin.ReferenceFrame
    return {"world": frames.LOCAL_WORLD_ALIGNED, "local": frames.LOCAL}[axes]


def floats(values: Any) -> Array:
    """Return exact numbers as doubles."""
    return np.array(values, dtype=object).astype(np.float64)
