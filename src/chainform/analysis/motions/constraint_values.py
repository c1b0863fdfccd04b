"""Loops and constraints along a motion: J qdd = gamma, and what must stay zero, with its rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.formulations import ConstraintLaws, rows_of, turn_cosines
from chainform.graph import Builder, Graph
from chainform.mechanism import Loop, Mechanism
from chainform.model import evaluate_states
from chainform.runtime import Key, LruCache

Array = NDArray[np.float64]

CONSISTENT = 1e-6
"""A motion fits the rows if what it leaves open is below this share of the terms."""
GRAPHS: LruCache[Graph] = LruCache(8)
SMALLEST = 1e-6
"""Terms below this, per unit of speed, count as so large: rounding leaves something of zero."""


@dataclass(frozen=True)
class RowValues:
    """J (..., rows, nv), gamma, the values and the rates of the rows (..., rows), at states.

    `gaps` (..., n) are the laws of unilateral constraints, positive where nothing touches;
    `cosines` (..., n) those of the turns between the ends of loops.
    """

    J: Array
    gamma: Array
    values: Array
    rates: Array
    gaps: Array
    cosines: Array


class ClosureRows:
    """The rows of a mechanism's loops, then those of its constraints, in the order of the file."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.loops = sum(loop.equations for loop in mechanism.loops)
        constraints = mechanism.constraints
        self.names = (
            *(f"{loop.name} {d}" for loop in mechanism.loops for d in _row_names(loop)),
            *(c.name for c in constraints if c.kind != "unilateral"),
        )
        self.barriers = tuple(c.name for c in constraints if c.kind == "unilateral")
        key = Key((mechanism.name, mechanism.nv), (mechanism,))
        self.graph = GRAPHS.get(key, lambda: _graph(mechanism))

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.names)

    def at(self, t: Any, q: Any, qd: Any, values: Mapping[str, Any] | None = None) -> RowValues:
        """Return the rows at states q (..., nq), qd (..., nv) and times t (...).

        `values` are those of parameters, the others have those of the mechanism.
        """
        states = {"q": q, "qd": qd} if t is None else {"q": q, "qd": qd, "t": t}
        known = {item.name for item in self.graph.inputs.values() if item.group == "parameter"}
        given = {name: value for name, value in (values or {}).items() if name in known}
        found = evaluate_states(self.graph, self.mechanism, states, given, None)
        return RowValues(**{item.name: found[item.name] for item in fields(RowValues)})

    def check(
        self, at: RowValues, t: Any, qd: Array, qdd: Array, *, may_touch: bool = False
    ) -> None:
        """Refuse a motion that does not fit: RunError tells where, when and by how much.

        Where forces do not matter it may touch unilateral constraints, but not pass them.
        """
        drift = at.rates - np.einsum("...ij,...j->...i", at.J, qd)
        change = np.einsum("...ij,...j->...i", at.J, qdd)
        reach, flow = np.abs(at.J), np.abs(drift)
        arm = np.sum(reach, axis=-1)
        # Terms of rates and accelerations that cancel leave rounding errors of their own size.
        least = SMALLEST * np.maximum(1.0, np.max(arm, axis=-1, keepdims=True, initial=0.0))
        speed, swing = (np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0) for x in (qd, qdd))
        levels = {
            "positions": (at.values, arm, least),
            "rates": (
                at.rates,
                np.einsum("...ij,...j->...i", reach, np.abs(qd)) + flow,
                least * (1 + speed),
            ),
            "accelerations": (
                change - at.gamma,
                np.einsum("...ij,...j->...i", reach, np.abs(qdd)) + np.abs(at.gamma),
                least * (1 + speed**2 + swing),
            ),
        }
        if np.any(at.cosines < 0):
            place = np.unravel_index(int(np.argmin(at.cosines)), at.cosines.shape)
            name = [loop.name for loop in self.mechanism.loops if loop.rows.has_sense][place[-1]]
            raise self._refusal(
                f"the ends of {name!r} are turned against each other"
                f"{_when(t, at.cosines.shape[:-1], place[:-1])}",
                "begin where the loop is closed; chainform.simulation.assemble finds such a state",
            )
        for level, (left, terms, smallest) in levels.items():
            # A row that nothing moves is measured by the others.
            largest = np.max(terms, axis=-1, keepdims=True, initial=0.0)
            size = np.maximum(np.maximum(terms, 1e-3 * largest), smallest)
            self._check_level(level, left, size, t)
        if at.gaps.size and np.min(at.gaps) < (-CONSISTENT if may_touch else CONSISTENT):
            place = np.unravel_index(int(np.argmin(at.gaps)), at.gaps.shape)
            name = self.barriers[int(place[-1])]
            if may_touch:
                raise self._refusal(
                    f"{name!r} is passed{_when(t, at.gaps.shape[:-1], place[:-1])}: its law is "
                    f"{at.gaps[place]:.3g} there",
                    "correct the motion, or leave out the constraint",
                )
            raise self._refusal(
                f"{name!r} touches or is passed{_when(t, at.gaps.shape[:-1], place[:-1])}: its law "
                f"is {at.gaps[place]:.3g} there, and what pushes is not known",
                "describe what stays in touch as a holonomic constraint",
            )

    def _check_level(self, level: str, left: Array, size: Array, t: Any) -> None:
        share = np.abs(left) / size
        # What is not finite is refused where the equations are solved.
        if not share.size or not np.nanmax(share, initial=0.0) > CONSISTENT:
            return
        place = np.unravel_index(int(np.nanargmax(share)), share.shape)
        raise self._refusal(
            f"the {level} of the motion do not fit {self.names[int(place[-1])]!r}"
            f"{_when(t, left.shape[:-1], place[:-1])}: {left[place]:.6g} is left, which should be "
            "zero",
            "find them from basic coordinates by analysis.complete, or correct the laws",
        )

    def _refusal(self, message: str, remedy: str) -> RunError:
        return RunError(message, file=self.mechanism.file, element="motion", remedy=remedy)


def _when(t: Any, shape: tuple[int, ...], place: tuple[Any, ...]) -> str:
    """Return at which time or state something is so, in words."""
    times = np.broadcast_to(np.asarray(np.nan if t is None else t, dtype=np.float64), shape)
    if np.ptp(times) > 0 or (times.size == 1 and t is not None):
        return f" at t = {times[tuple(map(int, place))]:.6g} s"
    return f" in state {', '.join(str(int(k) + 1) for k in place)}" if place else ""


def _row_names(loop: Loop) -> tuple[str, ...]:
    return (*loop.rows.linear, *(f"turn {direction}" for direction in loop.rows.angular))


def _graph(mechanism: Mechanism) -> Graph:
    builder = Builder()
    rows = rows_of(builder, mechanism)
    zero = builder.number(0)
    columns = [row.J.get(k, zero) for row in rows for k in range(mechanism.nv)]
    parts = {
        "gamma": [row.gamma for row in rows],
        "values": [zero if row.value is row.rate else row.value for row in rows],
        "rates": [row.rate for row in rows],
        "gaps": [row.value for row in ConstraintLaws(builder, mechanism).unilateral],
        "cosines": turn_cosines(builder, mechanism),
    }
    entries = [(f"J_{i + 1}", value) for i, value in enumerate(columns)]
    builder.output("J", (len(rows), mechanism.nv), entries)
    for name, values in parts.items():
        entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
        builder.output(name, (len(entries),), entries)
    return builder.finish()
