"""A motion at other times: between two states by cubic polynomials with the right rates.

q(s) = h00 q0 + h10 h q0' + h01 q1 + h11 h q1' on each interval of length h. For a joint of one
freedom q' is the rate. With a quaternion r = (v, w) and rates in body axes (linear u, angular o)

    x' = R u,    v' = (w o + v x o) / 2,    w' = -(v . o) / 2
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import JointKind, Mechanism
from chainform.pictures.motion import Motion

Array = NDArray[np.float64]


def frame_times(start: float, end: float, rate: float, most: int) -> Array:
    """Return even times from start to end: about `rate` per second, `most` at the most."""
    count = min(int(np.ceil((end - start) * rate - 1e-9)) + 1, most)
    return np.linspace(start, end, max(count, 1 if end == start else 2))


def resampled(run: Motion, times: Array) -> Array:
    """Return the coordinates at times within the motion, (k, nq); quaternions have length one."""
    t, q = run.t, aligned(run.mechanism, run.q)
    if len(t) == 1:
        return np.repeat(q, len(times), axis=0)
    slopes = slopes_of(run.mechanism, q, run.qd)
    # Where two states share a time, as before and after an impact, the later one counts.
    left = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    width = t[left + 1] - t[left]
    safe = np.where(width > 0, width, 1.0)
    s = np.clip((times - t[left]) / safe, 0.0, 1.0)[:, None]
    h = width[:, None]
    inner = (1 + 2 * s) * (1 - s) ** 2 * q[left] + s * (1 - s) ** 2 * h * slopes[left]
    outer = s**2 * (3 - 2 * s) * q[left + 1] + s**2 * (s - 1) * h * slopes[left + 1]
    return normalised(run.mechanism, inner + outer)


def slopes_of(mechanism: Mechanism, q: Array, qd: Array) -> Array:
    """Return dq/dt, (m, nq)."""
    if mechanism.nq == mechanism.nv:
        return qd
    slopes = np.zeros_like(q)
    for segment in mechanism.segments:
        first, rate, kind = segment.coordinate, segment.rate, segment.joint.kind
        if first is None or rate is None:
            continue
        if not kind.has_quaternion:
            slopes[:, first] = qd[:, rate]
            continue
        last, end = first + kind.coordinates, rate + kind.rates
        r, turning = q[:, last - 4 : last], qd[:, end - 3 : end]
        if kind is JointKind.FREE:
            linear = qd[:, rate : rate + 3]
            across = 2.0 * np.cross(r[:, :3], linear)
            slopes[:, first : first + 3] = linear + r[:, 3:] * across + np.cross(r[:, :3], across)
        slopes[:, last - 4 : last - 1] = (r[:, 3:] * turning + np.cross(r[:, :3], turning)) / 2
        slopes[:, last - 1] = -np.sum(r[:, :3] * turning, axis=1) / 2
    return slopes


def aligned(mechanism: Mechanism, q: Array) -> Array:
    """Return q with quaternions of length one whose sign does not jump from time to time."""
    result = normalised(mechanism, q)
    for part in _quaternions(mechanism):
        dots = np.sum(result[1:, part] * result[:-1, part], axis=1)
        signs = np.cumprod(np.where(dots < 0, -1.0, 1.0))
        result[1:, part] *= signs[:, None]
    return result


def normalised(mechanism: Mechanism, q: Array) -> Array:
    """Return a copy of q with quaternions of length one."""
    result = np.array(q, dtype=np.float64)
    for part in _quaternions(mechanism):
        length = np.linalg.norm(result[:, part], axis=1, keepdims=True)
        result[:, part] /= np.where(length > 0, length, 1.0)
    return result


def _quaternions(mechanism: Mechanism) -> list[slice]:
    """Return where the quaternions stand in q."""
    parts: list[slice] = []
    for segment in mechanism.segments:
        if segment.coordinate is not None and segment.joint.kind.has_quaternion:
            end = segment.coordinate + segment.joint.kind.coordinates
            parts.append(slice(end - 4, end))
    return parts
