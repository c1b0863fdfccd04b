"""The even solid that has the mass and the inertia of a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LIKE = 0.02
"""Moments of inertia that differ by less than this share are taken as equal."""


@dataclass(frozen=True)
class Solid:
    """A ball, a cylinder or a box: half sizes along its axes, which are the columns of `axes`.

    A cylinder has its axis along z; its first two half sizes are its radius. Sizes are in m and
    may be zero, as those of a thin rod or disc.
    """

    kind: Literal["ball", "cylinder", "box"]
    half: Array
    axes: Array

    @property
    def is_rod(self) -> bool:
        """Tell whether it is long and thin: along z, if a cylinder."""
        return self.kind == "cylinder" and bool(self.half[2] > 3.5 * self.half[0])


def solid_of(mass: float, inertia: Array) -> Solid | None:
    """Return the even solid of a mass (kg) and an inertia about the mass centre (kg m^2).

    None for a body without mass, and for one without extent, which is a point. With half sizes a,
    b, c a box has I_x = m (b^2 + c^2) / 3; a cylinder of radius r has I_z = m r^2 / 2 and
    I_x = m (r^2 / 4 + c^2 / 3); a ball has I = 2 m r^2 / 5.
    """
    if mass <= 0 or not np.isfinite(inertia).all():
        return None
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2)
    moments = np.maximum(moments, 0.0)
    if moments[2] <= 0:
        return None
    per_mass = moments / mass
    if moments[2] - moments[0] <= LIKE * moments[2]:
        return Solid("ball", np.full(3, np.sqrt(2.5 * per_mass.mean())), np.eye(3))
    for odd, pair in ((0, (1, 2)), (2, (0, 1))):
        gap = abs(moments[pair[1]] - moments[pair[0]])
        about, across = per_mass[odd], per_mass[list(pair)].mean()
        square = 3 * across - 1.5 * about
        if gap <= LIKE * moments[2] and square >= -LIKE * about:
            radius = np.sqrt(2 * about)
            half = np.array([radius, radius, np.sqrt(max(square, 0.0))])
            return Solid("cylinder", half, _right_handed(axes[:, [*pair, odd]]))
    squares = 1.5 * (per_mass.sum() - 2 * per_mass)
    return Solid("box", np.sqrt(np.maximum(squares, 0.0)), _right_handed(axes))


def _right_handed(axes: Array) -> Array:
    return axes if np.linalg.det(axes) > 0 else axes * np.array([1.0, 1.0, -1.0])
