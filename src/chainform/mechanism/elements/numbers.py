"""All numbers inside a record, found or changed wherever they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, cast

from chainform.expressions import Apply, Binary, Constant, Negate, Symbol, symbols_of
from chainform.expressions import Number as NumberExpression
from chainform.mechanism.types import Number

T = TypeVar("T")

_NUMBERS = (Fraction, NumberExpression, Constant, Symbol, Negate, Binary, Apply)


def numbers_in(record: object) -> Iterator[Number]:
    """Yield every number of a record, or of a tuple of records."""
    if isinstance(record, _NUMBERS):
        yield record
    else:
        for part in _parts(record).values():
            yield from numbers_in(part)


def names_in(record: object) -> frozenset[str]:
    """Return all names in the expressions of a record."""
    laws = (number for number in numbers_in(record) if not isinstance(number, Fraction))
    return frozenset[str]().union(*(symbols_of(law) for law in laws))


def with_numbers(record: T, change: Callable[[Number], Number]) -> T:
    """Return the record with every number changed."""
    if isinstance(record, _NUMBERS):
        return cast(T, change(record))
    parts = {key: with_numbers(part, change) for key, part in _parts(record).items()}
    if isinstance(record, tuple):
        return cast(T, tuple(parts.values()))
    return cast(T, replace(cast(Any, record), **parts)) if parts else record


def _parts(record: object) -> dict[str, object]:
    """Return what a tuple or a record consists of; a text or None has no parts."""
    if isinstance(record, tuple):
        return {str(k): part for k, part in enumerate(cast("tuple[object, ...]", record))}
    if is_dataclass(record):
        return {field.name: getattr(record, field.name) for field in fields(record)}
    return {}
