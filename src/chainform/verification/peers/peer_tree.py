"""A mechanism as another program takes it, and the quantities that its numbers make.

The other program has rates v and accelerations a of its own, and M(q), f(q, v, a) from them. With
our rates qd they are, joint by joint,

    v = T qd,   a = T qdd + T' qd

where T holds the ratios of coupled joints, and turns rates into axes that the program has. So

    H = T^T M T,   tau = T^T f(q, T qd, T qdd + T' qd),   J = J_v T,   J' = J_v' T + J_v T'
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import (
    GROUND,
    JointKind,
    Mechanism,
    NumericTree,
    Rotation,
    float_of,
    float_vector,
    known_values,
    numeric_tree,
)
from chainform.spatial import roll_pitch_yaw, rotation_of_quaternion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TreeNumbers:
    """The numbers of a tree of segments, in doubles: geometry, bodies, rotors, gravity, base."""

    tree: NumericTree
    masses: Array
    centres: Array
    inertias: Array
    rotors: Array
    """The inertia of the rotor of each segment's joint, seen from the joint."""
    gravity: Array
    base_rotation: Array
    base_position: Array
    nv: int

    @staticmethod
    def of(mechanism: Mechanism, values: Mapping[str, Fraction], *, rotors: bool) -> TreeNumbers:
        """Return the numbers of a mechanism; `values` stand before those of its parameters."""
        known = known_values(mechanism, values)
        bodies = [segment.body for segment in mechanism.segments]
        joints = [segment.joint for segment in mechanism.segments]
        inertias = [[float_vector(row, known) for row in body.inertia] for body in bodies]
        turning = [
            float_of(joint.rotor_inertia, known) * float_of(joint.gear_ratio, known) ** 2
            for joint in joints
        ]
        base = mechanism.base
        return TreeNumbers(
            numeric_tree(mechanism, values),
            np.array([float_of(body.mass, known) for body in bodies]),
            np.array([float_vector(body.com, known) for body in bodies]),
            np.array(inertias, dtype=float),
            np.array(turning) * float(rotors),
            float_vector(mechanism.gravity, known),
            _base_rotation(mechanism, known),
            float_vector(base.position, known),
            mechanism.nv,
        )

    @property
    def length(self) -> float:
        """The sum of all distances between joints, and to the mass centres (m)."""
        parts = (self.tree.positions, self.centres, self.base_position[None])
        return float(sum(np.linalg.norm(part, axis=1).sum() for part in parts)) or 1.0

    def depth_first(self) -> list[int]:
        """Return the segments branch by branch, as some algorithms of other programs need them."""
        order: list[int] = []
        waiting = [GROUND]
        while waiting:
            segment = waiting.pop()
            order += [segment] if segment != GROUND else []
            waiting += [i for i, p in reversed([*enumerate(self.tree.parents)]) if p == segment]
        return order


def _base_rotation(mechanism: Mechanism, known: Mapping[str, Fraction]) -> Array:
    base = mechanism.base
    if base.quaternion is not None:
        x, y, z, w = (float_of(entry, known) for entry in base.quaternion)
        size = (x * x + y * y + z * z + w * w) ** 0.5
        return np.array(rotation_of_quaternion(x / size, y / size, z / size, w / size))
    if base.rpy is not None:
        angles = [float(angle) for angle in float_vector(base.rpy, known)]
        roll, pitch, yaw = ((np.cos(angle), np.sin(angle)) for angle in angles)
        return np.array(roll_pitch_yaw(roll, pitch, yaw))
    return matrix_of(base.rotation)


def matrix_of(rotation: Rotation) -> Array:
    """Return an exact rotation in doubles."""
    return np.array([[float(entry) for entry in row] for row in rotation])


@dataclass(frozen=True)
class PeerState:
    """A state in the numbers of another program: q and v of its own, T and T' as above."""

    q: Array
    v: Array
    rates: Array
    rates_rate: Array


class Peer(ABC):
    """A tree of segments in another program; its results are in its own rates, and world axes.

    `joints` has the first coordinate and the first rate of the joint of each segment there.
    """

    title = ""
    outputs: frozenset[str] = frozenset()
    """The outputs of a model that can be compared with it; `OF_FRAMES` are there for all."""
    turns_rates = False
    """Whether the linear rates of a free joint are in the axes of the parent there."""

    def __init__(self, numbers: TreeNumbers) -> None:
        self.numbers = numbers
        self.joints: dict[int, tuple[int, int]] = {}
        self.nq = self.nv = 0

    def state(self, q: Array, qd: Array) -> PeerState:
        """Return a state in the numbers of this program."""
        tree, theirs = self.numbers.tree, np.zeros(self.nq)
        rates, slopes = np.zeros((2, self.nv, self.numbers.nv))
        for i, (place, row) in self.joints.items():
            first, rate, kind = tree.coordinates[i], tree.rates[i], tree.kinds[i]
            assert first is not None
            assert rate is not None
            given = np.asarray(q[first : first + kind.coordinates], dtype=np.float64)
            if not kind.has_quaternion:
                given = tree.ratios[i] * given + tree.offsets[i]
            theirs[place : place + len(given)] = self.ordered(given)
            span = np.arange(kind.rates)
            rates[row + span, rate + span] = tree.ratios[i]
            if kind is JointKind.FREE and self.turns_rates:
                turn = np.array(rotation_of_quaternion(*given[-4:]))
                block = np.ix_(row + span[:3], rate + span[:3])
                rates[block] = turn
                slopes[block] = turn @ cross_matrix(qd[rate + 3 : rate + 6])
        return PeerState(theirs, rates @ qd, rates, slopes)

    def ordered(self, given: Array) -> Array:
        """Return the coordinates of one joint in the order of this program."""
        return given

    @abstractmethod
    def move_to(self, state: PeerState) -> None:
        """Take a state, which the quantities below belong to from then on."""

    @abstractmethod
    def mass_matrix(self) -> Array:
        """Return M, with rotors."""

    @abstractmethod
    def efforts(self, v: Array, a: Array) -> Array:
        """Return inverse dynamics for other rates, with gravity and rotors."""

    @abstractmethod
    def energies(self) -> tuple[float, float]:
        """Return kinetic energy, with rotors, and potential energy."""

    @abstractmethod
    def centre(self) -> tuple[Array, Array]:
        """Return the mass centre of all bodies, and its Jacobian."""

    @abstractmethod
    def momentum_matrix(self) -> Array:
        """Return the matrix of the momentum about the mass centre, linear rows first."""

    @abstractmethod
    def frame(self, segment: int, point: Array) -> tuple[Array, Array, Array, Array]:
        """Return the rotation of a segment, a point on it, the Jacobian there, its derivative."""

    def coriolis_matrix(self) -> Array:
        """Return the matrix Cm with M' - 2 Cm skew, where the program has one."""
        raise NotImplementedError

    def momentum_matrix_rate(self) -> Array:
        """Return the derivative by time of the matrix of the momentum, where there is one."""
        raise NotImplementedError


def cross_matrix(v: Array) -> Array:
    """Return the matrix of the cross product with a vector."""
    x, y, z = (float(entry) for entry in v)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
