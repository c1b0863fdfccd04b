"""All equilibria that a search from many starts finds.

From each start the loops are closed, then the equations of rest are solved
(equilibrium_solver.py). Solutions that differ by whole turns are the same where the equations are;
those of a family are one.

    share not seen      about f1 / n       f1 equilibria met once, in n solutions (Good and Turing)
    number not seen     at least about f1 (f1 - 1) / (2 (f2 + 1))      f2 those met twice (Chao)

A search does not prove that there are no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.equilibrium.equilibrium_solver import (
    BALANCED,
    NEAR,
    EquilibriumSystem,
    Flags,
    equilibrium_system,
)
from chainform.analysis.equilibrium.equilibrium_stability import Stability, StabilityTest, names_of
from chainform.analysis.equilibrium.equilibrium_starts import (
    TURN,
    given_poses,
    periodic_coordinates,
    relax,
    start_poses,
    start_ranges,
    with_multipliers,
)
from chainform.analysis.equilibrium.static_equations import StaticStates, joined
from chainform.analysis.equilibrium.static_problem import (
    StaticOptions,
    StaticProblem,
    static_problem,
)
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.formulations import coordinate_of
from chainform.given import argument, counted
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]

MOST_STARTS = 100_000
MOST_NUMBERS = 20_000_000
"""The most entries of all matrices that are there at once."""
USUAL = 200
"""Starts, at most, that units of the equations are taken from."""
SAME = 1e-6
"""Equilibria nearer than this, in rad or parts of the size, are one; singular ones at 1e-2."""
SAME_SINGULAR = 1e-2
TOGETHER = 50
"""Starts that are solved together; an even number, as every second one is relaxed."""
SHARE = 1e-3
"""The share of the loads of open starts that counts in any case."""


def equilibria(
    mechanism: Mechanism | str | PathLike[str],
    *,
    q0: Any = None,
    starts: int = 1000,
    seed: int = 0,
    ranges: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **acting: Unpack[StaticOptions],
) -> Result:
    """Return the equilibria that a search from many starts finds, those of low energy first.

    `starts` poses are drawn evenly, by `seed`, from the `ranges` of coordinates: {"slide": [0, 1]},
    by default the limits of joints, one turn, or the size of the mechanism; q0 are poses to start
    from besides. `held`, `forces`, `signals`, `values`, `stops`, `contacts`, `time` and `x0` are
    those of `StaticOptions`.

    Arrays have a row for each equilibrium: q, tau (drives of held joints), x of actuators,
    multipliers, contact_force(NAME) and gap(NAME), potential_energy (of weight and springs), stable
    (1, 0, or -1 where it is not decided), stiffness (the smallest that small motions meet), growth
    (the largest real part of the poles, where stiffness does not decide), singular, family (its
    dimension), residual, and hits: how many starts led there. RunError where none is found.
    `progress` is called with the number of starts that are done, and of all; Ctrl-C raises
    TaskInterrupted, with the equilibria that were found.
    """
    watch = Watch(progress)
    problem = static_problem(mechanism, acting, q0)
    search = _Search(problem, ranges, starts, seed, q0)
    found = search.found(watch)
    if not found:
        if watch.came:
            raise KeyboardInterrupt
        raise search.nothing()
    return watch.finished(search.result(found, watch.lines))


@dataclass
class _Found:
    """An equilibrium, and how many starts led to it."""

    state: StaticStates
    closed: Flags
    residual: float
    stability: Stability
    hits: int = 1


class _Search:
    """A search from many starts."""

    def __init__(
        self, problem: StaticProblem, ranges: object, starts: object, seed: object, q0: object
    ) -> None:
        self.problem = problem
        self.mechanism, self.equations = problem.mechanism, problem.equations
        self.ranges = start_ranges(problem, ranges)
        self.periodic = periodic_coordinates(problem)
        number = argument("starts", starts).whole(1, MOST_STARTS)
        size = self.equations.count * (self.mechanism.nv + sum(self.equations.sizes.values()))
        self.usual = min(USUAL, max(1, MOST_NUMBERS // size))
        drawn = start_poses(problem, self.ranges, number, argument("seed", seed).whole())
        q = np.concatenate([given_poses(problem, q0), drawn])
        m = len(q)
        x, none = np.tile(problem.x0, (m, 1)), np.full(m, np.nan)
        self.starts = StaticStates(q, x, np.zeros((m, self.equations.sizes["sigma"])), none)
        self.solved = 0
        self.left = np.zeros(0)
        """What each start left over."""

    # --- solutions ----------------------------------------------------------------------

    def found(self, watch: Watch) -> list[_Found]:
        """Return the equilibria, each once."""
        scales = self.problem.scales
        rough = equilibrium_system(self.equations, self.starts[: self.usual], scales)
        closed = joined([self._closed(rough, part) for part in self._parts(self.starts)])
        self.closed = len(closed)
        if not len(closed):
            return []
        least = SHARE * rough.energy
        self.system = equilibrium_system(self.equations, closed[: self.usual], scales, least)
        parts: list[tuple[StaticStates, Array, Flags]] = []
        with watch.counting(len(closed)):
            done = 0
            for part in self._parts(closed):
                parts.append(self._solutions(part))
                done += len(part)
                watch.tell(done)
        self.solved = sum(len(part[0]) for part in parts)
        if not self.solved:
            return []
        test = StabilityTest(self.problem, self.system, self.system.row_rank(closed[:8]))
        states = joined([part[0] for part in parts])
        sizes = np.concatenate([part[1] for part in parts])
        active = np.concatenate([part[2] for part in parts])
        return self._each_once(test, states, sizes, active)

    def _parts(self, states: StaticStates) -> Iterator[StaticStates]:
        """Yield states that are solved together."""
        number = min(TOGETHER, self.usual)
        return (states[first : first + number] for first in range(0, len(states), number))

    def _closed(self, system: EquilibriumSystem, states: StaticStates) -> StaticStates:
        """Return the states from which loops and constraints can be closed, closed."""
        closed, left = system.close(states)
        closed = self.equations.settled(closed)
        return closed[(left < NEAR) & self.problem.is_closed(closed.q, NEAR)]

    def _solutions(self, closed: StaticStates) -> tuple[StaticStates, Array, Flags]:
        """Return the equilibria that some starts lead to, what is left over, closed contacts."""
        near, left = self.system.descend(self._partly_relaxed(closed))
        self.left = np.concatenate([self.left, left])
        near = near[left < NEAR]
        if not len(near):
            return near, np.zeros(0), np.zeros((0, len(self.equations.contacts)), np.bool_)
        states, sizes, active = self.system.refine(near)
        solutions = np.flatnonzero((sizes < BALANCED) & self.problem.is_closed(states.q, NEAR))
        return states[solutions], sizes[solutions], active[solutions]

    def _partly_relaxed(self, states: StaticStates) -> StaticStates:
        """Return every second start relaxed, so that stable equilibria are not missed.

        The others have multipliers that suit their pose; from forces of zero in the loops, unstable
        equilibria would be missed.
        """
        if self.equations.sizes["x"]:
            return states
        mixed, second = with_multipliers(self.system, states), np.arange(0, len(states), 2)
        mixed.put(second, relax(self.system, states[second]))
        return mixed

    def _each_once(
        self, test: StabilityTest, states: StaticStates, sizes: Array, active: Flags
    ) -> list[_Found]:
        found: list[_Found] = []
        for k in np.argsort(sizes, kind="stable").tolist():
            state, closed = states[[k]], active[[k]]
            same = next((each for each in found if self._is_same(each, state)), None)
            if same is None:
                own = _Found(self._wound(state), closed, float(sizes[k]), test.of(state, closed))
                same = next((each for each in found if self._is_family(each, own)), None)
                if same is None:
                    found.append(own)
                    continue
            same.hits += 1
        return sorted(found, key=self._order)

    def _order(self, found: _Found) -> tuple[float, ...]:
        energy = self.equations.energies(found.state)
        first = 0.0 if energy is None else round(float(energy[0]) / self.system.energy, 9)
        return first, *(round(float(entry), 6) for entry in found.state.q[0])

    def _wound(self, state: StaticStates) -> StaticStates:
        """Return a state without whole turns."""
        return replace(state, q=without_turns(state.q, self.periodic))

    def _is_same(self, found: _Found, state: StaticStates) -> bool:
        """Whether a state is an equilibrium that is known already."""
        bound = SAME_SINGULAR if found.stability.is_singular else SAME
        return self._distance(found.state, state) < bound

    def _distance(self, one: StaticStates, other: StaticStates) -> float:
        gap = without_turns(one.q[0] - other.q[0], self.periodic)
        for part in self.mechanism.quaternions:
            if one.q[0, part] @ other.q[0, part] < 0:
                gap[part] = one.q[0, part] + other.q[0, part]
        units = np.ones(self.mechanism.nq)
        for rate, scale in enumerate(self.problem.scales):
            units[coordinate_of(self.mechanism, rate)] = scale
        return float(np.max(np.abs(gap / units), initial=0.0))

    def _is_family(self, one: _Found, other: _Found) -> bool:
        """Whether two equilibria belong to one family; its energy is the same everywhere."""
        if not one.stability.family or one.stability.family != other.stability.family:
            return False
        if np.any(one.closed != other.closed):
            return False
        energies = [self.equations.energies(each.state) for each in (one, other)]
        others = self.mechanism.forces or self.mechanism.actuators
        is_potential = not others and self.equations.moving.holonomic.all()
        if not is_potential or energies[0] is None or energies[1] is None:
            return True
        return abs(energies[0][0] - energies[1][0]) < 1e-7 * self.system.energy

    # --- result -------------------------------------------------------------------------

    def nothing(self) -> RunError:
        """Return the error of a search without a result."""
        mechanism = self.mechanism
        if not self.closed:
            message = (
                f"from none of {len(self.starts)} starts could loops and constraints be closed"
            )
            remedy = "give a pose near a closed one as q0, or ranges of coordinates"
        elif not np.isfinite(self.left).any():
            message = f"the equations have no finite value at any of {len(self.starts)} starts"
            remedy = 'a law may leave its range there: give ranges={"s": [2.7, 5.2]}'
            if self.equations.sizes["x"]:
                remedy += " of coordinates, or states of actuators, x0={...}"
        else:
            left = float(np.min(self.left)) * self.system.energy
            message = (
                f"no equilibrium was found from {len(self.starts)} starts: at best {left:.3g} N m, "
                "or N times the size, is left over"
            )
            remedy = "forces may have nothing to balance them: hold a joint with held, give stops, "
            remedy += "or more starts and other ranges"
        return RunError(message, file=mechanism.file, element="equilibria", remedy=remedy)

    def result(self, found: Sequence[_Found], lines: Sequence[str] = ()) -> Result:
        """Return the equilibria as arrays; the lines are added to the report."""
        equations, mechanism = self.equations, self.mechanism
        states = joined([f.state for f in found])
        arrays = {"equilibrium": np.arange(1.0, len(found) + 1)}
        arrays |= static_arrays(self.problem, states)
        each = [f.stability for f in found]
        arrays |= {
            "stable": np.array([s.stable for s in each]),
            "stiffness": np.array([s.stiffness for s in each]),
            "singular": np.array([float(s.is_singular) for s in each]),
            "family": np.array([float(s.family) for s in each]),
            "residual": np.array([f.residual for f in found]) * self.system.energy,
            "hits": np.array([float(f.hits) for f in found]),
        }
        if any(not np.isnan(s.growth) for s in each):
            arrays["growth"] = np.array([s.growth for s in each])
        facts = {
            "starts": len(self.starts),
            "closed": self.closed,
            "solved": self.solved,
            "rows": list(equations.rows),
            "contacts": list(equations.contacts),
        }
        units = {"potential_energy": "J", "growth": "1/s", "residual": "N m"}
        shown = [n for n in ("equilibrium", "q", "stable", "potential_energy") if n in arrays]
        arrays = {name: arrays[name] for name in dict.fromkeys([*shown, *arrays])}
        report = (*_report(self, found), *lines)
        return Result("equilibria", mechanism, "equilibrium", arrays, report, facts, units)


def without_turns(angles: Array, periodic: Flags) -> Array:
    """Return angles without whole turns where these change nothing."""
    turns: Array = np.round(angles / TURN)
    return angles - np.where(periodic, TURN * turns, 0.0)


def _report(search: _Search, found: Sequence[_Found]) -> tuple[str, ...]:
    """Return what was found in words, and what a search cannot promise."""
    stable = [f.stability.stable for f in found]
    once, twice = (sum(f.hits == n for f in found) for n in (1, 2))
    kinds = f"{stable.count(1.0)} stable, {stable.count(0.0)} unstable"
    kinds += f", {stable.count(-1.0)} not decided" if -1.0 in stable else ""
    missing = "the hits alone show none that are missing"
    if once > 1:
        missing = f"at least about {once * (once - 1) / (2 * twice + 2):.0f} are missing"
    starts = (
        f"{counted(len(search.starts), 'start')}, {search.closed} closed, {search.solved} solved"
    )
    share = f"about {once / search.solved:.1%} of further starts would find another one"
    lines = [
        f"{equilibria_counted(len(found))} of {search.mechanism.name}: {kinds}",
        f"{starts}; {once} met once: {share}, {missing}",
        "a search from starts does not prove that there are no more",
    ]
    names = search.mechanism.rates
    for number, each in enumerate(found, 1):
        stability = each.stability
        if stability.family:
            moves = "; ".join(names_of(d, names) for d in stability.free.T)
            lines.append(f"equilibrium {number} is one of a family: it moves freely along {moves}")
        elif stability.is_lost:
            lines.append(f"equilibrium {number} is a singular position of loops or constraints")
        elif stability.is_singular:
            moves = "; ".join(names_of(d, names) for d in stability.free.T)
            lines.append(f"equilibrium {number} is singular: no stiffness along {moves}")
    return (*lines, *search.problem.notes)


def equilibria_counted(count: int) -> str:
    """Return a number of equilibria in words."""
    return f"{count} equilibrium" if count == 1 else f"{count} equilibria"


def static_arrays(problem: StaticProblem, states: StaticStates) -> dict[str, Array]:
    """Return the arrays of states at rest: q, drives, states of actuators, forces, gaps, energy."""
    equations, mechanism = problem.equations, problem.mechanism
    own = equations.moving.sizes["sigma"]
    count = len(equations.rows)
    tau = np.zeros((len(states), mechanism.nv))
    tau[:, list(problem.held)] = states.sigma[:, own:count]
    arrays = {"q": states.q, "tau": tau}
    if states.x.shape[1]:
        arrays["x"] = states.x
    if own:
        arrays["multipliers"] = states.sigma[:, :own]
        arrays["sigma"] = states.sigma[
            :, : sum(loop.equations for loop in equations.mechanism.loops)
        ]
    gaps = equations.values(states)[:, equations.parts["gaps"]]
    for k, name in enumerate(equations.contacts):
        arrays[f"contact_force({name})"] = states.sigma[:, count + k]
        arrays[f"gap({name})"] = gaps[:, k]
    arrays |= equations.wrenches(states)
    energies = equations.energies(states)
    if energies is not None:
        arrays["potential_energy"] = energies
    return arrays
