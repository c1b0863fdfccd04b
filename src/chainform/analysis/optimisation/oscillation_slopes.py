"""Exact derivatives of small motions about an equilibrium, which moves with parameters p.

symbol   meaning
y        displacements along all rates, states of actuators, multipliers of loops
w        amplitudes of inputs
P, R     what a motion y exp(s t) under inputs w exp(s t) leaves of the equations: P(s) y + R w
E, z     equations of rest, and the state that satisfies them
u        left vector of a pole

    P(0) dz = - E_p                       dP = P_p + P_z dz
    P y = 0, u^H P = 0:                   ds = - u^H dP y / (u^H P_s y)
    P y = - R w:                          P dy = - (dP y + dR w)

P y + R w is one output of a graph, in which y and w are inputs: its derivatives are exact. Where
poles are the same, u and y have a column for each, and ds is a matrix: there is a derivative if
that is a number times the unit matrix, as for the two bending modes of a round bar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.optimisation.graph_slopes import GraphSlopes
from chainform.analysis.optimisation.oscillation_graphs import OscillationSlopes
from chainform.analysis.optimisation.state_slopes import OPEN, no_derivative
from chainform.errors import RunError

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Parts = Mapping[str, Complex]
"""Directions by groups of inputs, (lanes, size) each."""
RANK = 1e-10
"""Singular values below this share of the largest count as zero."""
SAME = 1e-7
"""Poles that are nearer than this share of their size are the same."""
CLEAR = 1e-6
"""A vector of a pole is clear if the next singular value is larger than the least by this."""
ZERO = 1e-6
"""A sum below this share of its terms is zero."""
STATE = ("q", "x", "sigma")


# --- equilibria -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Group:
    """Modes of one equilibrium with the same pole: its rows, left and right vectors."""

    place: int
    rows: tuple[int, ...]
    pole: complex
    left: Complex
    right: Complex
    by_pole: Complex
    """u^H P_s y."""


class Equilibria:
    """Equilibria for one set of values, and how they and their small motions change."""

    def __init__(
        self, slopes: OscillationSlopes, motions: Sequence[SmallMotion], values: Array
    ) -> None:
        self.slopes, self.m = slopes, len(motions)
        self.nv, self.n = slopes.mechanism.nv, len(slopes.names)
        equations = slopes.equations
        self.nx, self.held = equations.sizes["x"], equations.held
        self.file = slopes.mechanism.file
        for motion in motions:
            if np.any(motion.point["qd"]):
                raise no_derivative("rates of a steady motion are not zero", self.file)
        point = {
            group: np.stack([motion.point[group] for motion in motions])
            for group, size in equations.sizes.items()
            if size
        }
        self.columns = slopes.rest.columns(point, values)
        self.by = {group: self._by(group) for group in equations.sizes if group != "t"}
        bases = [np.linalg.svd(J) for J in self.by["qdd"][:, equations.parts["rows"]]]
        self.bases = [u[:, : int(np.sum(s > RANK * s.max(initial=0.0)))] for u, s, _ in bases]
        """What puts independent forces on joints, of the multipliers."""
        self.changes, self.open = self._state_changes()

    def _by(self, group: str) -> Array:
        """Return the derivative of the equations by a group, (m, entries, size)."""
        size = self.nv if group == "q" else self.slopes.equations.sizes[group]
        unit = np.broadcast_to(np.eye(size), (self.m, size, size))
        return self.slopes.rest.slopes.along(self.columns, group, unit, self.m)

    def matrix(self, e: int, s: complex) -> Complex:
        """Return P(s) of one equilibrium."""
        by = {group: array[e] for group, array in self.by.items()}
        return self._matrix(by, self.bases[e], s, -s)

    def terms(self, e: int, s: complex) -> Array:
        """Return the sizes of the terms that entries of P(s) are sums of."""
        by = {group: np.abs(array[e]) for group, array in self.by.items()}
        return np.real(self._matrix(by, np.abs(self.bases[e]), abs(s), abs(s)))

    def _matrix(self, by: Mapping[str, Array], U: Array, s: complex, own: complex) -> Complex:
        places, J = self.slopes.differential, U.T @ by["qdd"][list(self.slopes.part("rows"))]
        shifts = by["q"] + s * by["qd"] + s * s * by["qdd"]
        states = by["x"][places] + own * np.eye(self.nv + self.nx)[:, self.nv :]
        top = np.hstack([shifts[places], states, by["sigma"][places] @ U])
        whole = np.vstack([top, np.pad(J, ((0, 0), (0, top.shape[1] - self.nv)))])
        return whole.astype(np.complex128)

    def by_pole(self, e: int, s: complex) -> Complex:
        """Return the derivative of P by s."""
        shifts = (self.by["qd"][e] + 2 * s * self.by["qdd"][e])[self.slopes.differential]
        size = self.nv + self.nx
        top = np.hstack([shifts, -np.eye(size)[:, self.nv :]])
        count = self.bases[e].shape[1]
        return np.pad(top, ((0, count), (0, count))).astype(np.complex128)

    # --- the state ----------------------------------------------------------------------

    def _state_changes(self) -> tuple[dict[str, Array], NDArray[np.bool_]]:
        """Return the changes of the state by parameters and, where it is one of a family, along it.

        The second are the rates along which it is open, (m, nv).
        """
        rest, places = self.slopes.rest, self.slopes.differential
        right = np.concatenate(
            [
                rest.slopes.total(self.columns, {}, self.m)[:, places],
                rest.positions.total(self.columns, {}, self.m),
            ],
            axis=1,
        )
        J = rest.jacobian(self.columns)
        found: list[Array] = []
        loose: list[Array] = []
        for e in range(self.m):
            count = self.nv + self.nx
            top = np.real(self.matrix(e, 0.0))[:count]
            A = np.vstack([top, np.pad(J[e], ((0, 0), (0, top.shape[1] - self.nv)))])
            lengths, widths = _even(A)
            even = A * lengths[:, None] * widths
            inverse = np.linalg.pinv(even, rcond=RANK)
            change = -widths[:, None] * (inverse @ (lengths[:, None] * right[e]))
            terms = np.abs(A) @ np.abs(change) + np.abs(right[e])
            if np.any(np.abs(A @ change + right[e]) > ZERO * terms.max(axis=0, initial=0.0)):
                raise no_derivative(f"equilibrium {e + 1} ends at these values", self.file)
            free = np.eye(len(widths)) - inverse @ even
            found.append(change)
            loose.append(np.where(np.abs(free) > OPEN, widths[:, None] * free, 0.0))
        if not any(np.any(each) for each in loose):
            loose = [each[:, :0] for each in loose]
        widest = max(each.shape[1] for each in loose)
        whole = [
            np.hstack([a, np.pad(b, ((0, 0), (0, widest - b.shape[1])))])
            for a, b in zip(found, loose, strict=True)
        ]
        parts = [self._parts(e, each) for e, each in enumerate(whole)]
        changes = {g: np.real(np.stack([part[g] for part in parts])) for g in STATE}
        return changes, np.any(changes["q"][..., self.n :] != 0, axis=2)

    def _parts(self, e: int, y: Array | Complex) -> dict[str, Complex]:
        """Return columns of y by groups of inputs, with all multipliers."""
        ends = np.split(y, [self.nv, self.nv + self.nx])
        parts = (ends[0], ends[1], self.bases[e] @ ends[2])
        return {name: x.astype(np.complex128) for name, x in zip(STATE, parts, strict=True)}

    # --- small motions ------------------------------------------------------------------

    def motion(self, e: int, s: complex, y: Complex) -> dict[str, Complex]:
        """Return a small motion by groups of inputs."""
        parts = self._parts(e, y)
        return {**parts, "qd": s * parts["q"], "qdd": s * s * parts["q"]}

    def total(self, graph: GraphSlopes, places: Sequence[int], parts: Parts) -> Complex:
        """Return how `small` of a graph changes at some equilibria, y and w as they are.

        (lanes, entries, parameters and directions of a family).
        """
        columns, count = self._lanes(places, parts)
        changes = {group: np.repeat(x[places], 2, axis=0) for group, x in self.changes.items()}
        width = self.changes["q"].shape[2]
        total = np.zeros((count, graph.size, width))
        total[..., : self.n] = graph.total(columns, {}, count)
        for group, change in changes.items():
            total += graph.along(columns, group, change, count)
        return total[0::2] + 1j * total[1::2]

    def values(self, graph: GraphSlopes, places: Sequence[int], parts: Parts) -> Complex:
        """Return `small` of a graph, (lanes, entries)."""
        found = graph.values(*self._lanes(places, parts))
        return found[0::2] + 1j * found[1::2]

    def _lanes(self, places: Sequence[int], parts: Parts) -> tuple[dict[str, Array], int]:
        """Return inputs with real and imaginary parts in turn, and their number."""
        count = 2 * len(places)
        chosen = np.repeat(places, 2)
        columns = {name: x[chosen] if x.ndim > 1 else x for name, x in self.columns.items()}
        own = self.slopes.places
        y = np.zeros((len(places), max(part.stop for part in own.values())), np.complex128)
        for group, found in parts.items():
            y[:, own[group]] = found
        columns["weights"] = np.stack([y.real, y.imag], axis=1).reshape(count, -1)
        return columns, count

    # --- poles --------------------------------------------------------------------------

    def pole_changes(self, poles: Complex, errors: Array, places: NDArray[np.intp]) -> Complex:
        """Return derivatives of poles by parameters, (rows, n); `places` are their equilibria."""
        groups = [self._group(*each) for each in _same_poles(poles, errors, places, self.file)]
        lanes = [self.motion(each.place, each.pole, y) for each in groups for y in each.right.T]
        parts = _stacked(lanes)
        owners = [each.place for each in groups for _ in each.rows]
        total = self.total(self.slopes.small, owners, parts)
        result = np.zeros((len(poles), self.n), np.complex128)
        first = 0
        for each in groups:
            last = first + len(each.rows)
            result[list(each.rows)] = self._pole_change(each, total[first:last])
            first = last
        return result

    def _group(self, place: int, rows: tuple[int, ...], pole: complex) -> _Group:
        """Return the vectors of poles that are the same."""
        P, count = self.matrix(place, pole), len(rows)
        lengths, widths = _even(self.terms(place, pole))
        u, sizes, vh = np.linalg.svd(P * lengths[:, None] * widths)
        next_one = sizes[-count - 1] if len(sizes) > count else 1.0
        if count > len(sizes) or sizes[-count] > CLEAR * next_one:
            raise self._multiple(rows)
        right = np.asarray(widths[:, None] * vh[-count:].conj().T, np.complex128)
        left = np.asarray(lengths[:, None] * u[:, -count:], np.complex128)
        by_pole = self.by_pole(place, pole)
        inner = left.conj().T @ by_pole @ right
        terms = np.abs(left.T) @ np.abs(by_pole) @ np.abs(right)
        if pole and np.linalg.svd(inner, compute_uv=False)[-1] <= SAME * np.max(terms):
            raise self._multiple(rows)
        return _Group(place, rows, pole, left, right, inner)

    def _pole_change(self, group: _Group, total: Complex) -> Complex:
        """Return the derivative of a pole, (n,), given how P y changes for each of its vectors."""
        left = self._rows_of_matrix(group.place, total)
        change = np.einsum("ri,jrk->kij", group.left.conj(), left)
        terms = np.einsum("ri,jrk->kij", np.abs(group.left), np.abs(left))
        limit = ZERO * terms.max(axis=(1, 2))
        if group.pole == 0:
            if np.any(np.abs(change).max(axis=(1, 2)) > limit):
                message = f"{_modes(group.rows)} would be no free motion with other values"
                raise no_derivative(message, self.file)
            return np.zeros(self.n, np.complex128)
        found = -np.linalg.solve(group.by_pole, change)
        limit = limit * np.abs(np.linalg.inv(group.by_pole)).sum(axis=1).max()
        mean = np.trace(found, axis1=1, axis2=2) / len(group.rows)
        apart = np.abs(found - mean[:, None, None] * np.eye(len(group.rows))).max(axis=(1, 2))
        if np.any(apart > limit):
            raise self._multiple(group.rows)
        if np.any(np.abs(mean[self.n :]) > limit[self.n :]):
            message = "the equilibrium is one of a family, along which poles change"
            raise no_derivative(message, self.file)
        return mean[: self.n]

    def _rows_of_matrix(self, e: int, total: Complex) -> Complex:
        """Return changes of the equations, (lanes, entries, n), by the rows of P."""
        held = total[:, list(self.slopes.part("rows"))]
        rows = np.einsum("ri,lrk->lik", self.bases[e], held)
        return np.concatenate([total[:, self.slopes.differential], rows], axis=1)

    # --- forced oscillations ------------------------------------------------------------

    def answer_changes(
        self,
        speeds: Array,
        inputs: Sequence[tuple[str, int]],
        outputs: Sequence[tuple[str, int] | GraphSlopes],
    ) -> Complex:
        """Return derivatives of outputs under inputs of 1 at angular frequencies.

        They are (frequencies, outputs, inputs, n), of one equilibrium. Inputs are a group and a
        place in it; outputs, too, or graphs of how they change.
        """
        lanes = [(1j * w, group, place) for w in speeds.tolist() for group, place in inputs]
        solved = [self._forced(*lane) for lane in lanes]
        parts = _stacked(
            [self.motion(0, s, y) for (s, _, _), (_, y) in zip(lanes, solved, strict=True)]
        )
        for k, (_, group, place) in enumerate(lanes):
            size = self.slopes.equations.sizes[group]
            parts.setdefault(group, np.zeros((len(lanes), size), np.complex128))[k, place] = 1.0
        places = [0] * len(lanes)
        left = self._rows_of_matrix(0, self.total(self.slopes.small, places, parts))
        width = left.shape[2]
        moved = [
            self.motion(0, s, y)
            for (s, _, _), (inverse, _), rows in zip(lanes, solved, left, strict=True)
            for y in -(inverse @ rows).T
        ]
        changes, owners = _stacked(moved), [0] * len(moved)
        found: list[Complex] = []
        for output in outputs:
            if isinstance(output, GraphSlopes):
                by_state = self.values(output, owners, changes).reshape(len(lanes), width, -1)
                found.append(by_state.swapaxes(1, 2) + self.total(output, places, parts))
            else:
                group, place = output
                found.append(changes[group][:, place].reshape(len(lanes), 1, width))
        whole = np.concatenate(found, axis=1)
        limit = ZERO * np.abs(whole[..., : self.n]).max(initial=0.0)
        if np.any(np.abs(whole[..., self.n :]) > limit):
            message = "the equilibrium is one of a family, along which the answer changes"
            raise no_derivative(message, self.file)
        shape = (len(speeds), len(inputs), whole.shape[1], self.n)
        return whole[..., : self.n].reshape(shape).swapaxes(1, 2)

    def _forced(self, s: complex, group: str, place: int) -> tuple[Complex, Complex]:
        """Return the inverse of P(s), and y under one input of 1."""
        P = self.matrix(0, s)
        lengths, widths = _even(self.terms(0, s))
        inverse = widths[:, None] * np.linalg.inv(P * lengths[:, None] * widths) * lengths
        R = self.by[group][0][self.slopes.differential, place]
        return inverse, -inverse @ np.pad(R, (0, len(P) - len(R)))

    def _multiple(self, rows: Sequence[int]) -> RunError:
        return multiple_poles(rows, self.file)


def _stacked(lanes: Sequence[Mapping[str, Complex]]) -> dict[str, Complex]:
    """Return parts of small motions one below the other."""
    return {name: np.stack([lane[name] for lane in lanes]) for name in lanes[0]}


def multiple_poles(rows: Sequence[int], file: str | None) -> RunError:
    """Return the error about poles that are the same and part, or meet on the real axis."""
    message = f"the pole of {_modes(rows)} is multiple, or nearly so"
    return no_derivative(message, file, "begin where poles are apart")


def _modes(rows: Sequence[int]) -> str:
    return f"mode{'s' * (len(rows) > 1)} {', '.join(f'{row + 1}' for row in rows)}"


def _same_poles(
    poles: Complex, errors: Array, places: NDArray[np.intp], file: str | None
) -> list[tuple[int, tuple[int, ...], complex]]:
    """Return poles of each equilibrium that are the same: its place, their rows, their mean."""
    groups: list[tuple[int, list[int], complex]] = []
    for row, (pole, place) in enumerate(zip(poles.tolist(), places.tolist(), strict=True)):
        near = max(SAME * abs(pole), float(errors[row])) if pole else 0.0
        if pole.imag and 2 * abs(pole.imag) <= near:
            raise multiple_poles([row], file)
        for other, rows, own in groups:
            if other == place and bool(own) == bool(pole) and abs(own - pole) <= 2 * near:
                rows.append(row)
                break
        else:
            groups.append((place, [row], pole))
    return [(place, tuple(rows), complex(np.mean(poles[rows]))) for place, rows, _ in groups]


def _even(A: NDArray[np.generic]) -> tuple[Array, Array]:
    """Return factors of rows and columns that make their largest entries about 1."""
    sizes = np.abs(np.asarray(A, np.complex128))
    lengths, widths = np.ones(len(sizes)), np.ones(sizes.shape[1])
    for _ in range(8):
        even = sizes * lengths[:, None] * widths
        rows, columns = even.max(axis=1, initial=0.0), even.max(axis=0, initial=0.0)
        lengths /= np.sqrt(np.where(rows > 0, rows, 1.0))
        widths /= np.sqrt(np.where(columns > 0, columns, 1.0))
    return lengths, widths
