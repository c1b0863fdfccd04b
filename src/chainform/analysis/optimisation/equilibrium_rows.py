"""Equilibria in the order of those that were found first, so that rows change smoothly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_search import without_turns
from chainform.analysis.equilibrium.equilibrium_starts import periodic_coordinates
from chainform.analysis.equilibrium.static_problem import StaticOptions, static_problem
from chainform.analysis.optimisation.design_parameters import scipy_module
from chainform.analysis.results.result import Result
from chainform.errors import RunError

Array = NDArray[np.float64]


class EquilibriumRows:
    """Puts equilibria next to those of the first result, by their distance without whole turns."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.arguments = arguments
        self.first: Array | None = None

    def ordered(self, result: Result) -> Result:
        """Return the same equilibria in the order of the first ones; RunError for more or less."""
        q = result["q"]
        if self.first is None:
            acting = {k: x for k, x in self.arguments.items() if k in StaticOptions.__annotations__}
            problem = static_problem(result.mechanism, acting, self.arguments.get("q0"))
            self.first, self.periodic = q, periodic_coordinates(problem)
            return result
        if len(q) != len(self.first):
            raise RunError(
                f"there are {len(q)} equilibria, and {len(self.first)} at the first start",
                file=result.mechanism.file,
                element="equilibria",
                remedy="give more starts to the study, or narrower ranges or bounds",
            )
        gaps = without_turns(q[None] - self.first[:, None], self.periodic)
        solve = scipy_module("optimize").linear_sum_assignment
        _, order = solve(np.linalg.norm(gaps, axis=2))
        arrays = {name: array[order] for name, array in result.arrays.items()}
        arrays["q"] = self.first + gaps[np.arange(len(order)), order]
        arrays["equilibrium"] = result["equilibrium"]
        return replace(result, arrays=arrays)
