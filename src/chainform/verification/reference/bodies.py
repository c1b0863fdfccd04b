"""The table of a mechanism as elementary bodies: each has one joint that turns, slides or is free.

Joints of several freedoms become chains of massless bodies; the last one bears the mass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.verification.reference.expressions import number

Array = NDArray[np.floating[Any]]
Table = Mapping[str, Any]
LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
WIDTH = {"turn": (1, 1), "slide": (1, 1), "fixed": (0, 0), "ball": (4, 3), "free": (7, 6)}
"""Coordinates and rates of each kind of elementary joint."""


@dataclass(frozen=True)
class JointedBody:
    """A body and the joint that carries it; its frame is at the joint. SI units."""

    name: str
    parent: int
    """The number of the parent, -1 for the ground."""
    kind: str
    axis: Array
    position: Array
    rotation: Array
    mass: float
    com: Array
    inertia: Array
    """About the mass centre, body axes."""
    coordinate: str
    """The name of the coordinate of a joint of one freedom; of others that of the joint."""
    follows: tuple[str, float, float] | None
    """The coordinate that the joint follows, ratio and offset."""
    viscous: float
    coulomb: float
    rotor: float
    """Rotor inertia times the square of the gear ratio."""
    gear: float
    limits: Table
    order: int
    """The number of its first rate among all rates, where the table says so."""
    rates: tuple[str, ...]
    """The names of its rates, where the table has others than its own."""


def cross(vector: Array) -> Array:
    """Return the matrix of the vector product with a vector."""
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def times(a: Array, b: Array) -> Array:
    """Return the vector product of two vectors; numpy's own takes ten times as long."""
    a0, a1, a2 = a.tolist()
    b0, b1, b2 = b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def axial(matrix: Array) -> Array:
    """Return the vector of the skew part of a matrix."""
    (_, a, b), (c, _, d), (e, f, _) = matrix.tolist()
    return np.array([f - d, b - e, c - a]) / 2


def shift(arm: Array) -> Array:
    """Return the matrix that takes the velocity of a body to a point away from it by `arm`."""
    x, y, z = arm.tolist()
    X = np.eye(6)
    X[0, 4], X[0, 5], X[1, 3], X[1, 5], X[2, 3], X[2, 4] = z, -y, -z, x, y, -x
    return X


def turn(axis: Array, angle: float) -> Array:
    """Return the rotation about a unit axis."""
    K = cross(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def from_quaternion(q: Sequence[float] | Array) -> Array:
    """Return the rotation of a quaternion x y z w of any length."""
    x, y, z, w = np.asarray(q, dtype=np.float64) / np.linalg.norm(q)
    K = cross(np.array([x, y, z]))
    return np.eye(3) + 2 * w * K + 2 * (K @ K)


def direction(given: Any) -> Array:
    """Return a unit vector from three numbers or a letter such as -x."""
    if isinstance(given, str):
        vector = np.array(LETTERS[given[-1]])
        return -vector if given[0] == "-" else vector
    vector = np.array([number(x, {}) for x in given])
    return vector / np.linalg.norm(vector)


@dataclass(frozen=True)
class TableReader:
    """Reads numbers of a table, with the values of its parameters."""

    parameters: Mapping[str, float]

    def number(self, given: Any) -> float:
        """Return one number."""
        return number(given, self.parameters)

    def vector(self, given: Any) -> Array:
        """Return three numbers, zeros where nothing is given."""
        return np.array([self.number(x) for x in (given or (0, 0, 0))])

    def rotation(self, table: Table) -> Array:
        """Return the rotation that a table gives as matrix, rpy or quaternion."""
        if "rotation" in table:
            return np.array([self.vector(row) for row in table["rotation"]])
        if "quaternion" in table:
            return from_quaternion([self.number(x) for x in table["quaternion"]])
        roll, pitch, yaw = self.vector(table.get("rpy"))
        x, y, z = np.eye(3)
        return turn(z, yaw) @ turn(y, pitch) @ turn(x, roll)

    def inertia(self, given: Any) -> Array:
        """Return the matrix from principal moments, rows or named entries."""
        if not given:
            return np.zeros((3, 3))
        if isinstance(given, Mapping):
            rows = ("xx xy xz", "xy yy yz", "xz yz zz")
            return np.array(
                [[self.number(given.get(entry, 0)) for entry in row.split()] for row in rows]
            )
        if isinstance(given[0], list):
            return np.array([self.vector(row) for row in given])
        return np.diag(self.vector(given))


def steps(joint: Table) -> list[tuple[str, Array, str]]:
    """Return kind, axis and suffix of the elementary joints that a joint is made of."""
    kind = joint["type"]
    none = np.zeros(3)
    x, y, z = np.eye(3)
    euler: str = joint.get("euler", "")
    turns = [
        ("turn", direction(letter), f"_r{_suffix(euler, i)}") for i, letter in enumerate(euler)
    ]
    if kind in ("revolute", "prismatic"):
        return [("turn" if kind == "revolute" else "slide", direction(joint["axis"]), "")]
    if kind in ("spherical", "free") and not euler:
        return [("ball" if kind == "spherical" else "free", none, "")]
    if kind == "spherical":
        return turns
    if kind == "free":
        return [("slide", x, "_tx"), ("slide", y, "_ty"), ("slide", z, "_tz"), *turns]
    if kind == "cylindrical":
        axis = direction(joint["axis"])
        return [("slide", axis, "_t"), ("turn", axis, "_r")]
    if kind == "universal":
        first, second = (direction(axis) for axis in joint["axes"])
        return [("turn", first, "_r1"), ("turn", second, "_r2")]
    if kind == "revolute_prismatic":
        first, second = (direction(axis) for axis in joint["axes"])
        return [("turn", first, "_r"), ("slide", second, "_t")]
    if kind == "planar":
        normal = direction(joint["axis"])
        place = int(np.argmax(np.abs(normal)))
        slides = np.eye(3)[[(place + 1) % 3, (place + 2) % 3]]
        return [("slide", slides[0], "_t1"), ("slide", slides[1], "_t2"), ("turn", normal, "_r")]
    return [("fixed", none, "")]


def _suffix(euler: str, place: int) -> str:
    letter = euler[place]
    if euler.count(letter) == 1:
        return letter
    return f"{letter}{euler[: place + 1].count(letter)}"


def bodies_of(table: Table, read: TableReader) -> tuple[JointedBody, ...]:
    """Return the elementary bodies of a table, whose segments list parents first."""
    last: dict[str, int] = {"ground": -1}
    bodies: list[JointedBody] = []
    for segment in table["segments"]:
        parent = last[segment.get("parent", "ground")]
        bodies += _chain(segment, parent, len(bodies), read)
        last[segment["name"]] = len(bodies) - 1
    return tuple(bodies)


def _chain(segment: Table, parent: int, first: int, read: TableReader) -> Iterator[JointedBody]:
    joint: Table = segment["joint"]
    chain = steps(joint)
    name = joint.get("name", segment["name"])
    for place, (kind, axis, suffix) in enumerate(chain):
        friction: Table = _entry(joint.get("friction"), place) or {}
        is_first, is_last = place == 0, place == len(chain) - 1
        gear = read.number(_entry(joint.get("gear_ratio"), place) or 1)
        mimic = joint.get("mimic")
        yield JointedBody(
            name=segment["name"] if is_last else f"{segment['name']}{suffix}",
            parent=parent if is_first else first + place - 1,
            kind=kind,
            axis=axis,
            position=read.vector(segment.get("position")) if is_first else np.zeros(3),
            rotation=read.rotation(segment) if is_first else np.eye(3),
            mass=read.number(segment.get("mass", 0)) if is_last else 0.0,
            com=read.vector(segment.get("com")) if is_last else np.zeros(3),
            inertia=read.inertia(segment.get("inertia")) if is_last else np.zeros((3, 3)),
            coordinate=f"{name}{suffix}",
            follows=None
            if mimic is None
            else (
                mimic["joint"],
                read.number(mimic.get("ratio", 1)),
                read.number(mimic.get("offset", 0)),
            ),
            viscous=read.number(friction.get("viscous", 0)),
            coulomb=read.number(friction.get("coulomb", 0)),
            rotor=read.number(_entry(joint.get("rotor_inertia"), place) or 0) * gear**2,
            gear=gear,
            limits=_entry(joint.get("limits"), place) or {},
            order=int(joint.get("dof", 0)),
            rates=tuple(joint.get("rates", ())),
        )


def _entry(given: Any, place: int) -> Any:
    return given[place] if isinstance(given, list) else given
