"""Motions of one system from any state over any span, and how deviations go on along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.periodic.motion_states import MotionStates
from chainform.analysis.variations.smooth_motion import transitions_along
from chainform.analysis.variations.transitions import Transitions
from chainform.analysis.variations.variation_graph import MOTION
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.simulation import Problem, Run

Array = NDArray[np.float64]
RTOL = 1e-11
"""How accurate motions are where nothing else is given."""
TIMELESS = ("events", "laws")
"""Outputs of the equations that do not move anything."""


@dataclass(frozen=True, eq=False)
class MotionFlow:
    """The motions of one system from states y (nq + nv + nx,)."""

    equations: VariationalEquations
    states: MotionStates

    @staticmethod
    def of(problem: Problem) -> MotionFlow:
        """Return the motions of a problem; RunError where they have no derivatives."""
        equations = VariationalEquations.of(problem.compile())
        return MotionFlow(equations, MotionStates.of(equations))

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with the values of its parameters."""
        return self.equations.mechanism

    @cached_property
    def names_time(self) -> bool:
        """Whether the equations, or what enters them, depend on the time."""
        graph = self.equations.system.machine.equations.graph
        efforts = self.equations.system.conditions.efforts
        moving = [name for name in graph.outputs if name not in TIMELESS]
        cone = graph.cone(graph.output_variables(moving))
        named = any(cone[v] and item.group == "t" for v, item in graph.inputs.items())
        return named or efforts.has_tables or bool(efforts.breaks)

    def over(self, span: tuple[float, float], times: Array | None = None) -> MotionFlow:
        """Return the same motions over another span, with output at times, its ends by default."""
        system = self.equations.system
        times = np.array(span) if times is None else times
        problem = replace(system.problem, span=span, times=times)
        return replace(
            self, equations=replace(self.equations, system=replace(system, problem=problem))
        )

    def start(self, options: Any = None) -> Array:
        """Return the state in which the problem begins, its loops closed."""
        del options
        first = self.equations.system.problem.span[0]
        short = self.over((first, first + 1e-9), np.array([first]))
        return self.states.along(short.equations.system.run())[0]

    def run(self, y: Array) -> Run:
        """Return the motion from a state."""
        return self.equations.system.run(*self.states.start(y))

    def end(self, y: Array) -> Array:
        """Return the state at the last time of output."""
        return self.states.along(self.run(y))[-1]

    def path(self, y: Array, start: Array | None = None) -> tuple[Run, Transitions]:
        """Return the motion from a state, and the transitions of deviations along it."""
        return transitions_along(self.equations, *self.states.start(y), start=start)

    def rates(self, run: Run, k: int) -> Array:
        """Return the rates of deviations along the motion at one of its times, (n,)."""
        y = self.states.along(run)[k]
        nv, nx = self.states.nv, self.states.nx
        inputs = self.equations.inputs(run.t[[k]], y[None])
        motion = self.equations.graph.values(inputs, MOTION)[0][0] if nx else np.zeros(0)
        return np.concatenate([run.qd[k], run.qdd[k], motion[len(motion) - nx :]])


def problem_of(
    mechanism: Mechanism | str | PathLike[str], options: dict[str, Any], span: tuple[float, float]
) -> Problem:
    """Return the problem of a mechanism over a span; what has no derivatives is refused."""
    for name, remedy in REFUSED.items():
        if options.get(name) is not None:
            raise RunError(f"{name} has no place in this task", element=name, remedy=remedy)
    given = {"rtol": RTOL, **options, "t": span, "energy_balance": False}
    if "method" in given and not isinstance(given["method"], str):
        del given["rtol"]
    return Problem.of(mechanism, **cast("Any", given))


REFUSED = {
    "t_eval": "give points: so many times in a period are put out",
    "hold": "leave it out: efforts then follow the state all the time",
}


def names_of(given: Any, element: str, known: Sequence[str]) -> list[str]:
    """Return names that are given, each of them known and once."""
    from chainform.given import argument

    texts = argument(element, given).texts(f'write {element}=["{known[0]}"]')
    for text in texts:
        if text not in known:
            raise argument(element, text).unknown("name", known)
    return list(dict.fromkeys(texts))
