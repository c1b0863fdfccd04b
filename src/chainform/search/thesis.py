"""The reduction of Racković 1996 (chapter 3), stage by stage.

First the rotations and axes by themselves: multiply out, use the trigonometric identities, merge
what is equal, take out monomials, put back. Then the same with the whole, with products of sums
before the monomials. Where several ways are tried, every one is a branch with its stages and its
fate. What the paper prints after each stage is in `published`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from time import perf_counter
from typing import ClassVar

import numpy as np

from chainform.graph import Cost, Graph, Kind, angle_variables, cheaper_graph, graft
from chainform.passes import (
    DropNeutral,
    DropUnused,
    Expand,
    ExtractMonomials,
    FactorProducts,
    MergeEqual,
    Pass,
    TrigIdentities,
    part_of,
    part_top,
)
from chainform.search.stages import LEFT, TAKEN, Observer, Stage, stage_of

PARTS = (("Q_*", "e_*"), ("Q_*", "e_*", "w_*"))
"""The parts that are reduced first: rotations and axes, then the axes seen from each body too."""
LONGEST = 32
"""How many times the average expression the longest may be."""
MOST_WORK = 5_000_000
"""Products of terms formed in one attempt to multiply out, some seconds."""
INITIAL_GRAPH = "initial graph"
INITIAL_PART = "initial subgraph"
PART_EXPRESSIONS = "analytic expressions of the subgraph"
PART_SIMPLIFIED = "simplified expressions of the subgraph"
NEW_PART = "new subgraph"
PART_STAGES = (INITIAL_PART, PART_EXPRESSIONS, PART_SIMPLIFIED, NEW_PART)
NEW_GRAPH = "new graph"
EXPRESSIONS = "analytic expressions"
SIMPLIFIED = "simplified expressions"
FACTORED = "after factoring"
FINAL_GRAPH = "final graph"


@dataclass(frozen=True)
class Thesis:
    """Reduce by the stages of Racković 1996; of several ends the cheapest is taken.

    `by_parts` and `factoring` select the four cases of Table 3.3. An expression of more than
    `limit` terms, or more than `total` terms in all expressions together, is not formed:
    definitions stay as they are where they would grow beyond. With a `sine_cost` of 30, Example 2.1
    ends with no more sines and cosines than in the paper.
    """

    name: ClassVar[str] = "thesis"
    may_cost_more: ClassVar[bool] = False

    by_parts: bool = field(
        default=True, metadata={"meaning": "reduce rotations and axes by themselves first"}
    )
    factoring: bool = field(
        default=True,
        metadata={"meaning": "write sums as products of sums before monomials are taken out"},
    )
    limit: int = field(
        default=1000, metadata={"meaning": "most terms of an expression that is formed", "least": 1}
    )
    total: int = field(
        default=20_000, metadata={"meaning": "most terms of all expressions together", "least": 1}
    )
    sine_cost: int = field(
        default=30, metadata={"meaning": "what a new sine or cosine costs, in operations"}
    )
    degree: int = field(
        default=2,
        metadata={
            "meaning": "factors of the longest monomial taken out in one step",
            "least": 1,
            "most": 6,
        },
    )

    def __call__(self, graph: Graph, observe: Observer | None = None) -> Graph:
        """Return the reduced graph; each stage is shown to `observe`, the result last."""
        stages = ThesisRun(self, graph).finish()
        if observe is not None:
            for stage in stages:
                observe(stage)
        return stages[-1].graph


class ThesisRun:
    """One reduction: its stages so far, by number, each with the one that it started from."""

    def __init__(self, options: Thesis, graph: Graph, work: int = MOST_WORK) -> None:
        self.options = options
        self.work = work
        """Products of terms formed in one attempt to multiply out."""
        self.stages: list[Stage] = []
        self._sources: list[int] = []
        self._clock = perf_counter()
        self._add(INITIAL_GRAPH, DropNeutral()(graph), -1)

    def _add(self, name: str, graph: Graph, source: int, branch: str = "", fate: str = "") -> int:
        """Note a stage, made from another one; return its number."""
        now = perf_counter()
        stage = replace(stage_of(name, graph, now - self._clock), branch=branch, fate=fate)
        self._clock = now
        self.stages.append(stage)
        self._sources.append(source)
        return len(self.stages) - 1

    # --- expressions --------------------------------------------------------------------

    def expressions(self, most: int | None = None, most_of_part: int | None = None) -> int | None:
        """Form the expressions of all outputs, the parts first; return the number of the stage.

        None where those of all have more than `most` terms, or those of a part `most_of_part`.
        """
        stage = self._parts(most_of_part)
        return None if stage is None else self._expanded(EXPRESSIONS, stage, "", most)

    def _parts(self, most: int | None) -> int | None:
        """Reduce the rotations and axes and put them back."""
        stage, graph = 0, self.stages[0].graph
        for number, patterns in enumerate(PARTS if self.options.by_parts else ()):
            present = tuple(p for p in patterns if any(fnmatchcase(q, p) for q in graph.quantities))
            if number > 0 and len(present) < len(patterns):
                break
            top = part_top(graph, present)
            branch = f"part {', '.join(present) or 'of sines and cosines'}"
            reduced = self._part(part_of(graph, top), stage, branch, most)
            if reduced is None:
                return None
            stage, graph = reduced, graft(graph, top, self.stages[reduced].graph)
        return self._add(NEW_GRAPH, graph, 0) if self.options.by_parts else stage

    def _part(self, part: Graph, source: int, branch: str, most: int | None) -> int | None:
        first = self._add(INITIAL_PART, part, source, branch)
        stage = self._expanded(PART_EXPRESSIONS, first, branch, most)
        if stage is None:
            return None
        simplified = _after(self.stages[stage].graph, TrigIdentities(), MergeEqual())
        stage = self._add(PART_SIMPLIFIED, simplified, stage, branch)
        reduced = ExtractMonomials(self.options.degree)(simplified)
        return self._add(NEW_PART, reduced, stage, branch)

    def _expanded(self, name: str, source: int, branch: str, most: int | None) -> int | None:
        """Multiply out, as far as the expressions stay within the limits."""
        graph = self.stages[source].graph
        total, results = self.options.total, len(graph.output_variables())
        limit = min(self.options.limit, LONGEST * total // max(results, 1))
        while True:
            step = Expand(trig=True, limit=limit, beyond="stop", work=self.work)
            expanded = step(graph)
            terms = live_terms(expanded)
            if most is not None and terms > most:
                return None
            if terms <= total or limit <= 1:
                return self._add(name, expanded, source, branch)
            tried = ", ".join(part for part in (branch, f"at most {limit} terms each") if part)
            self._add(name, expanded, source, tried, f"{LEFT}: {terms} terms in all")
            limit //= 4

    # --- ends ---------------------------------------------------------------------------

    def finish(self) -> list[Stage]:
        """Reduce all expressions together and return the stages, that of the result last.

        Shorter expressions do not always end in a cheaper graph: sums of angles take sharing
        away, and a graph that came from a good recursion is cheaper than anything that is made
        of its expressions. So the cheapest of these ends is chosen, the fewest calls among equals.
        """
        known = [n for n, stage in enumerate(self.stages) if stage.name == EXPRESSIONS]
        start = known[-1] if known else self.expressions()
        assert start is not None
        ends = [self._with_identities(start, "new angles", angles="collected")]
        if self._adds_calls(start) and is_multiplied_out(self.stages[start].graph):
            ends.append(self._with_identities(start, "given angles", angles="kept"))
        ends.append(self._without_expressions())
        return self._chosen(ends)

    def _with_identities(self, start: int, branch: str, *, angles: str) -> int:
        """Use the identities on expressions, with or without new sums of angles, to the end."""
        identities = TrigIdentities(sine_cost=self.options.sine_cost, angles=angles)
        simplified = _after(self.stages[start].graph, identities, MergeEqual())
        return self._formed(self._add(SIMPLIFIED, simplified, start, branch), simplified, branch)

    def _adds_calls(self, start: int) -> bool:
        """Whether the identities brought sines or cosines that were not there."""
        simplified = next(stage for stage in self.stages if stage.name == SIMPLIFIED)
        return _calls(simplified.cost) > _calls(self.stages[start].cost)

    def _without_expressions(self) -> int:
        """Reduce the graph as it is, with the parts put back or as it came, whichever is less."""
        graphs = [n for n, stage in enumerate(self.stages) if stage.name == NEW_GRAPH]
        first, last = self.stages[0].graph, graphs[-1] if graphs else 0
        source = 0 if cheaper_graph(self.stages[last].graph, first) is first else last
        branch = f"without expressions, from the {self.stages[source].name}"
        return self._formed(source, MergeEqual()(self.stages[source].graph), branch)

    def _formed(self, source: int, graph: Graph, branch: str) -> int:
        """Make the graph of computation of some expressions; return its number."""
        if self.options.factoring:
            graph = _after(graph, FactorProducts(), MergeEqual(scale=True))
            source = self._add(FACTORED, graph, source, branch)
        monomials = ExtractMonomials(self.options.degree)
        return self._add(
            FINAL_GRAPH, _after(graph, monomials, MergeEqual(scale=True)), source, branch
        )

    def _chosen(self, ends: list[int]) -> list[Stage]:
        """Return the stages with their fates, the best end last."""
        best = min(ends, key=lambda end: _grade(self.stages[end].cost))
        taken = {best}
        while (source := self._sources[min(taken)]) >= 0:
            taken.add(source)
        if any(self.stages[number].name == NEW_GRAPH for number in taken):
            taken.update(n for n, stage in enumerate(self.stages) if stage.name in PART_STAGES)
        order = [n for n in range(len(self.stages)) if n != best] + [best]
        place = {number: position for position, number in enumerate(order)}
        stages: list[Stage] = []
        for number in order:
            stage, source = self.stages[number], self._sources[number]
            fate = stage.fate or (TAKEN if number in taken else LEFT)
            if number in ends and number != best:
                fate = _why_left(stage.cost, self.stages[best].cost)
            back = place[number] - place[source] if source >= 0 else 1
            stages.append(replace(stage, fate=fate, back=back))
        final = DropUnused(keep_quantities=True)(stages[-1].graph)
        stages[-1] = stages[-1].with_graph(final)
        return stages


def _why_left(other: Cost, best: Cost) -> str:
    (more, calls), (least, fewest) = _grade(other), _grade(best)
    if more > least:
        return f"{LEFT}: {more - least} operations more"
    if calls > fewest:
        return f"{LEFT}: {calls - fewest} sines and cosines more"
    return f"{LEFT}: no cheaper"


def _after(graph: Graph, *passes: Pass) -> Graph:
    for step in passes:
        graph = step(graph)
    return graph


def live_terms(graph: Graph) -> int:
    """Return the terms of all definitions that the outputs need."""
    needed = graph.cone(graph.output_variables())
    return int(np.diff(graph.term_start)[needed].sum())


def is_multiplied_out(graph: Graph) -> bool:
    """Whether no output is made of sums any more, but of inputs and calls only."""
    results = graph.output_variables()
    needed = graph.cone(results)
    needed &= ~angle_variables(graph, needed, results)
    terms = np.repeat(needed, np.diff(graph.term_start))
    used = graph.factor[np.repeat(terms, np.diff(graph.factor_start))]
    return not bool(np.any(graph.kind[used] == Kind.COMPUTED))


def _calls(count: Cost) -> int:
    return count.sin + count.cos


def _grade(count: Cost) -> tuple[int, int]:
    return count.multiplications + count.additions, _calls(count)
