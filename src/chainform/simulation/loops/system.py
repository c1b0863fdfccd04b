"""A system under constraints in the array p, as procedures see it: sizes, and where things stand.

    H qdd = r + J^T s,    J qdd = gamma

All of it is known when a system is compiled, so that LLVM puts numbers in the place of the fields.
machines/layout.py computes them.
"""

from __future__ import annotations

from chainform.runtime.procedures import Struct


class SystemLayout(Struct):
    """Sizes of a system under constraints, and offsets in p of all that is computed with them.

    Of the rows of constraints the first ones always hold, then come `touching` gaps, two rows in
    the plane of each of the first `gripping` gaps, and the rates of joints that may stick.
    """

    nq: int
    n: int
    """How many rates there are,"""
    m: int
    """and how many rows of constraints."""
    always: int
    touching: int
    gripping: int
    sticking: int
    stiff: int
    """Gaps of stiff contacts."""
    laws: int
    """Events of the user."""
    impulse: int
    """Where in y forces of what comes and goes are added up (-1: nowhere),"""
    work: int
    """and where work is, with losses behind it."""

    mask: int
    """For each row, 0 if it is not active."""
    modes: int
    """For each joint that may stick, the direction in which it slides."""
    grips: int
    """For each row in a plane of contact, mu d of the last event (sliding.py)."""
    slack: int
    bounds: int
    """The largest friction of each joint that may stick,"""
    cones: int
    """and that of each contact, as a share of its push."""
    multipliers: int

    H: int
    """Set by the kernel `terms`, with the next five: n n,"""
    r: int
    """n,"""
    J: int
    """m n,"""
    gamma: int
    """m,"""
    residuals: int
    """the values of the rows, m,"""
    speeds: int
    """and their rates, m."""

    Y: int
    """Y^T with Y = L^-1 J^T and H = L L^T, m n,"""
    S: int
    """Y^T Y, or its factors, m m,"""
    right: int
    """a right side, m,"""
    weights: int
    """m,"""
    scales: int
    """what rows of S are multiplied by, m,"""
    squares: int
    """of the rows of J, against the largest of their group in the motion so far, m,"""
    largest: int
    """which is here, m,"""
    diagonal: int
    """that of H, and the largest entries of the columns of J, 2 n,"""
    spread: int
    """and how forces may be shared otherwise, with room for that, 2 m m + m + n."""

    order: int
    """The rows in the order of their pivots, m integers,"""
    groups: int
    """the first row of the group of each, those of a loop having one unit,"""
    redundant: int
    """and whether it was redundant where all were closed."""
    rank: int
    """The highest rank there."""
    columns: int
    """The columns in the order of their pivots, m integers."""
    across: int
    """Rows by which forces enter where contacts slide, m n,"""
    present: int
    """and mu d for the present speeds."""
    change: int
    """Room for two states."""
    lowest: int
    """The smallest share of a row that does not follow from others, its time, the lowest rank and
    its time."""
    watching: int
    """What the kernel `gaps` gives, and room for a y'."""
