"""What the product derives, by the same names, from maximal coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chainform.verification.reference import centroid
from chainform.verification.reference.bodies import Array, Table, shift, times
from chainform.verification.reference.drives import (
    at_point,
    by_drives,
    complete_model,
    drive_efforts,
    driven,
    inner_states,
    needed,
)
from chainform.verification.reference.dynamics import BodyState, ConstrainedAccelerations
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import position_rates

STEP = 1e-5
"""The step of central differences of the mass matrix, rad or m."""


@dataclass(frozen=True)
class StateAnswer:
    """A state of a mechanism with all that is given: q, qd, qdd, tau, sigma, t, x, u."""

    table: Table
    given: Mapping[str, Any]

    @cached_property
    def system(self) -> BodySystem:
        """The system, with the values that were given for its parameters."""
        return BodySystem.of(self.table, self.given.get("values"))

    def array(self, name: str, length: int) -> Array:
        """Return a group of inputs, zeros where nothing is given."""
        given = self.given.get(name)
        return np.zeros(length) if given is None else np.asarray(given, dtype=np.float64)

    @cached_property
    def state(self) -> BodyState:
        """The state."""
        q = np.asarray(self.given["q"], dtype=np.float64)
        return BodyState.of(
            self.system, q, self.array("qd", self.system.nv), float(self.given.get("t", 0))
        )

    @cached_property
    def qdd(self) -> Array:
        """The accelerations given."""
        return self.array("qdd", self.system.nv)

    @cached_property
    def fitting(self) -> Array:
        """The accelerations that satisfy loops and constraints."""
        return self.array("fitting", self.system.nv)

    @property
    def push(self) -> Array:
        """What forces at the origin of the last segment do."""
        return at_point(self.state, self.table["segments"][-1]["name"])

    @cached_property
    def sigma(self) -> Array:
        """The forces in the loops."""
        return self.array("sigma", len(self.state.closure.value))

    @cached_property
    def tau(self) -> Array:
        """The drives."""
        return self.array("tau", self.system.nv)

    @cached_property
    def loop_effort(self) -> Array:
        """What the forces in the loops do on the coordinates."""
        return self.state.closure.J.T @ self.sigma

    @cached_property
    def constrained(self) -> ConstrainedAccelerations:
        """Accelerations under the constraints of the table; loops act by sigma only."""
        extra = self.loop_effort
        return self.state.accelerations(self.tau + extra, rows=self.state.constraints)

    def value(self, name: str) -> Any:
        """Return a quantity by its name, None where there is none here."""
        if "(" in name:
            kind, _, rest = name.partition("(")
            frame, _, axes = rest.rstrip(")").partition(",")
            return self.of_frame(kind, frame, axes or "world")
        found = QUANTITIES.get(name)
        return None if found is None else found(self)

    def along(self, name: str) -> Any:
        """Return a quantity of a motion: accelerations and multipliers follow from the state."""
        if name not in ("qdd", "multipliers", "drives"):
            return self.value(name)
        found, efforts = self.motion()
        if name == "drives":
            return efforts
        if name == "multipliers" and not found.is_unique:
            return None
        return found.qdd if name == "qdd" else found.multipliers

    def motion(self) -> tuple[ConstrainedAccelerations, Array]:
        """Return accelerations under all loops and constraints, and the efforts of all drives."""
        rows = self.state.rows
        if not self.table.get("actuators"):
            return self.state.accelerations(self.tau, rows=rows), self.tau
        own = inner_states(self.system, self.given["x"])
        found, efforts, _ = driven(self.state, own, np.asarray(self.given["u"]), self.tau, rows)
        return found, efforts

    # --- quantities -------------------------------------------------------------------------

    def gravity(self) -> Array:
        """Return hG."""
        return -self.state.motion.J.T @ self.state.weights

    def kinetic_energy(self) -> float:
        """Return the energy of motion of bodies and rotors, J."""
        state, total = self.state, 0.0
        for i in centroid.moving(self.system):
            body, R, w = self.system.bodies[i], state.motion.R[i], state.motion.w[i]
            v = state.motion.v[i] + times(w, state.offsets[i])
            total += (body.mass * v @ v + w @ R @ body.inertia @ R.T @ w) / 2
        return float(total + state.qd @ (state.rotors * state.qd) / 2)

    def potential_energy(self) -> float:
        """Return the energy of weight, zero at the world origin, and of springs, J."""
        heights = [
            self.system.bodies[i].mass * self.system.gravity @ centroid.centres(self.state)[i]
            for i in centroid.moving(self.system)
        ]
        return float(self.state.springs[2] - sum(heights))

    def reactions(self) -> Array:
        """Return force and moment of every joint on its body, in the axes of the body, (n, 6)."""
        forces = self.state.joint_forces(self.qdd, self.loop_loads())
        pairs = zip(forces, self.state.motion.R, strict=True)
        return np.array([np.concatenate([R.T @ f[:3], R.T @ f[3:]]) for f, R in pairs])

    def loop_loads(self) -> Array:
        """Return the forces in the loops as wrenches on all bodies, (6 n,)."""
        total, first = np.zeros(6 * len(self.system.bodies)), 0
        for loop in self.table.get("loops", ()):
            places = {end: self.state.point(loop[end]) for end in ("closing", "target")}
            for force, moment, at in self.state.loop_wrenches(loop):
                sigma, first = self.sigma[first], first + 1
                for end, sign, spot in (("closing", 1.0, "closing"), ("target", -1.0, at)):
                    number = places[end][0]
                    total += self.state.load(number, places[spot][1], sign * sigma * force)
                    if number >= 0:
                        total[6 * number + 3 : 6 * number + 6] += sign * sigma * moment
        return total

    def coriolis(self) -> Array:
        """Return the Christoffel symbols of H by central differences."""
        n = self.system.nv
        dH = np.zeros((n, n, n))
        for k in range(n):
            ahead, behind = (self.moved(k, step).H for step in (STEP, -STEP))
            dH[:, :, k] = (ahead - behind) / (2 * STEP)
        return (dH + dH.transpose(0, 2, 1) - dH.transpose(2, 1, 0)) / 2

    def coriolis_force(self) -> Array:
        """Return c = Cm qd: the bias without weight, on ground at rest."""
        table = {**self.table, "gravity": [0, 0, 0], "base": {}}
        system = BodySystem.of(table, self.given.get("values"))
        return BodyState.of(system, self.state.q, self.state.qd).bias

    def rate_of_mass(self) -> Array:
        """Return dH/dt by central differences along the motion."""
        state = self.state
        way = STEP * position_rates(self.system, state.q, state.qd)
        ahead, behind = (
            BodyState.of(self.system, state.q + step, state.qd, state.motion.t).H
            for step in (way, -way)
        )
        return (ahead - behind) / (2 * STEP)

    def by(self, name: str, group: str) -> Array:
        """Return derivatives of a quantity by central differences; those by q along the rates."""
        columns: list[Array] = []
        for unit in np.eye(self.system.nv):
            way = position_rates(self.system, self.state.q, unit) if group == "q" else unit
            ends = [np.asarray(self.given[group]) + step * way for step in (STEP, -STEP)]
            ahead, behind = (
                StateAnswer(self.table, {**self.given, group: e}).value(name) for e in ends
            )
            columns.append((ahead - behind) / (2 * STEP))
        return np.stack(columns, axis=-1)

    def by_parameters(self) -> Array:
        """Return what bodies, friction, springs and rotors need; no laws of forces, no loops."""
        table = {**self.table, "forces": [], "loops": []}
        return StateAnswer(table, self.given).state.effort(self.qdd)

    def moved(self, k: int, step: float) -> BodyState:
        """Return the state with one coordinate moved; there are no quaternions."""
        q = self.state.q.copy()
        q[k] += step
        return BodyState.of(self.system, q, self.state.qd, self.state.motion.t)

    def of_frame(self, kind: str, name: str, axes: str) -> Any:
        """Return pose, velocity, acceleration or Jacobian of a frame or segment."""
        frames = {frame["name"]: frame for frame in self.table.get("frames", ())}
        frame = frames.get(name, {"segment": name})
        number = self.system.number_of(frame["segment"])
        R, p, v, w = self.state.motion.pose(number)
        arm = R @ self.system.read.vector(frame.get("point"))
        own = R @ self.system.read.rotation(frame)
        if kind == "pose":
            return np.block([[own, (p + arm)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
        turned = {
            "world": (np.eye(3), np.eye(3)),
            "local": (own.T, own.T),
            "mixed": (np.eye(3), own.T),
        }
        linear, angular = turned[axes]
        part = slice(6 * number, 6 * number + 6)
        if kind == "velocity":
            return np.concatenate([linear @ (v + times(w, arm)), angular @ w])
        X = shift(arm)
        if kind == "jacobian":
            J = X @ (self.state.motion.J[part] if number >= 0 else np.zeros((6, self.system.nv)))
            return np.concatenate([linear @ J[:3], angular @ J[3:]])
        if kind == "acceleration":
            V = (
                self.state.motion.acceleration(self.qdd)[part]
                if number >= 0
                else self.state.motion.base[3]
            )
            a = X @ V
            a[:3] += times(w, times(w, arm))
            return np.concatenate([linear @ a[:3], angular @ a[3:]])
        return None


QUANTITIES: dict[str, Callable[[StateAnswer], Any]] = {
    "mass_matrix": lambda a: a.state.H,
    "gravity": StateAnswer.gravity,
    "bias": lambda a: a.state.bias,
    "passive": lambda a: a.state.passive,
    "inverse_dynamics": lambda a: a.state.effort(a.qdd) - a.loop_effort,
    "forward_dynamics": lambda a: (
        a.state.accelerations(a.tau + a.loop_effort, rows=a.state.no_rows()).qdd
    ),
    "tau by all drives": lambda a: by_drives(a.state, a.fitting, 1)[0],
    "multipliers by all drives": lambda a: by_drives(a.state, a.fitting, 1)[1],
    "tau by some drives": lambda a: by_drives(a.state, a.fitting, 2)[0],
    "multipliers by some drives": lambda a: by_drives(a.state, a.fitting, 2)[1],
    "unknown forces": lambda a: needed(a.state, a.fitting, a.push)[0],
    "multipliers by unknown forces": lambda a: needed(a.state, a.fitting, a.push)[1],
    "inverse_dynamics with forces": lambda a: (
        a.state.effort(a.qdd) - a.loop_effort - a.push @ [1.0, -2.0, 3.0]
    ),
    **{
        f"{name}_dynamics by {group}": (lambda a, n=f"{name}_dynamics", g=group: a.by(n, g))
        for name in ("inverse", "forward")
        for group in ("q", "qd", "qdd")
    },
    **dict.fromkeys(
        ("efforts by regressor", "efforts by base_regressor"), StateAnswer.by_parameters
    ),
    "power": lambda a: a.value("inverse_dynamics") @ a.state.qd,
    "energy": lambda a: a.kinetic_energy() + a.potential_energy(),
    "coriolis": StateAnswer.coriolis,
    "Cm qd": StateAnswer.coriolis_force,
    "Cm + Cm^T": StateAnswer.rate_of_mass,
    "kinetic_energy": StateAnswer.kinetic_energy,
    "potential_energy": StateAnswer.potential_energy,
    "momentum": lambda a: centroid.momentum(a.state),
    "centroidal_momentum": lambda a: centroid.centroidal_momentum(a.state),
    "com": lambda a: centroid.com(a.state),
    "com_velocity": lambda a: centroid.com_velocity(a.state),
    "com_acceleration": lambda a: centroid.com_acceleration(a.state, a.qdd),
    "com_jacobian": lambda a: centroid.com_jacobian(a.state),
    "centroidal_momentum_matrix": lambda a: centroid.momentum_matrix(a.state),
    "centroidal_momentum_matrix_rate": lambda a: centroid.momentum_matrix_rate(a.state),
    "centroidal_momentum_rate": lambda a: centroid.momentum_rate(a.state, a.qdd),
    "inverse_mass_matrix": lambda a: centroid.inverse_mass_matrix(a.state),
    "complete_drift": lambda a: complete_model(
        a.state, {**a.given, "u": np.zeros(len(a.given["u"]))}, a.loop_effort
    ),
    "reactions": StateAnswer.reactions,
    "closure_jacobian": lambda a: a.state.closure.J,
    "constraint": lambda a: a.state.constraints.value,
    "constraint_rate": lambda a: a.state.constraints.rate,
    "constraint_jacobian": lambda a: a.state.constraints.J,
    "constraint_right": lambda a: a.state.constraints.right,
    "constrained_dynamics": lambda a: a.constrained.qdd,
    "multipliers": lambda a: a.constrained.multipliers if a.constrained.is_unique else None,
    "complete_model": lambda a: complete_model(a.state, a.given, a.loop_effort),
    "drives": lambda a: drive_efforts(a.state, a.given, a.loop_effort),
}
"""Quantities by name."""
