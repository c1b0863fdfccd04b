"""The state in which a motion begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]


def initial_state(mechanism: Mechanism, q0: Any, qd0: Any) -> Array:
    """Return q and qd in a row; what a table does not name is as in the zero pose, at rest."""
    q = _filled(mechanism, "q0", mechanism.neutral(), q0)
    qd = _filled(mechanism, "qd0", np.zeros(mechanism.nv), qd0)
    return np.concatenate([q, qd])


def _filled(mechanism: Mechanism, name: str, start: Array, given: Any) -> Array:
    if given is None:
        return start
    if isinstance(given, Mapping):
        find = mechanism.coordinate_index if name == "q0" else mechanism.rate_index
        for key, value in cast("Mapping[str, Any]", given).items():
            start[find(str(key))] = _numbers(name, value, ())
        return start
    return _numbers(name, given, start.shape)


def _numbers(name: str, given: Any, shape: tuple[int, ...]) -> Array:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise RunError(f"{name} is not made of numbers: {problem}", element=name) from None
    if array.shape != shape:
        raise RunError(f"{name} has the shape {array.shape}, and it must be {shape}", element=name)
    if not np.all(np.isfinite(array)):
        raise RunError(f"{name} has entries that are not finite", element=name)
    return array
