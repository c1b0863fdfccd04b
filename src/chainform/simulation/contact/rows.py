"""Rows of forces, and what is known of them: their sorts, bounds, planes, and state of affairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LASTING, PUSH, JOINT, PLANE = "lasting", "push", "joint", "plane"


@dataclass(frozen=True)
class Row:
    """One row: its sort, the bound of friction or its coefficient, and the place of its gap.

    `way` is the component of the unit vector in which a contact slides in any case; if it is
    `loose`, it breaks loose just now, and this is where the search for its way begins. A `spare`
    row of a plane is never held.
    """

    sort: str
    bound: float = 0.0
    gap: int = -1
    way: float = 0.0
    is_loose: bool = False
    is_spare: bool = False


@dataclass
class Forces:
    """Forces s and accelerations w; rows that hold; the sides of rows at a bound of friction.

    Sides are the components of the unit vector of the force; 0 where friction is not at its bound.
    An acceleration below its `noise` is none.
    """

    s: Array
    w: Array
    holds: Flags
    sides: Array
    noise: Array


@dataclass
class Plane:
    """The rows of the plane of one contact, and how its way of sliding is found.

    `drag` is the force of friction for a push of 1 while it slides in a known way. `stiffness` is
    k = |w| / |s|; None as long as it is not known.
    """

    gap: int
    rows: list[int]
    friction: float
    is_moving: bool = False
    is_loose: bool = False
    stiffness: float | None = None
    turns: int = 0
    drag: Array = field(default_factory=lambda: np.zeros(0))


def planes_of(rows: Sequence[Row]) -> dict[int, Plane]:
    """Return the planes of contacts by the places of their gaps."""
    planes: dict[int, Plane] = {}
    for place, row in enumerate(rows):
        if row.sort == PLANE:
            plane = planes.setdefault(row.gap, Plane(row.gap, [], row.bound))
            plane.rows.append(place)
            plane.is_moving |= row.way != 0 and not row.is_loose
            plane.is_loose |= row.way != 0 and row.is_loose
            plane.drag = np.append(plane.drag, -row.bound * row.way)
    return planes
