"""Actuators and controllers: what they put on the joints, and how their states change.

A motor with a rotor moves with its joint: its inertia is felt there as an addition to the mass
matrix, and its effort at rest is the rest of what it does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainform.verification.reference.bodies import Array, Table
from chainform.verification.reference.dynamics import (
    BodyState,
    ConstrainedAccelerations,
    UnsureError,
    inverse,
    ranks,
)
from chainform.verification.reference.expressions import Jet, law, number
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.loops import Rows


@dataclass(frozen=True)
class MotorDrive:
    """What an actuator is to its joint: an effort, an inertia, and the rates of its own states."""

    rate: int
    """The place of its joint in qd."""
    has_motion: bool
    """Whether x begins with q and qd of the joint."""
    effort: float
    inertia: float
    slopes: Array
    """The rates of its own states, without what the effort on the joint does to them."""
    by_effort: Array | None = None
    weights: tuple[tuple[int, float], ...] = ()
    """The places in qd of several joints, each with what it gets of the effort."""

    @property
    def efforts(self) -> dict[int, float]:
        """What it puts on each joint, by the place in qd."""
        shares = self.weights or ((self.rate, 1.0),)
        return {v: weight * self.effort for v, weight in shares}

    def rates(self, along: float) -> Array:
        """Return the rates of its own states, for the effort on its joint."""
        return self.slopes if self.by_effort is None else self.slopes + self.by_effort * along


def drive_of(state: BodyState, actuator: Table, own: Array, u: float) -> MotorDrive:
    """Return what an actuator does; `own` are its states but for q and qd."""
    if "joints" in actuator:
        shares = joints_of(state, actuator)
        return replace(
            _drive_of(state, actuator, own, u), weights=tuple((v, w) for _, v, w in shares)
        )
    return _drive_of(state, actuator, own, u)


def joints_of(state: BodyState, actuator: Table) -> list[tuple[int, int, float]]:
    """Return the joints of an actuator: places in q and in qd, and weights."""
    named = actuator.get("joints") or {actuator["joint"]: 1.0}
    found: list[tuple[int, int, float]] = []
    for joint, weight in named.items():
        place, v, _, _ = state.system.motions[joint]
        found.append((place, v, state.system.read.number(weight)))
    return found


def _drive_of(state: BodyState, actuator: Table, own: Array, u: float) -> MotorDrive:
    read, shares = state.system.read.number, joints_of(state, actuator)
    v, qd = shares[0][1], float(sum(w * state.qd[at] for _, at, w in shares))
    if has_laws(actuator):
        return _by_laws(state, actuator, own, u)
    first = next(iter(actuator.get("joints") or [actuator["joint"]]))
    body = next(b for b in state.system.bodies if b.coordinate == first)

    def field(name: str, default: float = 0.0) -> float:
        return read(actuator.get(name, default))

    if "type" not in actuator:
        return _general(actuator, own, u, read, (v, qd))
    kind = actuator["type"]
    if kind == "torque":
        bound = actuator.get("limit", None if "joints" in actuator else body.limits.get("effort"))
        return MotorDrive(v, False, _limited(u, bound), 0.0, np.zeros(0))
    if kind == "lag":
        signal = field("gain", 1.0) * _limited(u, actuator.get("limit"))
        if "frequency" in actuator:
            w, z = field("frequency"), field("damping_ratio")
            slopes = np.array([own[1], w**2 * (signal - own[0]) - 2 * z * w * own[1]])
            return MotorDrive(v, False, float(own[0]), 0.0, slopes)
        return MotorDrive(v, False, float(own[0]), 0.0, (signal - own[:1]) / field("time_constant"))
    R, L, kt, B = (field(n) for n in ("resistance", "inductance", "torque_constant", "viscous"))
    ke = field("back_emf", kt)
    ratio = 1.0 if "joints" in actuator else body.gear
    N, eta, J = field("gear_ratio", ratio), field("efficiency", 1.0), field("rotor_inertia")
    volts = _limited(u, actuator.get("voltage_limit"))
    current = float(own[0]) if L else (volts - ke * N * qd) / R
    slopes = np.array([(volts - R * current - ke * N * qd) / L]) if L else np.zeros(0)
    return MotorDrive(v, J > 0, eta * N * (kt * current - B * N * qd), eta * N**2 * J, slopes)


def _general(
    actuator: Table, own: Array, u: float, read: Callable[[Any], float], joint: tuple[int, float]
) -> MotorDrive:
    """Return an actuator of the general form, x' = A x + b N(u) + e qd + f P.

    With the motion in x, qd' = velocity x' gives P = effort - inertia qdd; `own` is all of x.
    """
    rate, qd = joint
    signal, n = _limited(u, actuator.get("limit")), len(actuator.get("A", ()))

    def row(name: str) -> Array:
        return np.array([read(x) for x in actuator.get(name, [0] * n)])

    A = np.array([[read(x) for x in line] for line in actuator.get("A", ())]).reshape(n, n)
    drift = A @ own + row("b") * signal
    if "velocity" not in actuator:
        effort = row("effort") @ own + read(actuator.get("direct", 0)) * signal
        effort -= read(actuator.get("viscous", 0)) * qd
        return MotorDrive(
            rate, False, float(effort), 0.0, drift + row("e") * qd + row("f") * effort
        )
    along = float(row("velocity") @ row("f"))
    if along == 0:
        raise KeyError("an actuator that prescribes the motion")
    free = float(row("velocity") @ drift)
    return MotorDrive(rate, False, -free / along, -1 / along, drift, row("f"))


# --- laws -----------------------------------------------------------------------------------------


def has_laws(actuator: Table) -> bool:
    """Tell whether an actuator is given by laws."""
    is_effort = isinstance(actuator.get("effort"), str) and "A" not in actuator
    return "type" not in actuator and (isinstance(actuator.get("states"), dict) or is_effort)


def _by_laws(state: BodyState, actuator: Table, own: Array, u: float) -> MotorDrive:
    """Return an actuator that is given by laws, with its gear."""
    read, shares = state.system.read.number, joints_of(state, actuator)
    q = float(sum(w * state.q[at] for at, _, w in shares))
    qd = float(sum(w * state.qd[at] for _, at, w in shares))
    N, eta = read(actuator.get("gear_ratio", 1)), read(actuator.get("efficiency", 1))
    laws, is_elastic = actuator.get("states", {}), "stiffness" in actuator
    angle, speed = (own[-2], own[-1]) if is_elastic else (N * q, N * qd)
    signal = _limited(u, actuator.get("limit"))
    values = {"u": signal, actuator.get("signal", "u"): signal, "q": angle, "der(q)": speed}
    values |= dict(zip(laws, own, strict=False))
    names = {**state.names, **{name: Jet(float(x)) for name, x in values.items()}}
    torque = law(actuator["effort"], names).value
    slopes = [law(text, names).value for text in laws.values()]
    rate = speed / N
    width = read(actuator.get("efficiency_width", 1))
    near = abs(rate) / math.hypot(rate, width)
    if not is_elastic:
        effort = N * torque
        drives = effort * rate > 0
        effort *= 1 - near * (1 - eta) if drives else 1 + near * (1 / eta - 1)
        return MotorDrive(shares[0][1], False, effort, 0.0, np.array(slopes))
    twist, twisting = angle / N - q, rate - qd
    play = read(actuator.get("backlash", 0))
    beyond = math.copysign(max(abs(twist) - play / 2, 0.0), twist)
    spring = read(actuator["stiffness"]) * beyond
    damper = read(actuator.get("damping", 0)) * twisting
    if play:
        damper = _limited(damper, abs(spring))
    effort = spring + damper
    drives = effort * rate > 0
    load = effort * (1 + near * (1 / eta - 1) if drives else 1 - near * (1 - eta))
    slopes += [speed, (torque - load / N) / read(actuator["rotor_inertia"])]
    return MotorDrive(shares[0][1], False, effort, 0.0, np.array(slopes))


def _limited(u: float, bound: Any) -> float:
    most = math.inf if bound is None else number(bound, {})
    return min(max(u, -most), most)


def own_states(actuator: Table) -> int:
    """Return how many states an actuator has besides q and qd."""
    if has_laws(actuator):
        return len(actuator.get("states", ())) + 2 * ("stiffness" in actuator)
    if "type" not in actuator:
        return len(actuator.get("A", ()))
    if actuator["type"] == "lag":
        return 2 if "frequency" in actuator else 1
    return int(actuator["type"] == "dc_motor" and bool(actuator.get("inductance")))


def motor_inertia(state: BodyState) -> Array:
    """Return what the rotors of motors add to the mass matrix, (nv,); they share in impacts."""
    found = np.zeros(state.system.nv)
    for actuator in state.system.table.get("actuators", ()):
        if has_laws(actuator):
            continue
        drive = drive_of(state, actuator, np.zeros(own_states(actuator)), 0.0)
        found[drive.rate] += drive.inertia
    return found


def has_motion(actuator: Table) -> bool:
    """Whether the state of an actuator begins with q and qd."""
    return actuator.get("type") == "dc_motor" and bool(actuator.get("rotor_inertia"))


def driven(
    state: BodyState, own: Array, u: Array, tau: Array, rows: Rows, others: Array | float = 0.0
) -> tuple[ConstrainedAccelerations, Array, list[MotorDrive]]:
    """Return accelerations with all actuators, the efforts on the joints, and the drives.

    `others` are efforts that act and are no drives.
    """
    effort, extra, drives, first = tau.copy(), np.zeros(state.system.nv), list[MotorDrive](), 0
    for actuator, signal in zip(state.system.table.get("actuators", ()), u, strict=True):
        size = own_states(actuator)
        drive = drive_of(state, actuator, own[first : first + size], float(signal))
        for v, along in drive.efforts.items():
            effort[v] += along
        extra[drive.rate] += drive.inertia
        drives.append(drive)
        first += size
    found = state.accelerations(effort + others, extra, rows)
    along = effort - extra * found.qdd
    for v in {v for drive in drives for v in drive.efforts}:
        # Forces on the joint of a drive act besides it.
        along[v] -= tau[v]
    return found, along, drives


def inner_states(system: BodySystem, given: Any) -> Array:
    """Return the states of actuators that are neither q nor qd, from all of them."""
    x, own, first = np.asarray(given, dtype=np.float64), list[float](), 0
    for actuator in system.table.get("actuators", ()):
        first += 2 * has_motion(actuator)
        own += list(x[first : first + own_states(actuator)])
        first += own_states(actuator)
    return np.array(own)


def _of_given(
    state: BodyState, given: Mapping[str, Any], loops: Array
) -> tuple[ConstrainedAccelerations, Array, list[MotorDrive]]:
    """Return what acts at a state where x, u and tau are given as the product takes them."""
    tau = np.array(given["tau"], dtype=np.float64)
    for actuator in state.system.table.get("actuators", ()):
        for _, v, _ in joints_of(state, actuator):
            tau[v] = 0.0
    signals = np.asarray(given["u"], dtype=np.float64)
    own = inner_states(state.system, given["x"])
    return driven(state, own, signals, tau, state.no_rows(), loops)


def complete_model(state: BodyState, given: Mapping[str, Any], loops: Array) -> Array:
    """Return x' of all actuators, `loops` being the efforts of forces in the loops."""
    found, along, drives = _of_given(state, given, loops)
    parts: list[Array] = []
    for drive in drives:
        if drive.has_motion:
            parts.append(np.array([state.qd[drive.rate], found.qdd[drive.rate]]))
        parts.append(drive.rates(float(along[drive.rate])))
    return np.concatenate(parts)


def drive_efforts(state: BodyState, given: Mapping[str, Any], loops: Array) -> Array:
    """Return what acts along each joint."""
    return _of_given(state, given, loops)[1]


@dataclass(frozen=True)
class Control:
    """A pd or pid controller of one joint."""

    table: Table
    joint: str

    def result(self, state: BodyState, integral: float) -> tuple[float, float]:
        """Return the result at a state, and the rate of the integral."""
        q, v, _, _ = state.system.motions[self.joint]
        wanted = law(self.table.get("target", 0), {"t": Jet(state.motion.t, 1.0)})
        error, rate = wanted.value - state.q[q], wanted.first - state.qd[v]
        value = self.table["kp"] * error + self.table.get("kd", 0) * rate
        value += self.table.get("ki", 0) * integral
        value += law(self.table.get("feedforward", 0), state.names).value
        return _limited(float(value), self.table.get("limit")), float(error)


@dataclass(frozen=True)
class Feedback:
    """Linear feedback of the state, u = u_ref - K (x - x_ref) with x = (q, qd)."""

    table: Table

    def results(self, state: BodyState) -> dict[str, float]:
        """Return the result for each of its joints."""
        time = {"t": Jet(state.motion.t, 1.0)}
        q, qd = state.q.copy(), state.qd.copy()
        for joint, text in self.table.get("q_ref", {}).items():
            place, rate, _, _ = state.system.motions[joint]
            wanted = law(text, time)
            q[place] -= wanted.value
            qd[rate] -= wanted.first
        u = [law(text, time).value for text in self.table["u_ref"]]
        u = np.array(u) - np.array(self.table["K"], dtype=np.float64) @ np.concatenate([q, qd])
        bounded = [_limited(float(x), self.table.get("limit")) for x in u]
        return dict(zip(self.table["joints"], bounded, strict=True))


# --- forces that a motion needs: W = S x + J^T s, solved on the null space of the rows J ----------


def needed(state: BodyState, qdd: Array, S: Array) -> tuple[Array, Array]:
    """Return the forces x of least squares, then of least norm, and the multipliers s."""
    W, J = state.effort(qdd), state.rows.J
    rank, vectors = ranks(J)
    N = vectors[rank:].T
    inner = N.T @ S
    ranks(inner)
    if len(inner) and np.abs(inner).max() < 1e-6:
        raise UnsureError("the forces do nearly nothing")
    x = inverse(inner) @ N.T @ W
    return x, inverse(J).T @ (W - S @ x)


def by_drives(state: BodyState, qdd: Array, every: int) -> tuple[Array, Array]:
    """Return drives of every first, second ... rate, zero for the others, and multipliers."""
    S = np.eye(state.system.nv)[:, ::every]
    x, s = needed(state, qdd, S)
    return S @ x, s


def at_point(state: BodyState, segment: str) -> Array:
    """Return what forces along x, y, z at the origin of a segment do on the coordinates."""
    number = state.system.number_of(segment)
    return state.motion.J[6 * number : 6 * number + 3].T
