"""The outputs of a model, made of what another program gives at a state, each with its scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.formulations import OutputRequest, parse_request
from chainform.verification.deviation import largest_of
from chainform.verification.peers.peer_tree import Peer, PeerState, cross_matrix

Array = NDArray[np.float64]
Pair: TypeAlias = tuple[Array, Array, float]
"""What a model gives, what is expected, and the size that a deviation is relative to."""

OF_FRAMES = frozenset({"pose", "velocity", "acceleration", "jacobian", "jacobian_rate"})
BY_RESIDUAL = frozenset({"forward_dynamics", "inverse_mass_matrix"})
"""The outputs that solve H x = b: what is left of b is compared, whatever the condition of H."""


@dataclass(frozen=True)
class GivenState:
    """A state as a model has it, and what acts: the loads that the other program does not know.

    `loads` are springs and laws of forces, as they stand next to H qdd, `spring_energy` is that of
    springs, and `friction` what joints take.
    `points` are the frames by name: segment, point and rotation. `length` is a size of it all (m).
    """

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    loads: Array
    spring_energy: float
    friction: Array
    wrenches: Mapping[str, Array]
    points: Mapping[str, tuple[int, Array, Array]]
    length: float


class PeerValues:
    """The outputs of one state by another program."""

    def __init__(self, peer: Peer, given: GivenState) -> None:
        self.peer, self.given = peer, given
        self.state: PeerState = peer.state(given.q, given.qd)
        peer.move_to(self.state)

    def pair(self, output: str, got: Array) -> Pair:
        """Return what a model gave for an output, what is expected, and the scale."""
        request = parse_request(output)
        if request.name in OF_FRAMES:
            return self._of_frame(request, got)
        if request.name in BY_RESIDUAL:
            return self._residual(request.name, got)
        expected, floor = OF_MECHANISM[request.name](self)
        return got, np.asarray(expected, dtype=float), max(floor, largest_of(expected))

    # --- equations of motion ------------------------------------------------------------------

    @cached_property
    def mass(self) -> Array:
        """H."""
        return self.state.rates.T @ self.peer.mass_matrix() @ self.state.rates

    @cached_property
    def size(self) -> float:
        """The effort of a unit of acceleration."""
        return largest_of(self.mass)

    def _efforts(self, v: Array, a: Array) -> Array:
        return self.state.rates.T @ self.peer.efforts(v, a)

    def gravity(self) -> Array:
        """Return hG."""
        rest = np.zeros(len(self.state.v))
        return self._efforts(rest, rest)

    def bias(self) -> Array:
        """Return c + hG."""
        return self._efforts(self.state.v, self.state.rates_rate @ self.given.qd)

    def coriolis(self) -> Array:
        """Return C, by differences of what rates take; mechanisms without quaternions have it."""
        columns, rest, still = self.state.rates.T, self.gravity(), np.zeros(len(self.state.v))
        n = len(columns)
        alone = [self._efforts(v, still) - rest for v in columns]
        result = np.zeros((n, n, n))
        for k in range(n):
            result[:, k, k] = alone[k]
            for l in range(k):
                both = self._efforts(columns[k] + columns[l], still) - rest
                result[:, k, l] = result[:, l, k] = (both - alone[k] - alone[l]) / 2
        return result

    def coriolis_matrix(self) -> Array:
        """Return Cm, for programs whose rates are ours but for ratios."""
        return self.state.rates.T @ self.peer.coriolis_matrix() @ self.state.rates

    def acting(self) -> Array:
        """Return the efforts of loads, friction and wrenches, on the side of H qdd."""
        total = self.given.loads + self.given.friction
        for name, wrench in self.given.wrenches.items():
            segment, point, _ = self.given.points[name]
            jacobian = self.peer.frame(segment, point)[2] @ self.state.rates
            total -= jacobian.T @ wrench
        return total

    def inverse_dynamics(self) -> Array:
        """Return tau."""
        state, given = self.state, self.given
        acceleration = state.rates @ given.qdd + state.rates_rate @ given.qd
        return self._efforts(state.v, acceleration) + self.acting()

    def _residual(self, name: str, got: Array) -> Pair:
        """Return what a solution leaves, relative to the sizes of all terms."""
        if name == "inverse_mass_matrix":
            size = np.abs(self.mass) @ np.abs(got)
            return self.mass @ got, np.eye(len(got)), largest_of(size)
        tau, rest = self.given.tau, self.bias() + self.acting()
        size = np.abs(self.mass) @ np.abs(got) + np.abs(rest) + np.abs(tau)
        return self.mass @ got + rest, tau, largest_of(size)

    # --- energies, mass centre, momentum ------------------------------------------------------

    def energies(self) -> tuple[Array, Array]:
        """Return kinetic and potential energy."""
        kinetic, potential = self.peer.energies()
        return np.array(kinetic), np.array(potential + self.given.spring_energy)

    def centre(self) -> tuple[Array, Array]:
        """Return the mass centre and its Jacobian."""
        place, columns = self.peer.centre()
        return place, columns @ self.state.rates

    def momentum_matrix(self) -> Array:
        """Return AG."""
        return self.peer.momentum_matrix() @ self.state.rates

    def momentum_matrix_rate(self) -> Array:
        """Return AG'."""
        slopes = self.peer.momentum_matrix() @ self.state.rates_rate
        return self.peer.momentum_matrix_rate() @ self.state.rates + slopes

    def momentum(self, *, about_centre: bool) -> Array:
        """Return the momentum about the mass centre, or about the origin of the world."""
        found = self.momentum_matrix() @ self.given.qd
        if not about_centre:
            found[3:] += np.cross(self.peer.centre()[0], found[:3])
        return found

    def momentum_rate(self) -> Array:
        """Return the derivative of the momentum about the mass centre."""
        given = self.given
        return self.momentum_matrix() @ given.qdd + self.momentum_matrix_rate() @ given.qd

    @property
    def weight(self) -> float:
        """A size of potential energies: all masses times gravity times the length of it all."""
        numbers = self.peer.numbers
        masses = float(np.abs(numbers.masses).sum())
        return masses * float(np.linalg.norm(numbers.gravity)) * self.given.length

    # --- frames -------------------------------------------------------------------------------

    def _of_frame(self, request: OutputRequest, got: Array) -> Pair:
        """Return a quantity of a frame; rows of lengths are divided by the length of it all."""
        given, state = self.given, self.state
        segment, point, own = given.points[request.frame or ""]
        turn, place, columns, slopes = self.peer.frame(segment, point)
        turn = turn @ own
        if request.name == "pose":
            found, rows = np.eye(4), np.ones((4, 4))
            found[:3, :3], found[:3, 3] = turn, place
            rows[:3, 3] = given.length
            return got / rows, found / rows, largest_of(found / rows)
        jacobian = columns @ state.rates
        rate = slopes @ state.rates + columns @ state.rates_rate
        spin = cross_matrix(jacobian[3:] @ given.qd)
        axes, axes_rate = np.eye(6), np.zeros((6, 6))
        for first, kinds in ((0, ("local",)), (3, ("local", "mixed"))):
            if request.axes in kinds:
                part = slice(first, first + 3)
                axes[part, part], axes_rate[part, part] = turn, spin @ turn
        expected = {
            "jacobian": axes.T @ jacobian,
            "jacobian_rate": axes.T @ rate + axes_rate.T @ jacobian,
            "velocity": axes.T @ jacobian @ given.qd,
            "acceleration": axes.T @ (jacobian @ given.qdd + rate @ given.qd),
        }[request.name]
        rows = np.array([given.length] * 3 + [1.0] * 3)
        rows = rows if expected.ndim == 1 else rows[:, None]
        return got / rows, expected / rows, max(1.0, largest_of(expected / rows))


OF_MECHANISM: dict[str, Callable[[PeerValues], tuple[Array, float]]] = {
    "mass_matrix": lambda v: (v.mass, 0.0),
    "gravity": lambda v: (v.gravity(), v.size),
    "bias": lambda v: (v.bias(), v.size),
    "coriolis": lambda v: (v.coriolis(), v.size),
    "coriolis_matrix": lambda v: (v.coriolis_matrix(), v.size),
    "inverse_dynamics": lambda v: (v.inverse_dynamics(), v.size),
    "kinetic_energy": lambda v: (v.energies()[0], 0.0),
    "potential_energy": lambda v: (v.energies()[1], v.weight),
    "com": lambda v: (v.centre()[0], v.given.length),
    "com_jacobian": lambda v: (v.centre()[1], v.given.length),
    "com_velocity": lambda v: (v.centre()[1] @ v.given.qd, v.given.length),
    "momentum": lambda v: (v.momentum(about_centre=False), v.size),
    "centroidal_momentum": lambda v: (v.momentum(about_centre=True), v.size),
    "centroidal_momentum_rate": lambda v: (v.momentum_rate(), v.size),
    "centroidal_momentum_matrix": lambda v: (v.momentum_matrix(), 0.0),
    "centroidal_momentum_matrix_rate": lambda v: (
        v.momentum_matrix_rate(),
        largest_of(v.momentum_matrix()),
    ),
}
"""What each output is, and the least size that its deviation is relative to.

Entries that are zero but for rounding have no size of their own.
"""
OF_RATES = frozenset(
    {"coriolis_matrix", "centroidal_momentum_rate", "centroidal_momentum_matrix_rate"}
)
"""The outputs for which a program must have matrices of its own."""
