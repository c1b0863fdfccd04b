"""Values of free parameters, for one motion.

A parameter that is given a value stays free in the equations, so that the same machine code serves
for other values; all others are numbers there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, cast

import numpy as np

from chainform.errors import RunError
from chainform.given import finite_number
from chainform.mechanism import Mechanism, parametrise
from chainform.mechanism.checks import names_in
from chainform.mechanism.numbers import number_of
from chainform.mechanism.parametrise import automatic_parameters
from chainform.simulation.initial import MANY


@dataclass(frozen=True)
class Parameters:
    """The values of one motion; in `mechanism` they are those of its parameters."""

    mechanism: Mechanism
    values: Mapping[str, float]

    def names(self, mechanism: Mechanism) -> tuple[str, ...]:
        """Return the parameters that stay free in the equations of a mechanism."""
        if not self.values:
            return ()
        known = names_in(mechanism) | automatic_parameters(mechanism).keys()
        return tuple(name for name in self.values if name in known)

    def settled(self, mechanism: Mechanism) -> Mechanism:
        """Return a mechanism with numbers for all parameters that do not stay free.

        It still knows these, behind the others, for laws that name them.
        """
        if not self.values:
            return mechanism
        settled = parametrise(mechanism, self.names(mechanism))
        left = {parameter.name for parameter in settled.parameters}
        others = (p for p in mechanism.parameters if p.name not in left)
        return replace(settled, parameters=(*settled.parameters, *others))


def parameters_of(mechanism: Mechanism, given: Mapping[str, Any] | None) -> Parameters:
    """Return the values of parameters, checked; RunError where one that is needed has none."""
    values = _numbers(given)
    declared = [parameter.name for parameter in mechanism.parameters]
    known = automatic_parameters(mechanism) if values else ()
    automatic = [name for name in known if name not in declared]
    for name in values:
        if name not in (*declared, *automatic):
            raise _unknown(name, [*declared, *automatic])
    used = names_in(mechanism)
    for parameter in mechanism.parameters:
        if parameter.value is None and parameter.name in used and parameter.name not in values:
            raise RunError(
                f"the parameter {parameter.name} has no value",
                element="values",
                remedy=f"values={{{parameter.name!r}: ...}}, or give it one in the mechanism",
            )
    if not values:
        return Parameters(mechanism, values)
    chosen = [name for name in values if name in automatic]
    named = parametrise(mechanism, chosen) if chosen else mechanism
    exact = {name: cast("Fraction", number_of(value)) for name, value in values.items()}
    both = {p.name: p for p in (*mechanism.parameters, *named.parameters)}
    parameters = (replace(p, value=exact.get(p.name, p.value)) for p in both.values())
    return Parameters(replace(named, parameters=tuple(parameters), source=None), values)


def _numbers(given: Mapping[str, Any] | None) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RunError("values are a table by names", element="values", remedy='{"m": 2.5}')
    return {str(name): _number(str(name), value) for name, value in given.items()}


def _number(name: str, value: Any) -> float:
    try:
        return finite_number(name, value)
    except RunError as problem:
        raise RunError(
            f"the value of {name} is not a finite number",
            element="values",
            remedy=MANY if isinstance(value, list | tuple | np.ndarray) else problem.remedy,
        ) from None


def _unknown(name: str, known: list[str]) -> RunError:
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    listed = ", ".join(known[:40]) or "none"
    return RunError(
        f"there is no parameter {name!r}", element="values", remedy=f"{hint}the names are {listed}"
    )
