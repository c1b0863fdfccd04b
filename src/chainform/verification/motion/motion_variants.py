"""The same motion once more: with a tighter tolerance, by another method, and shaken a little.

Events of two runs are paired: the k-th of a name belongs to the k-th of the same name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.graph import CALL_NUMBER
from chainform.mechanism import Mechanism, Parameter, names_in
from chainform.pipeline import derive
from chainform.simulation import EventRecord, Impact, MotionError, Problem, Run, Solver, settings_of

Array = NDArray[np.float64]
Observer: TypeAlias = Callable[[], None]

TIGHTER = 100.0
"""How many times tighter the tolerance of a second run is, where rounding lets it be."""
TIGHTEST = 1e-13
"""No tolerance is tighter: rounding would be all that steps see."""
SAMPLES = 201
"""Motions are compared at least at so many times."""
PUSHES = 100.0
"""A force that shakes a motion changes its rates, in each of so many parts of the motion, by the
tolerance."""
PHASES = (0.0, 2.0, 4.0)
"""There is a shaken motion for each, by forces that swing with these phases (rad)."""
SECONDS = 10.0
"""How long one more run may take (s), or ten times as long as the motion itself took."""
STIFF = {"cvode": 10.0 * TIGHTER, "ida": TIGHTER}
"""Backward differences, and how many times tighter than that of the motion their tolerance is.

Their errors add up more; but closed loops let them have no more accuracy than that.
"""
COARSE = 1e-12
"""The tightest tolerance with which closed loops can be solved by backward differences."""
FAR = 0.005
"""An event that is elsewhere by more than this share of the motion is another one."""


@dataclass(frozen=True)
class Variant:
    """A motion that was computed once more, as far as it came, and what it is called."""

    run: Run
    words: str
    cut: str = ""
    """Why it did not come to its end."""
    share: float = 1.0
    """The share of the errors of the motion itself that its errors may have."""


class Variants:
    """All that is computed of one problem, at the same times."""

    def __init__(self, problem: Problem, times: Array, observe: Observer) -> None:
        self.problem = replace(problem, times=times)
        self.times, self.observe = times, observe
        self.seconds = SECONDS
        self.start: dict[str, Any] = {}
        self.size = 1.0
        """The largest coordinate or rate of the motion, or 1 if that is less."""

    @property
    def rtol(self) -> float:
        """The relative tolerance of the motion itself; for steps of fixed length that of others."""
        settings = self.problem.settings
        return settings.rtol if settings.step is None else 1e-9

    def run(self, problem: Problem | None = None, words: str = "") -> Variant:
        """Return a motion; one that takes too long, or fails, is cut there."""
        began, limit = perf_counter(), self.seconds

        def watch(_: float) -> None:
            if problem is not None and perf_counter() - began > limit:
                raise RunError(f"it took more than {limit:.0f} s")

        self.observe()
        system = (problem or self.problem).compile()
        began = perf_counter()
        try:
            found = Variant(system.run(**self.start, progress=watch), words)
        except MotionError as failure:
            found = Variant(failure.run, words, failure.message)
        if problem is None:
            self.seconds = max(SECONDS, 10.0 * (perf_counter() - began))
            states = np.concatenate([found.run.q.ravel(), found.run.qd.ravel()])
            self.size = min(1.0, float(np.abs(states).max(initial=0.0)) or 1.0)
            self.start = self._start(found.run)
        return found

    def _start(self, run: Run) -> dict[str, Any]:
        """Return where all motions begin, where loops had to be closed for that."""
        first = self.problem.span[0]
        is_first = len(run.t) > 0 and run.t[0] == first
        changes = any(event.t == first for event in run.events)
        if not run.mechanism.loops or self.problem.motion or changes or not is_first:
            return {}
        return {"q0": run.q[0], "qd0": run.qd[0]}

    def has_jumps(self) -> bool:
        """Tell whether a force may jump within a step, as it does where a sign changes."""
        system = self.problem.compile()
        graph = system.machine.equations.graph
        return bool(system.conditions.barriers.dry) or CALL_NUMBER["sign"] in graph.call

    # --- solvers --------------------------------------------------------------------------------

    def solved(self, method: str, tighter: float = TIGHTER) -> Problem:
        """Return the problem with controlled steps, a tighter tolerance, or another method."""
        old = self.problem.settings
        is_fixed = old.step is not None
        rtol = max(self.rtol / tighter, COARSE if method == "ida" else TIGHTEST)
        atol = rtol / 1000 if is_fixed else old.atol * rtol / old.rtol
        if method == "ida":
            atol = rtol * self.size
        chosen = Solver(method, rtol, atol, None, None if is_fixed else old.largest)
        settings = settings_of(chosen, old.hold, span=self.problem.span)
        return replace(self.problem, settings=settings)

    @property
    def accurate(self) -> str:
        """The method of accurate motions: its own, or dopri853 in place of fixed steps."""
        settings = self.problem.settings
        return settings.method.name if settings.step is None else "dopri853"

    def tight(self) -> Variant:
        """Return the motion by the same method, but more accurately."""
        problem = self.solved(self.accurate)
        return self.run(problem, f"{self.accurate} with tolerance {problem.settings.rtol:.0e}")

    def others(self) -> Iterator[Variant]:
        """Yield the motion by methods of other families, then by another Runge-Kutta method."""
        own = self.accurate
        explicit = "verner65" if own == "dopri853" else "dopri853"
        for method in (*(STIFF if own not in STIFF else ()), explicit):
            tighter = STIFF.get(method, TIGHTER)
            problem = self.solved(method, tighter)
            words = f"{method} with tolerance {problem.settings.rtol:.0e}"
            try:
                found = self.run(problem, words)
            except Error:
                continue  # The method does not take such a problem.
            yield replace(found, share=1.0 if method == "ida" else 0.1)

    def finer(self) -> Iterator[Variant]:
        """Yield the motion with steps of half the length, a quarter, an eighth."""
        old = self.problem.settings
        for parts in (2, 4, 8):
            step = (old.step or 0.0) / parts
            problem = replace(self.problem, settings=replace(old, step=step))
            yield self.run(problem, f"{old.method.name} with steps of {step:g} s")

    # --- shaken -------------------------------------------------------------------------------

    def shaken(self, run: Run) -> Iterator[Variant]:
        """Yield motions under small forces more, which change rates as tolerances may."""
        sizes = self._sizes(run)
        if not sizes:
            return
        name = "shake"
        while name in names_in(self.problem.mechanism):
            name += "_"
        moving = shaken_mechanism(self.problem.mechanism, sizes, self.problem.span, name)
        base = replace(self.solved(self.accurate), mechanism=moving)
        for phase in PHASES:
            given: Mapping[str, Any] = self.problem.options["values"] or {}
            values = {**given, name: phase}
            problem = replace(base, options={**base.options, "values": values})
            yield self.run(problem, "shaken")

    def _sizes(self, run: Run) -> dict[str, float]:
        """Return the size of the force on each rate: inertia times a small acceleration."""
        mechanism, (first, last) = run.mechanism, self.problem.span
        fastest = float(np.abs(run.qd).max(initial=0.0))
        acceleration = self.rtol * PUSHES * fastest / (last - first)
        inertia = largest_inertia(run)
        return {
            name: float(size) * acceleration
            for name, size in zip(mechanism.rates, inertia, strict=True)
            if size * acceleration > 0.0
        }


def largest_inertia(run: Run) -> Array:
    """Return the largest diagonal entry of the mass matrix along a run, for each rate."""
    model = derive(run.mechanism, ["mass_matrix"], without=run.about.without)
    found = model.evaluate(q=run.q, t=run.t)["mass_matrix"]
    return np.abs(np.diagonal(found, axis1=-2, axis2=-1)).reshape(-1, run.mechanism.nv).max(axis=0)


def shaken_mechanism(
    mechanism: Mechanism, sizes: Mapping[str, float], span: tuple[float, float], name: str
) -> Mechanism:
    """Return a mechanism with forces that swing slowly; the parameter `name` is their phase."""
    random, length = np.random.default_rng(0), span[1] - span[0]
    with_phase = replace(
        mechanism, parameters=(*mechanism.parameters, Parameter(name)), source=None
    )
    laws: dict[str, Any] = {}
    for rate, size in sizes.items():
        turns, phase = random.uniform(0.5, 3.0), random.uniform(0.0, 6.0)
        speed = 2 * np.pi * turns / length
        laws[rate] = f"{size:.17e}*cos({speed:.6f}*t + {phase:.6f} + {name})"
    return with_phase.with_forces(laws)


def _by_name(run: Run) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for event in run.events:
        found.setdefault(event.name, []).append(event.t)
    return found


def paired(run: Run, other: Run) -> Iterator[tuple[EventRecord, EventRecord | None]]:
    """Yield each event of a run with that of another run; with None where it is not there."""
    there: dict[str, deque[EventRecord]] = {}
    for event in other.events:
        there.setdefault(event.name, deque()).append(event)
    for event in run.events:
        same = there.get(event.name)
        yield event, same.popleft() if same else None


def event_pairs(run: Run, other: Run) -> Sequence[tuple[float, float] | None]:
    """Return the times of the same events; None where the other run has none."""
    return [None if b is None else (a.t, b.t) for a, b in paired(run, other)]


def event_parts(event: EventRecord) -> tuple[Array, Array, Array, Array]:
    """Return coordinates, rates, impulses and the loss at an event."""
    if not isinstance(event, Impact):
        return event.q, event.qd, np.zeros(0), np.zeros(0)
    pushes = np.array([event.impulses[name] for name in sorted(event.impulses)])
    return event.q, np.concatenate([event.qd, event.qd_after]), pushes, np.array([event.loss])


def first_difference(run: Run, other: Run) -> float:
    """Return the time of the first event that one of two runs has more than the other.

    One that is elsewhere by more than a small share of the motion is another event.
    """
    a, b = _by_name(run), _by_name(other)
    far = FAR * (run.about.span[1] - run.about.span[0])
    first = np.inf
    for name in {*a, *b}:
        mine, theirs = a.get(name, []), b.get(name, [])
        longer, count = max(mine, theirs, key=len), min(len(mine), len(theirs))
        moved = [min(pair) for pair in zip(mine, theirs, strict=False) if abs(np.diff(pair)) > far]
        first = min([first, *longer[count : count + 1], *moved])
    return float(first)
