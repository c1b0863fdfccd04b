"""Rows of output taken apart: states, efforts, signals, the energy balance, and what held when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.simulation.afterwards import Afterwards
from chainform.simulation.drives.efforts import Efforts
from chainform.simulation.drives.inputs import inputs_along
from chainform.simulation.machines.machine import Machine

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """What stands in the rows of one motion; `has_balance` tells whether work and losses do."""

    machine: Machine
    efforts: Efforts
    is_held: bool
    has_balance: bool

    def of(self, t: Array, rows: Array) -> dict[str, Any]:
        """Return the fields of a Run that rows (m, k) at times (m,) give."""
        sizes = self.machine.equations
        q, qd, x, tail = np.split(rows, np.cumsum([sizes.nq, sizes.nv, sizes.nx]), axis=1)
        states = rows[:, : sizes.size]
        acting = tail[:, : sizes.nv + sizes.nu]
        if not self.is_held:
            acting = inputs_along(sizes, self.efforts, t, states)
        # The bare equations of motion do not know what constrains, drives and pushes here.
        is_simple = not (sizes.rows or sizes.nu or sizes.sorts.watched)
        after = None if is_simple else Afterwards(self.machine, t, states, tail)
        return {
            "q": q,
            "qd": qd,
            "tau": acting[:, : sizes.nv],
            "energy_balance": x[:, sizes.nx - sizes.balance_states :] if self.has_balance else None,
            "modes": tail[:, sizes.nv + sizes.nu :],
            "afterwards": after,
            "further": x[:, : sizes.nx - sizes.balance_states - sizes.impulses],
            "u": acting[:, sizes.nv :],
        }
