"""Values of free parameters: which of them go through the machine code, and which into laws.

A parameter that is given a value, or has none of its own, stays free in the equations, so that the
same machine code serves for other values; all others are numbers there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.expressions import substitute, symbols_of, value_of
from chainform.mechanism import Force, Mechanism, Number, Piece, parametrise
from chainform.mechanism.checks import names_in
from chainform.mechanism.numbers import number_of
from chainform.mechanism.parametrise import automatic_parameters
from chainform.simulation.layout import Layout

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Parameters:
    """The values of one motion.

    `settled` is the mechanism in which only the parameters in `values` are left; `further` are the
    numbers of those that occur in laws of forces and events alone.
    """

    settled: Mechanism
    values: Mapping[str, float]
    further: Mapping[str, Fraction]

    @property
    def names(self) -> list[str]:
        """The parameters that stay free, for `derive`."""
        return list(self.values)

    def law(self, law: Number) -> Number:
        """Return a law with numbers for the parameters that do not stay free."""
        if isinstance(law, Fraction):
            return law
        reduced = substitute(law, self.further)
        return reduced if symbols_of(reduced) else value_of(reduced)

    def force(self, force: Force) -> Force:
        """Return a force whose laws and times have numbers for the same parameters."""
        pieces = (
            Piece(
                self.law(piece.law),
                None if piece.start is None else self.law(piece.start),
                None if piece.until is None else self.law(piece.until),
            )
            for piece in force.pieces
        )
        return replace(force, pieces=tuple(pieces))

    def put(self, layout: Layout, p: Array) -> None:
        """Write the values where the machine code takes them from."""
        for place, name in enumerate(layout.equations.parameters):
            if name in self.values:
                p[place] = self.values[name]


def parameters_of(mechanism: Mechanism, given: Mapping[str, Any] | None) -> Parameters:
    """Return the values of all parameters, checked; RunError where one has none."""
    values = _numbers(given)
    declared = {parameter.name: parameter.value for parameter in mechanism.parameters}
    used, automatic = names_in(mechanism), automatic_parameters(mechanism)
    known = [*declared, *(name for name in automatic if name not in declared)]
    for name in values:
        if name not in known:
            raise _unknown(name, known)
    lacking = [name for name, value in declared.items() if value is None and name not in values]
    if lacking:
        raise RunError(
            f"the parameter {lacking[0]} has no value",
            element="values",
            remedy=f"values={{{lacking[0]!r}: ...}}, or give it one in the mechanism",
        )
    free = {name: value for name, value in values.items() if name in used or name in automatic}
    settled = parametrise(mechanism, list(free))
    fixed = {name: value for name, value in declared.items() if value is not None}
    fixed |= {name: cast("Fraction", number_of(value)) for name, value in values.items()}
    left = {name: number for name, number in fixed.items() if name not in free}
    return Parameters(settled, free, left)


def _numbers(given: Mapping[str, Any] | None) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RunError("values are a table by names", element="values", remedy='{"m": 2.5}')
    return {str(name): _number(str(name), value) for name, value in given.items()}


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, bool | str) or not isfinite(number):
        raise RunError(f"the value of {name} is not a finite number", element="values")
    return number


def _unknown(name: str, known: list[str]) -> RunError:
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    listed = ", ".join(known[:40]) or "none"
    return RunError(
        f"there is no parameter {name!r}", element="values", remedy=f"{hint}the names are {listed}"
    )
