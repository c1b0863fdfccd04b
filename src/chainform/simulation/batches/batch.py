"""Many motions of one mechanism at once, on all cores: other initial states, other parameters.

With a fixed step, motions run side by side in the lanes of vector registers; with controlled steps,
closed loops, events that end them, or functions of Python each runs on its own in a compiled loop
over many. All that decides more on the way, such as stops, is run as by `simulate`, motion by
motion, in several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from chainform.runtime import LruCache, cores, threads_of
from chainform.simulation.about import END, INTERRUPTED
from chainform.simulation.batches.alone import Alone
from chainform.simulation.batches.batch_run import BatchRun
from chainform.simulation.batches.cases import Cases, cases_of
from chainform.simulation.batches.found import Found
from chainform.simulation.batches.side_by_side import runs_alone, side_by_side
from chainform.simulation.batches.watch import Watch
from chainform.simulation.drives.actuator_states import initial_rest
from chainform.simulation.interruption import BatchInterrupted, listening
from chainform.simulation.parameters import check_signs
from chainform.simulation.problem import Conditions, Problem
from chainform.simulation.run import Run


def run_batch(
    problem: Problem,
    *,
    runs: bool = False,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> BatchRun:
    """Return motions of a problem whose states and values have a leading dimension.

    With `runs` they are computed one by one. Ctrl-C raises BatchInterrupted.
    """
    options = problem.options
    if options["t_eval"] is None and problem.scenario is None:
        problem = replace(problem, times=np.array([problem.span[1]]))
    problem = replace(problem, cache=LruCache(16))
    first = (options["q0"], options["qd0"], options["x0"], options["values"])
    cases, count = cases_of(problem.mechanism, *first), threads_of(threads) or cores()
    conditions = problem.conditions(cases.values_of(0))
    check_signs(conditions.given.mechanism, cases.values)
    _check_names(problem, cases, conditions)
    with listening() as ear:
        watch = Watch(ear, progress)
        found, each = _computed(problem, cases, conditions, count, watch, one_by_one=runs)
        seconds = watch.end()
    batch = _batch(problem, cases, conditions, found, each, seconds)
    if ear.came:
        raise BatchInterrupted(batch)
    return batch


def _check_names(problem: Problem, cases: Cases, conditions: Conditions) -> None:
    """Refuse names that are wrong in all motions alike."""
    mechanism = conditions.given.mechanism
    if isinstance(cases.x0, dict):
        initial_rest(mechanism, mechanism.neutral(), np.zeros(mechanism.nv), cases.start(0)["x0"])
    if mechanism.loops or mechanism.constraints:
        for name in (
            (problem.options["fixed"],)
            if isinstance(problem.options["fixed"], str)
            else problem.options["fixed"] or ()
        ):
            mechanism.coordinate_index(name)


def _computed(
    problem: Problem,
    cases: Cases,
    conditions: Conditions,
    threads: int,
    watch: Watch,
    *,
    one_by_one: bool,
) -> tuple[Found, tuple[Run, ...]]:
    if not one_by_one and not runs_alone(problem, conditions, cases):
        found = side_by_side(problem, cases, conditions, threads, watch)
        if found is not None:
            return found, ()
    return Alone(problem, cases, problem.system(conditions)).run(threads, watch)


def _batch(
    problem: Problem,
    cases: Cases,
    conditions: Conditions,
    found: Found,
    runs: tuple[Run, ...],
    seconds: float,
) -> BatchRun:
    nq, nv = problem.mechanism.nq, problem.mechanism.nv
    about = replace(
        problem.about,
        ending=INTERRUPTED if found.interrupted.any() else END,
        seconds=seconds,
        opened=conditions.switches.opened,
    )
    return BatchRun(
        problem.mechanism,
        problem.times,
        found.states[..., :nq],
        found.states[..., nq : nq + nv],
        cases.values,
        found.ends,
        found.events,
        found.statistics,
        problem.settings.solver.name,
        event_names=tuple(event.name for event in conditions.events),
        problems=dict(sorted(found.problems.items())),
        interrupted=found.interrupted,
        runs=runs,
        about=about,
    )
