"""Rows of forces: their kinds, bounds, planes and states, and projections onto the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SMALL = 1e-11
"""What counts as zero, against the size of the numbers that were added up."""

ENDLESS = 1e100
"""Forces that grow so large have no bound."""
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


def relaxed(
    S: Array, b: Array, rows: Sequence[Row], start: Array, sweeps: int, share: float
) -> Array:
    """Return forces nearer to those that fit, by projecting them onto their bounds in turn.

    Without planes each projection lowers s.S s/2 + b.s, so that this comes as near as one likes.
    Each goes a share of its way.
    """
    s, own = start.copy(), np.diag(S)
    least = SMALL * float(np.max(own, initial=1e-300))
    planes = planes_of(rows)
    for _ in range(sweeps):
        for place, row in enumerate(rows):
            if row.sort == JOINT:
                w = float(S[place] @ s + b[place])
                free = s[place] - share * w / max(float(own[place]), least)
                s[place] = min(max(free, -row.bound), row.bound)
            elif row.sort == PUSH:
                _project_contact(S, b, s, place, planes.get(place), least, share)
        if not np.all(np.abs(s) < ENDLESS):
            return start
    return s


def _project_contact(
    S: Array, b: Array, s: Array, gap: int, plane: Plane | None, least: float, share: float
) -> None:
    """Set the forces of one contact to those that fit while all others stay."""
    w, ease = float(S[gap] @ s + b[gap]), float(S[gap, gap])
    if plane is not None and plane.is_moving:
        ease += float(S[gap, plane.rows] @ plane.drag)
        if ease <= least:
            # A push would bring more closing than opening: the contact is jammed.
            return
    s[gap] = max(s[gap] - share * w / max(ease, least), 0.0)
    if plane is None:
        return
    rows, bound = plane.rows, plane.friction * float(s[gap])
    if plane.is_moving:
        s[rows] = s[gap] * plane.drag
        return
    ease = max(float(np.trace(S[np.ix_(rows, rows)])), least)
    free = s[rows] - share * (S[rows] @ s + b[rows]) / ease
    s[rows] = free * min(1.0, bound / max(float(np.hypot.reduce(free)), 1e-300))
