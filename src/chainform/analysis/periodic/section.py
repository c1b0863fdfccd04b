"""Sections that a periodic motion crosses: where a period begins, and what changes there.

symbol   meaning
g        the law of the section, zero on it
R        the change of the state there, by laws: y after = R(y before)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.periodic.motion_flow import MotionFlow
from chainform.errors import RunError
from chainform.formulations import with_derivatives
from chainform.given import argument
from chainform.graph import Graph
from chainform.simulation import Problem, System, tables_of, values_along

Array = NDArray[np.float64]
NAME = "section of a period"
EVENTS = "events"
TOUCHING = 1e-6
"""A law that changes by less than this share of its terms only touches zero."""
ON = 1e-9
"""A law below this share of its terms is zero."""


@dataclass(frozen=True, eq=False)
class Section:
    """A section of the motions of a flow; `changed` are the entries of the state with a law."""

    flow: MotionFlow
    system: System
    graph: Graph
    changed: tuple[int, ...]

    @staticmethod
    def of(flow: MotionFlow, problem: Problem, section: Any, change: Any) -> Section:
        """Return the section of a law, or an event of the problem; `change` are laws by names."""
        names = flow.equations.names
        laws = argument("change", {} if change is None else change).table()
        if laws.value and flow.mechanism.quaternions:
            raise laws.error(
                "coordinates of joints with quaternions change together",
                "build them of joints with one coordinate each",
            )
        places: list[int] = []
        for name, law in laws.items():
            if name not in names:
                raise law.holding(name).unknown("coordinate or rate", names)
            places.append(names.index(name))
        own = {NAME: _law_of(problem, section)}
        own |= {f"change of {name}": law.value for name, law in laws.items()}
        system = _with_events(problem, own).compile()
        graph = system.machine.equations.graph
        words = [f"derivative({EVENTS},{group})" for group in ("q", "qd")]
        return Section(flow, system, with_derivatives(graph, words, flow.mechanism), tuple(places))

    def _values(self, output: str, t: float, y: Array) -> Array:
        nq, nv = self.flow.states.nq, self.flow.states.nv
        equations = self.system.machine.equations
        columns = {"t": np.array([t]), "q": y[None, :nq], "qd": y[None, nq : nq + nv]}
        columns |= {"x": y[None, nq + nv :]}
        columns |= {"tau": np.zeros((1, nv)), "u": np.zeros((1, equations.nu))}
        values = dict(self.system.conditions.given.values)
        return values_along(self.graph, output, columns, values)[0]

    def value(self, t: float, y: Array) -> float:
        """Return g at a state."""
        return float(self._values(EVENTS, t, y)[0])

    def slopes(self, t: float, y: Array) -> tuple[Array, Array]:
        """Return the derivatives of g (n,) and of R (n, n) by deviations of a state."""
        n, nv = len(self.flow.equations.names), self.flow.states.nv
        count = len(self.graph.block(EVENTS).variables)
        J = np.zeros((count, n))
        for first, group in ((0, "q"), (nv, "qd")):
            found = self._values(f"derivative({EVENTS},{group})", t, y)
            J[:, first : first + nv] = found.reshape(count, nv)
        R = np.eye(n)
        R[list(self.changed)] = J[1 : 1 + len(self.changed)]
        return J[0], R

    def after(self, t: float, y: Array) -> Array:
        """Return the state after the change."""
        result = y.copy()
        result[list(self.changed)] = self._values(EVENTS, t, y)[1 : 1 + len(self.changed)]
        return result

    def crossing(self, t: float, y: Array, rates: Array) -> float:
        """Return the rate of g along a motion, zero where the motion only touches the section."""
        slope, _ = self.slopes(t, y)
        rate = float(slope @ rates)
        return rate if abs(rate) > TOUCHING * float(np.abs(slope) @ np.abs(rates)) else 0.0

    def is_on(self, t: float, y: Array) -> bool:
        """Tell whether a state is on the section, up to rounding."""
        slope, _ = self.slopes(t, y)
        step = abs(self.value(t, y)) / max(float(np.linalg.norm(slope)), 1e-300)
        return step < ON * max(1.0, float(np.abs(y).max(initial=0.0)))


def first_return(section: Section, problem: Problem, returns: int) -> tuple[Array, float]:
    """Return the state in which the motion of a problem crosses a section, and the time to return.

    A section with a change is reached once; a state is then the one that the problem begins with.
    """
    run = _with_events(problem, {NAME: _law_of_section(section)}).compile().run()
    first = problem.span[0]
    met = [event.t for event in run.events if event.name == NAME]
    flow = section.flow.over(problem.span, np.array([first, *met]))
    run = flow.run(flow.states.along(run)[0])
    y = flow.states.along(run)
    rates = [section.crossing(t, y[k], flow.rates(run, k)) for k, t in enumerate(run.t)]
    if any(rate == 0.0 for rate in rates[1:]):
        t = run.t[1 + rates[1:].index(0.0)]
        raise RunError(
            f"the motion only touches the section at t = {t:.9g} s, where its return jumps",
            element="section",
            remedy="choose a law that the motion crosses",
        )
    if section.changed:
        if not met:
            raise _no_return(problem, 0, 1)
        return y[0], float(run.t[1] - first)
    begins = 0 if section.is_on(first, y[0]) and rates[0] != 0.0 else 1
    same = [k for k in range(begins, len(rates)) if rates[k] * rates[begins] > 0]
    if len(same) <= returns:
        raise _no_return(problem, len(same), returns + 1)
    return y[same[0]], float(run.t[same[returns]] - run.t[same[0]])


def first_round(
    flow: MotionFlow, problem: Problem, name: str, returns: int
) -> tuple[float, Array, float] | None:
    """Return where a motion through impacts and other events begins, by the name of one of them.

    It is the middle of the longest stretch without events between that event and its return: a
    time, the state then, and the time to return. None if no event has the name.
    """
    run = flow.over(problem.span).equations.system.run()
    known = {event.name for event in run.events}
    chosen = name if name in known else f"{name}: impact"
    met = [event.t for event in run.events if event.name == chosen and event.t > problem.span[0]]
    if not met:
        return None
    if len(met) <= returns:
        raise _no_return(problem, len(met), returns + 1)
    first, last = met[-1 - returns], met[-1]
    marks = np.unique([event.t for event in run.events if first <= event.t <= last])
    longest = int(np.argmax(np.diff(marks)))
    begin = float(marks[longest : longest + 2].mean())
    return begin, flow.after(begin - problem.span[0]), last - first


def _no_return(problem: Problem, crossings: int, needed: int) -> RunError:
    span = problem.span[1] - problem.span[0]
    return RunError(
        f"no return to the section within {span:g} s: it is met {crossings} times in one "
        f"direction, and {needed} are needed",
        element="section",
        remedy=f"give a longer time, as t={10 * span:g}, another start or another section",
    )


def _with_events(problem: Problem, events: Mapping[str, Any]) -> Problem:
    """Return a problem with further events, which come first."""
    own = tables_of({**events, **(problem.options[EVENTS] or {})})
    return replace(problem, options={**problem.options, EVENTS: own})


def _law_of(problem: Problem, section: Any) -> Any:
    """Return the law of a section with its direction."""
    known: Mapping[str, Any] = problem.options[EVENTS] or {}
    given: Any = known[section] if isinstance(section, str) and section in known else section
    if isinstance(given, Mapping):
        return dict(argument("section", given).table(("law", "direction")).value)
    return {"law": given}


def _law_of_section(section: Section) -> Any:
    return section.system.problem.options[EVENTS][NAME]
