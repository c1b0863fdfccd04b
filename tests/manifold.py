"""Differences of sixth order on loops and constraints: an oracle for linearised motions.

It shares the equations of motion with the product, but none of its derivatives: accelerations are
solved for at states that are displaced along independent coordinates and closed again by Newton's
method. Displacements of joints with quaternions are logarithms of the turn between two motions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import chainform as cf
from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.mechanism import JointKind, Segment
from chainform.simulation import ConstraintResiduals

Array = NDArray[np.float64]
WEIGHTS = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
"""Of central differences of sixth order."""
PUSHED = 3
"""How many columns of B are compared: the others are of the same kind."""


def differences(function: Callable[[Array], Array], size: int, step: float) -> Array:
    """Return the derivatives of a function at zero, a column for each of its variables."""
    columns: list[Array] = []
    for k in range(size):
        total = np.zeros(1)
        for j, weight in WEIGHTS.items():
            for sign in (1, -1):
                z = np.zeros(size)
                z[k] = sign * j * step
                total = total + sign * weight / step * function(z)
        columns.append(total)
    return np.array(columns).T


class Manifold:
    """The motions of a mechanism without actuators near a state that fits its rows."""

    def __init__(self, mechanism: cf.Mechanism, q: Any, qd: Any, tau: Any, t: float = 0.0) -> None:
        self.mechanism, self.t = mechanism, t
        self.q, self.qd, self.tau = (np.array(x, dtype=np.float64) for x in (q, qd, tau))
        self.model = cf.derive(mechanism, ["mass_matrix", "inverse_dynamics"])
        self.rows = ClosureRows(mechanism)
        self.gaps = ConstraintResiduals(mechanism, t)

    def rates(self, places: Sequence[int], rate_places: Sequence[int]) -> Array:
        """Return A and the first columns of B, for some tau, by differences."""
        count, more = len(places), len(rate_places)
        pushed = min(PUSHED, self.mechanism.nv)

        def rates(z: Array) -> Array:
            q = self._placed(places, z[:count])
            qd = self._rates(q, rate_places, z[count : count + more])
            tau = self.tau.copy()
            tau[:pushed] += z[count + more :]
            qdd = self._accelerations(q, qd, tau)
            return np.concatenate([self._drifts(q, qd)[list(places)], qdd[list(rate_places)]])

        return differences(rates, count + more + pushed, 5e-4)

    def _accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        model, nv = self.model, self.mechanism.nv
        given = {item.group for item in model.graph.inputs.values()}
        more: dict[str, Any] = {"t": self.t} if "t" in given else {}
        if self.mechanism.loops:
            more["sigma"] = np.zeros(self.rows.loops)
        found = model.evaluate(q=q, qd=qd, qdd=np.zeros(nv), **more)
        H, rest = found["mass_matrix"], tau - found["inverse_dynamics"]
        at = self.rows.at(self.t, q, qd)
        matrix = np.block([[H, -at.J.T], [at.J, np.zeros((len(at.J),) * 2)]])
        right = np.concatenate([rest, at.gamma])
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-11)[0][:nv], dtype=np.float64)

    def _others(self, places: Sequence[int]) -> list[int]:
        return [k for k in range(self.mechanism.nv) if k not in places]

    def _placed(self, places: Sequence[int], shifts: Array) -> Array:
        whole, others = np.zeros(self.mechanism.nv), self._others(places)
        whole[list(places)] = shifts
        for _ in range(60):
            q = self.gaps.moved(self.q, whole)
            left, J = self.gaps.at(q), self.gaps.position_slopes(q)
            if not len(left):
                break
            step = np.linalg.lstsq(J[:, others], -left, rcond=1e-9)[0]
            whole[others] += step
            # What is left of a step of Newton's method is of the order of its square.
            if np.max(np.abs(step), initial=0.0) < 1e-9:
                break
        return self.gaps.moved(self.q, whole)

    def _rates(self, q: Array, places: Sequence[int], changes: Array) -> Array:
        qd, others = self.qd.copy(), self._others(places)
        qd[list(places)] += changes
        if self.gaps.has_rows:
            J = self.gaps.slopes(q)
            left = J @ qd + self.gaps.drift(q)
            qd[others] -= np.linalg.lstsq(J[:, others], left, rcond=1e-9)[0]
        return qd

    def _drifts(self, q: Array, qd: Array) -> Array:
        """Return the rates at which a motion departs from the one through the state."""
        drifts, h = qd - self.qd, 1e-4
        for segment in self.mechanism.segments:
            if segment.rate is None or not segment.joint.kind.has_quaternion:
                continue
            ends: list[Array] = []
            for s in (h, -h):
                here = _pose(segment, self.q) @ _exponential(s * _twist(segment, self.qd))
                there = _pose(segment, q) @ _exponential(s * _twist(segment, qd))
                turn = _logarithm(np.linalg.inv(here) @ there)
                ends.append(np.array([*turn[:3, 3], turn[2, 1], turn[0, 2], turn[1, 0]]))
            count = segment.joint.kind.rates
            drifts[segment.rate : segment.rate + count] = ((ends[0] - ends[1]) / (2 * h))[-count:]
        return drifts


def _exponential(small: Array) -> Array:
    """Return the exponential of a small matrix by its series."""
    total = term = np.eye(len(small))
    for k in range(1, 7):
        term = term @ small / k
        total = total + term
    return total


def _logarithm(near: Array) -> Array:
    """Return the logarithm of a matrix near the unit matrix by its series."""
    step = near - np.eye(len(near))
    total, power = np.zeros_like(step), np.eye(len(near))
    for k in range(1, 9):
        power = power @ step
        total = total - (-1) ** k * power / k
    return total


def _pose(segment: Segment, q: Array) -> Array:
    place, free = segment.coordinate or 0, segment.joint.kind is JointKind.FREE
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat(q[place + 3 * free : place + 3 * free + 4]).as_matrix()
    if free:
        pose[:3, 3] = q[place : place + 3]
    return pose


def _twist(segment: Segment, qd: Array) -> Array:
    place, free = segment.rate or 0, segment.joint.kind is JointKind.FREE
    x, y, z = qd[place + 3 * free : place + 3 * free + 3]
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    if free:
        twist[:3, 3] = qd[place : place + 3]
    return twist
