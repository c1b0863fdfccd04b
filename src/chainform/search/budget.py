"""Times as people write them: 90, "90s", "5m", "1h30m"."""

from __future__ import annotations

import re
from math import isfinite
from numbers import Real

from chainform.errors import DeriveError

LONGEST = 365 * 24 * 3600.0
"""The longest time that is taken for one: a year."""

_NUMBER = r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_PLAIN = re.compile(rf"\s*{_NUMBER}\s*")
_PARTS = re.compile(rf"\s*(?:{_NUMBER}\s*h)?\s*(?:{_NUMBER}\s*m)?\s*(?:{_NUMBER}\s*s)?\s*")
_SECONDS = (3600.0, 60.0, 1.0)


def seconds_of(budget: float | str) -> float:
    """Return a time in seconds; DeriveError if it is none."""
    seconds = _seconds(budget)
    if not isfinite(seconds) or seconds <= 0:
        raise DeriveError(
            f"{shown(budget)} is no time to search for",
            element="budget",
            remedy="give seconds, or numbers with h, m or s, such as 5m or 1h30m",
        )
    if seconds > LONGEST:
        raise DeriveError(
            f"{shown(budget)} is too long a time to search for",
            element="budget",
            remedy="give a year (8760h) at most; Ctrl-C ends a search at any time",
        )
    return seconds


def _seconds(budget: object) -> float:
    """Return a time in seconds, nan if it is none."""
    if isinstance(budget, str):
        if plain := _PLAIN.fullmatch(budget):
            return float(plain[1])
        parts = _PARTS.fullmatch(budget)
        if parts is None:
            return float("nan")
        return sum(float(n) * unit for n, unit in zip(parts.groups("0"), _SECONDS, strict=True))
    if isinstance(budget, bool) or not isinstance(budget, Real):
        return float("nan")
    try:
        return float(budget)
    except OverflowError:
        return float("inf")


def shown(value: object) -> str:
    """Return a value as a message shows it: as it is, but not at any length."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # Python does not write whole numbers of thousands of digits
        text = "a number of many digits"
    return text if len(text) <= 40 else f"{text[:37]}..."
