"""A mechanism without its unknown forces: each of them zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, cast, get_args

from chainform.expressions import Expression, substitute, symbols_of
from chainform.mechanism.mechanism import Mechanism

EXPRESSIONS: tuple[type, ...] = get_args(Expression)


def without_unknowns(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with every unknown force zero, so that its drives alone move it."""
    if not mechanism.unknowns:
        return mechanism
    zeros = dict.fromkeys(mechanism.unknowns, Fraction(0))
    return replace(
        mechanism,
        elements=_changed(mechanism.elements, zeros),
        definitions=_changed(mechanism.definitions, zeros),
        unknowns=(),
    )


def _changed(value: Any, zeros: Mapping[str, Fraction]) -> Any:
    """Return a value with the names replaced in all expressions it is made of."""
    if isinstance(value, EXPRESSIONS):
        expression = cast("Expression", value)
        return substitute(expression, zeros) if symbols_of(expression) & zeros.keys() else value
    if isinstance(value, tuple):
        return tuple(_changed(entry, zeros) for entry in cast("tuple[Any, ...]", value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        changed = {name: _changed(part, zeros) for name, part in parts.items()}
        new = {name: part for name, part in changed.items() if part is not parts[name]}
        return replace(value, **new) if new else value
    return value
