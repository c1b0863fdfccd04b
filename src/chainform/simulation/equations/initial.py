"""The state in which a motion begins, with the states of actuators; and those along a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.formulations import Share, coordinate_of, rest_places, shares_of
from chainform.given import argument, finite_array, real_array
from chainform.mechanism import JointKind, Mechanism, Number, float_of, known_values

Array = NDArray[np.float64]
CLOSE = 1e-9
"""How well q0 and qd0 must agree with the same in x0."""


def rest_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of the states that a motion holds besides q and qd."""
    return tuple(name for share in shares_of(mechanism) for name in share.names)


def initial_rest(mechanism: Mechanism, q: Array, qd: Array, x0: Any) -> Array:
    """Return the states besides q and qd in which a motion begins.

    `x0` is a table by names, with zero for what is not named, or an array of all states, whose
    part that is q and qd must be the same as q0 and qd0.
    """
    names = rest_names(mechanism)
    rest = np.zeros(len(names))
    if x0 is None:
        return rest
    if isinstance(x0, Mapping):
        for name, given in argument("x0", x0).table().items():
            if name in mechanism.states and name not in names:
                raise given.error(f"{name} is the motion of the joint", "give it in q0 and qd0")
            rest[names.index(given.holding(name).choice(names, "state"))] = given.number()
        return rest
    whole = np.array(real_array("x0", x0))
    count = len(mechanism.states)
    if whole.shape != (count,) or not np.all(np.isfinite(whole)):
        order = ", ".join(mechanism.states) or "there are no actuators with states"
        raise RunError(f"x0 must have {count} finite numbers", element="x0", remedy=order)
    rest = whole[rest_places(mechanism)]
    made = whole_states(mechanism, q, qd, rest)
    apart = np.abs(made - whole) > CLOSE * np.maximum(1.0, np.abs(whole))
    if np.any(apart):
        raise RunError(
            f"x0 has another motion of {mechanism.states[int(np.argmax(apart))]} than q0 and qd0",
            element="x0",
            remedy="give the same in both, or name in x0 only " + (", ".join(names) or "nothing"),
        )
    return rest


def whole_states(mechanism: Mechanism, q: Array, qd: Array, rest: Array) -> Array:
    """Return x (..., n of x) of all actuators, given q, qd and the states besides them."""
    x = np.zeros((*q.shape[:-1], len(mechanism.states)))
    for share, first in zip(shares_of(mechanism), _firsts(mechanism), strict=True):
        own = x[..., share.first : share.first + share.actuator.order]
        own[..., list(share.rest)] = rest[..., first : first + len(share.rest)]
        _set_motion(mechanism, share, own, q, qd)
    return x


def _set_motion(mechanism: Mechanism, share: Share, x: Array, q: Array, qd: Array) -> None:
    """Set the states that follow from q and qd; the others are there already."""
    if share.velocity is None:
        return
    rate = share.actuator.rate
    v = _row(mechanism, share.actuator.velocity)
    places, rows, values = [share.velocity], [v], [qd[..., rate] - x @ v]
    if share.position is not None:
        p = _row(mechanism, share.actuator.position)
        places.insert(0, share.position)
        rows.insert(0, p)
        values.insert(0, q[..., coordinate_of(mechanism, rate)] - x @ p)
    inverse = np.linalg.inv(np.array([row[places] for row in rows]))
    x[..., places] = np.stack(values, axis=-1) @ inverse.T


def _row(mechanism: Mechanism, row: Sequence[Number] | None) -> Array:
    known = known_values(mechanism)
    return np.array([float_of(entry, known) for entry in row or ()])


def _firsts(mechanism: Mechanism) -> list[int]:
    """Return where the states of each actuator begin among those besides q and qd."""
    counts = [len(share.rest) for share in shares_of(mechanism)]
    return [sum(counts[:k]) for k in range(len(counts))]


# --- coordinates and rates --------------------------------------------------------------------


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
    """Return q, qd and `count` further states: those of actuators, then others.

    The others, such as integrals of controllers, are zero, or the last entries of an array x0.
    """
    own, others = len(mechanism.states), np.zeros(count - len(rest_names(mechanism)))
    given: Any = x0
    if isinstance(x0, np.ndarray) and given.ndim == 1 and own < len(given) <= own + len(others):
        others[: len(given) - own] = finite_array("x0", given[own:])
        given = given[:own]
    return np.concatenate([q, qd, initial_rest(mechanism, q, qd, given), others])


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
