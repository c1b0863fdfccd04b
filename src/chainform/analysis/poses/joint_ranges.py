"""What of a mechanism matters to poses of frames: joints that move them, sizes, limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import (
    JointKind,
    Mechanism,
    Segment,
    float_of,
    float_vector,
    known_values,
)

Array = NDArray[np.float64]


def carriers(mechanism: Mechanism, frame: str) -> list[Segment]:
    """Return the segments that carry a frame; none for that of an element."""
    known = [item.name for item in (*mechanism.frames, *mechanism.segments)]
    if frame not in known:
        return []
    return [mechanism.segments[k] for k in mechanism.path_to(mechanism.frame(frame).segment)]


def size_of(mechanism: Mechanism, frames: Sequence[str]) -> float:
    """Return the greatest sum of lengths from the base to a frame (m), 1 where there are none."""
    known, sizes = known_values(mechanism), [0.0]
    for frame in frames:
        path = carriers(mechanism, frame)
        lengths = [float(np.linalg.norm(float_vector(s.position, known))) for s in path[1:]]
        if path:
            point = float_vector(mechanism.frame(frame).point, known)
            lengths.append(float(np.linalg.norm(point)))
        sizes.append(sum(lengths))
    return max(sizes) or 1.0


def moving_rates(mechanism: Mechanism, frames: Sequence[str]) -> NDArray[np.intp]:
    """Return the rates that move a frame or an end of a loop."""
    paths = [carriers(mechanism, frame) for frame in frames]
    if mechanism.constraints or not all(paths):
        return np.arange(mechanism.nv)
    ends = [end.segment for loop in mechanism.loops for end in (loop.closing, loop.target)]
    paths += [[mechanism.segments[k] for k in mechanism.path_to(end)] for end in ends]
    found: set[int] = set()
    for segment in (segment for path in paths for segment in path):
        if segment.rate is not None:
            found |= set(range(segment.rate, segment.rate + segment.joint.kind.rates))
    return np.array(sorted(found), dtype=np.intp)


def limits_of(mechanism: Mechanism) -> tuple[Array, Array]:
    """Return bounds (nv,) of coordinates, those of all joints that share one."""
    lower, upper = np.full(mechanism.nv, -np.inf), np.full(mechanism.nv, np.inf)
    known = known_values(mechanism)
    for segment in mechanism.segments:
        limits, rate = segment.joint.limits, segment.rate
        if limits is None or rate is None or not segment.ratio:
            continue
        ends = [-np.inf if limits.lower is None else float(limits.lower)]
        ends.append(np.inf if limits.upper is None else float(limits.upper))
        offset = float_of(segment.offset, known)
        low, high = sorted((end - offset) / float(segment.ratio) for end in ends)
        lower[rate], upper[rate] = max(lower[rate], low), min(upper[rate], high)
    return lower, upper


def whole_turns(mechanism: Mechanism) -> NDArray[np.intp]:
    """Return the rates of joints for which a whole turn changes nothing, but for elements."""
    by_rate: dict[int, list[Segment]] = {}
    for segment in mechanism.segments:
        by_rate.setdefault(-1 if segment.rate is None else segment.rate, []).append(segment)
    found = [
        rate
        for rate, (first, *others) in by_rate.items()
        if not others and first.joint.kind is JointKind.REVOLUTE and abs(first.ratio) == 1
    ]
    return np.array(sorted(found), dtype=np.intp)
