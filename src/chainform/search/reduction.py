"""Carry out a reduction, stage by stage; each is checked against the first.

Two graphs of the same values may differ in what rounding makes of them: x = 1e14 (y - z) is exact
in fractions, and has no digit left where y and z are almost equal. So a running bound of the
rounding error of the outputs is compared as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chainform.algebra import Prices, is_same, needs_more
from chainform.errors import DeriveError, RunError
from chainform.graph import FLOAT, Cost, Graph, evaluate_variables
from chainform.search.efforts import DEFAULT_SECONDS, Effort
from chainform.search.fast import (
    StartGraph,
    best_starts,
    best_walk,
    with_stages,
    without_collection,
)
from chainform.search.neighbourhood import Walk
from chainform.search.stages import LEFT, TAKEN, Observer, Option, Progress, Stage, stage_of

if TYPE_CHECKING:
    from chainform.passes import Pass
    from chainform.search.thesis import Thesis


# --- bounds of rounding errors --------------------------------------------------------------------

EPSILON = 2.0**-53
STATES = 3
LOST = 100.0
"""How many times larger the bound may become by a reduction: two of sixteen digits."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number, and a bound of its error."""

    value: float
    error: float = 0.0

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __add__(self, other: Rounded) -> Rounded:
        value = self.value + other.value
        return Rounded(value, self.error + other.error + EPSILON * abs(value))

    def __mul__(self, other: Rounded) -> Rounded:
        value = self.value * other.value
        reach = abs(self.value) * other.error + abs(other.value) * self.error
        return Rounded(value, reach + EPSILON * abs(value))


class Rounding:
    """The arithmetic of such numbers."""

    def number(self, value: Fraction) -> Rounded:
        """Return a coefficient, as the nearest double."""
        nearest = FLOAT.number(value)
        return Rounded(nearest, EPSILON * abs(nearest))

    def call(self, function: str, argument: Rounded) -> Rounded:
        """Return a function of a number; its slope is a difference between two values."""
        value = FLOAT.call(function, argument.value)
        near = argument.value + max(1e-7 * abs(argument.value), 1e-7)
        slope = abs((FLOAT.call(function, near) - value) / (near - argument.value))
        return Rounded(value, slope * argument.error + EPSILON * abs(value))


def loses_digits(before: Graph, after: Graph) -> bool:
    """Tell whether rounding may spoil outputs of one graph far more than those of another.

    Both have the same outputs. Bounds are compared where both have values, each entry with the
    largest of its output.
    """
    source = random.Random(0)
    defaults = {i.name: i.default for g in (before, after) for i in g.inputs.values()}
    for _ in range(STATES):
        values = {
            name: Rounded(FLOAT.number(default) if default else source.uniform(-1.0, 1.0))
            for name, default in sorted(defaults.items())
        }
        try:
            old, new = (_errors(graph, values) for graph in (before, after))
        except RunError:
            continue
        if any(np.any(new[name] > LOST * np.max(old[name], initial=0.0)) for name in old):
            return True
    return False


def _errors(graph: Graph, values: dict[str, Rounded]) -> dict[str, NDArray[np.float64]]:
    """Return bounds for the entries of each output, none smaller than rounding of the largest."""
    known = evaluate_variables(graph, values, Rounding(), graph.output_variables())
    errors: dict[str, NDArray[np.float64]] = {}
    for name, block in graph.outputs.items():
        entries = [known[v] for v in block.variables]
        least = EPSILON * max((abs(entry.value) for entry in entries), default=0.0)
        errors[name] = np.array([max(entry.error, least) for entry in entries])
    return errors


# --- the stages -----------------------------------------------------------------------------------


def reduce_graph(
    graph: Graph,
    effort: Effort,
    *,
    start: str = "formulation",
    seconds: float = 0.0,
    others: Callable[[], Iterable[Graph]] = tuple,
    observe: Observer | None = None,
    progress: Progress | None = None,
) -> tuple[Stage, ...]:
    """Return the stages of a reduction, the graph as it was (called `start`) first.

    `seconds` is how long it took to get there. `others` gives graphs of the same values that may be
    better to start from. Each stage is evaluated against the first in a large finite field before
    it is accepted. A search whose graph lets rounding errors grow is left out.
    """
    run = _Run(stage_of(start, graph, seconds), effort, others, observe, progress)
    match effort.name:
        case "fast":
            with without_collection():
                run.fast()
        case "deep":
            run.deep()
        case _ if effort.passes:
            run.steps(effort.passes)
        case _:
            pass
    return tuple(run.stages)


class _Run:
    def __init__(
        self,
        start: Stage,
        effort: Effort,
        others: Callable[[], Iterable[Graph]],
        observe: Observer | None,
        progress: Progress | None,
    ) -> None:
        self.effort = effort
        self.others = others
        self.observe = observe
        self.progress = progress
        self.prices = Prices(call=effort.sine_cost)
        self.stages: list[Stage] = []
        self._accept(start)

    def _accept(self, stage: Stage) -> None:
        if self.stages and loses_digits(self.stages[0].graph, stage.graph):
            raise DeriveError(
                f"the step {stage.name} makes rounding errors far larger",
                element=stage.name,
                remedy="leave it out, or take the effort fast, which does so by itself",
            )
        self._append(stage)

    def _append(self, stage: Stage) -> None:
        if self.stages:
            self._check(stage)
        self._keep(stage)

    def _keep(self, stage: Stage) -> None:
        self.stages.append(stage)
        if self.observe:
            self.observe(stage)

    def _check(self, stage: Stage) -> None:
        """Refuse a stage with other values, or whose outputs need other inputs, than the first."""
        first, fault = self.stages[0].graph, None
        if not is_same(first, stage.graph):
            fault = "changed a value"
        elif not stage.fate.startswith(LEFT) and needs_more(first, stage.graph):
            fault = "let an output need other inputs"
        if fault is not None:
            raise DeriveError(
                f"the step {stage.name} {fault}; this is a defect of chainform",
                element=stage.name,
                remedy="report it with the mechanism; use the model as derived until then",
            )

    def _offer(self, stage: Stage) -> bool:
        """Accept a stage unless it lets rounding errors grow; tell whether it was accepted."""
        is_fine = not loses_digits(self.stages[0].graph, stage.graph)
        if is_fine:
            self._append(stage)
        return is_fine

    def _step(self, name: str, step: Callable[[Graph], Graph], **options: Option) -> None:
        start = perf_counter()
        graph = step(self.stages[-1].graph)
        self._accept(stage_of(name, graph, perf_counter() - start, dict(options)))

    def steps(self, passes: Iterable[Pass]) -> None:
        """Run passes, one after the other."""
        # These were imported when the passes were named.
        from chainform.search.sequence import sequence_text
        from chainform.search.thesis import Thesis

        for step in passes:
            if isinstance(step, Thesis):
                self._thesis(step)
            else:
                self._step(step.name, step, passes=sequence_text([step]))

    def _thesis(self, thesis: Thesis) -> None:
        """Reduce as in Racković 1996; what was tried and left, and parts, are stages as well."""
        from chainform.search.sequence import sequence_text
        from chainform.search.thesis import PART_STAGES

        start = self.stages[-1].graph
        options: dict[str, Option] = {"passes": sequence_text([thesis])}
        stages: list[Stage] = []
        thesis(start, stages.append)
        # Where nothing was neutral, the initial graph is the one that is there already.
        is_new = len(stages[0].graph) < len(start) or stages[0].cost != self.stages[-1].cost
        for stage in stages if is_new else stages[1:]:
            stage = replace(stage, options=options)
            if stage.name in PART_STAGES:
                self._keep(stage)
            elif stage.fate == TAKEN:
                self._accept(stage)
            else:
                self._append(stage)

    def _starts(self) -> list[Graph]:
        """Return the graphs to start from, that of the first stage first."""
        first = self.stages[0].graph
        return [first, *(graph for graph in self.others() if not needs_more(first, graph))]

    def fast(self) -> None:
        """Take out common parts, then walk a little, from the start that leads farthest."""
        sine_cost, seed, first = self.effort.sine_cost, self.effort.seed, self.stages[0].graph
        began = perf_counter()
        starts, last = with_stages(best_starts(self._starts(), self.prices), first, self.prices)
        settling = perf_counter() - began
        start, walk = best_walk(starts, self.prices, seed)
        while len(starts) > 1 and self._spoils(start, walk):
            starts.remove(start)
            start, walk = best_walk(starts, self.prices, seed)
        walking = perf_counter() - began - settling
        if start.graph is not first:
            options: dict[str, Option] = {"stage": start.stage} if start.stage else {}
            seconds = settling - start.seconds
            self._append(stage_of("choose_start", start.graph, seconds, options))
            settling = start.seconds
        options = {"sine_cost": sine_cost}
        self._offer(stage_of("extract_divisors", start.settled, settling, options))
        options = {"steps": walk.steps, "seed": seed, **options}
        self._offer(stage_of("search_neighbourhoods", walk.best_graph(), walking, options))
        if last is not None and self._price(last.cost) < self._price(self.stages[-1].cost):
            self._offer(stage_of("choose_end", last.graph, 0.0, {"stage": last.name}))

    def _price(self, cost: Cost) -> float:
        """Return what a graph costs, those operations included that are within angles."""
        calls = cost.sin + cost.cos
        return cost.multiplications + cost.additions + self.effort.sine_cost * calls

    def _spoils(self, start: StartGraph, walk: Walk) -> bool:
        """Whether a start, or what came of it, lets rounding errors grow."""
        first = self.stages[0].graph
        graphs = (start.graph, start.settled, walk.best_graph())
        return any(graph is not first and loses_digits(first, graph) for graph in graphs)

    def deep(self) -> None:
        """Search for a number of steps, or for a time."""
        # The processes of a deep search are imported when there is one.
        from chainform.search.deep import deep

        effort = self.effort
        seconds = effort.seconds
        if seconds is None and effort.steps is None:
            seconds = DEFAULT_SECONDS
        options: dict[str, Option] = {"steps": effort.steps, "seconds": seconds}
        options |= {"seed": effort.seed, "sine_cost": effort.sine_cost}
        began = perf_counter()
        graph = deep(
            self._starts(),
            prices=self.prices,
            steps=effort.steps,
            seconds=seconds,
            seed=effort.seed,
            cores=effort.cores,
            progress=self.progress,
        )
        if not self._offer(stage_of("search_deep", graph, perf_counter() - began, options)):
            self.fast()
