"""What callers hand over, checked before a database sees it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from chainform.errors import StoreError


def text_of(value: object, what: str) -> str:
    """Return a text; refuse anything else, and text that not every database can hold."""
    if not isinstance(value, str):
        raise StoreError(f"{what} must be a text, not {_kind(value)}", element=what)
    if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise StoreError(
            f"a text holds a character that cannot be stored: {value[:60]!r}",
            element=what,
            remedy="remove the character of number zero and halves of surrogate pairs",
        )
    return value


def optional_text(value: object, what: str) -> str | None:
    """Return a text, or None."""
    return None if value is None else text_of(value, what)


def texts_of(values: object, what: str) -> tuple[str, ...]:
    """Return several texts; a single one stands for itself."""
    if isinstance(values, str):
        return (text_of(values, what),)
    if not isinstance(values, Iterable) or isinstance(values, bytes):
        raise StoreError(f"{what} must be texts, not {_kind(values)}", element=what)
    return tuple(text_of(value, what) for value in cast("Iterable[object]", values))


def whole_number(value: object, what: str) -> int:
    """Return a number of a revision, or of something else that is counted."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        shown = value if isinstance(value, int) else _kind(value)
        raise StoreError(f"{what} must be a whole number, not {str(shown)[:40]}", element=what)
    return value


def seconds_of(value: object, what: str) -> float:
    """Return a time in seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and number >= 0:
            return number
    is_huge = isinstance(value, int) and abs(value) > 10**18
    shown = "so large a number" if is_huge else repr(value)
    raise StoreError(f"{what} must be a number of seconds, not {shown}"[:120], element=what)


def mapping_of(value: object, what: str) -> dict[str, Any]:
    """Return a mapping from texts."""
    if not isinstance(value, Mapping):
        raise StoreError(f"{what} must be a mapping, not {_kind(value)}", element=what)
    pairs = cast("Mapping[object, Any]", value)
    return {text_of(key, what): item for key, item in pairs.items()}


def bytes_of(value: object, what: str) -> bytes:
    """Return bytes."""
    found = raw_bytes(value)
    if found is None:
        raise StoreError(f"{what} must be bytes, not {_kind(value)}", element=what)
    return found


def raw_bytes(value: object) -> bytes | None:
    """Return bytes as they come from a driver, None where a cell holds something else."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(cast("bytes", value))
    return None


def utc(moment: object) -> datetime:
    """Return a moment in UTC; one without a time zone is taken to be in UTC already."""
    if not isinstance(moment, datetime):
        raise StoreError(f"a moment must be a date with a time, not {_kind(moment)}")
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise StoreError(
            f"{moment.isoformat()} is outside of the calendar", remedy="take a year from 1 to 9999"
        ) from None


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
