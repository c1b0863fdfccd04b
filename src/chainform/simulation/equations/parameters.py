"""Values of free parameters, and of forces that an element model leaves unknown, for one motion.

A parameter that is given a value stays free in the equations, so that the same machine code serves
for other values; all others are numbers there. A number of the mechanism that is given a value by
its automatic name becomes a parameter, next to those of the file; all else is made from that.

In a motion each unknown force must be given:

unknowns={"F": 0}                                   a number
unknowns={"F": "3*sin(t) - der(x)"}                 a law
unknowns={"F": {"t": [0, 1, 2], "values": [0, 5, 0]}}     a table, linear in between
unknowns=unknown_forces(mechanism, t, motion=...)   what a motion needs, all of them

A law takes the place of the force in the elements. A table becomes a definition of the same name:

    X(t) = (x_0 + x_n) / 2 + sum of (s_i - s_(i-1)) |t - t_i| / 2

with the slopes s_i between its times and none before and after them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.expressions import Expression, Identifier, substitute, symbols_of, value_of
from chainform.given import Given, argument
from chainform.graph import Graph
from chainform.mechanism import (
    Definition,
    Mechanism,
    Number,
    amounts_of,
    automatic_parameters,
    constant_parts,
    has_base_bodies,
    law_reader,
    names_in,
    number_of,
    parametrise,
    with_named_numbers,
)
from chainform.simulation.equations.efforts import entries_of
from chainform.simulation.equations.initial import MANY

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Parameters:
    """The values of one motion; in `mechanism` they are those of its parameters."""

    mechanism: Mechanism
    values: Mapping[str, float]

    def names(self, mechanism: Mechanism) -> tuple[str, ...]:
        """Return the parameters that stay free in the equations of a part of the mechanism."""
        used = names_in(mechanism) if self.values else frozenset[str]()
        return tuple(name for name in self._changing(mechanism) if name in used)

    def bare(self, mechanism: Mechanism) -> Mechanism:
        """Return a part of the mechanism without these values, for equations that serve for all."""
        return without_values(mechanism, self._changing(mechanism))

    def _changing(self, mechanism: Mechanism) -> list[str]:
        fixed = {parameter.name for parameter in mechanism.parameters if parameter.fixed_in}
        return [name for name in self.values if name not in fixed]

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
            raise _without_value(parameter.name)
    if not values:
        check_signs(mechanism, values)
        return Parameters(mechanism, values)
    named = with_named_numbers(mechanism, [name for name in values if name in automatic])
    exact = {name: cast("Fraction", number_of(value)) for name, value in values.items()}
    parameters = (replace(p, value=exact.get(p.name, p.value)) for p in named.parameters)
    valued = replace(named, parameters=tuple(parameters), source=None)
    check_signs(valued, values)
    return Parameters(valued, values)


def check_known(graph: Graph, values: Collection[str] = ()) -> None:
    """Refuse equations in which a parameter has no value, as in a law of a force."""
    for item in graph.inputs.values():
        if item.group == "parameter" and item.default is None and item.name not in values:
            raise _without_value(item.name)


def _without_value(name: str) -> RunError:
    return RunError(
        f"the parameter {name} has no value",
        element="values",
        remedy=f"values={{{name!r}: ...}}, or give it one in the mechanism",
    )


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
    """Refuse negative amounts and moments, and laws without a value, for one or many values each.

    A file has no negative amounts; of its moments of inertia it may only warn. Bodies in base
    parameters stand for parts of others: there the mass matrix tells, where the motion begins.
    """
    known = {p.name: p.value for p in mechanism.parameters if p.value is not None}
    for part in constant_parts(mechanism, {*known, *values}):
        for given in _cases([part.part], values, np.abs):
            part.check({**known, **given}, mechanism.file)
    for element, number in amounts_of(mechanism):
        for given in _cases([number], values) if set(values) & _symbols(number) else ():
            if value_of(cast("Expression", number), {**known, **given}) < 0:
                raise _negative(element, given)
    found: list[tuple[str, dict[str, Fraction], list[float]]] = []
    for segment in () if has_base_bodies(mechanism) else mechanism.segments:
        entries = [entry for row in segment.body.inertia for entry in row]
        if not any(entries) or any(_symbols(e) - {*known, *values} for e in entries):
            continue
        found += [
            (segment.name, given, _doubles(segment.name, entries, known, given))
            for given in _cases(entries, values)
        ]
    inertias = np.array([numbers for *_, numbers in found]).reshape(-1, 3, 3)
    least = np.linalg.eigvalsh(inertias)[:, 0]
    wrong = np.flatnonzero(least < -1e-9 * np.abs(inertias).max(axis=(1, 2), initial=0.0))
    if wrong.size:
        name, given, _ = found[int(wrong[0])]
        raise _negative(f"segment {name!r}, a principal moment of inertia", given)


def _doubles(
    segment: str,
    entries: Sequence[Number],
    known: Mapping[str, Fraction],
    given: Mapping[str, Fraction],
) -> list[float]:
    """Return the moments of inertia of a segment; those beyond the range of doubles are refused."""
    all_known = {**known, **given}
    try:
        return [float(e if isinstance(e, Fraction) else value_of(e, all_known)) for e in entries]
    except OverflowError:
        message = f"a moment of inertia of segment {segment!r} is beyond the range of numbers"
        remedy = "give values in SI units: m, kg, s"
        raise RunError(message, element="values", remedy=remedy) from None


def _symbols(number: Number) -> set[str]:
    return set() if isinstance(number, Fraction) else set(symbols_of(number))


def _cases(
    numbers: Sequence[Number],
    values: Mapping[str, Any],
    size: Callable[[Array], Array] = np.asarray,
) -> Iterator[dict[str, Fraction]]:
    """Yield values, those of batches once each, of what numbers name; once without any.

    Of one name alone that of the least `size` is enough: it is negative, or zero, if one is.
    """
    names = sorted(set(values) & set[str]().union(*map(_symbols, numbers)))
    if not names:
        yield {}
        return
    rows = np.unique(np.stack([np.atleast_1d(values[name]) for name in names], -1), axis=0)
    if len(numbers) == 1 and isinstance(numbers[0], Identifier):
        rows = rows[[np.argmin(size(rows[:, 0]))]]
    for row in rows:
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


# --- unknown forces ---------------------------------------------------------------------------


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
