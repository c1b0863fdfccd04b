"""States of a motion as points, and the deviations between them.

symbol   meaning
y        a state (q, qd, x), (nq + nv + nx,)
z        a deviation: displacements along the rates, changes of rates, changes of further states
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.results.displacement import displaced
from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.mechanism import JointKind, Mechanism
from chainform.simulation import Run, rest_names, whole_states

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionStates:
    """States and deviations of the motions of one system; `names` are the entries of deviations."""

    mechanism: Mechanism
    names: tuple[str, ...]
    nx: int

    @staticmethod
    def of(equations: VariationalEquations) -> MotionStates:
        """Return the states of motions that have variational equations."""
        return MotionStates(equations.mechanism, equations.names, equations.graph.nx)

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.mechanism.nq

    @property
    def nv(self) -> int:
        """The number of rates."""
        return self.mechanism.nv

    def start(self, y: Array) -> tuple[Array, Array, Array | None]:
        """Return a state as a simulation takes it: q0, qd0, x0."""
        q, qd, x = y[: self.nq], y[self.nq : self.nq + self.nv], y[self.nq + self.nv :]
        if not len(x):
            return q, qd, None
        own = len(rest_names(self.mechanism))
        return q, qd, np.append(whole_states(self.mechanism, q, qd, x[:own]), x[own:])

    def along(self, run: Run) -> Array:
        """Return the states of a run, (m, nq + nv + nx)."""
        more = [] if run.extra_states is None else [run.extra_states[:, : self.nx]]
        return np.concatenate([run.q, run.qd, *more], axis=1)

    def moved(self, y: Array, z: Array) -> Array:
        """Return a state after a deviation."""
        q = displaced(self.mechanism, y[None, : self.nq], z[None, : self.nv])[0]
        return np.append(q, y[self.nq :] + z[self.nv :])

    def deviations(self, y: Array, start: Array) -> Array:
        """Return the deviations (m, n) of states (m, size) from others, to first order or exactly.

        Turns are rotation vectors in the axes of the joint at `start`.
        """
        q, origin = y[:, : self.nq], np.broadcast_to(start, y.shape)[:, : self.nq]
        rest = (y - start)[:, self.nq :]
        if not self.mechanism.quaternions:
            return np.concatenate([q - origin, rest], axis=1)
        xi = np.zeros((len(y), self.nv))
        for segment in self.mechanism.segments:
            first, rate, kind = segment.coordinate, segment.rate, segment.joint.kind
            if first is None or rate is None:
                continue
            if not kind.has_quaternion:
                xi[:, rate] = q[:, first] - origin[:, first]
                continue
            end = first + kind.coordinates
            turn = origin[:, end - 4 : end]
            if kind is JointKind.FREE:
                step = q[:, first : first + 3] - origin[:, first : first + 3]
                xi[:, rate : rate + 3] = _turned_back(turn, step)
                rate += 3
            xi[:, rate : rate + 3] = _rotation_vectors(turn, q[:, end - 4 : end])
        return np.concatenate([xi, rest], axis=1)

    @cached_property
    def kinds(self) -> list[NDArray[np.intp]]:
        """Which entries of z are displacements, rates and further states, as far as there are."""
        ends = np.cumsum([self.nv, self.nv, self.nx])
        parts = np.split(np.arange(len(self.names)), ends[:-1])
        return [part for part in parts if len(part)]

    def scales(self, y: Array, span: float) -> Array:
        """Return the size of each entry of deviations along a motion (m, size): its unit there.

        A motion at rest has the units 1 for displacements, and 1 in a time of 1/(2 pi) of the span.
        """
        z = self.deviations(y, y[0])
        spread = np.ptp(z[:, : self.nv], axis=0).max(initial=0.0) / 2
        amplitude = spread if spread > TINY else 1.0
        rates = np.abs(y[:, self.nq : self.nq + self.nv]).max(initial=0.0)
        result = np.empty(len(self.names))
        result[: self.nv] = amplitude
        result[self.nv : 2 * self.nv] = max(rates, amplitude * 2 * np.pi / span)
        states = np.abs(y[:, self.nq + self.nv :]).max(axis=0, initial=0.0)
        result[2 * self.nv :] = np.where(states > TINY, states, 1.0)
        return result

    def is_plain(self, rate: int) -> bool:
        """Whether a rate is that of a coordinate, and no turn or step of a quaternion's joint."""
        return not self.names[rate].startswith("displacement(")


TINY = 1e-9
"""Motions below this, in rad and m, are none."""


def places_in(names: Sequence[str], chosen: Sequence[str]) -> list[int]:
    """Return where names stand among others."""
    return [list(names).index(name) for name in chosen]


def _turned_back(quaternions: Array, vectors: Array) -> Array:
    """Return vectors in the axes that quaternions (x y z w) turn."""
    u, s = -quaternions[:, :3], quaternions[:, 3:]
    across = np.cross(u, vectors)
    return np.asarray(vectors + 2 * (s * across + np.cross(u, across)), np.float64)


def _rotation_vectors(first: Array, second: Array) -> Array:
    """Return the rotation vectors, in the axes of the first, that lead to the second."""
    u, s = -first[:, :3], first[:, 3:]
    v, c = second[:, :3], second[:, 3:]
    w = s * c - np.sum(u * v, axis=1, keepdims=True)
    sine = s * v + c * u + np.cross(u, v)
    sine, w = np.where(w < 0, -sine, sine), np.abs(w)
    size = np.linalg.norm(sine, axis=1, keepdims=True)
    angle = 2 * np.arctan2(size, w)
    factor: Any = np.divide(angle, size, out=np.full_like(size, 2.0), where=size > 0)
    return np.asarray(sine * factor, np.float64)
