"""Forces of contacts along a motion that was computed: on points, and on the bodies that have them.

symbol   meaning
n, a, b  normal of the plane, and two directions across it
s        force of the gap and of the two rows beside it, zero for those that do not hold
c, d     cosine and sine of the angle by which the axes in the plane are turned
p, o     the point that touches, the origin of its segment

    f = n s_n + a (c s_a - d s_b) + b (c s_b + d s_a)          a rigid contact
    f = n k d max(0, 1 + c d')         a stiff one at the depth d

in the axes of the plane, those of the world or of the base; in world axes
    moment about o = (p - o) x f
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chainform.graph import Builder
from chainform.mechanism import IDENTITY, ZERO_VECTOR, Attachment, Mechanism
from chainform.simulation.along import values_along
from chainform.simulation.contact.barriers import Barrier, GapContext, PointContact, directions
from chainform.simulation.contact.switches import Switches
from chainform.simulation.modes import Sorts

Array = NDArray[np.float64]


def loads_along(
    mechanism: Mechanism,
    switches: Switches,
    sorts: Sorts,
    states: Mapping[str, Array],
    multipliers: Array,
    modes: Array,
) -> dict[str, Array]:
    """Return the whole force of the ground on each point that can touch it, world axes, (m, 3).

    `multipliers` are the forces of all rows, `modes` the numbers that enter the equations with the
    state of affairs (`Sorts.given`).
    """
    loads: dict[str, Array] = {}
    for i, barrier in enumerate(switches.rigid):
        if isinstance(barrier, PointContact):
            normal, across, along = np.array(directions(barrier.normal), dtype=np.float64)
            loads[barrier.name] = multipliers[:, [sorts.always + i]] * normal
            if barrier.friction:
                cosine, sine = modes[:, sorts.sticking + sorts.beside + 3 * i :].T[:2]
                x, y = multipliers[:, sorts.first_beside + 2 * i :].T[:2]
                loads[barrier.name] += np.outer(cosine * x - sine * y, across)
                loads[barrier.name] += np.outer(sine * x + cosine * y, along)
    for barrier in switches.stiff:
        if isinstance(barrier, PointContact):
            normal = np.array(barrier.normal, dtype=np.float64)
            loads[barrier.name] = push_along(mechanism, barrier, states)[:, None] * normal
    for barrier in (*switches.rigid, *switches.stiff):
        if isinstance(barrier, PointContact) and barrier.is_on_base:
            turns = _turns(mechanism, states)
            loads[barrier.name] = np.einsum("mij,mj->mi", turns, loads[barrier.name])
    return loads


def _turns(mechanism: Mechanism, states: Mapping[str, Array]) -> Array:
    """Return the rotation of the base, its axes to those of the world, (m, 3, 3)."""
    builder = Builder()
    rotation = GapContext(builder, mechanism).places.world.base.rotation
    entries = [(f"R{i}{k}", builder.number(0) + rotation[i][k]) for i in range(3) for k in range(3)]
    builder.output("turn", (3, 3), entries)
    return values_along(builder.finish(), "turn", states).reshape(-1, 3, 3)


def wrenches_along(
    mechanism: Mechanism,
    switches: Switches,
    states: Mapping[str, Array],
    loads: Mapping[str, Array],
) -> dict[str, Array]:
    """Return force and moment about the origin of each segment that touches, by name, (m, 6)."""
    wrenches: dict[str, Array] = {}
    for barrier in (*switches.rigid, *switches.stiff):
        if isinstance(barrier, PointContact) and barrier.place.segment >= 0:
            segment, load = mechanism.segments[barrier.place.segment], loads[barrier.name]
            arm = _arm(mechanism, barrier.place, states)
            wrench = np.concatenate([load, np.cross(arm, load)], axis=1)
            wrenches[segment.name] = wrenches.get(segment.name, 0.0) + wrench
    return wrenches


def push_along(mechanism: Mechanism, barrier: Barrier, states: Mapping[str, Array]) -> Array:
    """Return the push of a stiff stop or contact, (m,)."""
    builder = Builder()
    context = GapContext(builder, mechanism)
    row = context.laws.holonomic(barrier.residuals(context)[0])
    builder.output("gap", (2,), [("gap", row.value), ("rate", row.rate)])
    gap, rate = values_along(builder.finish(), "gap", states).T
    manner = barrier.manner
    depth = (manner.stiffness or 0.0) * np.maximum(-gap, 0.0)
    return depth * np.maximum(1.0 - manner.damping * rate, 0.0)


def _arm(mechanism: Mechanism, place: Attachment, states: Mapping[str, Array]) -> Array:
    """Return where a point is, from the origin of its segment, in world axes, (m, 3)."""
    builder = Builder()
    places = GapContext(builder, mechanism).places
    point = places.place_of(place)
    origin = places.place_of(Attachment(place.segment, ZERO_VECTOR, IDENTITY))
    arm = [(name, p - o) for name, p, o in zip("xyz", point, origin, strict=True)]
    builder.output("arm", (3,), arm)
    return values_along(builder.finish(), "arm", states)
