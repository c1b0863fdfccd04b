"""Small systems, as procedures: Cholesky, also with pivots for lost rank, and elimination.

Matrices are dense, row by row.
"""

from __future__ import annotations

from math import fabs, sqrt

from chainform.runtime import Floats, Ints

NOTHING = 64 * 2.220446049250313e-16
"""A share of a pivot in its entry of the diagonal that is rounding."""


def cholesky(a: Floats, n: int, tolerance: float) -> int:
    """Replace the lower half of a by L with a = L L^T; return 0, or 1 + the row where that fails.

    It fails where a pivot is no larger than `tolerance` times its entry of the diagonal. -1 where
    it is not a number.
    """
    for i in range(n):
        for j in range(i + 1):
            total = a[i * n + j]
            for k in range(j):
                total -= a[i * n + k] * a[j * n + k]
            if i == j:
                if not total > tolerance * a[i * n + i]:
                    if total != total:
                        return -1
                    return 1 + i
                a[i * n + i] = sqrt(total)
            else:
                a[i * n + j] = total / a[j * n + j]
    return 0


def forward(l: Floats, b: Floats, n: int) -> None:
    """Replace b by the solution x of L x = b."""
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= l[i * n + k] * b[k]
        b[i] = total / l[i * n + i]


def backward(l: Floats, b: Floats, n: int) -> None:
    """Replace b by the solution x of L^T x = b."""
    for step in range(n):
        i = n - 1 - step
        total = b[i]
        for k in range(i + 1, n):
            total -= l[k * n + i] * b[k]
        b[i] = total / l[i * n + i]


def pivoted(a: Floats, order: Ints, scales: Floats, n: int, tolerance: float) -> int:
    """Factorise P a P^T = L L^T of a matrix that may lack rank; return the rank.

    Pivots are multiplied by the `scales` of their rows before they are compared, so that units of
    rows do not count: the largest comes next, and the work ends when none is above `tolerance`.
    Rows of scale zero are left out. `order` holds the rows in the order
    in which they came. L stands in the lower half of a, whose rows and columns are exchanged
    accordingly.
    """
    for i in range(n):
        order[i] = i
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if a[i * n + i] * scales[order[i]] > a[best * n + best] * scales[order[best]]:
                best = i
        pivot = a[best * n + best]
        if not pivot * scales[order[best]] > tolerance:
            return k
        if best != k:
            exchange(a, order, n, k, best)
        root = sqrt(pivot)
        a[k * n + k] = root
        for i in range(k + 1, n):
            a[i * n + k] = a[i * n + k] / root
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                a[i * n + j] -= a[i * n + k] * a[j * n + k]
    return n


def exchange(a: Floats, order: Ints, n: int, k: int, l: int) -> None:
    """Exchange rows and columns k < l of a symmetric matrix of which the lower half is stored."""
    moved = order[k]
    order[k] = order[l]
    order[l] = moved
    for j in range(k):
        value = a[k * n + j]
        a[k * n + j] = a[l * n + j]
        a[l * n + j] = value
    for i in range(k + 1, l):
        value = a[i * n + k]
        a[i * n + k] = a[l * n + i]
        a[l * n + i] = value
    for i in range(l + 1, n):
        value = a[i * n + k]
        a[i * n + k] = a[i * n + l]
        a[i * n + l] = value
    value = a[k * n + k]
    a[k * n + k] = a[l * n + l]
    a[l * n + l] = value


def solve_pivoted(a: Floats, order: Ints, b: Floats, x: Floats, n: int, rank: int) -> None:
    """Set x to the solution of a x = b by the factors of `pivoted`; redundant rows get zero."""
    for i in range(n):
        x[i] = 0.0
    # The solution of the leading part is built in b, in the order of the pivots.
    for i in range(rank):
        total = b[order[i]]
        for k in range(i):
            total -= a[i * n + k] * x[order[k]]
        x[order[i]] = total / a[i * n + i]
    for step in range(rank):
        i = rank - 1 - step
        total = x[order[i]]
        for k in range(i + 1, rank):
            total -= a[k * n + i] * x[order[k]]
        x[order[i]] = total / a[i * n + i]


def spread_pivoted(a: Floats, spread: Floats, n: int, rank: int) -> None:
    """Set how the rows that `pivoted` left out follow from the others, V = L_1^-T L_2^T.

    V stands by columns: those of the row at place `rank + j` begin at j n.
    """
    for j in range(n - rank):
        column = spread[j * n :]
        source = a[(rank + j) * n :]
        for step in range(rank):
            i = rank - 1 - step
            total = source[i]
            for k in range(i + 1, rank):
                total -= a[k * n + i] * column[k]
            column[i] = total / a[i * n + i]


def spread_eliminated(a: Floats, spread: Floats, n: int, rank: int) -> None:
    """Set how the columns that `eliminated` left out follow from the others, V = U_1^-1 U_2."""
    for j in range(n - rank):
        column = spread[j * n :]
        for step in range(rank):
            i = rank - 1 - step
            total = a[i * n + rank + j]
            for k in range(i + 1, rank):
                total -= a[i * n + k] * column[k]
            column[i] = total / a[i * n + i]


def least_norm(spread: Floats, square: Floats, order: Ints, x: Floats, n: int, rank: int) -> None:
    """Make x the solution of least norm, given one that is zero at the places left out.

    All solutions are x - (V c, -c), and (1 + V^T V) c = V^T x gives the shortest. `square` is room
    for a matrix of n rows, and n numbers.
    """
    left = n - rank
    c = square[n * n :]
    for i in range(left):
        for j in range(i + 1):
            total = 0.0
            for k in range(rank):
                total += spread[i * n + k] * spread[j * n + k]
            if i == j:
                total += 1.0
            square[i * left + j] = total
        total = 0.0
        for k in range(rank):
            total += spread[i * n + k] * x[order[k]]
        c[i] = total
    if cholesky(square, left, 0.0) != 0:
        return
    forward(square, c, left)
    backward(square, c, left)
    for j in range(left):
        x[order[rank + j]] = c[j]
        for k in range(rank):
            x[order[k]] -= spread[j * n + k] * c[j]


def eliminated(a: Floats, rows: Ints, columns: Ints, n: int, tolerance: float) -> int:
    """Factorise a matrix that may lack rank by elimination, P a Q = L U; return the rank.

    The largest entry that is left comes next, and the work ends when it is below `tolerance` times
    the first. `rows` and `columns` hold the order in which they came; L (with ones on its diagonal)
    and U stand in a, whose rows and columns are exchanged accordingly.
    """
    for i in range(n):
        rows[i] = i
        columns[i] = i
    first = 0.0
    for k in range(n):
        best = k
        best_column = k
        for i in range(k, n):
            for j in range(k, n):
                if fabs(a[i * n + j]) > fabs(a[best * n + best_column]):
                    best = i
                    best_column = j
        pivot = fabs(a[best * n + best_column])
        if k == 0:
            first = pivot
        if not pivot > tolerance * first or not pivot > 0.0:
            return k
        swap(a, rows, columns, n, k, best, best_column)
        for i in range(k + 1, n):
            a[i * n + k] = a[i * n + k] / a[k * n + k]
            for j in range(k + 1, n):
                a[i * n + j] -= a[i * n + k] * a[k * n + j]
    return n


def swap(a: Floats, rows: Ints, columns: Ints, n: int, k: int, row: int, column: int) -> None:
    """Bring a row and a column of a matrix to place k."""
    moved = rows[k]
    rows[k] = rows[row]
    rows[row] = moved
    moved = columns[k]
    columns[k] = columns[column]
    columns[column] = moved
    for j in range(n):
        value = a[k * n + j]
        a[k * n + j] = a[row * n + j]
        a[row * n + j] = value
    for i in range(n):
        value = a[i * n + k]
        a[i * n + k] = a[i * n + column]
        a[i * n + column] = value


def solve_eliminated(
    a: Floats, rows: Ints, columns: Ints, b: Floats, x: Floats, n: int, rank: int
) -> None:
    """Set x to the solution of a x = b by the factors of `eliminated`; the rest of x is zero."""
    for i in range(n):
        x[i] = 0.0
    for i in range(rank):
        total = b[rows[i]]
        for k in range(i):
            total -= a[i * n + k] * x[columns[k]]
        x[columns[i]] = total
    for step in range(rank):
        i = rank - 1 - step
        total = x[columns[i]]
        for k in range(i + 1, rank):
            total -= a[i * n + k] * x[columns[k]]
        x[columns[i]] = total / a[i * n + i]
