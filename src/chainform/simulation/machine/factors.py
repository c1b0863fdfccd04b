"""Factors of the equations under constraints, as procedures: ranks in any unit, singular masses.

    H qdd = r + J^T s,    J qdd = gamma

H may be singular, as with a body without mass in a loop: accelerations are unique where H is
positive definite for all motions that the rows allow. Then, and where H is nearly singular,

    H + J^T W J    stands for H,    r + J^T W gamma    for r

with positive weights W. Since J qdd = gamma this changes neither qdd nor s, nor the smallest change
of a state in the metric H that brings it onto the constraints.

Rows come into the work in units of their own. Whether one counts is decided by its size against
the largest that it, or its loop, was in the motion so far: a row of a parallelogram vanishes where
all bars lie on one line, a law in small units does not.
"""

from __future__ import annotations

from math import fabs

from chainform.runtime import Floats, Ints, fmax, fmin, integers
from chainform.simulation.machine.layout import SystemLayout
from chainform.simulation.machine.linear import NOTHING, cholesky, forward, pivoted
from chainform.simulation.machine.records import NO_NUMBER, UNRESISTED

TOLERANCE = 1e-10
"""Rows of which a smaller share, by its square, does not follow from the others are redundant."""
PLAIN = 1e-6
"""A pivot above this share of the largest is that of an independent row, whatever its unit."""
CLEAR = 1e-7
"""Shares above this leave no doubt that a row is independent,"""
ROUNDING = 1e-13
"""and shares below this that it is redundant."""
ILL = 1e-8
"""A share of a pivot of H in its diagonal below which rows of constraints are to help."""
APART = 1e-6
"""Masses of a smaller ratio in the loops may hide that a row is independent."""
LAST = 1e-30
"""Rows that are redundant where all are closed come after others by this factor."""
NO_ROW = 1e-13
"""Rows whose entries are smaller, against the largest of J, are zero."""
SLIGHT = 1e-9
"""Entries of a row that are smaller, against its largest, do not measure a coordinate."""
LIGHT = 1e-4
"""Weights of rows are no smaller than this share of the largest mass."""


def rows_of(p: Floats, layout: SystemLayout) -> None:
    """Set Y^T: the rows of J, each multiplied by L^-1; rows that are not active become zero."""
    n = layout.n
    mask = p[layout.mask :]
    for i in range(layout.m):
        row = p[layout.Y + i * n :]
        source = p[layout.J + i * n :]
        for e in range(n):
            row[e] = source[e]
        if mask[i] == 0.0:
            for e in range(n):
                row[e] = 0.0
        else:
            forward(p[layout.H :], row, n)


def normal_matrix(p: Floats, layout: SystemLayout) -> None:
    """Set the lower half of Y^T Y."""
    n = layout.n
    m = layout.m
    Y = p[layout.Y :]
    S = p[layout.S :]
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for e in range(n):
                total += Y[i * n + e] * Y[j * n + e]
            S[i * m + j] = total


def factorised(p: Floats, layout: SystemLayout, is_closed: int) -> int:
    """Factorise H, or what stands for it, and the matrix of the multipliers; return the rank.

    In the stages of a step rows are not quite closed, and `is_closed` is 0. Then a row that is
    redundant in each closed state, such as one of a bar between two ball joints, has a small share
    of its own, and dividing by it would give any acceleration. So what was redundant in the last
    closed state is redundant.
    `UNRESISTED` less the number of a coordinate where no mass and no row resists it, `NO_NUMBER`
    where H has no value.
    """
    n = layout.n
    m = layout.m
    H = p[layout.H :]
    mask = p[layout.mask :]
    diagonal = p[layout.diagonal :]
    for e in range(n):
        diagonal[e] = H[e * n + e]
    regular = cholesky(H, n, ILL)
    if regular == 0:
        rows_of(p, layout)
        rank = plain_rank(p, layout, is_closed)
        is_sure = 1
        if rank < 0:
            rank = measured_rank(p, layout, is_closed)
            is_sure = is_clear(p, layout, rank)
        if is_sure == 1 and may_hide(p, layout, rank) == 0:
            return rank
    if regular < 0:
        return NO_NUMBER
    weights = p[layout.weights :]
    restore(H, diagonal, n)
    measure_rows(p, layout)
    strengthen(H, mask, diagonal, p[layout.squares :], weights, n, m)
    failed = cholesky(H, n, NOTHING)
    if failed == 0:
        add_right(H, weights, n, m)
    elif regular == 0:
        # Rows that are hardly rows were no help; H needs none.
        restore(H, diagonal, n)
        failed = cholesky(H, n, ILL)
    if failed > 0:
        return UNRESISTED - (failed - 1)
    rows_of(p, layout)
    return measured_rank(p, layout, is_closed)


def restore(H: Floats, diagonal: Floats, n: int) -> None:
    """Set the lower half of H again, from the upper one and its diagonal."""
    for i in range(n):
        H[i * n + i] = diagonal[i]
        for j in range(i):
            H[i * n + j] = H[j * n + i]


def plain_rank(p: Floats, layout: SystemLayout, is_closed: int) -> int:
    """Factorise the matrix of the multipliers; return the rank if there is no doubt, or else -1.

    There is none where pivots are large, in whatever unit, and what is left is rounding.
    """
    m = layout.m
    S = p[layout.S :]
    sizes = p[layout.weights :]
    scales = p[layout.scales :]
    order = integers(p[layout.order :])
    normal_matrix(p, layout)
    largest = 0.0
    for i in range(m):
        sizes[i] = S[i * m + i]
        scales[i] = 1.0
        if sizes[i] == 0.0:
            scales[i] = 0.0
        if sizes[i] > largest:
            largest = sizes[i]
    put_last(integers(p[layout.redundant :]), scales, m, is_closed)
    rank = pivoted(S, order, scales, m, PLAIN * largest)
    for i in range(rank, m):
        if S[i * m + i] * scales[order[i]] > ROUNDING * sizes[order[i]]:
            return -1
    return rank


def measured_rank(p: Floats, layout: SystemLayout, is_closed: int) -> int:
    """Factorise the matrix of the multipliers with rows in units of their own; return the rank."""
    m = layout.m
    S = p[layout.S :]
    scales = p[layout.scales :]
    squares = p[layout.squares :]
    measure_rows(p, layout)
    normal_matrix(p, layout)
    largest = 0.0
    for i in range(m):
        if S[i * m + i] > largest:
            largest = S[i * m + i]
    for i in range(m):
        scales[i] = 0.0
        if S[i * m + i] > NO_ROW * NO_ROW * largest:
            scales[i] = squares[i] / S[i * m + i]
    put_last(integers(p[layout.redundant :]), scales, m, is_closed)
    return pivoted(S, integers(p[layout.order :]), scales, m, TOLERANCE)


def put_last(redundant: Ints, scales: Floats, m: int, is_closed: int) -> None:
    """Let rows come last, in a state that is not closed, that are redundant in closed ones."""
    for i in range(m):
        if is_closed == 0 and redundant[i] == 1:
            scales[i] = LAST * scales[i]


def note_redundant(p: Floats, layout: SystemLayout, rank: int) -> None:
    """Note which lasting rows are redundant where they are closed, if no other row is active.

    In a singular position more of them are, so that the highest rank counts.
    """
    m = layout.m
    always = layout.always
    mask = p[layout.mask :]
    order = integers(p[layout.order :])
    redundant = integers(p[layout.redundant :])
    highest = integers(p[layout.rank :])
    for i in range(always, m):
        if mask[i] != 0.0:
            return
    if rank < highest[0]:
        return
    highest[0] = rank
    for i in range(m):
        row = order[i]
        redundant[row] = 0
        if i >= rank and row < always:
            redundant[row] = 1


def measure_rows(p: Floats, layout: SystemLayout) -> None:
    """Set the square of each row of J, against the largest one of its group in the motion so far.

    Rows of a group have the same unit: those of a loop. In units of its own a row would never
    vanish, in the units of others it might never count.
    """
    n = layout.n
    m = layout.m
    J = p[layout.J :]
    squares = p[layout.squares :]
    largest = p[layout.largest :]
    groups = integers(p[layout.groups :])
    for i in range(m):
        total = 0.0
        for e in range(n):
            total += J[i * n + e] * J[i * n + e]
        squares[i] = total
        largest[groups[i]] = fmax(largest[groups[i]], total)
    for i in range(m):
        if squares[i] > 0.0:
            squares[i] = squares[i] / largest[groups[i]]


def is_clear(p: Floats, layout: SystemLayout, rank: int) -> int:
    """Tell whether there is no doubt about the rank: masses far apart may hide rows."""
    m = layout.m
    S = p[layout.S :]
    scales = p[layout.scales :]
    order = integers(p[layout.order :])
    if rank > 0:
        last = S[(rank - 1) * m + rank - 1]
        if last * last * scales[order[rank - 1]] < CLEAR:
            return 0
    for i in range(rank, m):
        if S[i * m + i] * scales[order[i]] > ROUNDING:
            return 0
        is_small = 0
        if scales[order[i]] == 0.0 and S[i * m + i] > 0.0:
            is_small = 1
        if is_small == 1 and is_no_row(p[layout.J :], order[i], layout.n, m) == 0:
            return 0
    return 1


def may_hide(p: Floats, layout: SystemLayout, rank: int) -> int:
    """Tell whether rows that look redundant may be hidden by masses far apart in the loops.

    Each coordinate is measured by its largest share in a row, so that units of rows do not count.
    """
    n = layout.n
    m = layout.m
    H = p[layout.H :]
    J = p[layout.J :]
    mask = p[layout.mask :]
    order = integers(p[layout.order :])
    left = 0
    for i in range(rank, m):
        if largest_of(p[layout.Y + order[i] * n :], n) > 0.0:
            left = 1
    if left == 0:
        return 0
    lightest = 1e300
    heaviest = 0.0
    for e in range(n):
        column = 0.0
        for i in range(m):
            largest = largest_of(J[i * n :], n)
            if mask[i] != 0.0 and fabs(J[i * n + e]) > fmax(SLIGHT, column) * largest:
                column = fabs(J[i * n + e]) / largest
        if column > 0.0:
            root = H[e * n + e] / column
            lightest = fmin(lightest, root * root)
            heaviest = fmax(heaviest, root * root)
    if lightest < APART * heaviest:
        return 1
    return 0


def measure_columns(J: Floats, mask: Floats, columns: Floats, n: int, m: int) -> None:
    """Set one over the largest entry of each column of J in the active rows; 0 where there is none.

    What carries both ends of a loop does not move it: the entries of its column are rounding, and
    measure nothing.
    """
    for e in range(n):
        columns[e] = 0.0
    for i in range(m):
        least = SLIGHT * largest_of(J[i * n :], n)
        for e in range(n):
            if mask[i] != 0.0 and fabs(J[i * n + e]) > fmax(least, columns[e]):
                columns[e] = fabs(J[i * n + e])
    for e in range(n):
        if columns[e] > 0.0:
            columns[e] = 1.0 / columns[e]


def is_no_row(rows: Floats, row: int, n: int, m: int) -> int:
    """Tell whether a row is zero but for rounding."""
    own = largest_of(rows[row * n :], n)
    for i in range(m):
        if own <= NO_ROW * largest_of(rows[i * n :], n):
            return 1
    return 0


def largest_of(row: Floats, n: int) -> float:
    """Return the size of the largest entry of a row."""
    largest = 0.0
    for e in range(n):
        if fabs(row[e]) > largest:
            largest = fabs(row[e])
    return largest


def add_right(area: Floats, weights: Floats, n: int, m: int) -> None:
    """Add J^T W gamma to r."""
    gamma = area[n * n + n + m * n :]
    for i in range(m):
        if weights[i] != 0.0:
            for e in range(n):
                area[n * n + e] += weights[i] * gamma[i] * area[n * n + n + i * n + e]


def strengthen(
    area: Floats, mask: Floats, diagonal: Floats, shares: Floats, weights: Floats, n: int, m: int
) -> None:
    """Set the weights W, and add J^T W J of the active rows to the lower half of H.

    A weight is about the mass that a row meets: with each coordinate measured by the largest entry
    of its column of J, the mass of the heaviest coordinate in the row, or a share of the largest
    one of all. A row that has become small has a small weight, by its square in `shares`.
    `diagonal` is that of H, with room for n numbers behind it.
    """
    columns = diagonal[n:]
    J = area[n * n + n :]
    heaviest = 0.0
    measure_columns(J, mask, columns, n, m)
    for e in range(n):
        if diagonal[e] * columns[e] * columns[e] > heaviest:
            heaviest = diagonal[e] * columns[e] * columns[e]
    if not heaviest > 0.0:
        heaviest = 1.0
    for i in range(m):
        size = 0.0
        mass = 0.0
        for e in range(n):
            part = J[i * n + e] * columns[e]
            own = part * columns[e]
            if part * part > size:
                size = part * part
            if diagonal[e] * own * own > mass:
                mass = diagonal[e] * own * own
        weights[i] = 0.0
        if mask[i] != 0.0 and size > NO_ROW * NO_ROW:
            weights[i] = shares[i] * fmax(mass / (size * size), LIGHT * heaviest / size)
            for e in range(n):
                for k in range(e + 1):
                    area[e * n + k] += weights[i] * J[i * n + e] * J[i * n + k]
