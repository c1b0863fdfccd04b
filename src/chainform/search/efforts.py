"""How much is done to reduce a graph: nothing, as in paper 000, a second, or for long."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from time import perf_counter
from typing import cast

from chainform.algebra import Prices, is_same
from chainform.errors import DeriveError
from chainform.graph import Graph
from chainform.passes import PASSES, Pass
from chainform.search.budget import seconds_of, shown
from chainform.search.deep import Progress, deep
from chainform.search.fast import best_starts, best_walk
from chainform.search.sequence import parse_sequence, sequence_text
from chainform.search.stage import Observer, Option, Stage, stage_of
from chainform.search.thesis import Thesis

EFFORTS = ("none", "thesis", "fast", "deep")

SINE_COST = 12.0
"""What a sine or cosine costs, in multiplications: about what a vectorised one takes."""

DEAREST_SINE = 1e6
"""The most a sine may cost: costs are sums of floats, in which one more addition has to count."""

LARGEST = 10**18
"""The largest seed or number of steps."""

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class Effort:
    """An effort with its options; `steps` and `seconds` bound the deep search."""

    name: str = "fast"
    sine_cost: float = SINE_COST
    seconds: float | None = None
    steps: int | None = None
    seed: int = 0
    cores: int | None = None
    passes: tuple[Pass, ...] = ()
    """The passes to run, where they were named one by one."""


def effort_of(
    name: str,
    sine_cost: float = SINE_COST,
    budget: float | str | None = None,
    steps: int | None = None,
    seed: int = 0,
    cores: int | None = None,
) -> Effort:
    """Return an effort, its options checked; DeriveError names the one that is wrong.

    In place of an effort, passes may be named: "expand, extract_monomials".
    """
    passes: tuple[Pass, ...] = ()
    if _names_passes(name):
        passes = parse_sequence(name)
    elif name not in EFFORTS:
        close = get_close_matches(str(name), EFFORTS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise DeriveError(
            f"{shown(name)} is not a choice for reduce",
            element="reduce",
            remedy=f"{hint}choices are {', '.join(EFFORTS)}, or passes by name",
        )
    if name != "deep" and (budget is not None or steps is not None):
        given = "budget" if steps is None else "steps"
        raise DeriveError(
            f"reduce={shown(name)!r} takes no {given}",
            element=given,
            remedy="leave it out, or choose the effort deep",
        )
    _check_sine_cost(sine_cost)
    _check_whole("seed", seed, 0)
    if steps is not None:
        _check_whole("steps", steps, 1)
    if cores is not None:
        _check_whole("cores", cores, 1)
    seconds = None if budget is None else seconds_of(budget)
    return Effort(name, float(sine_cost), seconds, steps, seed, cores, passes)


def _names_passes(text: str) -> bool:
    first = re.match(r"\s*([a-z_]+)", text) if type(text) is str else None
    return first is not None and first[1] in PASSES


def _check_sine_cost(value: object) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= cast(float, value) <= DEAREST_SINE:
        raise DeriveError(
            f"sine_cost must be a number from 0 on, up to {DEAREST_SINE:.0f}, not {shown(value)}",
            element="sine_cost",
            remedy=f"give it in multiplications, such as {SINE_COST:g}; from about a thousand on, "
            "no sine or cosine is added",
        )


def _check_whole(name: str, value: object, least: int) -> None:
    if type(value) is not int or not least <= value <= LARGEST:
        raise DeriveError(
            f"{name} must be a whole number from {least} on, not {shown(value)}",
            element=name,
            remedy=f"give a number without a fraction, {least} or larger, up to {LARGEST}",
        )


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
    it is accepted.
    """
    run = _Run(stage_of(start, graph, seconds), effort, others, observe, progress)
    match effort.name:
        case "thesis":
            run.thesis()
        case "fast":
            run.fast()
        case "deep":
            run.deep()
        case _:
            for step in effort.passes:
                run.step(step)
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
        if self.stages and not is_same(self.stages[0].graph, stage.graph):
            raise DeriveError(
                f"the step {stage.name} changed a value; this is a defect of chainform",
                element=stage.name,
                remedy="report it with the mechanism, and derive with reduce='none' until then",
            )
        self.stages.append(stage)
        if self.observe:
            self.observe(stage)

    def _step(self, name: str, step: Callable[[Graph], Graph], **options: Option) -> None:
        start = perf_counter()
        graph = step(self.stages[-1].graph)
        self._accept(stage_of(name, graph, perf_counter() - start, dict(options)))

    def step(self, step: Pass) -> None:
        """Run one pass."""
        self._step(step.name, step, passes=sequence_text([step]))

    def thesis(self) -> None:
        """Reduce as in paper 000; the stages that compute all outputs are kept."""
        start = perf_counter()

        def observe(stage: Stage) -> None:
            nonlocal start
            if list(stage.graph.outputs) == list(self.stages[0].graph.outputs):
                self._accept(stage_of(stage.name, stage.graph, perf_counter() - start))
            elif self.observe:
                self.observe(stage)
            start = perf_counter()

        Thesis()(self.stages[0].graph, observe)

    def _starts(self) -> list[Graph]:
        """Return the graphs to start from, that of the first stage first."""
        return [self.stages[0].graph, *self.others()]

    def fast(self) -> None:
        """Take out common parts, then walk a little, from the start that leads farthest."""
        sine_cost, seed = self.effort.sine_cost, self.effort.seed
        began = perf_counter()
        starts = best_starts(self._starts(), self.prices)
        settling = perf_counter() - began
        start, walk = best_walk(starts, self.prices, seed)
        walking = perf_counter() - began - settling
        if start.graph is not self.stages[0].graph:
            self._accept(stage_of("choose_start", start.graph, settling - start.seconds))
            settling = start.seconds
        options: dict[str, Option] = {"sine_cost": sine_cost}
        self._accept(stage_of("extract_divisors", start.settled, settling, options))
        options = {"steps": walk.steps, "seed": seed, **options}
        self._accept(stage_of("search_neighbourhoods", walk.best_graph(), walking, options))

    def deep(self) -> None:
        """Search for as many steps, or as long, as was asked for."""
        effort = self.effort
        seconds = effort.seconds
        if seconds is None and effort.steps is None:
            seconds = DEFAULT_SECONDS
        self._step(
            "search_deep",
            lambda _: deep(
                self._starts(),
                prices=self.prices,
                steps=effort.steps,
                seconds=seconds,
                seed=effort.seed,
                cores=effort.cores,
                progress=self.progress,
            ),
            steps=effort.steps,
            seconds=seconds,
            seed=effort.seed,
            sine_cost=effort.sine_cost,
        )
