"""Poles and shapes of a small motion: z = v exp(s t).

symbol    meaning
M, K      inertia and stiffness of the independent coordinates: M v' = -K xi
A         z' = A z
N         the vectors that A, applied often enough, makes zero: free motions

Without damping, gyroscopic forces and further states the problem is symmetric,

    K v = omega^2 M v

and is solved as such: conservative systems have real omega^2, accurate to rounding of K. Else A is
made block triangular by orthogonal vectors, those of N first,

    A = [[A_0, A_01], [0, A_1]]

so that poles that are zero are so exactly, also where they are multiple, and A_1 has the others. A
zero pole that is multiple and defective would otherwise be found at the root of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.independent_coordinates import pivots
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.mechanism import float_of, known_values

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

FREE, OSCILLATION, DECAY, GROWTH = 0, 1, 2, 3
KINDS = ("free motion", "oscillation", "decay", "growth")
"""Names of kinds by their numbers."""

ROUNDING = 1e-13
"""What rounding leaves of stiffness that is zero, against the terms that it is the sum of."""
LEAST = 1e-14
"""Entries of shapes below this are zero."""
TINY = 1e-100
"""Sums of rows and columns below this are not balanced."""
NONE = 1e-13
"""Shares of a matrix below this are zero, and so are poles below this share of the largest."""
SLIGHT = 1e-15
"""Damping below this share of the largest frequency is none, and so is a share of an entry of A."""
REAL = 1e-13
"""Real parts of pairs below this share of the largest pole are zero."""


@dataclass(frozen=True)
class EigenMode:
    """A pole (1/s), its vector, as long as z, and its kind; a pair of poles has that above 0."""

    pole: complex
    vector: Complex
    kind: int


@dataclass(frozen=True)
class EigenModes:
    """The modes of a small motion, free motions first, then by the size of their poles.

    `poles` are all, as many as z has entries; `is_symmetric` tells how they were found.
    """

    modes: tuple[EigenMode, ...]
    poles: Complex
    is_symmetric: bool


def eigenmodes(motion: SmallMotion) -> EigenModes:
    """Return the modes of a small motion whose A is constant."""
    stiffness = _stiffness(motion)
    modes = _general(motion) if stiffness is None else _symmetric(motion, *stiffness)
    found = sorted(modes.modes, key=lambda mode: (mode.kind > 0, abs(mode.pole)))
    return EigenModes(tuple(found), modes.poles, modes.is_symmetric)


# --- symmetric problems -----------------------------------------------------------------------


def _stiffness(motion: SmallMotion) -> tuple[Array, Array] | None:
    """Return K and the sizes of its terms; None where the problem is not symmetric.

    With prescribed accelerations it may be, but the independent rates are not free then.
    """
    chosen, count = motion.independent, len(motion.independent.places)
    is_alike = chosen.places == chosen.rate_places and len(motion.states) == 2 * count
    if not is_alike or motion.equations.prescribing:
        return None
    M, F = motion.balance
    K, D, slip = -F[:, :count], -F[:, count : 2 * count], motion.rates[:count, :count]
    if np.any(slip):
        return None
    terms = _terms(motion)
    sizes = np.sqrt(np.diag(M))
    rate = np.sqrt(np.max(np.abs(K) / np.outer(sizes, sizes), initial=0.0))
    if np.any(np.abs(D) > SLIGHT * rate * np.outer(sizes, sizes)):
        return None
    noise = np.max(terms / np.outer(sizes, sizes), initial=0.0) * np.outer(sizes, sizes)
    if np.any(np.abs(K - K.T) > 100 * ROUNDING * noise):
        return None
    return (K + K.T) / 2, terms


def _terms(motion: SmallMotion) -> Array:
    """Return the sizes of the terms that the stiffness is the sum of."""
    chosen, d = motion.independent, motion.d
    start = np.abs(chosen.following(-d["rows", "q"] @ chosen.T_q))
    by_rows = np.abs(motion.accelerations.M) @ start
    slopes = np.abs(d["balance", "q"]) @ np.abs(chosen.T_q)
    return np.abs(chosen.T_v.T) @ (slopes + by_rows)


def _symmetric(motion: SmallMotion, K: Array, terms: Array) -> EigenModes:
    M = motion.balance[0]
    L = np.linalg.cholesky(M)
    inverse = np.linalg.inv(L)
    squares, V = np.linalg.eigh(inverse @ K @ inverse.T)
    shapes = inverse.T @ V
    # The quotient of Rayleigh is better than the eigenvalue where these are of other sizes.
    squares = np.sum(shapes * (K @ shapes), axis=0) / np.sum(shapes * (M @ shapes), axis=0)
    noise = ROUNDING * len(K) * np.sum(np.abs(shapes) * (terms @ np.abs(shapes)), axis=0)
    is_free = np.abs(squares) <= noise
    free = simple_columns(np.asarray(shapes[:, is_free], np.float64))
    modes = [_mode(0.0, free[:, k], FREE) for k in range(free.shape[1])]
    poles = [0.0 + 0.0j] * (2 * free.shape[1])
    for square, shape in zip(squares[~is_free], shapes.T[~is_free], strict=True):
        root = complex(np.sqrt(abs(square)))
        if square > 0:
            modes.append(_mode(1j * root, shape, OSCILLATION))
            poles += [1j * root, -1j * root]
        else:
            modes += [_mode(root, shape, GROWTH), _mode(-root, shape, DECAY)]
            poles += [root, -root]
    return EigenModes(tuple(modes), np.array(poles, np.complex128), is_symmetric=True)


def _mode(pole: complex, shape: Array, kind: int) -> EigenMode:
    """Return a mode of displacements."""
    vector = np.concatenate([shape + 0j, pole * shape])
    return EigenMode(complex(pole), np.asarray(vector, np.complex128), kind)


# --- all other problems -----------------------------------------------------------------------


def state_matrix(motion: SmallMotion) -> Array:
    """Return A; what rounding left of entries that are zero is zero.

    Balancing would make it as large as all else where poles are zero. An entry is judged by the
    largest of its row or column, once each displacement and each rate has the mass 1 and the
    fastest change the rate 1, and a stiffness by the weights and efforts that cancel in it. States
    of actuators and controllers have units of their own, and stay.
    """
    n, chosen = len(motion.states), motion.independent
    count, last = len(chosen.places), len(chosen.places) + len(chosen.rate_places)
    A = motion.rates[:, :n].copy()
    masses = [np.sum(T * (motion.accelerations.M @ T), axis=0) for T in (chosen.T_q, chosen.T_v)]
    sizes = np.concatenate([np.sqrt(np.where(mass > 0, mass, 1.0)) for mass in masses])
    even = np.abs(A[:last, :last] * sizes[:, None] / sizes)
    effort = _weight(motion) * max(np.max(mass, initial=0.0) for mass in masses)
    effort += np.max(np.abs(motion.left["drives"]), initial=0.0)
    even[count:, :count] -= SLIGHT * effort / np.outer(sizes[count:], sizes[:count])
    np.maximum(even, 0.0, out=even)
    fastest = np.max(even[count:, count:], initial=0.0)
    rate = max(np.sqrt(np.max(even[count:, :count], initial=0.0)), fastest)
    if rate > 0:
        times = np.repeat([1.0, rate], [count, last - count])
        even = even * times / times[:, None] / rate
    rows, columns = (np.max(even, axis=axis, initial=0.0) for axis in (1, 0))
    A[:last, :last][even <= SLIGHT * np.maximum(rows[:, None], columns)] = 0.0
    return A


def _weight(motion: SmallMotion) -> float:
    """Return the acceleration of gravity, m/s^2."""
    known = known_values(motion.mechanism)
    return float(np.linalg.norm([float_of(part, known) for part in motion.mechanism.gravity]))


def _general(motion: SmallMotion) -> EigenModes:
    A = state_matrix(motion)
    scales = balanced_scales(A)
    even = A * scales / scales[:, None]
    Q, count = _zero_space(even)
    inner = Q.T @ even @ Q
    first, rest = inner[:count, :count], inner[count:, count:]
    values, vectors = np.linalg.eig(rest) if len(rest) else (np.zeros(0), np.zeros((0, 0)))
    largest = float(np.max(np.abs(values), initial=0.0))
    modes: list[EigenMode] = []
    for value, y in zip(values.astype(np.complex128), vectors.T, strict=True):
        if value.imag < 0:
            continue
        above = np.linalg.solve(value * np.eye(count) - first, inner[:count, count:] @ y)
        vector = np.asarray(scales * (Q @ np.concatenate([above, y])), np.complex128)
        modes.append(EigenMode(complex(value), vector, kind_of(complex(value), largest)))
    moved = np.concatenate([*_free_motions(motion, scales[:, None] * Q[:, :count])], axis=0)
    modes += [EigenMode(0j, vector.astype(np.complex128), FREE) for vector in moved]
    poles = np.concatenate([np.zeros(count), values]).astype(np.complex128)
    return EigenModes(tuple(modes), poles, is_symmetric=False)


def kind_of(pole: complex, largest: float) -> int:
    """Return the kind of a mode by its pole, given the size of the largest."""
    if pole.imag and abs(pole.real) <= REAL * largest:
        return OSCILLATION
    return GROWTH if pole.real > 0 else DECAY


def _free_motions(motion: SmallMotion, N: Array) -> list[Array]:
    """Return the displacements and states without a pole, as rows that are as long as z."""
    count, rates = len(motion.independent.places), len(motion.independent.rate_places)
    still = N.copy()
    still[count : count + rates] = 0.0
    u, sizes, _ = np.linalg.svd(still, full_matrices=False)
    rank = int(np.sum(sizes > NONE * np.max(sizes, initial=0.0)))
    return [np.zeros((0, len(N))), simple_columns(u[:, :rank]).T]


def simple_columns(columns: Array) -> Array:
    """Return columns that span the same, each with a 1 where all others have 0."""
    count = columns.shape[1]
    if not count:
        return columns
    places = pivots(columns.T, count, range(len(columns)))
    return columns @ np.linalg.inv(columns[places])


def balanced_scales(A: Array) -> Array:
    """Return powers of two by which columns are multiplied, and rows divided, to be as large."""
    scales, bare = np.ones(len(A)), np.abs(A - np.diag(np.diag(A)))
    for _ in range(20):
        before = scales.copy()
        for k in range(len(A)):
            column = float(np.sum(bare[:, k] * scales[k] / scales))
            row = float(np.sum(bare[k] * scales / scales[k]))
            if column > TINY and row > TINY:
                scales[k] *= 2.0 ** round((np.log2(row) - np.log2(column)) / 2)
        if np.all(scales == before):
            break
    return scales


def _zero_space(A: Array) -> tuple[Array, int]:
    """Return orthonormal columns, the first `count` of which span N."""
    n = len(A)
    Q, count = np.eye(n), 0
    smallest = NONE * float(np.linalg.norm(A)) if A.size else 0.0
    while count < n:
        inner = (Q.T @ A @ Q)[count:, count:]
        _, sizes, vh = np.linalg.svd(inner)
        rank = int(np.sum(sizes > smallest))
        if rank == n - count:
            break
        # The null space first.
        Q[:, count:] = Q[:, count:] @ np.vstack([vh[rank:], vh[:rank]]).T
        count += n - count - rank
    return Q, count


def unit_shapes(shapes: Sequence[Complex]) -> tuple[list[Complex], list[complex]]:
    """Return shapes whose largest entry is 1, and what they were divided by.

    Of entries as large the first counts; what moves no coordinate is left as it is.
    """
    scaled: list[Complex] = []
    factors: list[complex] = []
    for shape in shapes:
        sizes = np.abs(shape)
        largest = float(np.max(sizes, initial=0.0))
        place = int(np.argmax(sizes > (1 - 1e-6) * largest)) if largest else 0
        factor = complex(shape[place]) if largest else 1.0 + 0j
        unit = np.asarray(shape / factor, np.complex128)
        real, imag = (np.where(np.abs(part) > LEAST, part, 0.0) for part in (unit.real, unit.imag))
        scaled.append(real + 1j * imag)
        factors.append(factor)
    return scaled, factors
