"""The number pi to many binary places, and pi/2 as a sum of short numbers."""

from __future__ import annotations

import math
from functools import cache

PI_DIGITS = 1400


@cache
def pi() -> int:
    """Return pi 2^PI_DIGITS, rounded down, as 16 arctan(1/5) - 4 arctan(1/239)."""
    spare = 32
    return (16 * _arctan(5, PI_DIGITS + spare) - 4 * _arctan(239, PI_DIGITS + spare)) >> spare


def _arctan(inverse: int, digits: int) -> int:
    """Return arctan(1/inverse) 2^digits, up to some last places."""
    power, total, n = (1 << digits) // inverse, 0, 1
    while power:
        total += power // n if n % 4 == 1 else -(power // n)
        power //= inverse**2
        n += 2
    return total


def parts_of_half_pi(*sizes: int) -> list[float]:
    """Return numbers of so many digits, each cut off, that add up to pi/2."""
    parts: list[float] = []
    left, scale = pi(), PI_DIGITS + 1
    for size in sizes:
        cut = left.bit_length() - size
        parts.append(math.ldexp(left >> cut, cut - scale))
        left &= (1 << cut) - 1
    return parts
