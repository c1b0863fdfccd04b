"""States of actuators as numbers: those that a motion begins with, and all of them along it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.given import argument, real_array
from chainform.mechanism import Mechanism, Number, float_of, known_values
from chainform.simulation.drives.actuated import Share, coordinate_of, shares_of

Array = NDArray[np.float64]

CLOSE = 1e-9
"""How well q0 and qd0 must agree with the same in x0."""


def rest_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of the states that a motion holds beside q and qd."""
    return tuple(name for share in shares_of(mechanism) for name in share.names)


def initial_rest(mechanism: Mechanism, q: Array, qd: Array, x0: Any) -> Array:
    """Return the states beside q and qd in which a motion begins.

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
    for share, first in zip(shares_of(mechanism), _firsts(mechanism), strict=True):
        rest[first : first + len(share.rest)] = whole[[share.first + k for k in share.rest]]
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
    """Return x (..., n of x) of all actuators, given q, qd and the states beside them."""
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
    """Return where the states of each actuator begin among those beside q and qd."""
    counts = [len(share.rest) for share in shares_of(mechanism)]
    return [sum(counts[:k]) for k in range(len(counts))]
