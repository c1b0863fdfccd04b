"""The result of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.pipeline import derive
from chainform.simulation.solver import Statistics

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Happening:
    """An event that was met: its name, when, and the state then."""

    name: str
    t: float
    q: Array
    qd: Array


@dataclass(frozen=True)
class Run:
    """A motion: states at times, and what follows from them.

    `t` has the shape (m,), `q` (m, nq), `qd` (m, nv), `tau` (m, nv): the efforts that laws and
    functions gave. `happenings` are the events on the way. What is derived from the states
    (accelerations, energy, reactions) is computed when it is first asked for.
    """

    mechanism: Mechanism
    model: Model
    t: Array
    q: Array
    qd: Array
    tau: Array
    happenings: tuple[Happening, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    method: str = ""

    @cached_property
    def qdd(self) -> Array:
        """The accelerations, (m, nv)."""
        values = self.model.evaluate(q=self.q, qd=self.qd, tau=self.tau, t=self.t)
        return values["forward_dynamics"]

    @cached_property
    def energy(self) -> Array:
        """The sum of kinetic and potential energy, (m,)."""
        return self.kinetic_energy + self.potential_energy

    @cached_property
    def _energies(self) -> dict[str, Array]:
        outputs = ["kinetic_energy", "potential_energy"]
        model = derive(self.mechanism, outputs, reduce="none")
        return model.evaluate(q=self.q, qd=self.qd)

    @property
    def kinetic_energy(self) -> Array:
        """The kinetic energy, (m,)."""
        return self._energies["kinetic_energy"]

    @property
    def potential_energy(self) -> Array:
        """The potential energy of gravity and springs, (m,)."""
        return self._energies["potential_energy"]

    @cached_property
    def reactions(self) -> Array:
        """Force and moment of the parent on each segment, at its joint, in its axes, (m, n, 6)."""
        model = derive(self.mechanism, ["reactions"], reduce="none")
        values = model.evaluate(q=self.q, qd=self.qd, qdd=self.qdd, t=self.t)
        return values["reactions"]
