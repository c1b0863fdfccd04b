"""Coordinates after small displacements along the rates: quaternions turn in their own axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import JointKind, Mechanism

Array = NDArray[np.float64]


def displaced(mechanism: Mechanism, q: Array, steps: Array) -> Array:
    """Return coordinates (m, nq) after steps (m, nv) along the rates; quaternions turn."""
    moved = q.copy()
    if not mechanism.quaternions:
        return moved + steps
    for segment in mechanism.segments:
        first, rate, kind = segment.coordinate, segment.rate, segment.joint.kind
        if first is None or rate is None:
            continue
        if not kind.has_quaternion:
            moved[:, first] = q[:, first] + steps[:, rate]
            continue
        end = first + kind.coordinates
        turn = q[:, end - 4 : end]
        if kind is JointKind.FREE:
            moved[:, first : first + 3] += _turned(turn, steps[:, rate : rate + 3])
            rate += 3
        moved[:, end - 4 : end] = _after(turn, steps[:, rate : rate + 3])
    return moved


def _turned(quaternions: Array, vectors: Array) -> Array:
    """Return vectors turned by quaternions (x y z w)."""
    u, s = quaternions[:, :3], quaternions[:, 3:]
    across = np.cross(u, vectors)
    return vectors + 2 * (s * across + np.cross(u, across))


def _after(quaternions: Array, turns: Array) -> Array:
    """Return quaternions after turns (rotation vectors in body axes), of length 1."""
    angle = np.linalg.norm(turns, axis=1, keepdims=True)
    w = turns * np.sinc(angle / (2 * np.pi)) / 2
    u, s, c = quaternions[:, :3], quaternions[:, 3:], np.cos(angle / 2)
    product = np.concatenate(
        [s * w + c * u + np.cross(u, w), s * c - np.sum(u * w, axis=1, keepdims=True)], axis=1
    )
    return product / np.linalg.norm(product, axis=1, keepdims=True)
