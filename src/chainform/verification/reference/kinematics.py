"""Where all bodies are and how they move, and the linear equations that joints are.

V stacks the velocity of every body: that of its origin, then its angular velocity, world axes.
With y the rates of all elementary joints, the joints say A V = S y + b, and for accelerations
A V' = S y' + c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chainform.verification.reference.bodies import (
    WIDTH,
    Array,
    JointedBody,
    Table,
    TableReader,
    axial,
    bodies_of,
    cross,
    from_quaternion,
    shift,
    times,
    turn,
)
from chainform.verification.reference.expressions import Jet, law, number


@dataclass(frozen=True)
class BodySystem:
    """A mechanism as elementary bodies with numbers for everything."""

    table: Table
    read: TableReader
    bodies: tuple[JointedBody, ...]
    gravity: Array

    @classmethod
    def of(cls, table: Table, values: Mapping[str, float] | None = None) -> BodySystem:
        """Return the system of a table, with other values for some of its parameters."""
        own: Table = table.get("parameters") or {}
        plain = {
            n: value.get("value") if isinstance(value, dict) else value for n, value in own.items()
        }
        given = {name: number(value, {}) for name, value in plain.items() if value is not None}
        read = TableReader({**given, **(values or {})})
        gravity = read.vector(table.get("gravity"))
        return cls(table, read, bodies_of(table, read), gravity)

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """The first place of each body's joint in q and in qd; of a follower that of its leader."""
        own: dict[str, tuple[int, int]] = {}
        q = v = 0
        for body in sorted(self.bodies, key=lambda body: body.order):
            if body.follows is None:
                own[body.coordinate] = (q, v)
                q, v = q + WIDTH[body.kind][0], v + WIDTH[body.kind][1]
        for body in self.bodies:
            if body.follows is not None:
                own[body.coordinate] = own[body.follows[0]]
        return [own[body.coordinate] for body in self.bodies]

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(WIDTH[b.kind][0] for b in self.bodies if b.follows is None)

    @property
    def nv(self) -> int:
        """The number of rates."""
        return sum(WIDTH[b.kind][1] for b in self.bodies if b.follows is None)

    @cached_property
    def motions(self) -> dict[str, tuple[int, int, float, float]]:
        """By coordinate of one freedom: its places in q and qd, ratio and offset of its motion."""
        found: dict[str, tuple[int, int, float, float]] = {}
        for body, (q, v) in zip(self.bodies, self.places, strict=True):
            if body.kind in ("turn", "slide"):
                ratio, offset = 1.0, 0.0
                if body.follows is not None:
                    _, _, above, shift = found[body.follows[0]]
                    ratio, offset = (
                        body.follows[1] * above,
                        body.follows[1] * shift + body.follows[2],
                    )
                found[body.coordinate] = (q, v, ratio, offset)
        return found

    @cached_property
    def own(self) -> dict[str, tuple[int, int]]:
        """By name the coordinates of one freedom that are no followers: their places."""
        followers = {b.coordinate for b in self.bodies if b.follows is not None}
        return {n: (m[0], m[1]) for n, m in self.motions.items() if n not in followers}

    def rate_of(self, name: str) -> int:
        """Return the place of a rate in qd, by the name of its joint or by its own."""
        if name in self.own:
            return self.own[name][1]
        pairs = zip(self.bodies, self.places, strict=True)
        return next(v + b.rates.index(name) for b, (_, v) in pairs if name in b.rates)

    @cached_property
    def selection(self) -> Array:
        """The matrix E of rates of elementary joints y = E qd; joints one after the other."""
        rows: list[Array] = []
        for body, (_, v) in zip(self.bodies, self.places, strict=True):
            width = WIDTH[body.kind][1]
            block = np.zeros((width, self.nv))
            block[:, v : v + width] = np.eye(width)
            if body.kind in ("turn", "slide"):
                block *= self.motions[body.coordinate][2]
            rows.append(block)
        return np.concatenate(rows) if rows else np.zeros((0, self.nv))

    def jets(self, q: Array, qd: Array, t: float, qdd: Array | None = None) -> dict[str, Jet]:
        """Return coordinates, rates, parameters and time as functions of time."""
        names = {name: Jet(value) for name, value in self.read.parameters.items()}
        second = np.zeros(self.nv) if qdd is None else qdd
        for name, (place, rate) in self.own.items():
            names[name] = Jet(float(q[place]), float(qd[rate]), float(second[rate]))
            names[f"der({name})"] = Jet(float(qd[rate]), float(second[rate]))
        names["t"] = Jet(t, 1.0)
        return names

    def number_of(self, name: str) -> int:
        """Return the number of the body of a segment, -1 for the ground."""
        if name == "ground":
            return -1
        return next(i for i, body in enumerate(self.bodies) if body.name == name)

    def base(self, t: float) -> tuple[Array, Array, Array, Array]:
        """Return position, rotation, velocity and acceleration of the ground, world axes."""
        table: Table = self.table.get("base") or {}
        names = {**{n: Jet(v) for n, v in self.read.parameters.items()}, "t": Jet(t, 1.0)}
        place = [law(x, names) for x in table.get("position", (0, 0, 0))]
        if not table.keys() <= {"position", "rpy"}:
            raise KeyError(f"base {', '.join(table)}")
        R, first, second = _turned([law(x, names) for x in table.get("rpy", (0, 0, 0))])
        w = axial(first @ R.T)
        wd = axial(second @ R.T + first @ first.T)
        at = np.array([x.value for x in place])
        velocity = np.concatenate([[x.first for x in place], w])
        return at, R, velocity, np.concatenate([[x.second for x in place], wd])


def _turned(angles: list[Jet]) -> tuple[Array, Array, Array]:
    """Return Rz Ry Rx of roll, pitch, yaw with two derivatives by time."""
    whole, first, second = np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))
    for axis, angle in zip(np.eye(3)[::-1], angles[::-1], strict=True):
        K, T = cross(axis), turn(axis, angle.value)
        Td = angle.first * K @ T
        Tdd = angle.second * K @ T + angle.first**2 * K @ K @ T
        second = second @ T + 2 * first @ Td + whole @ Tdd
        first = first @ T + whole @ Td
        whole = whole @ T
    return whole, first, second


@dataclass(frozen=True)
class Motion:
    """Poses and velocities of all bodies, and the equations of the joints."""

    system: BodySystem
    t: float
    R: tuple[Array, ...]
    p: tuple[Array, ...]
    v: Array
    """(bodies, 3), world axes."""
    w: Array
    A: Array
    S: Array
    c: Array
    """What the accelerations have without y', with that of the base."""
    b: Array
    base: tuple[Array, Array, Array, Array]

    @cached_property
    def J(self) -> Array:
        """The map from qd to the velocities of all bodies relative to the base, (6 n, nv)."""
        return np.linalg.solve(self.A, self.S @ self.system.selection)

    def acceleration(self, qdd: Array) -> Array:
        """Return V' of all bodies."""
        return np.linalg.solve(self.A, self.S @ self.system.selection @ qdd + self.c)

    def pose(self, number: int) -> tuple[Array, Array, Array, Array]:
        """Return rotation, place, velocity and angular velocity of a body or the ground."""
        if number < 0:
            place, R, V, _ = self.base
            return R, place, V[:3], V[3:]
        return self.R[number], self.p[number], self.v[number], self.w[number]


def motion_at(system: BodySystem, q: Array, qd: Array, t: float = 0.0) -> Motion:
    """Return how a system stands and moves at a state."""
    count = len(system.bodies)
    base = system.base(t)
    y = system.selection @ qd
    R: list[Array] = []
    p: list[Array] = []
    v, w = np.zeros((count, 3)), np.zeros((count, 3))
    A, S = np.eye(6 * count), np.zeros((6 * count, len(y)))
    b, c = np.zeros(6 * count), np.zeros(6 * count)
    column = 0
    for i, body in enumerate(system.bodies):
        a = body.parent
        Ra, pa, va, wa = (
            (base[1], base[0], base[2][:3], base[2][3:]) if a < 0 else (R[a], p[a], v[a], w[a])
        )
        width = WIDTH[body.kind][1]
        Ri, pi, block = _joint(system, i, q, Ra, pa)
        rate = y[column : column + width]
        arm = pi - pa
        X = shift(arm)
        own = block @ rate
        v[i] = va + times(wa, arm) + own[:3]
        w[i] = wa + own[3:]
        rows = slice(6 * i, 6 * i + 6)
        S[rows, column : column + width] = block
        # Axes of ball and free joints move with the body itself, all others with the parent.
        carrier = w[i] if body.kind in ("ball", "free") else wa
        c[rows] += np.concatenate(
            [times(wa, v[i] - va) + times(carrier, own[:3]), times(carrier, own[3:])]
        )
        if a < 0:
            b[rows] += X @ base[2]
            c[rows] += X @ base[3]
        else:
            A[rows, 6 * a : 6 * a + 6] = -X
        R.append(Ri)
        p.append(pi)
        column += width
    return Motion(system, t, tuple(R), tuple(p), v, w, A, S, c, b, base)


def _joint(
    system: BodySystem, i: int, q: Array, Ra: Array, pa: Array
) -> tuple[Array, Array, Array]:
    """Return rotation and place of body i, and the columns of its joint in world axes."""
    body = system.bodies[i]
    place, _ = system.places[i]
    still, p = Ra @ body.rotation, pa + Ra @ body.position
    if body.kind == "fixed":
        return still, p, np.zeros((6, 0))
    if body.kind == "ball":
        axes = still @ from_quaternion(q[place : place + 4])
        return axes, p, np.concatenate([np.zeros((3, 3)), axes])
    if body.kind == "free":
        axes = still @ from_quaternion(q[place + 3 : place + 7])
        columns = np.zeros((6, 6))
        columns[:3, :3] = columns[3:, 3:] = axes
        return axes, p + still @ q[place : place + 3], columns
    at, _, ratio, offset = system.motions[body.coordinate]
    x = ratio * q[at] + offset
    axis = still @ body.axis
    if body.kind == "turn":
        return still @ turn(body.axis, x), p, np.concatenate([np.zeros(3), axis])[:, None]
    return still, p + axis * x, np.concatenate([axis, np.zeros(3)])[:, None]
