"""Forces that an element model leaves unknown: in a motion each of them must be given.

unknowns={"F": 0}                                   a number
unknowns={"F": "3*sin(t) - der(x)"}                 a law
unknowns={"F": {"t": [0, 1, 2], "values": [0, 5, 0]}}     a table, linear in between
unknowns=unknown_forces(mechanism, t, motion=...)   what a motion needs, all of them

A law takes the place of the force in the elements. A table becomes a definition of the same name:

    X(t) = (x_0 + x_n) / 2 + sum of (s_i - s_(i-1)) |t - t_i| / 2

with the slopes s_i between its times and none before and after them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol, cast, get_args

import numpy as np

from chainform.errors import RunError
from chainform.expressions import Expression, substitute, symbols_of
from chainform.given import Given, argument
from chainform.mechanism import Definition, Mechanism, Number, law_reader, number_of
from chainform.simulation.equations.efforts import entries_of

EXPRESSIONS: tuple[type, ...] = get_args(Expression)

MOST = 2000
"""The most entries of a table: all of them become terms of the equations."""
TOGETHER = 40
"""How many terms a definition has, so that it can be written and read again."""


class FoundForces(Protocol):
    """Forces along a motion, such as `analysis.unknown_forces` returns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the forces."""
        ...

    @property
    def t(self) -> Any:
        """Times (m,), s."""
        ...

    @property
    def values(self) -> Any:
        """The forces (m, n), N or N m."""
        ...


def with_unknowns(
    mechanism: Mechanism, given: Mapping[str, Any] | FoundForces | None
) -> tuple[Mechanism, tuple[float, ...]]:
    """Return the mechanism with all its unknown forces given, and the times of their tables.

    RunError where one is not given, or something else is.
    """
    tables = _tables(given)
    for name in tables:
        if name not in mechanism.unknowns:
            raise argument("unknowns", name).unknown("unknown force", mechanism.unknowns)
    missing = [name for name in mechanism.unknowns if name not in tables]
    if missing:
        raise RunError(
            f"the mechanism leaves {', '.join(missing)} unknown",
            file=mechanism.file,
            element="unknowns",
            remedy=f'give each: unknowns={{"{missing[0]}": "3*sin(t)"}}, 0 where nothing acts, or '
            "the result of analysis.unknown_forces",
        )
    laws: dict[str, Number] = {}
    definitions: list[Definition] = []
    times: set[float] = set()
    for name, value in tables.items():
        force = argument(f"unknowns, {name}", value)
        if force.is_table:
            t, x = entries_of(force)
            if len(t) > MOST:
                message = f"a table of {len(t)} entries is too long"
                raise force.error(message, f"give at most {MOST}, or a law")
            _law(mechanism, force.holding("t"))
            times.update(map(float, t))
            definitions += _definitions(mechanism, name, t, x)
        else:
            laws[name] = _law(mechanism, force)
    if not tables:
        return mechanism, ()
    return _with_known_forces(mechanism, laws, definitions), tuple(sorted(times))


def _tables(given: Mapping[str, Any] | FoundForces | None) -> dict[str, Any]:
    """Return the law or the table of each force."""
    if given is None:
        return {}
    remedy = 'write {"F": "3*sin(t)"}, or give the result of analysis.unknown_forces'
    if isinstance(given, Mapping) or not all(hasattr(given, n) for n in ("names", "t", "values")):
        return argument("unknowns", given).table(remedy=remedy).value
    if given.t is None or np.ndim(given.t) != 1 or np.ndim(given.values) != 2:
        raise RunError(
            "the forces do not belong to times one after the other",
            element="unknowns",
            remedy="call unknown_forces with times t (m,)",
        )
    return {
        name: {"t": given.t.tolist(), "values": given.values[:, k].tolist()}
        for k, name in enumerate(given.names)
    }


def _law(mechanism: Mechanism, given: Given) -> Number:
    further = tuple(definition.name for definition in mechanism.definitions)
    return law_reader(mechanism, further).law(given)


def _definitions(
    mechanism: Mechanism, name: str, t: Sequence[Fraction], x: Sequence[Fraction]
) -> list[Definition]:
    """Return a table as definitions: sums of some terms each, and sums of these."""
    slopes = [(b - a) / (v - u) for (u, v), (a, b) in zip(pairwise(t), pairwise(x), strict=True)]
    changes = [b - a for a, b in pairwise([Fraction(0), *slopes, Fraction(0)])]
    terms = [
        f"({_decimal(change / 2)})*abs(t - ({_decimal(time)}))"
        for time, change in zip(t, changes, strict=True)
        if change
    ]
    made: list[Definition] = []
    named = (*mechanism.parameters, *mechanism.definitions)
    taken = {*mechanism.coordinates, *mechanism.rates, *mechanism.unknowns}
    taken |= {one.name for one in named}
    while len(terms) > TOGETHER:
        parts = [terms[i : i + TOGETHER] for i in range(0, len(terms), TOGETHER)]
        terms = list[str]()
        for part in parts:
            own = _free_name(f"{name}_part{len(made) + 1}", taken)
            made.append(Definition(own, number_of(" + ".join(part))))
            terms.append(own)
    mean = f"({_decimal((x[0] + x[-1]) / 2)})"
    return [*made, Definition(name, number_of(" + ".join([mean, *terms])))]


def _decimal(number: Fraction) -> str:
    """Return a number as a file has it, to the digits of a double."""
    return repr(float(number))


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _with_known_forces(
    mechanism: Mechanism, laws: Mapping[str, Number], definitions: Sequence[Definition] = ()
) -> Mechanism:
    """Return the mechanism with laws in place of all its unknown forces.

    A force may also become one of `definitions`, which elements name as they named the force.
    """
    return replace(
        mechanism,
        elements=_changed(mechanism.elements, laws),
        definitions=(*mechanism.definitions, *definitions),
        unknowns=(),
    )


def _changed(value: Any, laws: Mapping[str, Number]) -> Any:
    """Return a value with laws for names in all expressions that it is made of."""
    if isinstance(value, EXPRESSIONS):
        expression = cast("Expression", value)
        return substitute(expression, laws) if symbols_of(expression) & laws.keys() else value
    if isinstance(value, tuple):
        return tuple(_changed(entry, laws) for entry in cast("tuple[Any, ...]", value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: _changed(part, laws) for name, part in parts.items()}
        new = {name: part for name, part in changed.items() if part is not parts[name]}
        return replace(value, **new) if new else value
    return value
