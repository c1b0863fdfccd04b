"""Mechanism and actuators together: the complete model (Turek 1993, chapter III).

symbol   meaning                                                                  Turek 1993
H, h     of the mechanism, H qdd + h = P; h with friction, springs and all        (II.43)
         other forces
x, N     states of all actuators; their signals within the limits                 (III.1), (III.2)
A, B, F  blocks A, b and f of the actuators, one after the other                  (III.4)
G        rows with qdd = G x'; G, A, B, F of one actuator are g, A, b, f below    (III.4)
P        drives                                                                   (III.4)
xd       x' of all actuators                                                      (III.5)
Ah, Bh   xd = Ah + Bh N                                                           (III.6)
I_i      - 1 / (g f), the inertia of an actuator felt at its joint
m_i      I_i g (A x + b N), its effort while the joint stands still

The paper solves (I - H G F) P = H G (A x + B N) + h. Where an actuator holds the motion of its
joint, qdd = g (A x + b N) + g f P, that is P = m_i - I_i qdd. Put into H qdd + h = P this gives

    (H + diag(I_i)) qdd = m - h                                         for all joints at once

with I_i = 0 and m_i = P_i where an actuator gives an effort or P_i = tau_i is given. The matrix is
symmetric and positive, so that it is factorised as H is in forward dynamics; P and x' follow.
A joint whose actuator the load does not reach (g f = 0) has a known qdd, which goes to the
right side; its P is the row of H qdd + h. What is in x is taken from x: q = position x and
qd = velocity x stand in place of the inputs q and qd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chainform.errors import DeriveError
from chainform.formulations.shared.drives import Drive, coordinate_of, drives_of
from chainform.formulations.shared.options import Method, Options
from chainform.formulations.shared.outputs import Key, add_to, declare, solve
from chainform.graph import Builder, Scalar, include, is_zero
from chainform.mechanism import Mechanism

COMPLETE = (
    "complete_model",
    "complete_drift",
    "complete_input",
    "complete_acceleration",
    "drives",
)
"""The outputs of a mechanism with actuators."""


def _refuse_without_actuators(mechanism: Mechanism) -> None:
    if not mechanism.actuators:
        raise DeriveError(
            "the complete model is that of a mechanism with actuators, and this one has none",
            file=mechanism.file,
            element="actuators",
            remedy="describe them under [[actuators]] in the file, or derive forward_dynamics",
        )


@dataclass(frozen=True, slots=True)
class DriveResponse:
    """What actuators and mechanism do together: qdd and P by rate, x' in its order."""

    qdd: dict[int, Scalar]
    P: dict[int, Scalar]
    xd: list[Scalar]


class CompleteModel:
    """The complete model of one mechanism, from the mass matrix and bias that a method gives."""

    def __init__(
        self, builder: Builder, mechanism: Mechanism, options: Options, method: Method
    ) -> None:
        _refuse_without_actuators(mechanism)
        self.builder = builder
        self.mechanism = mechanism
        self.rates = range(mechanism.nv)
        self.drives = drives_of(builder, mechanism)
        for drive in self.drives:
            drive.replaced = self._values()
        self.holding = {drive.rate: drive for drive in self.drives if drive.actuator.holds_motion}
        self.H, self.h = self._equations(options, method)

    def declare(self, output: str) -> None:
        """Declare one output."""
        n, order, signals = len(self.rates), len(self._states()), len(self.drives)
        zero = self.builder.number(0)
        match output:
            case "complete_input":
                columns = [self._unit_response(k).xd for k in range(signals)]
                entries = {(i, k): columns[k][i] for k in range(signals) for i in range(order)}
                declare(self.builder, output, "Bh", (order, signals), entries)
            case "complete_drift":
                drift = self._response([zero] * signals, free=True).xd
                declare(self.builder, output, "Ah", (order,), drift)
            case "complete_model":
                declare(self.builder, output, "xd", (order,), self._whole().xd)
            case "drives":
                declare(self.builder, output, "drive", (n,), self._whole().P)
            case _:
                declare(self.builder, output, "qddx", (n,), self._whole().qdd)

    # --- the mechanism ------------------------------------------------------------------

    def _equations(
        self, options: Options, method: Method
    ) -> tuple[dict[tuple[int, int], Scalar], list[Scalar]]:
        """Return H and h with q and qd taken from x where they are states."""
        trial = Builder()
        own = ["mass_matrix", "inverse_dynamics"]
        self.choices = method(trial, self.mechanism, own, options)
        graph, zero = trial.finish(), self.builder.number(0)
        # With qdd = 0, inverse dynamics is all that is no inertia force of qdd.
        still = {f"qdd{i + 1}": zero for i in self.rates}
        found = include(self.builder, graph, self._values() | still, list(graph.outputs))
        H, h = found["mass_matrix"], list(found["inverse_dynamics"])
        keys = ((i, k) for i in self.rates for k in self.rates)
        entries = {key: value for key, value in zip(keys, H, strict=True) if not is_zero(value)}
        return entries, h

    def _values(self) -> dict[str, Scalar]:
        """Return what stands in place of q and qd of joints whose motion is in x, by input."""
        values: dict[str, Scalar] = {}
        for drive in self.drives:
            if drive.position is not None:
                values[f"q{coordinate_of(self.mechanism, drive.rate) + 1}"] = drive.position
            if drive.velocity is not None:
                values[f"qd{drive.rate + 1}"] = drive.velocity
        return values

    def _states(self) -> list[Scalar]:
        return [x for drive in self.drives for x in drive.x]

    # --- actuators and mechanism together -----------------------------------------------

    def _whole(self) -> DriveResponse:
        return self._response([drive.N for drive in self.drives], free=True)

    def _unit_response(self, k: int) -> DriveResponse:
        """Return the part that is linear in the signals, for one unit signal."""
        number = self.builder.number
        return self._response([number(int(k == l)) for l in range(len(self.drives))], free=False)

    def _response(self, signals: Sequence[Scalar], *, free: bool) -> DriveResponse:
        """Return qdd, P and x' for given values of N; `free` tells whether x, h and tau act."""
        known, made = dict[int, Scalar](), dict[int, Scalar]()
        for drive, N in zip(self.drives, signals, strict=True):
            if drive.is_prescribed:
                known[drive.rate] = drive.acceleration(N, free=free)
            else:
                made[drive.place] = drive.effort(N, free=free)
        effort = self._on_joints(made)
        for i in self.rates:
            if i not in known and i not in effort:
                effort[i] = self._tau(i, free=free)
        qdd = {**known, **self._solved(known, {i: effort[i] for i in sorted(effort)}, free=free)}
        P = {i: self._drive(i, qdd, effort, free=free) for i in self.rates}
        xd = [
            value
            for drive, N in zip(self.drives, signals, strict=True)
            for value in drive.derivatives(N, self._own(drive, made, P), qdd[drive.rate], free=free)
        ]
        return DriveResponse(qdd, P, xd)

    def _on_joints(self, made: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """Return what efforts of actuators, by their places, are on all joints, by rate."""
        total: dict[int, Scalar] = {}
        for place, effort in made.items():
            for i, value in self.drives[place].efforts(effort).items():
                total[i] = self.builder.keep(total[i] + value) if i in total else value
        return total

    def _own(self, drive: Drive, made: Mapping[int, Scalar], P: Mapping[int, Scalar]) -> Scalar:
        """Return the effort of one actuator, which may share its joints with others."""
        return P[drive.rate] if drive.actuator.holds_motion else made[drive.place]

    def _tau(self, i: int, *, free: bool) -> Scalar:
        return self.builder.input(f"tau{i + 1}", "tau", i) if free else self.builder.number(0)

    def _bias(self, i: int, *, free: bool) -> Scalar:
        return self.h[i] if free else self.builder.number(0)

    def _solved(
        self, known: dict[int, Scalar], effort: dict[int, Scalar], *, free: bool
    ) -> dict[int, Scalar]:
        """Return the accelerations that are not prescribed."""
        matrix: dict[Key, Scalar] = {
            (i, k): value for (i, k), value in self.H.items() if i in effort and k in effort
        }
        for i in effort:
            drive = self.holding.get(i)
            if drive is not None and drive.inertia is not None:
                add_to(matrix, (i, i), drive.inertia)
                matrix[i, i] = self.builder.keep(matrix[i, i])
        right: dict[int, Scalar] = {}
        for i, value in effort.items():
            rest = value - self._bias(i, free=free)
            for k, acceleration in known.items():
                if (i, k) in self.H:
                    rest = rest - self.H[i, k] * acceleration
            right[i] = self.builder.keep(rest)
        return solve(matrix, right)

    def _drive(
        self, i: int, qdd: dict[int, Scalar], effort: dict[int, Scalar], *, free: bool
    ) -> Scalar:
        """Return P_i: what the actuator has left over, or what a prescribed motion demands."""
        drive = self.holding.get(i)
        if i not in effort:
            value = self._bias(i, free=free)
            for k in self.rates:
                if (i, k) in self.H:
                    value = value + self.H[i, k] * qdd[k]
            return self.builder.keep(value)
        if drive is None or drive.inertia is None:
            return effort[i]
        return self.builder.keep(effort[i] - drive.inertia * qdd[i])
