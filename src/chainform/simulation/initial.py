"""The state in which a motion begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.given import finite_array
from chainform.mechanism import JointKind, Mechanism
from chainform.simulation.drives.actuator_states import initial_rest

Array = NDArray[np.float64]

SHORTEST = 1e-12
"""A quaternion that is shorter has no direction."""
GREATEST_ANGLE = 1e9
"""In rad; of a larger angle rounding is seen in the motion, and its tolerance is a whole turn."""
MANY = "for many motions at once call chainform.simulation.simulate_batch"
"""What helps where there are several numbers for one."""


def initial_state(mechanism: Mechanism, q0: Any, qd0: Any) -> Array:
    """Return q and qd in a row; what a table does not name is as in the zero pose, at rest."""
    q = _filled(mechanism, "q0", mechanism.neutral(), q0)
    _check_quaternions(mechanism, q)
    check_angles(mechanism, q)
    qd = _filled(mechanism, "qd0", np.zeros(mechanism.nv), qd0)
    return np.concatenate([q, qd])


def check_angles(mechanism: Mechanism, q: Array) -> None:
    """Refuse angles, in q (..., nq), of which so many digits are turns that few are left."""
    for segment in mechanism.segments:
        if segment.joint.kind is not JointKind.REVOLUTE or segment.coordinate is None:
            continue
        largest = float(np.max(np.abs(q[..., segment.coordinate]), initial=0.0))
        if largest > GREATEST_ANGLE:
            raise RunError(
                f"the angle {mechanism.coordinates[segment.coordinate]} is {largest:.3g} rad",
                element="q0",
                remedy=f"leave out whole turns: at most {GREATEST_ANGLE:.0e} rad",
            )


def _check_quaternions(mechanism: Mechanism, q: Array) -> None:
    """Refuse quaternions without a direction; others are given the length 1 later."""
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion and segment.coordinate is not None:
            last = segment.coordinate + segment.joint.kind.coordinates
            if np.linalg.norm(q[last - 4 : last]) < SHORTEST:
                raise RunError(
                    f"the quaternion of {segment.joint.name} is zero",
                    element="q0",
                    remedy="write x y z w, 0 0 0 1 where nothing is turned",
                )


def whole_state(mechanism: Mechanism, q: Array, qd: Array, x0: Any, count: int) -> Array:
    """Return q, qd and `count` further states: those of actuators, then others, which are zero."""
    rest = initial_rest(mechanism, q, qd, x0)
    return np.concatenate([q, qd, rest, np.zeros(count - len(rest))])


def _filled(mechanism: Mechanism, name: str, start: Array, given: Any) -> Array:
    if given is None:
        return start
    if isinstance(given, Mapping):
        table = cast("Mapping[str, Any]", given)
        for place, value in zip(places_of(mechanism, name, table), table.values(), strict=True):
            start[place] = _numbers(name, value, ())
        return start
    return _numbers(name, given, start.shape)


def places_of(mechanism: Mechanism, name: str, table: Mapping[str, Any]) -> list[int]:
    """Return the places of the names in a table q0 or qd0; RunError where two have the same."""
    find = mechanism.coordinate_index if name == "q0" else mechanism.rate_index
    places = [find(str(key)) for key in table]
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        names = mechanism.coordinates if name == "q0" else mechanism.rates
        raise RunError(
            f"{names[twice]} is given twice", element=name, remedy="give each entry once"
        )
    return places


def _numbers(name: str, given: Any, shape: tuple[int, ...]) -> Array:
    array = finite_array(name, given)
    if array.shape != shape:
        raise RunError(
            f"{name} has the shape {array.shape}, and it must be {shape}",
            element=name,
            remedy=MANY
            if array.ndim > len(shape)
            else "give a number for each, or a table by names",
        )
    return array
