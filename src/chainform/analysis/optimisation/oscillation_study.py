"""Modes as a study of a design: about the equilibrium near the given state, which moves along.

Rows of a kind (free motions; poles above the real axis; real poles) keep the places that they had at
first, the k-th of a kind in order: the k-th slowest is always the same row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.linear_variables import ACTING, LinearOptions
from chainform.analysis.linear.linearisation import ActingValues
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.optimisation.design_parameters import DesignParameters
from chainform.analysis.optimisation.oscillation_slopes import Equilibria, OscillationSlopes
from chainform.analysis.optimisation.state_slopes import coordinate_changes, no_derivative
from chainform.analysis.oscillations.parameter_motions import steady_near
from chainform.analysis.oscillations.steady_motion import checked, given_states
from chainform.analysis.oscillations.vibration_modes import modes_about
from chainform.analysis.results.result import Result
from chainform.errors import RunError

Array = NDArray[np.float64]
REFUSED = ("signals", "controllers")
"""Arguments with which modes have no exact derivatives."""


class ModesStudy:
    """The modes of a mechanism for values of parameters, and their exact derivatives."""

    def __init__(self, parameters: DesignParameters, arguments: Mapping[str, Any]) -> None:
        self.parameters, self.arguments = parameters, arguments
        self._slopes: OscillationSlopes | None = None
        self._first: tuple[Array, ...] | None = None

    def _motions(self, values: Array) -> list[SmallMotion]:
        """Return the small motions about the equilibria, or steady motions, near the state."""
        acting = {name: self.arguments.get(name) for name in ACTING}
        equations = ActingValues(**acting).equations(self.parameters.bound(values))
        words = LinearOptions.__annotations__
        parts = {name: part for name, part in self.arguments.items() if name in words}
        independent = self.arguments.get("independent")
        states = given_states(equations.mechanism, self.arguments.get("state"), parts)
        return [steady_near(equations, state, independent) for state in states]

    def find(self, values: Array) -> Result:
        """Return the modes, rows in the order of the first ones; RunError for more or fewer."""
        found = modes_about([checked(motion) for motion in self._motions(values)])
        poles = found["pole_real"] + 1j * found["pole_imag"]
        kinds = np.where(poles.imag > 0, 1.0, np.where(found["kind"] == 0, 0.0, 2.0))
        # From slow to fast; real poles from growth to decay, which goes through zero.
        sizes = np.where(kinds == 2, -poles.real, np.abs(poles))
        places = found.arrays.get("equilibrium", np.ones(len(poles)))
        order = np.lexsort((sizes, kinds, places))
        now = places[order], kinds[order]
        if self._first is None:
            self._first = (*now, order)
        *before, first = self._first
        if not all(np.array_equal(a, b) for a, b in zip(before, now, strict=True)):
            raise RunError(
                f"there are {_counts(now[1])}, and {_counts(before[1])} at the first start",
                file=found.mechanism.file,
                element="modes",
                remedy="give narrower bounds, or a start at which modes are of the same kinds",
            )
        rows = np.empty(len(order), np.intp)
        rows[first] = order
        arrays = {name: array[rows] for name, array in found.arrays.items()}
        facts = {"kinds": [found.facts["kinds"][row] for row in rows]}
        return replace(found, arrays={**arrays, "mode": found["mode"]}, facts=facts)

    def arrays(self, result: Result, values: Array, wanted: Collection[str]) -> dict[str, Array]:
        """Return the derivatives of some arrays of a result, (m, ..., n)."""
        if self._slopes is None:
            self._slopes = self._derived()
        motions = self._motions(values)
        places = result.arrays.get("equilibrium", np.ones(len(result))).astype(np.intp) - 1
        rest = Equilibria(self._slopes, motions, values)
        poles = result["pole_real"] + 1j * result["pole_imag"]
        by_pole = _columns_of(poles)
        found: dict[str, Array] = {}
        change = None
        for name in wanted:
            if name in ("mode", "equilibrium"):
                found[name] = np.zeros((len(result), rest.n))
            elif name == "q":
                q = np.where(rest.open[..., None], np.nan, rest.changes["q"][..., : rest.n])
                found[name] = coordinate_changes(result.mechanism, q[places])
            elif name in by_pole:
                if change is None:
                    change = rest.pole_changes(poles, result["pole_error"], places)
                found[name] = np.real(by_pole[name][:, None] * change)
            else:
                raise no_derivative(f"{name} of modes is not differentiated")
        return found

    def _derived(self) -> OscillationSlopes:
        mechanism = self.parameters.free()
        for word in REFUSED:
            if self.arguments.get(word):
                raise no_derivative(f"modes with {word!r} are not differentiated", mechanism.file)
        forces = self.arguments.get("forces")
        acted_on = mechanism.with_forces(forces) if forces else mechanism
        return OscillationSlopes(acted_on, self.parameters.names)


def _columns_of(poles: NDArray[np.complex128]) -> dict[str, NDArray[np.complex128]]:
    """Return factors by which the real part of their product with d(pole) is that of a column."""
    one = np.ones(len(poles), np.complex128)
    sizes = np.where(poles == 0, 1.0, np.abs(poles))
    return {
        "pole_real": one,
        "growth": one,
        "pole_imag": -1j * one,
        "angular_frequency": -1j * one,
        "frequency": -1j * one / (2 * np.pi),
        # The part of a change across the pole: d(-Re s/|s|) = Im s/|s|^3 Im(conj(s) ds).
        "damping_ratio": -1j * poles.imag * poles.conj() / sizes**3,
    }


def _counts(kinds: Sequence[float] | Array) -> str:
    words = ("free motions", "oscillations", "decays or growths")
    return ", ".join(f"{int(np.sum(np.asarray(kinds) == k))} {word}" for k, word in enumerate(words))
