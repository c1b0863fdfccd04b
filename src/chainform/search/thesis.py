"""The reduction of Racković 1996 (chapter 3), stage by stage, and the operations it prints.

First the rotations and axes by themselves: multiply out, use the trigonometric identities, merge
what is equal, take out monomials, put back. Then the same with the whole, with products of sums
before the monomials.

`PUBLISHED` has the multiplications and additions after each stage, from Tables 3.3 and 3.4 (Example
2.1, an arm of six joints) and 4.2 to 4.13 (Example 4.1, a biped of fourteen, standing on one leg).
The counts are of expressions with nothing shared between them until monomials are taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from chainform.graph import Cost, Graph, Kind, angle_variables, cheaper_graph, cost, graft
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
from chainform.search.efforts import Observer, Stage, stage_of

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
NEW_GRAPH = "new graph"
EXPRESSIONS = "analytic expressions"
SIMPLIFIED = "simplified expressions"
FACTORED = "after factoring"
FINAL_GRAPH = "final graph"


@dataclass(frozen=True)
class Thesis:
    """The paper's reduction with its choices.

    `by_parts` and `factoring` select the four cases of Table 3.3. An expression of more than
    `limit` terms, or more than `total` terms in all expressions together, is not formed:
    definitions stay as they are where they would grow beyond. `sine_cost` is what a sine or cosine
    that was not there is worth in operations; with 30, Example 2.1 ends with no more of them than
    in the paper. `degree` is that of the longest monomial taken out in one step.
    """

    by_parts: bool = True
    factoring: bool = True
    limit: int = 1000
    total: int = 20_000
    sine_cost: int = 30
    degree: int = 2

    def __call__(self, graph: Graph, observe: Observer | None = None) -> Graph:
        """Return the reduced graph; each stage is shown to `observe`."""
        run = _Run(self, observe)
        start = run.show(INITIAL_GRAPH, DropNeutral()(graph))
        return run.whole(run.parts(start), start)


def thesis(
    graph: Graph,
    observe: Observer | None = None,
    *,
    by_parts: bool = True,
    factoring: bool = True,
    limit: int = 1000,
) -> Graph:
    """Return a graph reduced as in Racković 1996."""
    return Thesis(by_parts, factoring, limit)(graph, observe)


class _Run:
    def __init__(self, options: Thesis, observe: Observer | None) -> None:
        self.options = options
        self.observe = observe

    def show(self, name: str, graph: Graph) -> Graph:
        """Report a stage and return its graph."""
        if self.observe is not None:
            self.observe(stage_of(name, graph))
        return graph

    def parts(self, graph: Graph) -> Graph:
        """Reduce the rotations and axes and put them back."""
        if not self.options.by_parts:
            return graph
        for number, patterns in enumerate(PARTS):
            present = tuple(p for p in patterns if any(fnmatchcase(q, p) for q in graph.quantities))
            if number > 0 and len(present) < len(patterns):
                break
            graph = self._part(graph, present, shown=number == 0)
        return self.show(NEW_GRAPH, graph)

    def _part(self, graph: Graph, patterns: tuple[str, ...], *, shown: bool) -> Graph:
        show: Callable[[str, Graph], Graph] = self.show if shown else lambda _, graph: graph
        top = part_top(graph, patterns)
        part = show(INITIAL_PART, part_of(graph, top))
        reduced = show(PART_EXPRESSIONS, self._expanded(part))
        reduced = show(PART_SIMPLIFIED, _after(reduced, TrigIdentities(), MergeEqual()))
        reduced = show(NEW_PART, ExtractMonomials(self.options.degree)(reduced))
        return graft(graph, top, reduced)

    def whole(self, graph: Graph, start: Graph) -> Graph:
        """Reduce all expressions together.

        Shorter expressions do not always end in a cheaper graph: sums of angles take sharing
        away, and a graph that came from a good recursion is cheaper than anything that is made
        of its expressions. So the cheapest of these ends is chosen, the fewest calls among equals.
        """
        expressions = self.show(EXPRESSIONS, self._expanded(graph))
        identities = TrigIdentities(sine_cost=self.options.sine_cost)
        simplified = self.show(SIMPLIFIED, _after(expressions, identities, MergeEqual()))
        ends = [self._formed(simplified, shown=True)]
        if _calls(simplified) > _calls(expressions) and _is_multiplied_out(expressions):
            plain = _after(expressions, TrigIdentities(new_angles=False), MergeEqual())
            ends.append(self._formed(plain, shown=False))
        ends.append(self._formed(MergeEqual()(cheaper_graph(graph, start)), shown=False))
        best = min(ends, key=_grade)
        return self.show(FINAL_GRAPH, DropUnused(keep_quantities=True)(best))

    def _formed(self, graph: Graph, *, shown: bool) -> Graph:
        """Return the graph of computation of some expressions."""
        if self.options.factoring:
            graph = _after(graph, FactorProducts(), MergeEqual(scale=True))
            if shown:
                self.show(FACTORED, graph)
        monomials = ExtractMonomials(self.options.degree)
        return _after(graph, monomials, MergeEqual(scale=True))

    def _expanded(self, graph: Graph) -> Graph:
        """Multiply out, as far as the expressions stay within the limits."""
        total, results = self.options.total, len(graph.output_variables())
        limit = min(self.options.limit, LONGEST * total // max(results, 1))
        while True:
            step = Expand(trig=True, limit=limit, beyond="stop", work=MOST_WORK)
            expanded = step(graph)
            if _live_terms(expanded) <= total or limit <= 1:
                return expanded
            limit //= 4


def _after(graph: Graph, *passes: Pass) -> Graph:
    for step in passes:
        graph = step(graph)
    return graph


def _live_terms(graph: Graph) -> int:
    needed = graph.cone(graph.output_variables())
    return int(np.diff(graph.term_start)[needed].sum())


def _is_multiplied_out(graph: Graph) -> bool:
    """Whether no output is made of sums any more, but of inputs and calls only."""
    results = graph.output_variables()
    needed = graph.cone(results)
    needed &= ~angle_variables(graph, needed, results)
    terms = np.repeat(needed, np.diff(graph.term_start))
    used = graph.factor[np.repeat(terms, np.diff(graph.factor_start))]
    return not bool(np.any(graph.kind[used] == Kind.COMPUTED))


def _calls(graph: Graph) -> int:
    count = cost(graph)
    return count.sin + count.cos


def _grade(graph: Graph) -> tuple[int, int]:
    count = cost(graph)
    return count.multiplications + count.additions, count.sin + count.cos


# --- what the paper prints ------------------------------------------------------------------------

Count = tuple[int, int]


@dataclass(frozen=True)
class PublishedStage:
    """One stage: the paper's multiplications and additions, if it has them, and ours."""

    stage: str
    published: Count | None
    ours: Cost


def _case(*counts: Count | None) -> dict[str, Count]:
    return {stage: count for stage, count in zip(_STAGES, counts, strict=True) if count}


_STAGES = (
    INITIAL_GRAPH,
    INITIAL_PART,
    PART_EXPRESSIONS,
    PART_SIMPLIFIED,
    NEW_PART,
    NEW_GRAPH,
    EXPRESSIONS,
    SIMPLIFIED,
    FACTORED,
    FINAL_GRAPH,
)
PUBLISHED: dict[str, dict[str, Count]] = {
    "example_2_1": _case(
        (10268, 6166),
        (768, 382),
        (543, 191),
        (60, 14),
        (43, 14),
        (9544, 5798),
        (931, 310),
        (442, 174),
        (328, 138),
        (140, 107),
    ),
    "example_4_1": _case(
        (95219, 58951),
        (4738, 2407),
        (69356, 8996),
        (2144, 596),
        (387, 206),
        (67773, 39423),
        (802859, 109643),
        (391417, 30374),
        None,
        (30607, 24008),
    ),
    "example_4_1_chain_1": _case(
        (30247, 18435),
        (2172, 1094),
        (19848, 2629),
        (444, 137),
        (138, 57),
        (15454, 8366),
        (35828, 12869),
        (16002, 6406),
        None,
        (3287, 3270),
    ),
    "example_4_1_chain_2": _case(
        (41315, 25434),
        (2198, 1110),
        (24088, 3151),
        (272, 92),
        (104, 42),
        (29030, 17079),
        (107440, 33547),
        (43073, 17938),
        None,
        (12021, 10653),
    ),
    "example_4_1_chain_3": _case(
        (29837, 18363),
        (2198, 1110),
        (24088, 3151),
        (496, 156),
        (164, 78),
        (23418, 13824),
        (392500, 87905),
        (163632, 45199),
        None,
        (15299, 9326),
    ),
}
"""Operations by case and stage: Tables 3.4, 4.2 to 4.4 and 4.13, 4.5 to 4.8, 4.9, 4.10 and 4.12.

The biped as a whole was not reduced to the end; its last figure is the sum of the three chains. The
expressions of the biped and of its first chain are printed with the closure matrix B.
"""
TABLE_3_3: dict[tuple[bool, bool], tuple[int, int, int, int]] = {
    (False, False): (260, 177, 13, 13),
    (False, True): (218, 138, 13, 13),
    (True, False): (196, 135, 7, 7),
    (True, True): (140, 107, 7, 7),
}
"""Multiplications, additions, sines and cosines of Example 2.1, by (by_parts, factoring)."""


def comparison(case: str, stages: Iterable[Stage]) -> list[PublishedStage]:
    """Return the stages of a reduction next to what the paper has for a case."""
    published = PUBLISHED[case]
    return [PublishedStage(stage.name, published.get(stage.name), stage.cost) for stage in stages]
