"""Where a search for equilibria starts: poses that lie evenly in the ranges of coordinates.

A sequence with the fractional parts of n times the roots of primes, shifted by a random amount,
fills the ranges more evenly than random numbers do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_solver import EquilibriumSystem
from chainform.analysis.equilibrium.static_equations import StaticStates
from chainform.analysis.equilibrium.static_problem import StaticProblem
from chainform.formulations import coordinate_of
from chainform.given import argument, finite_array
from chainform.mechanism import JointKind, Mechanism, float_of, known_values

# --- relaxation -----------------------------------------------------------------------------------


Array = NDArray[np.float64]

STEPS = 80
LONGEST = 0.3
"""The longest step, in rad or parts of the size."""
SWEEPS = 10
"""How often the multipliers are corrected one after the other, in each step."""
TINY = 1e-10
STILL = 1e-4
"""Motions below this are left to Newton's method."""


def with_multipliers(system: EquilibriumSystem, states: StaticStates) -> StaticStates:
    """Return the same poses with the multipliers that leave the least of the balance."""
    forces = _motion(system, states, np.full((len(states), 1), LONGEST))[1]
    steps = np.zeros((len(states), len(system.columns)))
    steps[:, system.equations.sizes["q"] :] = _change(system, states, forces)
    return system.moved(states, steps)


def relax(system: EquilibriumSystem, states: StaticStates) -> StaticStates:
    """Return poses after some steps of relaxation, with the multipliers that hold them there."""
    states, lengths = states.copy(), np.full((len(states), 1), LONGEST)
    nv, before = system.equations.sizes["q"], np.zeros((len(states), system.equations.sizes["q"]))
    for _ in range(STEPS):
        motion, forces = _motion(system, states, lengths)
        motion = np.where(np.isfinite(motion), motion, 0.0)
        if np.max(np.abs(motion), initial=0.0) < STILL:
            break
        # A motion that turns back has gone too far.
        turned = np.sum(motion * before, axis=1, keepdims=True) < 0
        lengths = np.where(turned, lengths / 2, np.minimum(1.2 * lengths, 4 * LONGEST))
        step = lengths * motion
        largest = np.max(np.abs(step), axis=1, keepdims=True, initial=1e-300)
        steps = np.zeros((len(states), len(system.columns)))
        steps[:, :nv] = step * np.minimum(1.0, LONGEST / largest)
        steps[:, nv:] = _change(system, states, forces)
        states, before = system.moved(states, steps), motion
    return states


def _change(system: EquilibriumSystem, states: StaticStates, forces: Array) -> Array:
    """Return what leads from the multipliers of states to others, both in units."""
    change = forces - states.sigma / system.columns[system.equations.sizes["q"] :]
    return np.where(np.isfinite(change), change, 0.0)


def _motion(system: EquilibriumSystem, states: StaticStates, lengths: Array) -> tuple[Array, Array]:
    """Return the motions (m, nv) that loops and contacts allow, and the multipliers of these."""
    equations = system.equations
    parts, nv = equations.parts, equations.sizes["q"]
    loose = StaticStates(states.q, states.x, np.zeros_like(states.sigma), states.parameter)
    values = equations.values(loose) * system.rows
    pushes = equations.slopes(loose, ("sigma",))[:, parts["balance"]] * system.columns[nv:]
    b = values[:, parts["balance"]]
    J = -np.swapaxes(pushes, 1, 2) * system.rows[parts["balance"]]
    # The gradient of each row has the length 1, so that what it leaves open is a length.
    right = np.zeros((len(states), J.shape[1]))
    holonomic = np.append(equations.moving.holonomic, np.ones(_held(system), np.bool_))
    right[:, np.flatnonzero(holonomic)] = values[:, parts["rows"]]
    count = len(equations.contacts)
    right[:, right.shape[1] - count :] = values[:, parts["gaps"]]
    guess = states.sigma / system.columns[nv:]
    s = _multipliers(J, np.einsum("mij,mj->mi", J, b) - right / lengths, count, guess)
    return -b + np.einsum("mij,mi->mj", J, s), s


def _held(system: EquilibriumSystem) -> int:
    """Return how many coordinates are held."""
    return len(system.equations.rows) - len(system.equations.moving.holonomic)


def _multipliers(J: Array, right: Array, contacts: int, s: Array) -> Array:
    """Return s with J J^T s = right, those of contacts at least zero, from a guess.

    With contacts by sweeps over the rows (Gauss and Seidel, projected).
    """
    matrix, count = np.einsum("mik,mjk->mij", J, J), right.shape[1]
    diagonal = np.einsum("mii->mi", matrix)
    if not contacts:
        sizes = np.max(diagonal, axis=1, initial=1.0)
        regular = matrix + TINY * sizes[:, None, None] * np.eye(count)
        return np.asarray(np.linalg.solve(regular, right[..., None])[..., 0], np.float64)
    s = s.copy()
    for _ in range(SWEEPS):
        for k in range(count):
            left = right[:, k] - np.einsum("mj,mj->m", matrix[:, k], s)
            s[:, k] += np.where(diagonal[:, k] > TINY, left / (diagonal[:, k] + TINY), 0.0)
            if k >= count - contacts:
                s[:, k] = np.maximum(s[:, k], 0.0)
    return s


# --- starts ---------------------------------------------------------------------------------------


Array = NDArray[np.float64]
TURN = 2 * np.pi


def unit_of(mechanism: Mechanism, place: int) -> str:
    """Return the unit of a coordinate; that of an entry of a quaternion is empty."""
    record = mechanism.coordinate_records[place]
    if record.segment < 0:
        return record.unit or "m"
    kind = mechanism.segments[record.segment].joint.kind
    if kind.has_quaternion:
        return "" if any(p.start <= place < p.stop for p in mechanism.quaternions) else "m"
    return "rad" if kind is JointKind.REVOLUTE else "m"


def periodic_coordinates(problem: StaticProblem) -> NDArray[np.bool_]:
    """Return by coordinate whether a whole turn changes nothing, as it winds up no spring."""
    equations, mechanism = problem.equations, problem.mechanism
    angles = [k for k in range(mechanism.nq) if unit_of(mechanism, k) == "rad"]
    rng = np.random.default_rng(1)
    q = np.tile(mechanism.neutral(), (len(angles) + 1, 1)) + rng.uniform(0.1, 0.9, mechanism.nq)
    for row, place in enumerate(angles, 1):
        q[row, place] += TURN
    x, sigma = (np.ones((len(q), equations.sizes[group])) for group in ("x", "sigma"))
    values = equations.values(StaticStates(q, x, sigma, np.full(len(q), problem.first)))
    found, size = np.zeros(mechanism.nq, np.bool_), 1.0 + np.abs(values[0])
    # Where laws have no value nothing is known to stay.
    with np.errstate(invalid="ignore"):
        for row, place in enumerate(angles, 1):
            found[place] = bool(np.all(np.abs(values[row] - values[0]) <= 1e-10 * size))
    return found


def start_ranges(problem: StaticProblem, given: object) -> Array:
    """Return the range of each coordinate, (nq, 2): one turn, two where a spring winds up."""
    mechanism, known = problem.mechanism, known_values(problem.mechanism)
    size, periodic = float(np.max(problem.scales, initial=1.0)), periodic_coordinates(problem)
    ranges = np.zeros((mechanism.nq, 2))
    for place in range(mechanism.nq):
        reach = size
        if unit_of(mechanism, place) == "rad":
            reach = np.pi if periodic[place] else TURN
        ranges[place] = -reach, reach
        record = mechanism.coordinate_records[place]
        limits = mechanism.segments[record.segment].joint.limits if record.segment >= 0 else None
        for side, end in enumerate(("lower", "upper")):
            bound = None if limits is None else getattr(limits, end)
            if bound is not None:
                ranges[place, side] = float_of(bound, known)
                if not ranges[place, 0] < ranges[place, 1]:
                    ranges[place, 1 - side] = ranges[place, side] + (1 - 2 * side) * 2 * reach
    table = argument("ranges", {} if given is None else given)
    for name, pair in table.table(remedy='write {"slide": [0, 1]}').items():
        low, high = (end.number() for end in pair.entries(2))
        if not low < high:
            raise pair.error("the range is empty", "write the lower end first")
        ranges[mechanism.coordinate_index(name)] = low, high
    return ranges


def start_poses(problem: StaticProblem, ranges: Array, number: int, seed: int) -> Array:
    """Return poses that lie evenly in ranges, (number, nq); quaternions in all directions."""
    mechanism = problem.mechanism
    shift = np.random.default_rng(seed).random(mechanism.nq)
    roots = np.sqrt(list(islice(_primes(), mechanism.nq)))
    parts = np.mod(shift + np.arange(1.0, number + 1)[:, None] * roots, 1.0)
    q = ranges[:, 0] + parts * (ranges[:, 1] - ranges[:, 0])
    for part in mechanism.quaternions:
        a, b, c = parts[:, part][:, :3].T
        inner, outer = np.sqrt(1 - a), np.sqrt(a)
        angles = TURN * b, TURN * c
        q[:, part] = np.stack(
            [
                inner * np.sin(angles[0]),
                inner * np.cos(angles[0]),
                outer * np.sin(angles[1]),
                outer * np.cos(angles[1]),
            ],
            axis=1,
        )
    for rate, value in problem.held.items():
        q[:, coordinate_of(mechanism, rate)] = value
    return q


def _primes() -> Iterator[int]:
    return (n for n in count(2) if all(n % k for k in range(2, int(n**0.5) + 1)))


def given_poses(problem: StaticProblem, q0: Any) -> Array:
    """Return the poses that are given to start from, (m, nq)."""
    if q0 is None:
        return np.zeros((0, problem.mechanism.nq))
    if isinstance(q0, Mapping):
        return problem.pose(q0)[None]
    array = finite_array("q0", q0)
    rows = array if array.ndim == 2 else array[None]
    return np.array([problem.pose(row) for row in rows]).reshape(-1, problem.mechanism.nq)
