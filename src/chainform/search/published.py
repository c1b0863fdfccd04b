"""What Racković 1996 prints after each stage of his reductions, next to ours.

`PUBLISHED` has the multiplications and additions after each stage, from Tables 3.3 and 3.4 (Example
2.1, an arm of six joints) and 4.2 to 4.13 (Example 4.1, a biped of fourteen, standing on one leg).
The counts are of expressions with nothing shared between them until monomials are taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from chainform.display import Displayed, Records
from chainform.errors import DeriveError
from chainform.given import Given
from chainform.graph import Cost
from chainform.search.thesis import (
    EXPRESSIONS,
    FACTORED,
    FINAL_GRAPH,
    INITIAL_GRAPH,
    INITIAL_PART,
    NEW_GRAPH,
    NEW_PART,
    PART_EXPRESSIONS,
    PART_SIMPLIFIED,
    SIMPLIFIED,
)

Count = tuple[int, int]


class CountedStage(Protocol):
    """A stage by its name and cost: of a reduction, or a stored revision."""

    @property
    def name(self) -> str: ...

    @property
    def cost(self) -> Cost: ...


@dataclass(frozen=True, repr=False)
class PublishedStage(Displayed):
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
JOINTS = {
    "example_2_1": 6,
    "example_4_1": 14,
    "example_4_1_chain_1": 8,
    "example_4_1_chain_2": 9,
    "example_4_1_chain_3": 9,
}
"""How many joints the mechanism of each case has."""
OUTPUTS = frozenset({"mass_matrix", "coriolis", "gravity"})
"""What the figures are of, all together."""
TABLE_3_3: dict[tuple[bool, bool], tuple[int, int, int, int]] = {
    (False, False): (260, 177, 13, 13),
    (False, True): (218, 138, 13, 13),
    (True, False): (196, 135, 7, 7),
    (True, True): (140, 107, 7, 7),
}
"""Multiplications, additions, sines and cosines of Example 2.1, by (by_parts, factoring)."""


def comparison(case: str, stages: Sequence[CountedStage]) -> Records[PublishedStage]:
    """Return the stages of a reduction next to what the paper has for a case.

    A figure stands once: with the first stage of its name, that of the final graph with the
    last. What a reduction began with is the initial graph, whatever it is called.
    """
    Given(case, "published", raises=DeriveError).choice(tuple(PUBLISHED), "published example")
    rows = [PublishedStage(stage.name, None, stage.cost) for stage in stages]
    names = [stage.name for stage in stages]
    for name, figure in PUBLISHED[case].items():
        if name == FINAL_GRAPH and name in names:
            place = len(names) - 1 - names[::-1].index(name)
        elif name in names:
            place = names.index(name)
        elif name == INITIAL_GRAPH and FINAL_GRAPH in names:
            place = 0
        else:
            continue
        rows[place] = PublishedStage(names[place], figure, stages[place].cost)
    return Records(rows)
