"""The state in which a motion begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation.drives.actuator_states import initial_rest

Array = NDArray[np.float64]


def initial_state(mechanism: Mechanism, q0: Any, qd0: Any) -> Array:
    """Return q and qd in a row; what a table does not name is as in the zero pose, at rest."""
    q = _filled(mechanism, "q0", mechanism.neutral(), q0)
    qd = _filled(mechanism, "qd0", np.zeros(mechanism.nv), qd0)
    return np.concatenate([q, qd])


def initial_states(mechanism: Mechanism, q0: Any, qd0: Any) -> tuple[Array, Array]:
    """Return q (b, nq) and qd (b, nv) of many motions; b is 1 where all begin alike."""
    return (
        _many(mechanism, "q0", mechanism.neutral(), q0),
        _many(mechanism, "qd0", np.zeros(mechanism.nv), qd0),
    )


def _many(mechanism: Mechanism, name: str, start: Array, given: Any) -> Array:
    if not isinstance(given, Mapping):
        array = start if given is None else _numbers(name, given, None)
        if array.ndim not in (1, 2) or array.shape[-1] != len(start):
            raise RunError(
                f"{name} has the shape {array.shape}, and it must be (b, {len(start)})",
                element=name,
            )
        return np.atleast_2d(array)
    find = mechanism.coordinate_index if name == "q0" else mechanism.rate_index
    columns = {
        find(str(key)): np.atleast_1d(_numbers(name, value, None))
        for key, value in cast("Mapping[str, Any]", given).items()
    }
    count = max((len(column) for column in columns.values()), default=1)
    found = np.tile(start, (count, 1))
    for place, column in columns.items():
        if column.shape not in ((1,), (count,)):
            raise RunError(f"{name} has {len(column)} and {count} entries", element=name)
        found[:, place] = column
    return found


def whole_state(mechanism: Mechanism, q: Array, qd: Array, x0: Any, count: int) -> Array:
    """Return q, qd and `count` further states: those of actuators, then others, which are zero."""
    rest = initial_rest(mechanism, q, qd, x0)
    return np.concatenate([q, qd, rest, np.zeros(count - len(rest))])


def _filled(mechanism: Mechanism, name: str, start: Array, given: Any) -> Array:
    if given is None:
        return start
    if isinstance(given, Mapping):
        find = mechanism.coordinate_index if name == "q0" else mechanism.rate_index
        for key, value in cast("Mapping[str, Any]", given).items():
            start[find(str(key))] = _numbers(name, value, ())
        return start
    return _numbers(name, given, start.shape)


def _numbers(name: str, given: Any, shape: tuple[int, ...] | None) -> Array:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise RunError(f"{name} is not made of numbers: {problem}", element=name) from None
    if shape is not None and array.shape != shape:
        raise RunError(f"{name} has the shape {array.shape}, and it must be {shape}", element=name)
    if not np.all(np.isfinite(array)):
        raise RunError(f"{name} has entries that are not finite", element=name)
    return array
