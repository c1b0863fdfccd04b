"""A mechanism whose unknown forces are known: laws in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast, get_args

from chainform.expressions import Expression, substitute, symbols_of
from chainform.mechanism.elements.types import Definition
from chainform.mechanism.mechanism import Mechanism
from chainform.mechanism.types import Number

EXPRESSIONS: tuple[type, ...] = get_args(Expression)


def with_known_forces(
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
