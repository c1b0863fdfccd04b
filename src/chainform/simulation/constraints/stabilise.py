"""How a motion is kept on loops and constraints.

stabilise="projection"                   each step ends on them, positions and rates
stabilise="baumgarte"                    f'' + 2 alpha f' + beta^2 f = 0 draws it back to them
stabilise={"alpha": 50, "beta": 50}      the same with other numbers (1/s)
stabilise="none"                         only accelerations obey them
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from chainform.given import Given, argument
from chainform.mechanism import Reader

WORDS = ("projection", "baumgarte", "none")
USUAL = Fraction(20)
"""alpha and beta (1/s) where nothing is given: a gap fades within a tenth of a second."""


@dataclass(frozen=True)
class Stabilise:
    """Whether each step ends on the constraints, and otherwise what draws the motion back."""

    projects: bool = True
    alpha: Fraction = Fraction(0)
    beta: Fraction = Fraction(0)


PROJECTION = Stabilise()


def stabilise_of(stabilise: Any) -> Stabilise:
    """Return the checked choice."""
    given = argument("stabilise", stabilise)
    if given.is_table:
        return _baumgarte(given.table(("type", "alpha", "beta")))
    remedy = f'choose {", ".join(WORDS)}, or write {{"alpha": 20, "beta": 20}}'
    word = given.choice(WORDS, "way to hold constraints", remedy)
    if word == "projection":
        return PROJECTION
    return _baumgarte(given.holding({})) if word == "baumgarte" else Stabilise(projects=False)


def _baumgarte(table: Given) -> Stabilise:
    reader = Reader()
    alpha, beta = (reader.number(table[name], USUAL, least=0) for name in ("alpha", "beta"))
    return Stabilise(False, cast("Fraction", alpha), cast("Fraction", beta))
