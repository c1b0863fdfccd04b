"""Tables of efforts over time, linear between their entries.

A short one becomes pieces of a law. A long one would make a long program of that: it is looked up,
by the procedure in `loops/tables.py`, before the equations are evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chainform.given import Given
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


def entries_of(given: Given) -> tuple[list[Fraction], list[Fraction]]:
    """Return times and efforts, checked."""
    table = given.table(("t", "values"), REMEDY)
    times, values = (_numbers(table.required(key, REMEDY)) for key in ("t", "values"))
    if len(times) != len(values) or not times:
        raise given.error("a table needs equally many numbers in t and values", REMEDY)
    for a, b in pairwise(times):
        if b <= a:
            message = f"the times of a table must grow, and {float(b):g} s follows {float(a):g} s"
            raise given.error(message, "sort them, each time once")
    return times, values


def _numbers(given: Given) -> list[Fraction]:
    numbers: list[Fraction] = []
    for entry in given.entries(remedy=REMEDY):
        with entry.translate_errors():
            number = number_of(entry.value)
        if not isinstance(number, Fraction):
            raise entry.error("a table is made of numbers", REMEDY)
        numbers.append(number)
    return numbers


def pieces_of(t: list[Fraction], v: list[Fraction]) -> list[dict[str, object]]:
    """Return a table as pieces in time."""
    pieces: list[dict[str, object]] = [{"until": t[0], "law": v[0]}]
    for i in range(len(t) - 1):
        slope = (v[i + 1] - v[i]) / (t[i + 1] - t[i])
        law = f"({v[i]}) + ({slope})*(t - ({t[i]}))"
        pieces.append({"until": t[i + 1], "law": law})
    return [*pieces, {"law": v[-1]}]
