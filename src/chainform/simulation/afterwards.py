"""Accelerations and forces of constraints along a motion that was computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.machine import Machine

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

    @property
    def qdd(self) -> Array:
        """The accelerations, (m, nv)."""
        return self._found[0]

    @property
    def multipliers(self) -> Array:
        """The forces of all rows of constraints, zero for those that did not hold, (m, rows)."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[Array, Array]:
        machine, sizes = self.machine, self.machine.equations
        p, first = machine.layout.fresh(), machine.layout.place("tau")
        mask = machine.layout.part(p, "mask")
        forces = machine.layout.part(p, "multipliers")
        qdd, multipliers = np.zeros((len(self.t), sizes.nv)), np.zeros((len(self.t), sizes.rows))
        for k, (t, y, given) in enumerate(zip(self.t, self.y, self.given, strict=True)):
            p[first : first + len(given)] = given
            qdd[k] = machine.rate(float(t), y, p)[sizes.nq : sizes.nq + sizes.nv]
            multipliers[k] = np.where(mask != 0, forces, 0.0)
        return qdd, multipliers
