"""Motions as studies, and exact derivatives of their states by the variational equations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.design.design_parameters import DesignParameters, named
from chainform.analysis.design.graph_slopes import GraphSlopes, with_parameters
from chainform.analysis.design.state_slopes import coordinate_changes, no_derivative
from chainform.analysis.results.result import Result
from chainform.analysis.variations.smooth_motion import MotionVariations
from chainform.analysis.variations.start import Start
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError
from chainform.given import Given
from chainform.pipeline import derive, names_in
from chainform.simulation import END, Problem, System

Array = NDArray[np.float64]
ACCURACY = 1e-10
"""The tolerance of motions, unless another one is given."""
KNOWN = {"q", "qd", "t", "parameter"}
"""Inputs of quantities along a motion."""


@dataclass(frozen=True, eq=False)
class MotionStudy:
    """Motions from the same start for values of parameters; `outputs` are further quantities."""

    parameters: DesignParameters
    options: Mapping[str, Any]
    outputs: tuple[str, ...]

    @staticmethod
    def of(parameters: DesignParameters, given: Given, outputs: Given) -> MotionStudy:
        """Return the study that options of `simulate` describe."""
        options = dict(given.table(remedy='write {"simulate": {"t": 2}}').value)
        for word in ("values", "resume", "progress", "checkpoint"):
            if word in options:
                raise given[word].error("a design gives it", "leave it out")
        options = {"rtol": ACCURACY, **options, "energy_balance": False}
        names = names_in("outputs", outputs.value or ())
        return MotionStudy(parameters, options, names)

    def system(self, values: Array) -> System:
        """Return the system with values of parameters, which stay free in its machine code."""
        mechanism, numbers = self.parameters.mechanism, named(self.parameters.names, values)
        return Problem.of(mechanism, values=numbers, **self.options).compile()

    def find(self, values: Array) -> Result:
        """Return the motion as rows of times."""
        run = self.system(values).run()
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
        arrays |= {name: run.output(name) for name in self.outputs}
        return Result("simulate", run.mechanism, "t", arrays, units={"t": "s"})

    # --- derivatives ----------------------------------------------------------------------

    def arrays(self, result: Result, values: Array, wanted: Collection[str]) -> dict[str, Array]:
        """Return the derivatives of some arrays of a motion, (m, ..., n)."""
        names, t = self.parameters.names, result["t"]
        equations = VariationalEquations.of(self.system(values), names)
        motion = MotionVariations(equations, times=t)
        start = Start(motion, None).deviations()[:, -len(names) :]
        path = motion.transitions(start)
        Z = path.forward(start)[path.at(t.tolist())]
        nv = result.mechanism.nv
        known = {"q": Z[:, :nv], "qd": Z[:, nv : 2 * nv], "x": Z[:, 2 * nv :]}
        found: dict[str, Array] = {}
        for name in wanted:
            if name == "t":
                found[name] = np.zeros((len(t), len(names)))
            elif name == "q":
                found[name] = coordinate_changes(result.mechanism, known["q"])
            elif name in known:
                found[name] = known[name][:, : result[name].shape[1]]
            elif name in self.outputs:
                found[name] = self._quantity(name, result, values, known)
            else:
                remedy = "write it as an expression of states, times and parameters"
                raise no_derivative(f"{name} of a motion is not differentiated", remedy=remedy)
        return found

    @cached_property
    def _quantities(self) -> dict[str, GraphSlopes]:
        mechanism = self.parameters.free()
        models = {name: derive(mechanism, [name]) for name in self.outputs}
        return {
            name: GraphSlopes(model.graph, model.outputs[0], mechanism, self.parameters.names)
            for name, model in models.items()
        }

    def _quantity(
        self, name: str, result: Result, values: Array, known: Mapping[str, Array]
    ) -> Array:
        slopes = self._quantities[name]
        if not slopes.groups <= KNOWN:
            raise no_derivative(f"{name} depends on forces")
        point = {"q": result["q"], "qd": result["qd"], "t": result["t"][:, None]}
        columns = with_parameters(point, self.parameters.names, values)
        changes = {group: known[group] for group in ("q", "qd")}
        total = slopes.total(columns, changes, len(result))
        return total.reshape(*result[name].shape, len(values))
