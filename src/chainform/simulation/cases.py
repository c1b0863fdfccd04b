"""What differs from motion to motion in a batch: initial states, and values of parameters.

Everything has a leading dimension b, the number of motions, or none where all have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.given import finite_array
from chainform.mechanism import Mechanism
from chainform.simulation.equations.initial import SHORTEST, check_angles, places_of
from chainform.simulation.equations.parameters import check_fixed

Array = NDArray[np.float64]
States: TypeAlias = dict[str, Array] | Array | None
"""A column (b,) for each name, all states (b, n), or nothing: then all begin as usual."""

NAMES = {"q0": "coordinates", "qd0": "rates", "x0": "states of actuators"}


@dataclass(frozen=True, eq=False)
class Cases:
    """The states and values of `count` motions, as `simulate` would take each."""

    count: int
    q0: States
    qd0: States
    x0: States
    values: Mapping[str, Array]

    def start(self, motion: int) -> dict[str, Any]:
        """Return the state in which one motion begins."""
        return {name: _row(getattr(self, name), motion) for name in NAMES}

    def values_of(self, motion: int) -> dict[str, float]:
        """Return the values of parameters of one motion."""
        return {name: float(column[motion]) for name, column in self.values.items()}

    @property
    def differing(self) -> list[str]:
        """The parameters whose values are not the same in all motions."""
        return [name for name, column in self.values.items() if np.ptp(column) > 0]

    def states(self, mechanism: Mechanism) -> Array:
        """Return q and qd of all motions, (b, nq + nv), as they were given."""
        q = _whole(self.q0, mechanism.neutral(), mechanism.coordinate_index, self.count)
        qd = _whole(self.qd0, np.zeros(mechanism.nv), mechanism.rate_index, self.count)
        return np.concatenate([q, qd], axis=1)


def cases_of(
    mechanism: Mechanism, q0: Any, qd0: Any, x0: Any, values: Mapping[str, Any] | None
) -> Cases:
    """Return the cases, its lengths and numbers checked; RunError tells what is wrong."""
    lengths = {"q0": mechanism.nq, "qd0": mechanism.nv, "x0": len(mechanism.states)}
    given = {"q0": q0, "qd0": qd0, "x0": x0}
    given = {name: _given(name, given[name], length) for name, length in lengths.items()}
    for name in ("q0", "qd0"):
        part = given[name]
        if isinstance(part, dict):
            places_of(mechanism, name, part)
    columns = _columns("values", {} if values is None else values)
    check_fixed(mechanism, columns)
    count = _count([*given.values(), columns])
    whole = {name: _spread(part, count) for name, part in given.items()}
    columns = {name: _broadcast(column, count) for name, column in columns.items()}
    cases = Cases(count, **whole, values=columns)
    _check_states(mechanism, cases)
    return cases


def _check_states(mechanism: Mechanism, cases: Cases) -> None:
    """Refuse angles of too many turns, and quaternions without a direction.

    Other quaternions are given the length 1 later.
    """
    if cases.q0 is None:
        return
    q = cases.states(mechanism)
    check_angles(mechanism, q)
    for segment in mechanism.segments:
        if segment.joint.kind.has_quaternion and segment.coordinate is not None:
            last = segment.coordinate + segment.joint.kind.coordinates
            short = np.flatnonzero(np.linalg.norm(q[:, last - 4 : last], axis=1) < SHORTEST)
            if len(short):
                raise RunError(
                    f"the quaternion of {segment.joint.name} is zero",
                    element="q0",
                    remedy=f"the first is that of motion {short[0] + 1}",
                )


def _given(name: str, given: Any, length: int) -> States:
    """Return columns by name, or all states in rows; those for all motions have one row."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return _columns(name, cast("Mapping[str, Any]", given))
    array = _numbers(name, given)
    if array.ndim not in (1, 2) or array.shape[-1] != length:
        raise RunError(
            f"{name} has the shape {array.shape}, and it must be (b, {length})",
            element=name,
            remedy=f"give the {NAMES[name]} of each motion in a row, or a table by names",
        )
    return np.atleast_2d(array)


def _columns(name: str, given: Mapping[str, Any]) -> dict[str, Array]:
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RunError(f"{name} are a table by names", element=name, remedy='{"m": [1, 2, 3]}')
    found: dict[str, Array] = {}
    for key, value in given.items():
        column = np.atleast_1d(_numbers(f"{name}, {key}", value))
        if column.ndim != 1:
            raise RunError(
                f"{key} is one finite number, or one for each motion",
                element=f"{name}, {key}",
                remedy="give a list of numbers",
            )
        found[str(key)] = column
    return found


def _numbers(where: str, given: Any) -> Array:
    return finite_array(where, given)


def _count(parts: list[States]) -> int:
    """Return how many motions there are; RunError where that is not clear."""
    arrays = [a for part in parts for a in (part.values() if isinstance(part, dict) else [part])]
    lengths = sorted({len(a) for a in arrays if a is not None and len(a) != 1})
    if lengths == [0]:
        raise RunError(
            "there are no motions", element="batch", remedy="give at least one state or value"
        )
    if len(lengths) > 1:
        raise RunError(
            f"there are {' and '.join(map(str, lengths))} motions",
            element="batch",
            remedy="give all leading dimensions the same length",
        )
    return lengths[0] if lengths else 1


def _spread(part: States, count: int) -> States:
    if isinstance(part, dict):
        return {name: _broadcast(column, count) for name, column in part.items()}
    return None if part is None else _broadcast(part, count)


def _broadcast(array: Array, count: int) -> Array:
    return np.broadcast_to(array, (count, *array.shape[1:]))


def _row(part: States, motion: int) -> Any:
    if isinstance(part, dict):
        return {name: float(column[motion]) for name, column in part.items()}
    return None if part is None else part[motion].copy()


def _whole(part: States, start: Array, find: Callable[[str], int], count: int) -> Array:
    if part is not None and not isinstance(part, dict):
        return part
    found = np.tile(start, (count, 1))
    for name, column in (part or {}).items():
        found[:, find(name)] = column
    return found
