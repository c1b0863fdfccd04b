"""Motions as studies, and exact derivatives of their states by the variational equations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.design.design_parameters import DesignParameters, named
from chainform.analysis.design.state_slopes import coordinate_changes, no_derivative
from chainform.analysis.results.result import Result
from chainform.analysis.variations.sensitivities import sensitivities
from chainform.errors import RunError
from chainform.given import Given
from chainform.pipeline import names_in
from chainform.simulation import END, ProblemOptions, Run, simulate

Array = NDArray[np.float64]
ACCURACY = 1e-10
"""The tolerance of motions, unless another one is given."""


@dataclass(frozen=True, eq=False)
class MotionStudy:
    """Motions from the same start for values of parameters; `outputs` are further quantities."""

    parameters: DesignParameters
    options: Mapping[str, Any]
    outputs: tuple[str, ...]

    @staticmethod
    def of(parameters: DesignParameters, given: Given, outputs: Given) -> MotionStudy:
        """Return the study that options of `simulate` describe."""
        table = given.table(remedy='write {"simulate": {"t": 2}}')
        if table.has("values"):
            raise table["values"].error("a design gives it", "leave it out")
        options = table.table(tuple(ProblemOptions.__annotations__)).value
        options = {"rtol": ACCURACY, **options, "energy_balance": False}
        names = names_in("outputs", outputs.value or ())
        return MotionStudy(parameters, options, names)

    def find(self, values: Array) -> Result:
        """Return the motion as rows of times; its machine code serves for all values."""
        numbers = named(self.parameters.names, values)
        run = simulate(self.parameters.mechanism, values=numbers, **self.options)
        if run.about.ending != END:
            raise RunError(
                f"the motion ends early, by {run.about.ending}, at a time that parameters move",
                element="study",
                remedy="let it go on to its end: without events that end it",
            )
        arrays = {"t": run.t, "q": run.q, "qd": run.qd, "tau": run.tau}
        if run.u is not None and run.u.size:
            arrays["u"] = run.u
        if run.extra_states is not None and run.extra_states.size:
            arrays["x"] = run.extra_states
        arrays |= {name: _quantity(run, name) for name in self.outputs}
        return Result("simulate", run.mechanism, "t", arrays, units={"t": "s"})

    def arrays(self, result: Result, values: Array, wanted: Collection[str]) -> dict[str, Array]:
        """Return the derivatives of some arrays of a motion, (m, ..., n)."""
        names = self.parameters.names
        outputs = [name for name in self.outputs if name in wanted]
        numbers = named(names, values)
        mechanism = self.parameters.mechanism
        along = sensitivities(mechanism, names, (), outputs=outputs, values=numbers, **self.options)
        found: dict[str, Array] = {}
        for name in wanted:
            if name == "t":
                found[name] = np.zeros((len(result), len(names)))
            elif name == "q":
                found[name] = coordinate_changes(result.mechanism, along["d(q)"])
            elif name in ("qd", "x", *outputs):
                found[name] = along[f"d({name})"].reshape(*result[name].shape, -1)
            else:
                remedy = "write it as an expression of states, times and parameters"
                raise no_derivative(f"{name} of a motion is not differentiated", remedy=remedy)
        return found


def _quantity(run: Run, name: str) -> Array:
    """Return a quantity along a motion."""
    if name == "energy":
        return run.kinetic_energy + run.potential_energy
    return run.qdd if name == "qdd" else run.output(name)
