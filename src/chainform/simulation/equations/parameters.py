"""Values of free parameters, for one motion.

A parameter that is given a value stays free in the equations, so that the same machine code serves
for other values; all others are numbers there. A number of the mechanism that is given a value by
its automatic name becomes a parameter, next to those of the file. From then on there is one
mechanism, with all values in it, from which everything else is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from chainform.errors import RunError
from chainform.expressions import Expression, Symbol, symbols_of, value_of
from chainform.given import argument
from chainform.mechanism import (
    Mechanism,
    Number,
    automatic_parameters,
    number_of,
    parametrise,
    with_named_numbers,
)
from chainform.mechanism.checks import amounts_of, names_in
from chainform.simulation.equations.initial import MANY


@dataclass(frozen=True)
class Parameters:
    """The values of one motion; in `mechanism` they are those of its parameters."""

    mechanism: Mechanism
    values: Mapping[str, float]

    def names(self, mechanism: Mechanism) -> tuple[str, ...]:
        """Return the parameters that stay free in the equations of a part of the mechanism."""
        used = names_in(mechanism) if self.values else frozenset[str]()
        fixed = {parameter.name for parameter in mechanism.parameters if parameter.fixed_in}
        return tuple(name for name in self.values if name in used and name not in fixed)

    def settled(self, mechanism: Mechanism) -> Mechanism:
        """Return a part of the mechanism with numbers for parameters that do not stay free.

        It still knows these, for laws that name them.
        """
        if not self.values:
            return mechanism
        settled = parametrise(mechanism, self.names(mechanism))
        return replace(settled, parameters=mechanism.parameters)


def parameters_of(mechanism: Mechanism, given: Mapping[str, Any] | None) -> Parameters:
    """Return the values of parameters, checked; RunError where one that is needed has none."""
    values = _numbers(given)
    declared = [parameter.name for parameter in mechanism.parameters]
    known = automatic_parameters(mechanism) if values else ()
    automatic = [name for name in known if name not in declared]
    for name in values:
        if name not in (*declared, *automatic):
            raise argument("values", name).unknown("parameter", [*declared, *automatic])
    used = names_in(mechanism)
    check_fixed(mechanism, values)
    for parameter in mechanism.parameters:
        if parameter.value is None and parameter.name in used and parameter.name not in values:
            raise RunError(
                f"the parameter {parameter.name} has no value",
                element="values",
                remedy=f"values={{{parameter.name!r}: ...}}, or give it one in the mechanism",
            )
    if not values:
        check_signs(mechanism, values)
        return Parameters(mechanism, values)
    named = with_named_numbers(mechanism, [name for name in values if name in automatic])
    exact = {name: cast("Fraction", number_of(value)) for name, value in values.items()}
    parameters = (replace(p, value=exact.get(p.name, p.value)) for p in named.parameters)
    valued = replace(named, parameters=tuple(parameters), source=None)
    check_signs(valued, values)
    return Parameters(valued, values)


def without_values(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """Return a mechanism some of whose parameters have no value."""
    given = (replace(p, value=None) if p.name in names else p for p in mechanism.parameters)
    return replace(mechanism, parameters=tuple(given)) if names else mechanism


def check_fixed(mechanism: Mechanism, values: Mapping[str, Any]) -> None:
    """Refuse other values for what has become a number: they would count elsewhere only."""
    for parameter in mechanism.parameters:
        value = values.get(parameter.name)
        fixed_in = parameter.fixed_in or parameter.limit_in
        if not fixed_in or value is None or parameter.value is None:
            continue
        if np.any(np.asarray(value, dtype=np.float64) != float(parameter.value)):
            raise RunError(
                f"{parameter.name} became a number when the file was read, in {fixed_in}",
                element="values",
                remedy="change its value in the file: axes, rotations, ratios and limits stay "
                f'numbers; a stop takes it as stops={{"joint": {{"upper": "{parameter.name}"}}}}',
            )


def check_signs(mechanism: Mechanism, values: Mapping[str, Any]) -> None:
    """Refuse amounts that are negative with values, one or many of each, and negative moments.

    A file has no negative amounts; of its moments of inertia it may only warn.
    """
    known = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    for element, number in amounts_of(mechanism):
        for given in _cases([number], values) if set(values) & _symbols(number) else ():
            if value_of(cast("Expression", number), {**known, **given}) < 0:
                raise _negative(element, given)
    for segment in mechanism.segments:
        entries = [entry for row in segment.body.inertia for entry in row]
        if not any(entries) or any(_symbols(e) - {*known, *values} for e in entries):
            continue
        for given in _cases(entries, values):
            numbers = [
                float(e if isinstance(e, Fraction) else value_of(e, {**known, **given}))
                for e in entries
            ]
            least = np.linalg.eigvalsh(np.reshape(numbers, (3, 3)))[0]
            if least < -1e-9 * max(map(abs, numbers)):
                raise _negative(f"segment {segment.name!r}, a principal moment of inertia", given)


def _symbols(number: Number) -> set[str]:
    return set() if isinstance(number, Fraction) else set(symbols_of(number))


def _cases(numbers: Sequence[Number], values: Mapping[str, Any]) -> Iterator[dict[str, Fraction]]:
    """Yield values, those of batches once each, of what numbers name; once without any."""
    names = sorted(set(values) & set[str]().union(*map(_symbols, numbers)))
    if not names:
        yield {}
        return
    rows = np.unique(np.stack([np.atleast_1d(values[name]) for name in names], -1), axis=0)
    # Of one name alone the smallest is enough, where what it names is an amount.
    is_alone = len(numbers) == 1 and isinstance(numbers[0], Symbol)
    for row in rows[:1] if is_alone else rows:
        exact = map(number_of, row.tolist())
        yield {name: cast("Fraction", value) for name, value in zip(names, exact, strict=True)}


def _negative(element: str, given: Mapping[str, Fraction]) -> RunError:
    if not given:
        remedy = "correct it in the file: the kinetic energy would be negative"
        return RunError("it is negative", element=element, remedy=remedy)
    shown = {name: float(value) for name, value in given.items()}
    remedy = "give values with which it is at least zero"
    return RunError(f"{element} is negative with {shown}", element="values", remedy=remedy)


def _numbers(values: Mapping[str, Any] | None) -> dict[str, float]:
    if values is None:
        return {}
    numbers: dict[str, float] = {}
    for name, given in argument("values", values).table(remedy='{"m": 2.5}').items():
        if given.is_list:
            raise given.expected("a number", MANY)
        numbers[name] = given.number()
    return numbers
