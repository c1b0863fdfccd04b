"""Numbers for sine and cosine: polynomials, and pi to many binary places.

With x = k pi/2 + r, |r| <= pi/4 and z = r^2:

    sin r = r - r z S(z)        cos r = 1 - z/2 + z^2 C(z)

S and C are least-maximum fits (Remez exchange in 250 bits) of the relative errors of sine and
cosine; each coefficient was rounded, from the lowest up, before those above it were fitted again.
The errors left are 2^-57.8 and 2^-63.9 in float64, 2^-27.8 and 2^-32.8 in float32.
"""

from __future__ import annotations

import math
from functools import cache

LIMIT = 1e5
"""The largest |x| of the short way; k is then below 2^16."""
SINE = {
    "float64": (
        0.1666666666666663,
        -0.00833333333332184,
        0.0001984126982935851,
        -2.7557313538498483e-06,
        2.5050734385276395e-08,
        -1.5895432973634774e-10,
    ),
    "float32": (0.16666653752326965, -0.008332106284797192, 0.00019507884280756116),
}
"""S, lowest degree first."""
COSINE = {
    "float64": (
        0.041666666666666595,
        -0.0013888888888873342,
        2.4801587289002076e-05,
        -2.755731421703596e-07,
        2.0875705395290323e-09,
        -1.1358749181413732e-11,
    ),
    "float32": (0.04166664555668831, -0.0013887304812669754, 2.443142693664413e-05),
}
"""C, lowest degree first."""

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


def two_over_pi(places: int) -> int:
    """Return 2/pi 2^places, rounded down."""
    return (2 << places + PI_DIGITS) // pi()
