"""Days and times as people give them, in UTC."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, time

from chainform.errors import StoreError
from chainform.store.arguments import utc


def moment_of(value: datetime | date | str | None, *, ends: bool = False) -> datetime | None:
    """Return a date or a time as a moment; a day means its beginning, or its end."""
    if isinstance(value, str):
        value = _parsed(value)
    if value is None:
        return None
    if isinstance(value, datetime):
        return utc(value)
    if not isinstance(value, date):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _no_date(value)
    return datetime.combine(value, time.max if ends else time.min, UTC)


def _parsed(text: str) -> datetime | date:
    for form in (date, datetime):
        with suppress(ValueError):
            return form.fromisoformat(text)
    raise _no_date(text)


def _no_date(value: object) -> StoreError:
    return StoreError(
        f"{str(value)[:40]!r} is not a date",
        element="date",
        remedy="write 2026-01-31, or with a time",
    )
