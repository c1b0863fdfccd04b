"""How deviations go on along a motion: transitions from time to time, forward and adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.event_variations import EventVariation
from chainform.display import Displayed

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Transitions(Displayed):
    """How deviations z from a motion go on: z(t_k+1) = transitions[k] z(t_k) + forced[k] dp.

    `times` (k + 1,) grow; where two of them are the same an event lies between. `states` (k + 1,
    size) are those of the motion (q, qd, x), after the event at the second of such times.
    `names` are those of z: displacements along the rates, changes of the rates, of further states.
    """

    names: tuple[str, ...]
    parameters: tuple[str, ...]
    times: Array
    states: Array
    transitions: Array
    forced: Array
    tolerance: float
    """The estimated error of what was integrated, against the largest deviation of each kind."""
    events: tuple[EventVariation, ...] = ()

    def __repr__(self) -> str:
        span = f"from {self.times[0]:g} to {self.times[-1]:g} s"
        return f"<Transitions of {len(self.names)} deviations {span} in {len(self.forced)} steps>"

    def forward(self, start: Array | None = None, forced: Array | None = None) -> Array:
        """Return deviations at all times, (k + 1, n, columns), given those at the start.

        By default the columns are unit deviations of z, then those by parameters. `forced` (k, n,
        columns) is what parameters add in each step, by default to the last columns.
        """
        n, p = len(self.names), len(self.parameters)
        Z = np.eye(n, n + p) if start is None else np.array(start, dtype=np.float64)
        result = np.empty((len(self.times), *Z.shape))
        result[0] = Z
        steps = self._forced(Z.shape[1]) if forced is None else forced
        for k, transition in enumerate(self.transitions):
            result[k + 1] = transition @ result[k] + steps[k]
        return result

    def _forced(self, columns: int) -> Array:
        whole = np.zeros((len(self.forced), len(self.names), columns))
        p = len(self.parameters)
        if p:
            whole[..., columns - p :] = self.forced
        return whole

    def adjoint(self, weights: Array) -> tuple[Array, Array]:
        """Return the derivatives of a sum of weights (k + 1, n) times z at all times.

        They are those by z at the start, (n,), and by parameters, (p,). Weights (n,) are those at
        the end alone.
        """
        given = np.asarray(weights, dtype=np.float64)
        total = np.zeros(len(self.parameters))
        costate = given if given.ndim == 1 else given[-1]
        for k in range(len(self.forced) - 1, -1, -1):
            total = total + costate @ self.forced[k]
            costate = costate @ self.transitions[k]
            if given.ndim > 1:
                costate = costate + given[k]
        return costate, total

    @cached_property
    def monodromy(self) -> Array:
        """The transition from the start to the end, (n, n)."""
        return self._unit_deviations[0]

    @property
    def growth(self) -> float:
        """The largest entry of any z that begins with a unit deviation."""
        return self._unit_deviations[1]

    @cached_property
    def _unit_deviations(self) -> tuple[Array, float]:
        result, largest = np.eye(len(self.names)), 1.0
        for transition in self.transitions:
            result = transition @ result
            largest = max(largest, float(np.abs(result).max(initial=0.0)))
        return result, largest

    def at(self, times: Sequence[float] | Array) -> NDArray[np.intp]:
        """Return the last of the times before or at some times, those after events."""
        return np.searchsorted(self.times, np.asarray(times), side="right") - 1
