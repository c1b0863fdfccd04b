"""Times as people write them: 90, "90s", "5m", "1.5h"."""

from __future__ import annotations

import re
from math import isfinite

from chainform.errors import DeriveError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([smh]?)\s*")


def seconds_of(budget: float | str) -> float:
    """Return a time in seconds; DeriveError if it is none."""
    if isinstance(budget, str):
        found = _TIME.fullmatch(budget)
        seconds = float(found[1]) * _UNITS[found[2]] if found else -1.0
    else:
        seconds = float(budget)
    if not isfinite(seconds) or seconds <= 0:
        raise DeriveError(
            f"{budget} is no time to search for",
            element="budget",
            remedy="give seconds, or a number with s, m or h, such as 5m",
        )
    return seconds
