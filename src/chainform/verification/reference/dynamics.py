"""Forces on all bodies, and accelerations under joints, loops and constraints.

Newton and Euler for every body: M V' + n = w + A^T f, with f the force and moment of each joint on
its body, at the origin of the body, world axes. Joints are eliminated by A; loops and constraints
stay as rows with multipliers, solved by least squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainform.verification.reference.bodies import Array, Table, shift, times
from chainform.verification.reference.expressions import Jet, law, number
from chainform.verification.reference.kinematics import BodySystem, Motion, motion_at
from chainform.verification.reference.loops import (
    LoopEnd,
    Rows,
    RowWrench,
    loop_rows,
    loop_wrenches,
    stacked,
)

RANK = 1e-9
"""Singular values below this share of the greatest count as zero."""
NEAR = 1e-5
"""Singular values between RANK and this leave the rank open."""


LEAST = 1e-3
"""The greatest singular value counts as no less, m: a loop inside a rigid body has rows of zero."""


class UnsureError(Exception):
    """The reference has no certain answer at this state."""


@dataclass(frozen=True)
class ConstrainedAccelerations:
    """qdd, and the multipliers of loops, then of constraints, those of least norm."""

    qdd: Array
    multipliers: Array
    is_unique: bool
    """Whether the rows are independent, so that there are no other multipliers."""


@dataclass(frozen=True)
class BodyState:
    """Everything that acts at a state, but for drives."""

    motion: Motion
    q: Array
    qd: Array

    @classmethod
    def of(cls, system: BodySystem, q: Array, qd: Array, t: float = 0.0) -> BodyState:
        """Return the state of a system at coordinates, rates and time."""
        return cls(motion_at(system, q, qd, t), q, qd)

    @property
    def system(self) -> BodySystem:
        """The system."""
        return self.motion.system

    @cached_property
    def offsets(self) -> Array:
        """From the origin of each body to its mass centre, world axes, (n, 3)."""
        pairs = zip(self.motion.R, self.system.bodies, strict=True)
        return np.array([R @ body.com for R, body in pairs])

    @cached_property
    def M(self) -> Array:
        """The inertia of all bodies at their origins, (6 n, 6 n)."""
        count = len(self.system.bodies)
        M = np.zeros((6 * count, 6 * count))
        for i, (body, R, d) in enumerate(
            zip(self.system.bodies, self.motion.R, self.offsets, strict=True)
        ):
            T = shift(d)
            own = np.zeros((6, 6))
            own[:3, :3] = body.mass * np.eye(3)
            own[3:, 3:] = R @ body.inertia @ R.T
            M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = T.T @ own @ T
        return M

    @cached_property
    def gyroscopic(self) -> Array:
        """What the accelerations of mass centres have from the rates, as forces, (6 n,)."""
        found = np.zeros(6 * len(self.system.bodies))
        for i, (body, R, d) in enumerate(
            zip(self.system.bodies, self.motion.R, self.offsets, strict=True)
        ):
            w = self.motion.w[i]
            force = body.mass * times(w, times(w, d))
            moment = times(w, R @ body.inertia @ R.T @ w) + times(d, force)
            found[6 * i : 6 * i + 6] = np.concatenate([force, moment])
        return found

    @cached_property
    def weights(self) -> Array:
        """The weight of all bodies at their origins, (6 n,)."""
        found = [
            np.concatenate(
                [body.mass * self.system.gravity, times(d, body.mass * self.system.gravity)]
            )
            for body, d in zip(self.system.bodies, self.offsets, strict=True)
        ]
        return np.concatenate(found)

    def load(self, number: int, point: Array, force: Array) -> Array:
        """Return a force at a point (world) of a body as wrenches on all bodies, (6 n,)."""
        found = np.zeros(6 * len(self.system.bodies))
        if number >= 0:
            arm = point - self.motion.p[number]
            found[6 * number : 6 * number + 6] = np.concatenate([force, times(arm, force)])
        return found

    def point(self, place: Table) -> tuple[int, Array, Array]:
        """Return body, position and velocity of a place {segment, point}, world axes."""
        number = self.system.number_of(str(place["segment"]))
        R, p, v, w = self.motion.pose(number)
        arm = R @ self.system.read.vector(place.get("point"))
        return number, p + arm, v + times(w, arm)

    @cached_property
    def springs(self) -> tuple[Array, Array, float]:
        """What springs do: on bodies (6 n,), in coordinates (nv,), and their energy."""
        bodies, joints, energy = (
            np.zeros(6 * len(self.system.bodies)),
            np.zeros(self.system.nv),
            0.0,
        )
        read = self.system.read.number
        for spring in self.system.table.get("springs", ()):
            k, rest = read(spring.get("stiffness", 0)), read(spring.get("rest", 0))
            damping, preload = read(spring.get("damping", 0)), read(spring.get("preload", 0))
            if "joint" in spring:
                q, v, ratio, offset = self.system.motions[spring["joint"]]
                stretch = ratio * self.q[q] + offset - rest
                joints[v] += ratio * (preload - k * stretch - damping * ratio * self.qd[v])
            else:
                (a, pa, va), (b, pb, vb) = (self.point(end) for end in spring["ends"])
                distance = float(np.linalg.norm(pb - pa))
                along = (pb - pa) / distance
                stretch = distance - rest
                pull = (k * stretch - preload + damping * along @ (vb - va)) * along
                bodies += self.load(a, pa, pull) + self.load(b, pb, -pull)
            energy += k * stretch**2 / 2 - preload * (stretch + rest)
        return bodies, joints, energy

    @cached_property
    def friction(self) -> Array:
        """The effort of friction in the joints, (nv,): against the motion."""
        found = np.zeros(self.system.nv)
        for body in self.system.bodies:
            if body.kind in ("turn", "slide"):
                _, v, ratio, _ = self.system.motions[body.coordinate]
                own = ratio * self.qd[v]
                found[v] -= ratio * (body.viscous * own + body.coulomb * np.sign(own))
        return found

    @cached_property
    def rotors(self) -> Array:
        """What rotors add to the mass matrix, (nv,)."""
        found = np.zeros(self.system.nv)
        for body in self.system.bodies:
            if body.kind in ("turn", "slide"):
                _, v, ratio, _ = self.system.motions[body.coordinate]
                found[v] += ratio**2 * body.rotor
        return found

    @cached_property
    def names(self) -> dict[str, Jet]:
        """Coordinates, rates, positions of frames, parameters and time as jets."""
        names = self.system.jets(self.q, self.qd, self.motion.t)
        for name, end in self.frame_ends.items():
            for axis, x, v, a in zip("xyz", end.p, end.v, end.a[:3], strict=True):
                names[f"{axis}({name})"] = Jet(float(x), float(v), float(a))
                names[f"der({axis}({name}))"] = Jet(float(v), float(a))
        return names

    @cached_property
    def frame_ends(self) -> dict[str, LoopEnd]:
        """Frames by name, with their place, rows and motion."""
        drift = self.motion.acceleration(np.zeros(self.system.nv))
        table: Table = self.system.table
        return {frame["name"]: self._end(frame, drift) for frame in table.get("frames", ())}

    @cached_property
    def forces(self) -> Array:
        """The forces of the table by their laws, (nv,)."""
        found = np.zeros(self.system.nv)
        # Laws of forces may name entries of q and qd by their number too.
        names = {f"q{k}": Jet(x) for k, x in enumerate(self.q.tolist(), 1)}
        names |= {f"qd{k}": Jet(x) for k, x in enumerate(self.qd.tolist(), 1)} | self.names
        for force in self.system.table.get("forces", ()):
            for piece in force.get("pieces", (force,)):
                value = law(piece["law"], names).value
                begin, end = (_time(piece.get(name)) for name in ("from", "until"))
                if (begin is None or self.motion.t >= begin) and (
                    end is None or self.motion.t < end
                ):
                    found[self.system.rate_of(force["joint"])] += value
        return found

    # --- equations in coordinates -----------------------------------------------------------

    @cached_property
    def H(self) -> Array:
        """The mass matrix, rotors with it."""
        return self.motion.J.T @ self.M @ self.motion.J + np.diag(self.rotors)

    def joint_forces(self, qdd: Array, loads: Array | float = 0.0) -> Array:
        """Return force and moment of every joint on its body, (n, 6), world axes."""
        rest = self.M @ self.motion.acceleration(qdd) + self.gyroscopic - self.weights
        rest = rest - self.springs[0] - loads
        return np.linalg.solve(self.motion.A.T, rest).reshape(-1, 6)

    @cached_property
    def bias(self) -> Array:
        """What inertia and weight ask of the coordinates without accelerations, (nv,)."""
        return self.motion.J.T @ (
            self.M @ self.motion.acceleration(np.zeros(self.system.nv))
            + self.gyroscopic
            - self.weights
        )

    @cached_property
    def passive(self) -> Array:
        """What friction and springs ask of the drives, (nv,)."""
        return -self.friction - self.springs[1] - self.motion.J.T @ self.springs[0]

    def effort(self, qdd: Array) -> Array:
        """Return the drives that accelerations take, without loops: inverse dynamics."""
        return self.H @ qdd + self.bias + self.passive - self.forces

    @cached_property
    def right(self) -> Array:
        """H qdd for drives of zero and no loops."""
        return -(self.bias + self.passive - self.forces)

    @cached_property
    def closure(self) -> Rows:
        """The rows of the loops: closing end less target, world axes."""
        none = np.zeros(self.system.nv)
        drift = self.motion.acceleration(none)
        found = [self._loop(loop, drift) for loop in self.system.table.get("loops", ())]
        return stacked(found, self.system.nv)

    def _loop(self, loop: Table, drift: Array) -> Rows:
        closing, target = (self._end(loop[end], drift) for end in ("closing", "target"))
        length = self.system.read.number(loop.get("length", 0))
        return loop_rows(loop, closing, target, length)

    def loop_wrenches(self, loop: Table) -> list[RowWrench]:
        """Return what a multiplier 1 of each row puts on the closing body."""
        drift = self.motion.acceleration(np.zeros(self.system.nv))
        closing, target = (self._end(loop[end], drift) for end in ("closing", "target"))
        length = self.system.read.number(loop.get("length", 0))
        return loop_wrenches(loop, closing, target, length)

    def _end(self, end: Table, drift: Array) -> LoopEnd:
        """Return an end of a loop."""
        number, place, velocity = self.point(end)
        R, p, _, w = self.motion.pose(number)
        X = shift(place - p)
        part = slice(6 * number, 6 * number + 6)
        is_ground = number < 0
        own = np.zeros((6, self.system.nv)) if is_ground else self.motion.J[part]
        a = X @ (self.motion.base[3] if is_ground else drift[part])
        a[:3] += times(w, times(w, place - p))
        return LoopEnd(X @ own, a, place, velocity, R @ self.system.read.rotation(end), w)

    @cached_property
    def constraints(self) -> Rows:
        """The rows of holonomic and nonholonomic constraints."""
        found = [
            self.law_rows(constraint["law"], constraint["kind"] == "holonomic")
            for constraint in self.system.table.get("constraints", ())
        ]
        return stacked(found, self.system.nv)

    def law_rows(self, text: str, is_holonomic: bool = True) -> Rows:
        """Return a law of coordinates and time, or one that is linear in rates, as a row."""
        along = law(text, self.names)
        row = np.zeros(self.system.nv)
        form = "{}" if is_holonomic else "der({})"
        still = {name: Jet(jet.value) for name, jet in self.names.items()}
        own = {rate: form.format(name) for name, (_, rate) in self.system.own.items()}
        for rate in range(self.system.nv):
            moved = {own[rate]: 1.0} if rate in own else {}
            for name, end in self.frame_ends.items():
                for axis, share in zip("xyz", end.J[:3, rate], strict=True):
                    moved[form.format(f"{axis}({name})")] = float(share)
            jets = {name: Jet(still[name].value, share) for name, share in moved.items()}
            row[rate] = law(text, {**still, **jets}).first
        one = np.ones(1)
        if is_holonomic:
            return Rows(row[None], -along.second * one, along.value * one, along.first * one)
        return Rows(row[None], -along.first * one, along.value * one, along.value * one)

    @cached_property
    def rows(self) -> Rows:
        """All rows: loops, then constraints."""
        return stacked([self.closure, self.constraints], self.system.nv)

    def no_rows(self) -> Rows:
        """Return no rows at all."""
        return stacked([], self.system.nv)

    def accelerations(
        self, tau: Array | float = 0.0, extra: Array | float = 0.0, rows: Rows | None = None
    ) -> ConstrainedAccelerations:
        """Return accelerations and multipliers for drives; `extra` is inertia of motors."""
        held = self.rows if rows is None else rows
        H = self.H + np.diag(np.zeros(self.system.nv) + extra)
        return solved(H, held.J, self.right + tau, held.right)


def inverse(J: Array) -> Array:
    """Return the pseudoinverse of rows; those that are nothing but rounding errors are zero."""
    size = float(np.linalg.norm(J, 2)) if J.size else 0.0
    return np.linalg.pinv(J, rcond=RANK) if size > LEAST * RANK else np.zeros(J.shape[::-1])


def ranks(matrix: Array) -> tuple[int, Array]:
    """Return the rank and the right singular vectors; unsure where the rank is open."""
    if not len(matrix):
        return 0, np.eye(matrix.shape[1])
    _, values, vectors = np.linalg.svd(matrix)
    greatest = max(float(values.max(initial=0.0)), LEAST)
    if np.any((values > RANK * greatest) & (values < NEAR * greatest)):
        raise UnsureError("the rank of a matrix is open")
    return int(np.sum(values > RANK * greatest)), vectors


def solved(H: Array, J: Array, force: Array, right: Array) -> ConstrainedAccelerations:
    """Return qdd with H qdd = force + J^T s and J qdd = right, by the null space of J.

    It is unique where H is positive definite on that null space; else the answer is unsure.
    """
    rank, vectors = ranks(J)
    N = vectors[rank:].T
    qdd = inverse(J) @ right
    if len(J) and np.abs(J @ qdd - right).max() > 1e-7 * (1 + np.abs(right).max()):
        raise UnsureError("the rows contradict each other")
    inner = N.T @ H @ N
    if len(inner):
        values = np.linalg.eigvalsh(inner)
        if values[0] <= 1e-7 * max(values[-1], np.abs(H).max()):
            raise UnsureError("the mass matrix is singular on the null space of the rows")
        qdd = qdd + N @ np.linalg.solve(inner, N.T @ (force - H @ qdd))
    multipliers = inverse(J).T @ (H @ qdd - force)
    return ConstrainedAccelerations(qdd, multipliers, rank == len(J))


def _time(given: Any) -> float | None:
    return None if given is None else number(given, {})
