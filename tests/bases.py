"""Bases that move as prescribed, and the same motion made by a free joint below the mechanism."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import chainform as cf
from chainform.analysis.comparison import exact_state, unit_quaternion
from chainform.graph import EXACT, evaluate
from chainform.mechanism import GROUND, BaseMotion, Coordinate, Joint, JointKind, Segment, Spring
from chainform.spatial import apply, cross, rotation_of_quaternion, transpose
from zoo import rational

Vector = tuple[Fraction, Fraction, Fraction]


def random_vector(rng: random.Random) -> Vector:
    """Return three short decimals."""
    return (rational(rng), rational(rng), rational(rng))


def base_quaternion(seed: int) -> tuple[Fraction, ...]:
    """Return the orientation of the base that `on_moving_base` gives, of length 1."""
    return unit_quaternion(random.Random(seed))


def on_moving_base(mechanism: cf.Mechanism, seed: int) -> cf.Mechanism:
    """Return the mechanism on a base that stands, turns and accelerates in any way."""
    rng = random.Random(seed + 1)
    x, y, z, w = base_quaternion(seed)
    motion = BaseMotion(
        position=random_vector(rng),
        rotation=rotation_of_quaternion(x, y, z, w),
        velocity=random_vector(rng),
        angular_velocity=random_vector(rng),
        acceleration=random_vector(rng),
        angular_acceleration=random_vector(rng),
    )
    return replace(mechanism, base=motion)


def carried(mechanism: cf.Mechanism) -> cf.Mechanism:
    """Return the mechanism on a free joint, whose massless body stands for the base."""
    free = Segment("carrier", GROUND, Joint("carrier", JointKind.FREE), coordinate=0, rate=0)
    segments = [free, *(_shifted(segment) for segment in mechanism.segments)]
    seven, six = (tuple(Coordinate(f"base{k}", 0) for k in range(count)) for count in (7, 6))
    return replace(
        mechanism,
        base=BaseMotion(),
        segments=tuple(segments),
        coordinate_records=(*seven, *map(_moved, mechanism.coordinate_records)),
        rate_records=(*six, *map(_moved, mechanism.rate_records)),
        frames=tuple(replace(f, segment=f.segment + 1) for f in mechanism.frames),
        springs=tuple(_moved_spring(spring) for spring in mechanism.springs),
    )


def _shifted(segment: Segment) -> Segment:
    moved = replace(segment, parent=segment.parent + 1)
    if segment.coordinate is None or segment.rate is None:
        return moved
    return replace(moved, coordinate=segment.coordinate + 7, rate=segment.rate + 6)


def _moved_spring(spring: Spring) -> Spring:
    """Return a spring of the carried mechanism; what was fixed to the ground is on the carrier."""
    if spring.segment is not None:
        return replace(spring, segment=spring.segment + 1)
    assert spring.ends is not None
    a, b = (replace(end, segment=end.segment + 1) for end in spring.ends)
    return replace(spring, ends=(a, b))


def _moved(record: Coordinate) -> Coordinate:
    return replace(record, segment=record.segment + 1)


def base_state(base: BaseMotion, quaternion: Any) -> dict[str, list[Any]]:
    """Return q, qd and qdd of a free joint that moves as the base does.

    Its rates are velocities in its own axes, so qdd has the turning of these axes taken off.
    """
    back = transpose(base.rotation)
    motions: tuple[Any, ...] = (base.velocity, base.angular_velocity)
    v, w = (apply(back, motion) for motion in motions)
    rates: tuple[Any, ...] = (base.acceleration, base.angular_acceleration)
    a, alpha = (apply(back, rate) for rate in rates)
    slid = [x - y for x, y in zip(a, cross(w, v), strict=True)]
    return {
        "q": [*base.position, *quaternion],
        "qd": [*v, *w],
        "qdd": [*slid, *alpha],
    }


def carried_state(state: dict[str, Any], below: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the state of the carried mechanism: that of the base, then the given one."""
    values: dict[str, Any] = {}
    for group, shift in (("q", 7), ("qd", 6), ("qdd", 6)):
        for place, value in enumerate(below[group], 1):
            values[f"{group}{place}"] = value
        for name, value in state.items():
            if name.removeprefix(group).isdigit():
                values[f"{group}{int(name.removeprefix(group)) + shift}"] = value
    return values


def exact_values(mechanism: cf.Mechanism, output: str, state: dict[str, Any], **how: Any) -> Any:
    """Return an output in fractions."""
    return all_exact_values(mechanism, [output], state, **how)[output]


def all_exact_values(
    mechanism: cf.Mechanism, outputs: list[str], state: dict[str, Any], **how: Any
) -> dict[str, Any]:
    """Return outputs of one graph in fractions."""
    return evaluate(cf.derive(mechanism, outputs, **how).graph, state, EXACT)


def state_of(mechanism: cf.Mechanism, seed: int) -> dict[str, Any]:
    """Return q, qd and qdd in fractions, whether a graph needs them all or not."""
    graph = cf.derive(mechanism, ["inverse_dynamics"]).graph
    return exact_state(mechanism, graph.inputs.values(), seed)
