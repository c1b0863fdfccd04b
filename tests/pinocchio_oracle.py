"""Pinocchio as an independent oracle: the same mechanism, built by hand from its segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin  # pyright: ignore[reportMissingImports]

import chainform as cf

Array = np.ndarray[Any, np.dtype[np.float64]]


class Oracle:
    """A Pinocchio model of a mechanism, with results in the mechanism's own order."""

    def __init__(self, mechanism: cf.Mechanism) -> None:
        self.mechanism = mechanism
        self.model: Any = pin.Model()
        self.model.gravity.linear = _floats(mechanism.gravity)
        self.places: list[tuple[int, Any]] = []
        velocity: dict[int, int] = {}
        for segment in mechanism.segments:
            parent, carried = (
                self.places[segment.parent] if segment.parent >= 0 else (0, _base(mechanism))
            )
            placement = carried * pin.SE3(_floats(segment.rotation), _floats(segment.position))
            joint = parent
            if segment.coordinate is not None:
                axis = _floats(segment.joint.axis)
                kind = {
                    "revolute": pin.JointModelRevoluteUnaligned,
                    "prismatic": pin.JointModelPrismaticUnaligned,
                }[segment.joint.kind.value]
                joint = self.model.addJoint(parent, kind(axis), placement, segment.name)
                velocity[segment.coordinate] = self.model.joints[joint].idx_v
                placement = pin.SE3.Identity()
            body = segment.body
            mass = float(body.mass)  # pyright: ignore[reportArgumentType]
            inertia = pin.Inertia(mass, _floats(body.com), _floats(body.inertia))
            self.model.appendBodyToJoint(joint, inertia, placement)
            self.places.append((joint, placement))
        self.data = self.model.createData()
        self.order = [velocity[i] for i in range(mechanism.nv)]

    def _theirs(self, ours: Array) -> Array:
        theirs = np.zeros(self.model.nv)
        theirs[self.order] = ours
        return theirs

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return tau."""
        result = pin.rnea(
            self.model, self.data, self._theirs(q), self._theirs(qd), self._theirs(qdd)
        )
        return np.array(result)[self.order]

    def mass_matrix(self, q: Array) -> Array:
        """Return H column by column from inverse dynamics, which holds for any numbering."""
        zero = np.zeros(len(q))
        at_rest = self.inverse_dynamics(q, zero, zero)
        columns = [self.inverse_dynamics(q, zero, unit) - at_rest for unit in np.eye(len(q))]
        return np.array(columns).T

    def gravity(self, q: Array) -> Array:
        """Return hG."""
        zero = np.zeros(len(q))
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


def _floats(values: Any) -> Array:
    return (
        np.array([[float(x) for x in row] for row in values])
        if np.ndim(values[0])
        else (np.array([float(x) for x in values]))
    )


def _base(mechanism: cf.Mechanism) -> Any:
    return pin.SE3(_floats(mechanism.base.rotation), _floats(mechanism.base.position))
