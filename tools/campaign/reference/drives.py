"""Actuators and controllers: what they put on the joints, and how their states change.

A motor with a rotor moves with its joint: its inertia is felt there as an addition to the mass
matrix, and its effort at rest is the rest of what it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.campaign.reference.bodies import Array, Table
from tools.campaign.reference.dynamics import Accelerations, State
from tools.campaign.reference.expressions import Jet, law
from tools.campaign.reference.kinematics import System
from tools.campaign.reference.loops import Rows


@dataclass(frozen=True)
class Drive:
    """What an actuator is to its joint: an effort, an inertia, and the rates of its own states."""

    rate: int
    """The place of its joint in qd."""
    has_motion: bool
    """Whether x begins with q and qd of the joint."""
    effort: float
    inertia: float
    slopes: Array


def drive_of(state: State, actuator: Table, own: Array, u: float) -> Drive:
    """Return what an actuator does; `own` are its states but for q and qd."""
    read = state.system.read.number
    _, v, _, _ = state.system.motions[actuator["joint"]]
    qd = state.qd[v]
    body = next(b for b in state.system.bodies if b.coordinate == actuator["joint"])

    def field(name: str, default: float = 0.0) -> float:
        return read(actuator.get(name, default))

    kind = actuator["type"]
    if kind == "torque":
        bound = actuator.get("limit", body.limits.get("effort"))
        return Drive(v, False, _limited(u, bound), 0.0, np.zeros(0))
    if kind == "lag":
        signal = field("gain", 1.0) * _limited(u, actuator.get("limit"))
        if "frequency" in actuator:
            w, z = field("frequency"), field("damping_ratio")
            slopes = np.array([own[1], w**2 * (signal - own[0]) - 2 * z * w * own[1]])
            return Drive(v, False, float(own[0]), 0.0, slopes)
        return Drive(v, False, float(own[0]), 0.0, (signal - own[:1]) / field("time_constant"))
    R, L, kt, B = (field(n) for n in ("resistance", "inductance", "torque_constant", "viscous"))
    ke = field("back_emf", kt)
    N, eta, J = field("gear_ratio", body.gear), field("efficiency", 1.0), field("rotor_inertia")
    volts = _limited(u, actuator.get("voltage_limit"))
    current = float(own[0]) if L else (volts - ke * N * qd) / R
    slopes = np.array([(volts - R * current - ke * N * qd) / L]) if L else np.zeros(0)
    return Drive(v, J > 0, eta * N * (kt * current - B * N * qd), eta * N**2 * J, slopes)


def _limited(u: float, bound: Any) -> float:
    return u if bound is None else min(max(u, -float(bound)), float(bound))


def own_states(actuator: Table) -> int:
    """Return how many states an actuator has beside q and qd."""
    if actuator["type"] == "lag":
        return 2 if "frequency" in actuator else 1
    return int(actuator["type"] == "dc_motor" and bool(actuator.get("inductance")))


def motor_inertia(state: State) -> Array:
    """Return what the rotors of motors add to the mass matrix, (nv,); they share in impacts."""
    found = np.zeros(state.system.nv)
    for actuator in state.system.table.get("actuators", ()):
        drive = drive_of(state, actuator, np.zeros(own_states(actuator)), 0.0)
        found[drive.rate] += drive.inertia
    return found


def has_motion(actuator: Table) -> bool:
    """Whether the state of an actuator begins with q and qd."""
    return actuator["type"] == "dc_motor" and bool(actuator.get("rotor_inertia"))


def driven(
    state: State, own: Array, u: Array, tau: Array, rows: Rows, beside: Array | float = 0.0
) -> tuple[Accelerations, Array, list[Drive]]:
    """Return accelerations with all actuators, the efforts on the joints, and the drives.

    `beside` are efforts that act and are no drives.
    """
    effort, extra, drives, first = tau.copy(), np.zeros(state.system.nv), list[Drive](), 0
    for actuator, signal in zip(state.system.table.get("actuators", ()), u, strict=True):
        size = own_states(actuator)
        drive = drive_of(state, actuator, own[first : first + size], float(signal))
        effort[drive.rate] += drive.effort
        extra[drive.rate] += drive.inertia
        drives.append(drive)
        first += size
    found = state.accelerations(effort + beside, extra, rows)
    along = effort - extra * found.qdd
    for drive in drives:
        # Forces on the joint of a drive act beside it.
        along[drive.rate] -= tau[drive.rate]
    return found, along, drives


def inner_states(system: System, given: Any) -> Array:
    """Return the states of actuators that are neither q nor qd, from all of them."""
    x, own, first = np.asarray(given, dtype=np.float64), list[float](), 0
    for actuator in system.table.get("actuators", ()):
        first += 2 * has_motion(actuator)
        own += list(x[first : first + own_states(actuator)])
        first += own_states(actuator)
    return np.array(own)


def _of_given(
    state: State, given: Mapping[str, Any], loops: Array
) -> tuple[Accelerations, Array, list[Drive]]:
    """Return what acts at a state where x, u and tau are given as the product takes them."""
    tau = np.array(given["tau"], dtype=np.float64)
    for actuator in state.system.table.get("actuators", ()):
        tau[state.system.motions[actuator["joint"]][1]] = 0.0
    signals = np.asarray(given["u"], dtype=np.float64)
    own = inner_states(state.system, given["x"])
    return driven(state, own, signals, tau, state.no_rows(), loops)


def complete_model(state: State, given: Mapping[str, Any], loops: Array) -> Array:
    """Return x' of all actuators, `loops` being the efforts of forces in the loops."""
    found, _, drives = _of_given(state, given, loops)
    parts: list[Array] = []
    for drive in drives:
        if drive.has_motion:
            parts.append(np.array([state.qd[drive.rate], found.qdd[drive.rate]]))
        parts.append(drive.slopes)
    return np.concatenate(parts)


def drive_efforts(state: State, given: Mapping[str, Any], loops: Array) -> Array:
    """Return what acts along each joint."""
    return _of_given(state, given, loops)[1]


@dataclass(frozen=True)
class Control:
    """A pd or pid controller of one joint."""

    table: Table
    joint: str

    def result(self, state: State, integral: float) -> tuple[float, float]:
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

    def results(self, state: State) -> dict[str, float]:
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
