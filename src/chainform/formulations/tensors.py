"""3 x 3 matrices in other axes: R M R^T with few products.

For a turn about z with cosine c and sine s the block across the axis needs four: with
u = c (M_xx - M_yy) - s (M_xy + M_yx),

    M_xx' = M_yy + c u,   M_yy' = M_xx - c u,   M_xy' = M_xy + s u,   M_yx' = M_yx + s u.
"""

from __future__ import annotations

from chainform.formulations.motion import AxisTurn, Turn, others
from chainform.graph import Scalar
from chainform.spatial import Matrix, Vector, column, cross, matrix, symmetric, transpose


def turned_symmetric(turn: Turn, m: Matrix) -> Matrix:
    """Return a symmetric matrix of the inner frame in the axes of the outer one."""
    if not isinstance(turn, AxisTurn):
        return _turned(turn, m)
    entries = _across(turn, m, 2 * (turn.sin * m[others(turn.axis)[0]][others(turn.axis)[1]]))
    entries |= _mixed(turn.axis, turn.back(column(m, turn.axis)), False)
    return symmetric(lambda i, k: entries[i, k] if (i, k) in entries else entries[k, i])


def turned_matrix(turn: Turn, m: Matrix) -> Matrix:
    """Return any matrix of the inner frame in the axes of the outer one."""
    if not isinstance(turn, AxisTurn):
        return _turned(turn, m)
    keep, z = turn.cos.builder.keep, turn.axis
    x, y = others(z)
    entries = _across(turn, m, turn.sin * keep(m[x][y] + m[y][x]))
    entries |= _mixed(z, turn.back(column(m, z)), False) | _mixed(z, turn.back(m[z]), True)
    return matrix(lambda i, k: keep(entries[i, k]))


def _across(turn: AxisTurn, m: Matrix, sheared: Scalar) -> dict[tuple[int, int], Scalar]:
    """Return the entries without the axis, and that of the axis itself."""
    keep, z = turn.cos.builder.keep, turn.axis
    x, y = others(z)
    u = keep(turn.cos * keep(m[x][x] - m[y][y]) - sheared)
    swing, lean = keep(turn.cos * u), keep(turn.sin * u)
    return {
        (x, x): m[y][y] + swing,
        (y, y): m[x][x] - swing,
        (x, y): m[x][y] + lean,
        (y, x): m[y][x] + lean,
        (z, z): m[z][z],
    }


def _mixed(z: int, v: Vector, lying: bool) -> dict[tuple[int, int], Scalar]:
    """Return the entries of the axis' column, or of its row."""
    return {((z, i) if lying else (i, z)): v[i] for i in others(z)}


def _turned(turn: Turn, m: Matrix) -> Matrix:
    half = transpose((turn.back(column(m, 0)), turn.back(column(m, 1)), turn.back(column(m, 2))))
    return (turn.back(half[0]), turn.back(half[1]), turn.back(half[2]))


def times_cross(w: Vector, m: Matrix) -> Matrix:
    """Return - M [w x] for a symmetric M: its rows are w x (row of M)."""
    return (cross(w, m[0]), cross(w, m[1]), cross(w, m[2]))


def plus(a: Matrix, b: Matrix) -> Matrix:
    """Return A + B."""
    return matrix(lambda i, k: a[i][k] + b[i][k])


def outer(a: Vector, b: Vector) -> Matrix:
    """Return a b^T."""
    return matrix(lambda i, k: a[i] * b[k])


def trace(m: Matrix) -> Scalar:
    """Return the sum of the diagonal."""
    return m[0][0] + m[1][1] + m[2][2]
