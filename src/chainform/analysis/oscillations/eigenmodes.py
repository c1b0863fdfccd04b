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

Rounding, and a state that is not quite steady, move each pole by what its condition makes of it.
Within that error a pole is zero, and its real part is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.independent_coordinates import pivots
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.oscillations.steady_motion import SteadyMotion
from chainform.errors import RunError

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

FREE, OSCILLATION, DECAY, GROWTH = 0, 1, 2, 3
KINDS = ("free motion", "oscillation", "decay", "growth")
"""Names of kinds by their numbers."""

ROUNDING = 1e-14
"""What rounding leaves of a sum that is zero, against its terms."""
SYMMETRIC = 1e-11
"""By how much stiffness may differ from its transpose, against its terms."""
LEAST = 1e-14
"""Entries of shapes below this are zero."""
TINY = 1e-100
"""Sums of rows and columns below this are not balanced."""
NONE = 1e-13
"""Shares of a matrix below this are zero."""
AROUND = 10.0
"""A state that is not quite steady changes A by about so many times what is left over."""
SLIGHT = 1e-15
"""Damping below this share of the largest frequency is none."""
LARGEST = 1e100
"""Entries of A beyond this have no modes."""


@dataclass(frozen=True)
class EigenMode:
    """A pole (1/s), its vector, as long as z, and its kind; a pair of poles has that above 0.

    `error` is by how much rounding may move the pole.
    """

    pole: complex
    vector: Complex
    kind: int
    error: float


@dataclass(frozen=True)
class EigenModes:
    """The modes of a small motion, free motions first, then by the size of their poles.

    `poles` are all, as many as z has entries, with their `errors`.
    """

    modes: tuple[EigenMode, ...]
    poles: Complex
    errors: Array


def eigenmodes(motion: SteadyMotion) -> EigenModes:
    """Return the modes of a small motion; what varies has no part in others than its own."""
    _refuse_sizes(motion.small)
    stiffness = None if motion.varying else _stiffness(motion.small, motion.residual)
    modes = _general(motion) if stiffness is None else _symmetric(motion.small, *stiffness)
    found = sorted(modes.modes, key=lambda mode: (mode.kind > 0, abs(mode.pole)))
    return EigenModes(tuple(found), modes.poles, modes.errors)


def _refuse_sizes(motion: SmallMotion) -> None:
    """Refuse equations whose entries are so large that their squares are no numbers."""
    sizes = np.abs(motion.rates).max(axis=1, initial=0.0)
    if sizes.max(initial=0.0) > LARGEST:
        raise RunError(
            f"small motions change faster than numbers can tell: {sizes.max():.1e} 1/s and 1/s^2",
            file=motion.mechanism.file,
            element=motion.states[int(np.argmax(sizes))],
            remedy="give stiffness, damping and masses in SI units",
        )


# --- symmetric problems -----------------------------------------------------------------------


def _stiffness(motion: SmallMotion, residual: float) -> tuple[Array, Array, Array] | None:
    """Return K, how far it may be off, and damping so slight that it counts as an error.

    None where the problem is not symmetric.

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
    sizes = np.sqrt(np.diag(M))
    rate = np.sqrt(np.max(np.abs(K) / np.outer(sizes, sizes), initial=0.0))
    if np.any(np.abs(D) > SLIGHT * rate * np.outer(sizes, sizes)):
        return None
    terms, bounds = _terms(motion)
    largest = np.max(terms / np.outer(sizes, sizes), initial=0.0) * np.outer(sizes, sizes)
    if np.any(np.abs(K - K.T) > SYMMETRIC * largest):
        return None
    return (K + K.T) / 2, bounds + residual * np.outer(sizes, sizes), np.abs(D)


def _terms(motion: SmallMotion) -> tuple[Array, Array]:
    """Return the sizes of the terms that the stiffness is the sum of, and its bounds of errors."""
    chosen, d = motion.independent, motion.d
    T_q, T_v = np.abs(chosen.T_q), np.abs(chosen.T_v.T)
    start = np.abs(chosen.following(-d["rows", "q"] @ chosen.T_q))
    by_rows = np.abs(motion.accelerations.M) @ start
    terms = T_v @ (np.abs(d["balance", "q"]) @ T_q + by_rows)
    slopes = motion.equations.bounds(motion.point, "q")["balance"]
    return terms, ROUNDING * terms + T_v @ slopes @ T_q


def _symmetric(motion: SmallMotion, K: Array, bounds: Array, damping: Array) -> EigenModes:
    M = motion.balance[0]
    L = np.linalg.cholesky(M)
    inverse = np.linalg.inv(L)
    squares, V = np.linalg.eigh(inverse @ K @ inverse.T)
    shapes = np.asarray(inverse.T @ V, np.float64)
    # The quotient of Rayleigh is better than the eigenvalue where these are of other sizes.
    squares = np.sum(shapes * (K @ shapes), axis=0) / np.sum(shapes * (M @ shapes), axis=0)
    noise = np.sum(np.abs(shapes) * (bounds @ np.abs(shapes)), axis=0)
    noise += _mixed(shapes.T @ K @ shapes, squares)
    # Modes are as long as M has it: half of the damping is what it adds to a pole.
    slight = np.sum(np.abs(shapes) * (damping @ np.abs(shapes)), axis=0) / 2
    is_free = np.abs(squares) <= noise
    free = simple_columns(shapes[:, is_free])
    slow = float(np.sqrt(np.max(noise[is_free], initial=0.0)))
    modes = [_mode(0.0, free[:, k], FREE, slow) for k in range(free.shape[1])]
    for k in np.flatnonzero(~is_free):
        root, error = complex(np.sqrt(abs(squares[k]))), float(noise[k] / abs(squares[k]) ** 0.5)
        error += float(slight[k])
        if squares[k] > 0:
            modes.append(_mode(1j * root, shapes[:, k], OSCILLATION, error))
        else:
            modes.append(_mode(root, shapes[:, k], GROWTH, error))
            modes.append(_mode(-root, shapes[:, k], DECAY, error))
    pairs = [(m, -m.pole) for m in modes if m.kind in (FREE, OSCILLATION)]
    poles = [*(m.pole for m in modes), *(pole for _, pole in pairs)]
    errors = [*(m.error for m in modes), *(m.error for m, _ in pairs)]
    return EigenModes(tuple(modes), np.array(poles, np.complex128), np.array(errors))


def _mixed(coupling: Array, squares: Array) -> Array:
    """Return by how much the rest of others in each shape may move its square."""
    gaps = np.abs(squares[:, None] - squares)
    rest = np.abs(coupling - np.diag(np.diag(coupling)))
    return 4 * np.sum(rest * np.minimum(1.0, rest / np.maximum(gaps, TINY)), axis=0)


def _mode(pole: complex, shape: Array, kind: int, error: float) -> EigenMode:
    """Return a mode of displacements."""
    vector = np.concatenate([shape + 0j, pole * shape])
    return EigenMode(complex(pole), np.asarray(vector, np.complex128), kind, error)


# --- all other problems -----------------------------------------------------------------------


def _general(motion: SteadyMotion) -> EigenModes:
    small, square = motion.small, np.ix_(motion.constant, motion.constant)
    # Balancing would make what is left over as large as all else where poles are zero.
    unsure = np.maximum(small.bounds[square], AROUND * motion.residual)
    A = np.where(np.abs(small.rates[square]) > unsure, small.rates[square], 0.0)
    scales = balanced_scales(A)
    even, bounds = (each * scales / scales[:, None] for each in (A, small.bounds[square]))
    size = float(np.linalg.norm(even, 2))
    Q, count = _zero_space(even, NONE * size + AROUND * motion.residual)
    inner, rounded = Q.T @ even @ Q, np.abs(Q.T) @ bounds @ np.abs(Q)
    first, coupling, rest = inner[:count, :count], inner[:count, count:], inner[count:, count:]
    # What was taken for zero, and how far it may be off.
    left_out = np.abs(inner[count:, :count]) + rounded[count:, :count]
    lost = np.linalg.norm(rounded[:count, :count]) + np.linalg.norm(left_out)
    least = float((lost * np.linalg.norm(inner[:count])) ** 0.5)
    values, vectors, errors = eigenvalues(rest, ROUNDING * size + motion.residual)
    lefts = np.linalg.norm(np.linalg.pinv(vectors), axis=1)
    # All states by those that count.
    whole = np.eye(len(small.states))[:, motion.constant]
    modes: list[EigenMode] = []
    for k, value in enumerate(values.tolist()):
        above = np.linalg.solve(value * np.eye(count) - first, coupling @ vectors[:, k])
        errors[k] += min(lefts[k] * np.linalg.norm(left_out @ np.abs(above)), least)
        if value.imag < 0:
            continue
        inside, kind = np.append(above, vectors[:, k]), kind_of(value, float(errors[k]))
        vector = np.asarray(whole @ (scales * (Q @ inside)), np.complex128)
        modes.append(EigenMode(value if kind else 0j, vector, kind, float(errors[k])))
    free = np.column_stack([whole @ (scales[:, None] * Q[:, :count]), _units(motion)])
    modes += [EigenMode(0j, vector + 0j, FREE, least) for vector in _free_motions(small, free)]
    poles = np.concatenate([np.zeros(free.shape[1]), values]).astype(np.complex128)
    return EigenModes(tuple(modes), poles, np.append(np.full(free.shape[1], least), errors))


def eigenvalues(A: Array, error: float) -> tuple[Complex, Complex, Array]:
    """Return eigenvalues, their vectors as columns, and what an error of A makes of them.

    That goes by the condition of each. Two that are nearer than that are taken as one double
    eigenvalue, whose error is a square root.
    """
    if not len(A):
        return np.zeros(0, np.complex128), np.zeros((0, 0), np.complex128), np.zeros(0)
    values, right = np.linalg.eig(A)
    with np.errstate(all="ignore"):
        left = np.linalg.pinv(right)
        conditions = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=0)
        double = np.sqrt(error * float(np.linalg.norm(A, 2)))
        errors = np.minimum(error * conditions, double)
    values, right = (np.asarray(each, np.complex128) for each in (values, right))
    return values, right, np.nan_to_num(errors, nan=double)


def kind_of(pole: complex, error: float) -> int:
    """Return the kind of a mode by its pole, given its error."""
    if abs(pole) <= error:
        return FREE
    if pole.imag and abs(pole.real) <= error:
        return OSCILLATION
    return GROWTH if pole.real > 0 else DECAY


def _units(motion: SteadyMotion) -> Array:
    """Return displacements of each that varies, as columns."""
    return np.eye(len(motion.small.states))[:, list(motion.varying)]


def _free_motions(motion: SmallMotion, N: Array) -> Array:
    """Return the displacements and states without a pole, as rows that are as long as z."""
    count, rates = len(motion.independent.places), len(motion.independent.rate_places)
    still = N.copy()
    still[count : count + rates] = 0.0
    u, sizes, _ = np.linalg.svd(still, full_matrices=False)
    rank = int(np.sum(sizes > NONE * np.max(sizes, initial=0.0)))
    return simple_columns(u[:, :rank]).T


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


def _zero_space(A: Array, smallest: float) -> tuple[Array, int]:
    """Return orthonormal columns, the first `count` of which span N; what is smaller is zero."""
    n = len(A)
    Q, count = np.eye(n), 0
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
