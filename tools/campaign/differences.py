"""What tasks find, at states that are given: by differences along motions and of forces at rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainform.verification.reference.bodies import Array, axial
from chainform.verification.reference.drives import drive_of, driven, own_states
from chainform.verification.reference.dynamics import BodyState, UnsureError, inverse, ranks
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.motions import position_rates

SIXTH = ((1, 3 / 4, 3 / 2), (2, -3 / 20, -3 / 20), (3, 1 / 60, 1 / 90))
"""Steps, and the factors of central differences of sixth order: of the first and the second."""
STEP = 5e-3
"""Their step along motions, s."""
SMALL = 1e-5
"""The step of differences of forces and of accelerations, rad, m, or 1/s."""
FLAT = 1e-4
"""A stiffness below this share decides nothing."""


def along(system: BodySystem, q: Array, qd: Array, qdd: Array, time: float) -> tuple[Array, Array]:
    """Return coordinates and rates a little later, with constant derivatives of the rates."""
    steps = 4
    h = time / steps
    for k in range(steps):
        rates = [qd + (k + part) * h * qdd for part in (0.0, 0.5, 1.0)]
        a = position_rates(system, q, rates[0])
        b = position_rates(system, q + h / 2 * a, rates[1])
        c = position_rates(system, q + h / 2 * b, rates[1])
        d = position_rates(system, q + h * c, rates[2])
        q = q + h / 6 * (a + 2 * b + 2 * c + d)
    return q, qd + time * qdd


def derivatives(value: Callable[[float], Array]) -> tuple[Array, Array, Array]:
    """Return a function of time with its first two derivatives, at zero."""
    still = value(0.0)
    first, second = np.zeros_like(still), np.zeros_like(still)
    for k, odd, even in SIXTH:
        ahead, behind = value(k * STEP), value(-k * STEP)
        first = first + odd * (ahead - behind) / STEP
        second = second + even * (ahead - 2 * still + behind) / STEP**2
    return still, first, second


def seen(
    pose: Callable[[float, str], Array], frame: str, base: str
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Return place, velocity, acceleration, rotation and what it turns by, as a base sees them."""
    place, v, a = derivatives(lambda s: _relative(pose, frame, base, s)[:3, 3])
    R, Rd, Rdd = derivatives(lambda s: _relative(pose, frame, base, s)[:3, :3])
    w = axial(Rd @ R.T)
    return place, v, a, R, w, axial(Rdd @ R.T + Rd @ Rd.T)


def _relative(pose: Callable[[float, str], Array], frame: str, base: str, s: float) -> Array:
    """Return the pose of a frame in another one."""
    return np.linalg.solve(pose(s, base), pose(s, frame))


def free(J: Array, width: int) -> Array:
    """Return the directions that rows leave open."""
    rank, vectors = ranks(J)
    return vectors[rank:].T if len(J) else np.eye(width)


def on_rows(
    system: BodySystem, q: Array, named: list[int], t: float, qd: Array, qdd: Array
) -> tuple[Array, Array, Array]:
    """Return the state next to q in which all rows hold; those of some rates stay as they are."""
    others = [k for k in range(system.nv) if k not in named]
    for _ in range(3):
        state = BodyState.of(system, q, np.zeros(system.nv), t)
        change = np.zeros(system.nv)
        change[others] = -_solved(state.rows.J[:, others], state.rows.value)
        q = q + position_rates(system, q, change)
    rates = np.where(np.isin(np.arange(system.nv), named), qd, 0.0)
    rows = BodyState.of(system, q, rates, t).rows
    rates[others] = -_solved(rows.J[:, others], rows.rate)
    rows = BodyState.of(system, q, rates, t).rows
    found = np.where(np.isin(np.arange(system.nv), named), qdd, 0.0)
    found[others] = _solved(rows.J[:, others], rows.right - rows.J @ found)
    return q, rates, found


def _solved(J: Array, value: Array) -> Array:
    """Return the solution of rows with as many unknowns as are independent."""
    rank, _ = ranks(J)
    if rank < J.shape[1]:
        raise UnsureError("the rows leave something open")
    return inverse(J) @ value


# --- rest -----------------------------------------------------------------------------------------


def forces_at_rest(system: BodySystem, q: Array, t: float, multipliers: Array, u: Array) -> Array:
    """Return what rest asks of the drives beside loops, constraints and actuators, (nv,)."""
    state = BodyState.of(system, q, np.zeros(system.nv), t)
    own = _settled(state, u)
    effort = state.effort(np.zeros(system.nv)) - state.rows.J.T @ multipliers
    first = 0
    for actuator, signal in zip(system.table.get("actuators", ()), u, strict=True):
        size = own_states(actuator)
        drive = drive_of(state, actuator, own[first : first + size], float(signal))
        effort[drive.rate] -= drive.effort
        first += size
    return effort


def _settled(state: BodyState, u: Array) -> Array:
    """Return states of actuators that do not change: their slopes are linear in them."""
    found: list[float] = []
    for actuator, signal in zip(state.system.table.get("actuators", ()), u, strict=True):
        size = own_states(actuator)
        still = drive_of(state, actuator, np.zeros(size), float(signal)).slopes
        units = [drive_of(state, actuator, e, float(signal)).slopes - still for e in np.eye(size)]
        found += list(np.linalg.solve(np.array(units).T, -still)) if size else []
    return np.array(found)


def stiffness(
    system: BodySystem, q: Array, t: float, multipliers: Array, u: Array, held: list[int]
) -> float:
    """Return the least stiffness along the directions that rows leave open, 1e9 without any."""
    state = BodyState.of(system, q, np.zeros(system.nv), t)
    if any(row["kind"] == "nonholonomic" for row in system.table.get("constraints", ())):
        raise UnsureError("rates that are bound leave positions open")
    N = free(np.concatenate([state.rows.J, np.eye(system.nv)[held]]), system.nv)
    columns: list[Array] = []
    for direction in N.T:
        way = SMALL * position_rates(system, q, direction)
        ends = (forces_at_rest(system, q + s * way, t, multipliers, u) for s in (1.0, -1.0))
        ahead, behind = ends
        columns.append((ahead - behind) / (2 * SMALL))
    if not columns:
        return 1e9
    K = N.T @ np.stack(columns, axis=-1)
    if np.abs(K - K.T).max() > 1e-5 * (1 + np.abs(K).max()):
        raise UnsureError("the forces at rest have no potential")
    return float(np.linalg.eigvalsh((K + K.T) / 2)[0])


# --- small motions --------------------------------------------------------------------------------


def small_motions(
    state: BodyState, own: Array, u: Array, tau: Array, chosen: tuple[list[int], list[int]]
) -> tuple[Array, Array, Array]:
    """Return the derivatives of z' by z and by (tau, u), and z'.

    z has displacements along some rates, some rates, and the own states of actuators: `chosen` are
    places. Axes of quaternions are taken as if they did not turn.
    """
    places, rates = chosen
    system, t = state.system, state.motion.t
    size = len(places) + len(rates) + len(own)

    def slope(dz: Array, dw: Array) -> Array:
        dq, dqd, dx = np.split(dz, [len(places), len(places) + len(rates)])
        shift, qd = np.zeros(system.nv), state.qd.copy()
        shift[places], qd[rates] = dq, qd[rates] + dqd
        q = state.q + position_rates(system, state.q, shift)
        q, qd = _closed(system, q, qd, t, chosen)
        moved = BodyState.of(system, q, qd, t)
        efforts, signals = tau + dw[: len(tau)], u + dw[len(tau) :]
        found, _, drives = driven(moved, own + dx, signals, efforts, moved.rows)
        own_slopes = [drive.slopes for drive in drives]
        return np.concatenate([qd[places], found.qdd[rates], *own_slopes])

    width = len(tau) + len(u)
    still, none = np.zeros(size), np.zeros(width)
    A = [_difference(lambda x, e=e: slope(x * e, none)) for e in np.eye(size)]
    B = [_difference(lambda x, e=e: slope(still, x * e)) for e in np.eye(width)]
    by_states, by_inputs = (np.array(part).reshape(len(part), size).T for part in (A, B))
    return by_states, by_inputs, slope(still, none)


def _difference(value: Callable[[float], Array]) -> Array:
    """Return the derivative at zero by central differences of sixth order.

    Near singular positions, and at kinks of a slope such as that of v |v|, those of fourth order
    tell another value: there it is unsure.
    """
    h = 1e-4
    near, far, farthest = (value(k * h) - value(-k * h) for k in (1, 2, 3))
    fourth = (8 * near - far) / (12 * h)
    sixth = (45 * near - 9 * far + farthest) / (60 * h)
    if np.abs(sixth - fourth).max(initial=0.0) > 1e-8 * (1 + np.abs(sixth).max(initial=0.0)):
        raise UnsureError("the motion bends too much for differences")
    return sixth


def _closed(
    system: BodySystem, q: Array, qd: Array, t: float, chosen: tuple[list[int], list[int]]
) -> tuple[Array, Array]:
    """Return the state near by in which rows hold; the chosen coordinates and rates stay."""
    if not len(BodyState.of(system, q, qd, t).rows.J):
        return q, qd
    places, rates = chosen
    others = [k for k in range(system.nv) if k not in places]
    for _ in range(6):
        state = BodyState.of(system, q, qd, t)
        holonomic = _positions(state)
        shift = np.zeros(system.nv)
        shift[others] = _solved(state.rows.J[holonomic][:, others], state.rows.value[holonomic])
        q = q - position_rates(system, q, shift)
    others = [k for k in range(system.nv) if k not in rates]
    qd = qd.copy()
    qd[others] = 0.0
    state = BodyState.of(system, q, qd, t)
    qd[others] = -_solved(state.rows.J[:, others], state.rows.rate)
    return q, qd


def _positions(state: BodyState) -> list[int]:
    """Return the rows of loops and holonomic constraints."""
    kinds = [row["kind"] == "holonomic" for row in state.system.table.get("constraints", ())]
    first = len(state.closure.value)
    return [*range(first), *(first + k for k, is_one in enumerate(kinds) if is_one)]
