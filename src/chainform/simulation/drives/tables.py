"""Tables of efforts over time, linear between their entries.

A short one becomes pieces of a law. A long one would make a long program of that: it is looked up,
by the procedure in `loops/tables.py`, before the equations are evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.mechanism import number_of

Array = NDArray[np.float64]

LONG = 32
"""From so many entries on a table is looked up."""

REMEDY = 'write {"t": [0, 1, 2], "values": [0, 5, 0]}'


@dataclass(frozen=True)
class Table:
    """Efforts of one rate at times that grow; outside them that of the nearest entry."""

    rate: int
    times: tuple[float, ...]
    values: tuple[float, ...]

    def at(self, t: Array) -> Array:
        """Return the efforts at times."""
        return np.interp(t, self.times, self.values)


def entries_of(joint: str, table: Mapping[str, Any]) -> tuple[list[Fraction], list[Fraction]]:
    """Return times and efforts, checked."""
    where = f"forces, {joint}"
    unknown = table.keys() - {"t", "values"}
    if unknown:
        message = f"a table of efforts has no {min(map(str, unknown))!r}"
        raise RunError(message, element=where, remedy=REMEDY)
    try:
        columns = [[number_of(x) for x in table.get(key, ())] for key in ("t", "values")]
    except (Error, TypeError) as problem:
        message = f"a table of efforts is made of numbers: {problem}"
        raise RunError(message, element=where, remedy=REMEDY) from None
    times, values = columns
    known = all(isinstance(x, Fraction) for x in (*times, *values))
    if not known or len(times) != len(values) or not times:
        message = "a table of efforts needs equally many numbers in t and values"
        raise RunError(message, element=where, remedy=REMEDY)
    t, v = cast("list[Fraction]", times), cast("list[Fraction]", values)
    for a, b in pairwise(t):
        if b <= a:
            message = f"the times of a table must grow, and {float(b):g} s follows {float(a):g} s"
            raise RunError(message, element=where, remedy="sort them, each time once")
    return t, v


def pieces_of(t: list[Fraction], v: list[Fraction]) -> list[dict[str, object]]:
    """Return a table as pieces in time."""
    pieces: list[dict[str, object]] = [{"until": t[0], "law": v[0]}]
    for i in range(len(t) - 1):
        slope = (v[i + 1] - v[i]) / (t[i + 1] - t[i])
        law = f"({v[i]}) + ({slope})*(t - ({t[i]}))"
        pieces.append({"until": t[i + 1], "law": law})
    return [*pieces, {"law": v[-1]}]
