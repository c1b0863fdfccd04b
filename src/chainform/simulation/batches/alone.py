"""Motions one by one, as `simulate` runs each, shared among threads.

This takes all that `simulate` takes: stops, contacts, sticking, events of any kind, every method.
Motions with the same values share the equations and the machine code, those with other values the
machine code.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.runtime import Key, LruCache, share
from chainform.simulation.about import FAILED, INTERRUPTED
from chainform.simulation.batches.cases import Cases
from chainform.simulation.batches.found import Found
from chainform.simulation.batches.watch import Watch
from chainform.simulation.interruption import Interrupted, MotionError
from chainform.simulation.problem import Problem, System
from chainform.simulation.run import Run
from chainform.simulation.solver import Statistics
from chainform.simulation.span import check_size

Array = NDArray[np.float64]

SYSTEMS = 64
"""How many sets of values are kept ready at a time."""


class Alone:
    """The motions of a batch; `first` is what the first of them needs, made ready before."""

    def __init__(self, problem: Problem, cases: Cases, first: System) -> None:
        self.problem = problem
        self.cases = cases
        self.first = first
        self._ready: LruCache[System] = LruCache(SYSTEMS)
        self._differing = bool(cases.differing)
        self.problems: dict[int, str] = {}
        self._runs: dict[int, Run] = {}

    def run(self, threads: int, watch: Watch) -> tuple[Found, tuple[Run, ...]]:
        """Run all motions, and return what came out of each; one that fails harms no other."""

        def work(motion: int) -> None:
            if not watch.is_over:
                self._runs[motion] = self._one(motion, watch)
                watch.note(1)

        source = self.problem.mechanism
        check_size(len(self.problem.times), source.nq + source.nv, self.cases.count)
        watch.begin()
        share(work, range(self.cases.count), threads)
        runs = [self._runs.get(i) or self._nothing(INTERRUPTED) for i in range(self.cases.count)]
        return self._found(runs), tuple(runs)

    def _one(self, motion: int, watch: Watch) -> Run:
        try:
            system = self._system(motion)
        except Error as problem:
            return self._failed(motion, problem)
        try:
            return system.run(**self.cases.start(motion), ear=watch.ear)
        except Interrupted as stop:
            return stop.run
        except RunError as problem:
            return self._failed(motion, problem)

    def _failed(self, motion: int, problem: Error) -> Run:
        """Return what there is of a motion, and take note of what is wrong with it."""
        self.problems[motion] = problem.message
        return problem.run if isinstance(problem, MotionError) else self._nothing(FAILED)

    def _system(self, motion: int) -> System:
        if not self._differing or motion == 0:
            return self.first
        values = self.cases.values_of(motion)
        key = Key(tuple(values.values()), ())
        return self._ready.get(key, lambda: self.problem.compile(values))

    def _nothing(self, ending: str) -> Run:
        """Return the run of a motion that did not begin."""
        mechanism, about = self.first.conditions.given.mechanism, self.first.about
        nq, nv = mechanism.nq, mechanism.nv
        q, qd, tau = (np.zeros((0, count)) for count in (nq, nv, nv))
        method, told = self.problem.settings.solver.name, replace(about, ending=ending)
        return Run(mechanism, np.zeros(0), q, qd, tau, method=method, about=told)

    def _found(self, runs: list[Run]) -> Found:
        """Return the states of all runs, side by side."""
        source, times = self.problem.mechanism, self.problem.times
        names = [event.name for event in self.first.conditions.events]
        states = np.full((len(runs), len(times), source.nq + source.nv), np.nan)
        ends, events = np.full(len(runs), np.nan), np.full(len(runs), -1, dtype=np.int64)
        for i, run in enumerate(runs):
            states[i, : len(run.t)] = np.concatenate([run.q, run.qd], axis=1)
            if run.about.is_complete and run.about.bookmark is not None:
                ends[i] = run.about.bookmark.t
                events[i] = _number(run.about.ending, names)
        interrupted = np.array([run.about.ending == INTERRUPTED for run in runs])
        taken = np.array(
            [[s.steps, s.rejected, s.evaluations] for s in (r.statistics for r in runs)]
        )
        counts = (int(total) for total in taken.sum(axis=0))
        return Found(states, ends, events, interrupted, Statistics(*counts), self.problems)


def _number(ending: str, names: list[str]) -> int:
    return names.index(ending) if ending in names else -1
