"""How a motion is kept on loops and constraints.

stabilise="projection"                   each step ends on them, positions and rates
stabilise="baumgarte"                    f'' + 2 alpha f' + beta^2 f = 0 draws it back to them
stabilise={"alpha": 50, "beta": 50}      the same with other numbers (1/s)
stabilise="none"                         only accelerations obey them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from chainform.errors import RunError
from chainform.mechanism.numbers import number_of

WORDS = ("projection", "baumgarte", "none")
USUAL = Fraction(20)
"""alpha and beta (1/s) where nothing is said: a gap fades within a tenth of a second."""


@dataclass(frozen=True)
class Stabilise:
    """Whether each step ends on the constraints, and otherwise what draws the motion back."""

    projects: bool = True
    alpha: Fraction = Fraction(0)
    beta: Fraction = Fraction(0)


PROJECTION = Stabilise()


def stabilise_of(said: Any) -> Stabilise:
    """Return the checked choice."""
    if isinstance(said, Mapping):
        return _baumgarte(cast("Mapping[str, Any]", said))
    if said not in WORDS:
        raise RunError(
            f"{said!r} is no way to hold constraints",
            element="stabilise",
            remedy="choose " + ", ".join(WORDS) + ', or write {"alpha": 20, "beta": 20}',
        )
    if said == "projection":
        return PROJECTION
    return _baumgarte({}) if said == "baumgarte" else Stabilise(projects=False)


def _baumgarte(table: Mapping[str, Any]) -> Stabilise:
    for key in table:
        if key not in ("type", "alpha", "beta"):
            raise RunError(f"unknown field {key!r}", element="stabilise", remedy="alpha, beta")
    found: list[Fraction] = []
    for name in ("alpha", "beta"):
        value = number_of(table.get(name, USUAL))
        if not isinstance(value, Fraction) or value < 0:
            message = f"{name} must be a number of at least zero (1/s)"
            remedy = f"{name}=20"
            raise RunError(message, element=f"stabilise, {name}", remedy=remedy)
        found.append(value)
    return Stabilise(False, *found)
