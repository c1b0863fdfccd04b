"""Loops and constraints along a motion: J qdd = gamma, and the rates of what must stay zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.graph import Builder, Graph
from chainform.mechanism import Mechanism
from chainform.simulation.along import values_along
from chainform.simulation.constraints.closures import rows_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """J (m, rows, nv), gamma and the rates of the rows (m, rows), at m states."""

    J: Array
    gamma: Array
    rates: Array


class ClosureRows:
    """The rows of a mechanism's loops, then those of its constraints, in the order of the file."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.loops = sum(3 if loop.kind == "point" else 6 for loop in mechanism.loops)
        self.graph: Graph
        self.count: int
        self.graph, self.count = _graph(mechanism)

    def at(self, t: Array, q: Array, qd: Array) -> Rows:
        """Return the rows at states q (m, nq), qd (m, nv) and times t (m,)."""
        given = {"t": t, "q": q, "qd": qd}
        J, gamma, rates = (
            values_along(self.graph, name, given) for name in ("J", "gamma", "rates")
        )
        return Rows(J.reshape(len(t), self.count, self.mechanism.nv), gamma, rates)


def _graph(mechanism: Mechanism) -> tuple[Graph, int]:
    builder = Builder()
    rows = rows_of(builder, mechanism)
    zero = builder.number(0)
    parts = {
        "J": [row.J.get(k, zero) for row in rows for k in range(mechanism.nv)],
        "gamma": [row.gamma for row in rows],
        "rates": [row.rate for row in rows],
    }
    for name, values in parts.items():
        entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
        builder.output(name, (len(entries),), entries)
    return builder.finish(), len(rows)
