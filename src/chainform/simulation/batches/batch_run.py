"""The result of many simulations at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import Mechanism
from chainform.pipeline import derive
from chainform.simulation.solver import Statistics

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BatchRun:
    """Many motions: `q` (b, m, nq) and `qd` (b, m, nv) at the times `t` (m,).

    `values` are the parameters that differ, (b,) each. `ends` (b,) is when each motion ended; it is
    not a number where the motion has no finite value any more, or could not be followed to its
    end. `events` (b,) is the number of the event that ended it, or -1. What a motion did not come
    to is not a number.
    """

    mechanism: Mechanism
    t: Array
    q: Array
    qd: Array
    values: Mapping[str, Array]
    ends: Array
    events: NDArray[np.int64]
    statistics: Statistics = field(default_factory=Statistics)
    method: str = ""

    def __len__(self) -> int:
        return len(self.q)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which motions did not come to an end, (b,)."""
        return np.isnan(self.ends)

    @cached_property
    def energy(self) -> Array:
        """The sum of kinetic and potential energy, (b, m)."""
        outputs = ["kinetic_energy", "potential_energy"]
        parameters = list(self.values) or "numeric"
        model = derive(self.mechanism, outputs, reduce="none", parameters=parameters)
        values = {name: value[:, None] for name, value in self.values.items()}
        found = model.evaluate(q=self.q, qd=self.qd, values=values)
        return found["kinetic_energy"] + found["potential_energy"]
