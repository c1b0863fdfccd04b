"""A study of a design: a task or a motion, its result for values of parameters, and how it changes.

{"task": "statics", "q": {"arm": [0, 0.5, 1]}}
{"simulate": {"t": 2, "q0": [0.3]}}
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_search import without_turns
from chainform.analysis.equilibrium.equilibrium_starts import periodic_coordinates
from chainform.analysis.equilibrium.static_problem import StaticOptions, static_problem
from chainform.analysis.optimisation.design_parameters import (
    DesignParameters,
    differences,
    named,
    scipy_module,
)
from chainform.analysis.optimisation.oscillation_study import OSCILLATIONS, OscillationStudy
from chainform.analysis.optimisation.row_expressions import Varied
from chainform.analysis.optimisation.state_slopes import coordinate_changes, no_derivative
from chainform.analysis.optimisation.studies import STUDIES, arguments_in, words_of
from chainform.analysis.optimisation.task_slopes import TaskSlopes, has_exact
from chainform.analysis.results.result import Result
from chainform.analysis.variations.sensitivities import sensitivities
from chainform.errors import RunError
from chainform.given import Given, argument
from chainform.pipeline import names_in
from chainform.simulation import END, ProblemOptions, ResultRecord, Run, columns_of, simulate

Array = NDArray[np.float64]
MOST = 1_000_000
"""Rows times parameters: each takes all steps of the equations at once."""
ACCURACY = 1e-10
"""The tolerance of motions, unless another one is given."""
REMEDY = 'write {"task": "statics", "q": ...}, or {"simulate": {"t": 2, "q0": [0.3]}}'


class ArraySlopes(Protocol):
    """What gives exact derivatives of the arrays of results."""

    def arrays(self, result: Result, values: Array, wanted: Collection[str]) -> dict[str, Array]:
        """Return the derivatives of some arrays of a result, (m, ..., n)."""
        ...


@dataclass(frozen=True, eq=False)
class Study:
    """A function from values of parameters to a result."""

    parameters: DesignParameters
    name: str
    find: Callable[[Array], Result]
    make_slopes: Callable[[], ArraySlopes]
    is_exact: bool

    @staticmethod
    def of(parameters: DesignParameters, given: object, is_exact: bool) -> Study:
        """Return the study that a table describes."""
        table = argument("study", given).table(remedy=REMEDY)
        if table.one_of("task", "simulate", remedy=REMEDY) == "simulate":
            known = table.table(("simulate", "outputs"), REMEDY)
            motion = MotionStudy.of(parameters, known["simulate"], known["outputs"])
            return Study(parameters, "simulate", motion.find, lambda: motion, is_exact)
        task = table["task"].choice(tuple(STUDIES), "task", f"studies are {', '.join(STUDIES)}")
        function = STUDIES[task]
        known = table.table(("task", "t", *words_of(function)))
        arguments = arguments_in(task, function, known, Path())
        if known.has("t"):
            arguments["t"] = known["t"].value
        if "values" in arguments:
            raise table["values"].error(
                "values belong to the mechanism", "put those of other parameters into its file"
            )
        if task in OSCILLATIONS:
            own = OscillationStudy(parameters, task, arguments)
            return Study(parameters, task, own.find, lambda: own, is_exact)
        if is_exact and not has_exact(task):
            raise no_derivative(f"{task} is not differentiated")

        rows = EquilibriumRows(arguments) if task == "equilibria" else None

        def find(values: Array) -> Result:
            found = function(parameters.bound(values), **arguments)
            return found if rows is None else rows.ordered(found)

        def make_slopes() -> ArraySlopes:
            return TaskSlopes(parameters.free(), parameters.names, task, arguments)

        return Study(parameters, task, find, make_slopes, is_exact)

    @cached_property
    def _slopes(self) -> ArraySlopes:
        return self.make_slopes()

    def columns(self, result: Result, names: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return the array and the place in it of columns; names of parameters are none."""
        places: dict[str, tuple[str, int]] = {}
        for array in result.arrays:
            record = ResultRecord({array: result[array]}, (), {})
            labels = columns_of(record, result.mechanism)
            places |= {label: (array, k) for k, label in enumerate(labels)}
        own = self.parameters.names
        for name in names:
            if name in places and name in own:
                message = f"{name} may mean the parameter or a column of the result"
                raise RunError(message, element=name, remedy="give the parameter another name")
            if name not in places and name not in self.constants:
                known = dict.fromkeys((*own, *places, *self.constants))
                raise argument("expression", name).unknown("column or parameter", known)
        return {name: places[name] for name in names if name in places}

    @cached_property
    def constants(self) -> dict[str, float]:
        """Values of all parameters of the mechanism."""
        mechanism = self.parameters.bound(self.parameters.start)
        return {p.name: float(p.value) for p in mechanism.parameters if p.value is not None}

    def known(self, result: Result, values: Array, names: Collection[str]) -> dict[str, Varied]:
        """Return what names in expressions stand for, with derivatives by parameters."""
        places = self.columns(result, names)
        arrays = sorted({array for array, _ in places.values()})
        found = self._changes(result, values, arrays)
        n, rows = len(values), len(result)
        known: dict[str, Varied] = {
            name: Varied(np.asarray(x), np.zeros(n)) for name, x in self.constants.items()
        }
        for k, name in enumerate(self.parameters.names):
            known[name] = Varied(np.asarray(values[k]), np.eye(n)[k])
        for name, (array, place) in places.items():
            column = result[array].reshape(rows, -1)[:, place]
            slopes = found[array].reshape(rows, -1, n)[:, place]
            if np.isnan(slopes).any():
                remedy = "name as many drives, or targets, as there are freedoms"
                remedy = "" if self.name in OSCILLATIONS else remedy
                message = f"{name} is not determined by the equations of {self.name}"
                raise no_derivative(message, result.mechanism.file, remedy)
            known[name] = Varied(column, slopes)
        return known

    def _changes(self, result: Result, values: Array, arrays: Collection[str]) -> dict[str, Array]:
        if not arrays:
            return {}
        size = len(result) * len(values)
        if size > MOST:
            message = f"{len(result)} rows and {len(values)} parameters are too many"
            remedy = f"take fewer: their product may be {MOST}"
            raise RunError(message, element="study", remedy=remedy)
        if self.is_exact:
            return self._slopes.arrays(result, values, arrays)
        return self._differences(result, values, arrays)

    def _differences(
        self, result: Result, values: Array, arrays: Collection[str]
    ) -> dict[str, Array]:
        """Return differences of five points."""

        def flat(at: Array) -> Array:
            end = self.find(at)
            wrong = [name for name in arrays if end[name].shape != result[name].shape]
            if wrong:
                message = f"the number of rows of {wrong[0]} changes with the parameters"
                remedy = "take a study whose number of rows stays"
                raise RunError(message, element="study", remedy=remedy)
            return np.concatenate([end[name].reshape(-1) for name in arrays])

        found = differences(flat, values, self.parameters)
        sizes = np.cumsum([result[name].size for name in arrays])[:-1]
        pairs = zip(arrays, np.split(found, sizes), strict=True)
        return {name: part.reshape(*result[name].shape, -1) for name, part in pairs}


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
        given: dict[str, Any] = {"outputs": outputs, "values": numbers, **self.options}
        try:
            along = sensitivities(mechanism, names, (), **given)
        except RunError as error:
            raise no_derivative(error.message, error.file, error.remedy or "") from error
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
