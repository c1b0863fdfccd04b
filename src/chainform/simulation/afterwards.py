"""Accelerations and forces of constraints along a motion that was computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.along import values_along
from chainform.simulation.machines.machine import Machine

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Afterwards:
    """The machine of a motion with constraints, and the states that it went through.

    `y` are whole states, `given` the numbers of p from tau on that were put out with each.
    """

    machine: Machine
    t: Array
    y: Array
    given: Array

    def followed_by(self, other: Afterwards) -> Afterwards:
        """Return both motions as one; the machine is that of the other one."""
        arrays = ((getattr(self, n), getattr(other, n)) for n in ("t", "y", "given"))
        return Afterwards(other.machine, *map(np.concatenate, arrays))

    @property
    def qdd(self) -> Array:
        """The accelerations, (m, nv)."""
        return self._found[0]

    @property
    def multipliers(self) -> Array:
        """The forces of all rows of constraints, zero for those that did not hold, (m, rows)."""
        return self._found[1]

    @property
    def drives(self) -> Array:
        """What actuators put on their joints, and tau where there are none, (m, nv)."""
        sizes, layout = self.machine.equations, self.machine.layout
        qdd, multipliers, given = self._found
        first = layout.place("tau")
        parts = {"tau": "tau", "u": "signals", "force": "modes"}
        columns = {
            group: given[:, layout.place(part) - first :][:, : layout.length(part)]
            for group, part in parts.items()
        }
        q, qd, x = np.split(self.y, [sizes.nq, sizes.nq + sizes.nv], axis=1)
        columns |= {"t": self.t, "q": q, "qd": qd, "x": x, "qdd": qdd, "sigma": multipliers}
        return values_along(sizes.graph, "drives", columns)

    @cached_property
    def _found(self) -> tuple[Array, Array, Array]:
        machine, sizes = self.machine, self.machine.equations
        p, first = machine.layout.fresh(), machine.layout.place("tau")
        mask = machine.layout.part(p, "mask")
        forces = machine.layout.part(p, "multipliers")
        acting = p[first : machine.layout.place("slack")]
        qdd, multipliers = np.zeros((len(self.t), sizes.nv)), np.zeros((len(self.t), sizes.rows))
        inputs = np.zeros((len(self.t), len(acting)))
        for k, (t, y, given) in enumerate(zip(self.t, self.y, self.given, strict=True)):
            p[first : first + len(given)] = given
            qdd[k] = machine.rate(float(t), y, p)[sizes.nq : sizes.nq + sizes.nv]
            multipliers[k] = forces if np.any(mask) else 0.0
            inputs[k] = acting
        return qdd, multipliers, inputs
