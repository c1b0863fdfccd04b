"""Motions by scipy's `solve_ivp` at tight tolerances, with stops that bounce.

A motion is compared up to its horizon: the time from which on the reference has no certain answer,
such as a joint that comes to rest on its stop or sticks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from chainform.verification.reference.bodies import Array, Table, from_quaternion
from chainform.verification.reference.drives import (
    Control,
    Feedback,
    at_point,
    driven,
    motor_inertia,
    own_states,
)
from chainform.verification.reference.dynamics import BodyState, UnsureError, solved
from chainform.verification.reference.expressions import law
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.loops import Rows

RTOL, ATOL = 1e-10, 1e-12
MOST = 12_000
"""The most evaluations of a motion."""
DEPTH = 1e-13
"""How far, m or rad, a gap is closed when it counts as hit."""
LOOKS = 100
"""How often events are looked at within a piece of a motion, besides the ends of its steps."""
SLOWEST = 1e-2
"""A stop that is left with less than this speed is the horizon."""


@dataclass(frozen=True)
class StopImpact:
    """A stop that was hit: its name, when, and the rates after it."""

    name: str
    t: float
    qd_after: Array


@dataclass(frozen=True)
class Path:
    """States at those times that lie before the horizon."""

    t: Array
    q: Array
    qd: Array
    impacts: tuple[StopImpact, ...]
    horizon: float
    pieces: tuple[tuple[float, float, Any], ...] = ()
    """Begin, end and dense output of every piece without an impact."""


@dataclass(frozen=True)
class GapRow:
    """A stop or a contact: a gap that stays positive. After the hit of a rough one all is open."""

    name: str
    restitution: float
    row: Callable[[BodyState], Rows]
    is_rough: bool = False


@dataclass
class Mover:
    """Integrates a system with everything that the table of a motion says."""

    system: BodySystem
    task: Table
    evaluations: int = field(default=0)
    held: tuple[Array, Array] | None = None
    """Efforts and signals as they were sampled last."""

    @property
    def actuators(self) -> list[Table]:
        """The actuators."""
        return list(self.system.table.get("actuators", ()))

    @property
    def controls(self) -> list[Control]:
        """The controllers."""
        return [
            Control(table, table.get("joint", name))
            for name, table in self._controllers()
            if table["type"] != "state_feedback"
        ]

    @property
    def feedbacks(self) -> list[Feedback]:
        """The controllers of several joints."""
        return [Feedback(t) for _, t in self._controllers() if t["type"] == "state_feedback"]

    def _controllers(self) -> list[tuple[str, Table]]:
        given: Mapping[str, Table] = self.task.get("controllers") or {}
        return list(given.items())

    def start(self) -> Array:
        """Return q, qd, states of actuators, integrals."""
        rest = sum(own_states(a) for a in self.actuators) + len(self.controls)
        return np.concatenate([self.task["q0"], self.task["qd0"], np.zeros(rest)])

    def state(self, t: float, z: Array) -> BodyState:
        """Return the state in a vector."""
        nq, nv = self.system.nq, self.system.nv
        return BodyState.of(self.system, z[:nq], z[nq : nq + nv], t)

    def efforts(self, state: BodyState, integrals: Array) -> tuple[Array, Array, Array]:
        """Return tau, the signals of actuators, and the rates of the integrals."""
        tau, u = np.zeros(self.system.nv), np.zeros(len(self.actuators))
        numbers = {a.get("joint", a["name"]): i for i, a in enumerate(self.actuators)}
        forces: Mapping[str, Any] = self.task.get("forces") or {}
        for joint, given in forces.items():
            tau[self.system.own[joint][1]] += _force(given, state)
        signals: Mapping[str, Any] = self.task.get("signals") or {}
        for joint, given in signals.items():
            u[numbers[joint]] += _force(given, state)
        rates, results = np.zeros(len(self.controls)), list[tuple[str, float]]()
        for i, control in enumerate(self.controls):
            value, rates[i] = control.result(state, float(integrals[i]))
            results.append((control.joint, value))
        for feedback in self.feedbacks:
            results += feedback.results(state).items()
        for joint, value in results:
            if joint in numbers:
                u[numbers[joint]] += value
            else:
                tau[self.system.own[joint][1]] += value
        return tau, u, rates

    def sample(self, t: float, z: Array) -> None:
        """Sample efforts and signals, which are held from now on."""
        first = len(z) - len(self.controls)
        tau, u, _ = self.efforts(self.state(t, z), z[first:])
        self.held = tau, u

    def slope(self, t: float, z: Array) -> Array:
        """Return the derivative of the vector."""
        self.evaluations += 1
        if self.evaluations > MOST:
            raise UnsureError("the motion takes too many steps")
        state = self.state(t, z)
        inner = self.system.nq + self.system.nv
        first = inner + sum(own_states(a) for a in self.actuators)
        tau, u, integrals = self.efforts(state, z[first:])
        tau, u = self.held or (tau, u)
        if self.task.get("pushed"):
            force = [law(text, state.names).value for text in self.task["pushes"]]
            tau = tau + at_point(state, self.system.table["segments"][-1]["name"]) @ force
        found, _, drives = driven(state, z[inner:first], u, tau, state.rows)
        own = [drive.slopes for drive in drives]
        return np.concatenate(
            [position_rates(self.system, state.q, state.qd), found.qdd, *own, integrals]
        )

    def breaks(self) -> list[float]:
        """Return the times at which forces jump or bend."""
        found: set[float] = set()
        for given in (self.task.get("forces") or {}).values():
            if isinstance(given, list):
                pieces: list[Table] = given
                found |= {float(piece["until"]) for piece in pieces if "until" in piece}
            elif isinstance(given, dict):
                found |= {float(x) for x in given["t"]}
        for force in self.system.table.get("forces", ()):
            found |= {float(force[key]) for key in ("from", "until") if key in force}
        return sorted(found)

    def samples(self, end: float) -> list[float]:
        """Return the times at which efforts are sampled, none where they are not held."""
        hold = self.task.get("hold")
        return [] if hold is None else [k * hold for k in range(int(end / hold) + 1)]

    # --- stops ------------------------------------------------------------------------------

    def gaps(self) -> Iterator[GapRow]:
        """Yield the gaps of stops and of contacts."""
        stops: Mapping[str, Table] = self.task.get("stops") or {}
        for joint, stop in stops.items():
            for side, sign in (("lower", 1), ("upper", -1)):
                if side in stop:
                    text = f"{sign}*({joint} - ({stop[side]!r}))"
                    yield GapRow(
                        f"{joint} {side}",
                        stop["restitution"],
                        lambda s, text=text: s.law_rows(text),
                    )
        contacts: Mapping[str, Table] = self.task.get("contacts") or {}
        for frame, contact in contacts.items():
            frames = {f["name"]: f for f in self.system.table.get("frames", ())}
            place = frames.get(frame, {"segment": frame})
            yield GapRow(
                frame,
                contact["restitution"],
                lambda s, place=place, contact=contact: _height(s, place, contact),
                bool(contact.get("friction")),
            )

    def rubs(self) -> list[int]:
        """Return the places in qd of joints with Coulomb friction."""
        own = self.system.motions
        return [own[b.coordinate][1] for b in self.system.bodies if b.coulomb]

    def hit(self, state: BodyState, gap: GapRow) -> Array:
        """Return the rates after an impact of one gap; loops and constraints stay satisfied."""
        row = gap.row(state)
        H = state.H + np.diag(motor_inertia(state))
        J = np.concatenate([state.rows.J, row.J])
        # Rates of rows that move with time have a part without qd, which stays.
        jump = (1 + gap.restitution) * row.rate
        after = J @ state.qd - np.concatenate([np.zeros(len(state.rows.J)), jump])
        return solved(H, J, H @ state.qd, after).qdd

    def run(self) -> Path:
        """Return the states at the times of the task."""
        times = np.asarray(self.task["times"], dtype=np.float64)
        end, t, z = float(times[-1]), 0.0, self.start()
        gaps, rubs = list(self.gaps()), self.rubs()
        if any(gap.row(self.state(t, z)).value[0] <= 1e-6 for gap in gaps):
            raise UnsureError("the motion begins on a stop")
        if any(z[self.system.nq + place] == 0 for place in rubs):
            raise UnsureError("a joint with dry friction begins at rest")
        found, impacts, horizon = list[Array](), list[StopImpact](), end
        samples = self.samples(end)
        edges = sorted({*(b for b in self.breaks() if 0 < b < end), *samples[1:], end})
        pieces: list[tuple[float, float, Any]] = []
        while t < end and edges:
            if t in samples:
                self.sample(t, z)
            inside = times[(times >= t) & (times <= edges[0])]
            result = self.piece(t, edges[0], z, gaps, rubs)
            reached = result.t[-1]
            sampled = inside[
                (inside <= reached)
                & (inside >= times[len(found)] if len(found) < len(times) else False)
            ]
            found += [np.asarray(result.sol(x)) for x in sampled]
            pieces.append((t, float(reached), result.sol))
            t, z = float(reached), np.asarray(result.y[:, -1])
            if result.status == 0:
                edges.pop(0)
                continue
            if result.status < 0:
                raise UnsureError("the steps of the reference become too short")
            number = next(i for i, x in enumerate(result.t_events) if len(x))
            if number >= len(gaps):
                horizon = t
                break
            state, touching = self.state(t, z), gaps[number]
            is_shared = sum(gap.row(state).value[0] < 1e-6 for gap in gaps) > 1
            if is_shared or touching.is_rough:
                horizon = t
                break
            after = self.hit(state, touching)
            impacts.append(StopImpact(touching.name, t, after))
            nq = self.system.nq
            z = np.concatenate([z[:nq], after, z[nq + self.system.nv :]])
            if touching.row(self.state(t, z)).rate[0] < SLOWEST:
                horizon = t
                break
        within = times[: len(found)]
        nq, nv = self.system.nq, self.system.nv
        states = np.array(found).reshape(len(found), len(z))
        q, qd = states[:, :nq], states[:, nq : nq + nv]
        return Path(within, q, qd, tuple(impacts), horizon, tuple(pieces))

    def piece(self, t: float, end: float, z: Array, gaps: list[GapRow], rubs: list[int]) -> Any:
        """Integrate up to an event or the end of a piece."""
        # Quantities of a state need no scipy.
        solve_ivp: Callable[..., Any] = import_module("scipy.integrate").solve_ivp
        here = self.state(t, z)
        events: list[Any] = [self._gap_event(gap, float(gap.row(here).value[0])) for gap in gaps]
        events += [self._rest_event(place) for place in rubs]
        span: dict[str, Any] = {"method": "DOP853", "rtol": RTOL, "atol": ATOL}
        span |= {"events": events, "dense_output": True}
        result = solve_ivp(self.slope, (t, end), z, **span)
        if not _is_event_missed(result, events):
            return result
        # Events are looked for at the ends of steps: two zeros within a step are none.
        return solve_ivp(self.slope, (t, end), z, **span, max_step=(end - t) / (2 * LOOKS))

    def _gap_event(self, gap: GapRow, start: float) -> Any:
        def event(t: float, z: Array) -> float:
            # A gap that was just hit begins open by a little, so that it is not hit at once.
            return float(gap.row(self.state(t, z)).value[0]) + DEPTH - min(start, 0.0)

        event.terminal, event.direction = True, -1  # pyright: ignore[reportFunctionMemberAccess]
        return event

    def _rest_event(self, place: int) -> Any:
        def event(_: float, z: Array) -> float:
            return float(z[self.system.nq + place])

        event.terminal, event.direction = True, 0  # pyright: ignore[reportFunctionMemberAccess]
        return event


def _is_event_missed(result: Any, events: list[Any]) -> bool:
    """Whether an event changes its sign on the way, though none was found there."""
    inside = np.linspace(result.t[0], result.t[-1], LOOKS + 2)[1:-1]
    for event in events:
        values = np.array([event(t, result.sol(t)) for t in inside])
        begin = 1.0 if event.direction < 0 else event(result.t[0], result.sol(result.t[0]))
        if np.any(values * begin < 0):
            return True
    return False


def position_rates(system: BodySystem, q: Array, qd: Array) -> Array:
    """Return the derivative of q."""
    found = np.zeros(system.nq)
    for body, (place, rate) in zip(system.bodies, system.places, strict=True):
        if body.follows is not None:
            continue
        if body.kind in ("turn", "slide"):
            found[place] = qd[rate]
        elif body.kind in ("ball", "free"):
            first = place
            if body.kind == "free":
                R = from_quaternion(q[place + 3 : place + 7])
                found[place : place + 3] = R @ qd[rate : rate + 3]
                first, rate = place + 3, rate + 3
            x, y, z, w = q[first : first + 4]
            wx, wy, wz = qd[rate : rate + 3]
            found[first : first + 4] = 0.5 * np.array(
                [
                    w * wx + y * wz - z * wy,
                    w * wy + z * wx - x * wz,
                    w * wz + x * wy - y * wx,
                    -x * wx - y * wy - z * wz,
                ]
            )
    return found


def _force(given: Any, state: BodyState) -> float:
    """Return a force given as a law, as pieces in time, or as a table."""
    t = state.motion.t
    if isinstance(given, list):
        pieces: list[Table] = given
        chosen = next((p for p in pieces if t < p.get("until", np.inf)), None)
        return 0.0 if chosen is None else law(chosen["law"], state.names).value
    if isinstance(given, dict):
        table: Table = given
        return float(np.interp(t, table["t"], table["values"]))
    return law(given, state.names).value


def _height(state: BodyState, place: Table, contact: Table) -> Rows:
    """Return the height over a plane: as given, or normal to gravity, or to z without it."""
    weight = float(np.linalg.norm(state.system.gravity))
    up = -state.system.gravity / weight if weight else np.array([0.0, 0.0, 1.0])
    if "normal" in contact:
        up = np.array(contact["normal"]) / np.linalg.norm(contact["normal"])
    origin = np.array(contact.get("point", (0.0, 0.0, 0.0)))
    number, point, velocity = state.point(place)
    _, p, _, _ = state.motion.pose(number)
    block = state.motion.J[6 * number : 6 * number + 6]
    J = (
        block[:3] - np.cross(point - p, block[3:], axis=0)
        if len(block)
        else np.zeros((3, state.system.nv))
    )
    one = np.ones(1)
    return Rows((up @ J)[None], 0 * one, up @ (point - origin) * one, up @ velocity * one)
