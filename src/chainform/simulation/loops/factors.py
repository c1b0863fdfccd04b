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

In the area of the kernel `terms` stand H (n n), r (n), J (m n), gamma (m); in the room for the work

    Y^T (m n), Y^T Y (m m), right side (m), weights (m), scales of its rows (m), squares of the rows
    of J (m) and the largest of each group (m), diagonal of H (n), largest entries of the columns of
    J (n), V (m m), room for the least norm (m m + m)

and in `order` the rows in the order of their pivots (m), the first row of the group of each (m),
whether a row was redundant where all were closed (m), the highest rank there (1), and how many rows
are lasting (1).
"""

from __future__ import annotations

from math import fabs

from chainform.runtime.procedures import Floats, Ints, fmax, fmin
from chainform.simulation.loops.integration import NO_NUMBER, UNRESISTED
from chainform.simulation.loops.linear import NOTHING, cholesky, forward, pivoted

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


def rows_of(area: Floats, mask: Floats, y_rows: Floats, n: int, m: int) -> None:
    """Set Y^T: the rows of J, each multiplied by L^-1; rows that are not active become zero."""
    for i in range(m):
        row = y_rows[i * n :]
        source = area[n * n + n + i * n :]
        for e in range(n):
            row[e] = source[e]
        if mask[i] == 0.0:
            for e in range(n):
                row[e] = 0.0
        else:
            forward(area, row, n)


def normal_matrix(y_rows: Floats, s: Floats, n: int, m: int) -> None:
    """Set the lower half of Y^T Y."""
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for e in range(n):
                total += y_rows[i * n + e] * y_rows[j * n + e]
            s[i * m + j] = total


def factorised(
    area: Floats, mask: Floats, room: Floats, order: Ints, n: int, m: int, is_closed: int
) -> int:
    """Factorise H, or what stands for it, and the matrix of the multipliers; return the rank.

    In the stages of a step rows are not quite closed, and `is_closed` is 0. Then a row that is
    redundant in each closed state, such as one of a bar between two ball joints, has a small share
    of its own, and dividing by it would give any acceleration. So what was redundant in the last
    closed state is redundant.
    `UNRESISTED` less the number of a coordinate where no mass and no row resists it, `NO_NUMBER`
    where H has no value.
    """
    diagonal = room[m * n + m * m + 5 * m :]
    for e in range(n):
        diagonal[e] = area[e * n + e]
    regular = cholesky(area, n, ILL)
    if regular == 0:
        rows_of(area, mask, room, n, m)
        rank = plain_rank(room, order, n, m, is_closed)
        is_sure = 1
        if rank < 0:
            rank = measured_rank(area, room, order, n, m, is_closed)
            is_sure = is_clear(area, room, order, n, m, rank)
        if is_sure == 1 and may_hide(area, mask, room, order, n, m, rank) == 0:
            return rank
    if regular < 0:
        return NO_NUMBER
    weights = room[m * n + m * m + m :]
    restore(area, diagonal, n)
    measure_rows(area[n * n + n :], room, order, n, m)
    strengthen(area, mask, diagonal, room[m * n + m * m + 3 * m :], weights, n, m)
    failed = cholesky(area, n, NOTHING)
    if failed == 0:
        add_right(area, weights, n, m)
    elif regular == 0:
        # Rows that are hardly rows were no help; H needs none.
        restore(area, diagonal, n)
        failed = cholesky(area, n, ILL)
    if failed > 0:
        return UNRESISTED - (failed - 1)
    rows_of(area, mask, room, n, m)
    return measured_rank(area, room, order, n, m, is_closed)


def restore(area: Floats, diagonal: Floats, n: int) -> None:
    """Set the lower half of H again, from the upper one and its diagonal."""
    for i in range(n):
        area[i * n + i] = diagonal[i]
        for j in range(i):
            area[i * n + j] = area[j * n + i]


def plain_rank(room: Floats, order: Ints, n: int, m: int, is_closed: int) -> int:
    """Factorise the matrix of the multipliers; return the rank if there is no doubt, or else -1.

    There is none where pivots are large, in whatever unit, and what is left is rounding.
    """
    s = room[m * n :]
    sizes = room[m * n + m * m + m :]
    scales = room[m * n + m * m + 2 * m :]
    normal_matrix(room, s, n, m)
    largest = 0.0
    for i in range(m):
        sizes[i] = s[i * m + i]
        scales[i] = 1.0
        if sizes[i] == 0.0:
            scales[i] = 0.0
        if sizes[i] > largest:
            largest = sizes[i]
    put_last(order[2 * m :], scales, m, is_closed)
    rank = pivoted(s, order, scales, m, PLAIN * largest)
    for i in range(rank, m):
        if s[i * m + i] * scales[order[i]] > ROUNDING * sizes[order[i]]:
            return -1
    return rank


def measured_rank(area: Floats, room: Floats, order: Ints, n: int, m: int, is_closed: int) -> int:
    """Factorise the matrix of the multipliers with rows in units of their own; return the rank."""
    s = room[m * n :]
    scales = room[m * n + m * m + 2 * m :]
    measure_rows(area[n * n + n :], room, order, n, m)
    normal_matrix(room, s, n, m)
    largest = 0.0
    for i in range(m):
        if s[i * m + i] > largest:
            largest = s[i * m + i]
    for i in range(m):
        size = scales[m + i]
        scales[i] = 0.0
        if s[i * m + i] > NO_ROW * NO_ROW * largest:
            scales[i] = size / s[i * m + i]
    put_last(order[2 * m :], scales, m, is_closed)
    return pivoted(s, order, scales, m, TOLERANCE)


def put_last(redundant: Ints, scales: Floats, m: int, is_closed: int) -> None:
    """Let rows come last, in a state that is not closed, that are redundant in closed ones."""
    for i in range(m):
        if is_closed == 0 and redundant[i] == 1:
            scales[i] = LAST * scales[i]


def note_redundant(mask: Floats, order: Ints, m: int, rank: int) -> None:
    """Note which lasting rows are redundant where they are closed, if no other row is active.

    In a singular position more of them are, so that the highest rank counts.
    """
    always = order[3 * m + 1]
    for i in range(always, m):
        if mask[i] != 0.0:
            return
    if rank < order[3 * m]:
        return
    order[3 * m] = rank
    for i in range(m):
        row = order[i]
        order[2 * m + row] = 0
        if i >= rank and row < always:
            order[2 * m + row] = 1


def measure_rows(J: Floats, room: Floats, order: Ints, n: int, m: int) -> None:
    """Set the square of each row of J, against the largest one of its group in the motion so far.

    Rows of a group have the same unit: those of a loop. In units of its own a row would never
    vanish, in the units of others it might never count. Behind `order` stand the groups: for each
    row, the first row of its own.
    """
    sizes = room[m * n + m * m + 3 * m :]
    largest = sizes[m:]
    groups = order[m:]
    for i in range(m):
        total = 0.0
        for e in range(n):
            total += J[i * n + e] * J[i * n + e]
        sizes[i] = total
        largest[groups[i]] = fmax(largest[groups[i]], total)
    for i in range(m):
        if sizes[i] > 0.0:
            sizes[i] = sizes[i] / largest[groups[i]]


def is_clear(area: Floats, room: Floats, order: Ints, n: int, m: int, rank: int) -> int:
    """Tell whether there is no doubt about the rank: masses far apart may hide rows."""
    s = room[m * n :]
    scales = room[m * n + m * m + 2 * m :]
    if rank > 0:
        last = s[(rank - 1) * m + rank - 1]
        if last * last * scales[order[rank - 1]] < CLEAR:
            return 0
    for i in range(rank, m):
        if s[i * m + i] * scales[order[i]] > ROUNDING:
            return 0
        is_small = 0
        if scales[order[i]] == 0.0 and s[i * m + i] > 0.0:
            is_small = 1
        if is_small == 1 and is_no_row(area[n * n + n :], order[i], n, m) == 0:
            return 0
    return 1


def may_hide(
    area: Floats, mask: Floats, room: Floats, order: Ints, n: int, m: int, rank: int
) -> int:
    """Tell whether rows that look redundant may be hidden by masses far apart in the loops.

    Each coordinate is measured by its largest share in a row, so that units of rows do not count.
    """
    left = 0
    for i in range(rank, m):
        if largest_of(room[order[i] * n :], n) > 0.0:
            left = 1
    if left == 0:
        return 0
    J = area[n * n + n :]
    lightest = 1e300
    heaviest = 0.0
    for e in range(n):
        column = 0.0
        for i in range(m):
            largest = largest_of(J[i * n :], n)
            if mask[i] != 0.0 and fabs(J[i * n + e]) > fmax(SLIGHT, column) * largest:
                column = fabs(J[i * n + e]) / largest
        if column > 0.0:
            root = area[e * n + e] / column
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
