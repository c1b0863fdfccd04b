"""Many motions of one mechanism at once, on all cores: other initial states, other parameters.

With a fixed step, motions run side by side in the lanes of vector registers; with controlled steps,
closed loops, events that end them, or functions of Python each runs on its own in a compiled loop
over many. All that decides more on the way, such as stops, is run as by `simulate`, motion by
motion, in several threads.

Motions one by one take all that `simulate` takes. Those with the same values share the equations
and the machine code, those with other values the machine code. Vectorised motions take what decides
nothing but when to end: see `needs_one_by_one` for what they do not take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error, RunError
from chainform.expressions import symbols_of
from chainform.mechanism import Mechanism, Number
from chainform.runtime import CodeStorage, Key, LruCache, cores, share, threads_of
from chainform.simulation.batch_run import BatchInterrupted, BatchRun
from chainform.simulation.cases import Cases, cases_of
from chainform.simulation.consistent_state import state_of_motion
from chainform.simulation.equations.builder import Equations
from chainform.simulation.equations.controllers import SampledController
from chainform.simulation.equations.controllers.computed_torque import ComputedTorque
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.equations.events import Event
from chainform.simulation.equations.initial import initial_rest, whole_state
from chainform.simulation.equations.motion_laws import check_motion
from chainform.simulation.equations.parameters import check_signs, parameters_of
from chainform.simulation.equations.times import check_size
from chainform.simulation.execution import Interrupted, MotionError
from chainform.simulation.files.about import END, FAILED, INTERRUPTED
from chainform.simulation.machine.compilation import equations_of, model_of
from chainform.simulation.machine.method import Settings, Statistics
from chainform.simulation.machine.pauses import interrupt_flag
from chainform.simulation.problem import Conditions, Problem, System
from chainform.simulation.run import Run
from chainform.simulation.solvers.batch_loop import CompiledBatch, Each, Lanes
from chainform.simulation.solvers.batch_outcome import BatchOutcome, BatchProgress, nothing

Array = NDArray[np.float64]


def needs_one_by_one(problem: Problem, conditions: Conditions, cases: Cases) -> bool:
    """Tell whether motions are run one by one: what happens in each decides how it goes on.

    That is so with stops, contacts and dry friction, with events after which a motion goes on, with
    methods that call back, and where values that differ are taken as numbers when the equations are
    made.
    """
    method, differing = problem.settings.method, set(cases.differing)
    if method.tableau is None or conditions.barriers:
        return True
    if any(event.change is not None or not event.stop for event in conditions.events):
        return True
    if any(isinstance(controller, SampledController) for controller in conditions.controllers):
        return True
    if not differing:
        return False
    is_modelled = any(isinstance(c, ComputedTorque) for c in conditions.controllers)
    return is_modelled or bool(differing & _decisive(problem))


def _decisive(problem: Problem) -> set[str]:
    """Return the parameters whose values decide what the equations are like."""
    source, numbers = problem.mechanism, list[Number]()
    for actuator in source.actuators:
        numbers += [*(actuator.velocity or ()), *(actuator.position or ())]
    if problem.settings.method.takes_barriers and "friction" not in problem.without:
        frictions = [segment.joint.friction for segment in source.segments]
        numbers += [friction.coulomb for friction in frictions if friction is not None]
    laws = [number for number in numbers if not isinstance(number, Fraction)]
    return {name for law in laws for name in symbols_of(law)}


def vectorised(
    problem: Problem, cases: Cases, conditions: Conditions, threads: int, watch: BatchProgress
) -> BatchOutcome | None:
    """Run all motions; None where values differ that the equations know as numbers only."""
    given = conditions.given
    method, free = problem.settings.method, given.names(given.mechanism)
    reduce = problem.options["reduce"]
    model = model_of(given.mechanism, problem.without, method, free, reduce=reduce)
    equations = equations_of(
        given.settled(given.mechanism), model, problem.equation_options(conditions)
    )
    if not set(cases.differing) <= set(equations.parameters):
        return None
    states, able, problems = _starts(problem, cases, given.mechanism, equations)
    if not able:
        return nothing(len(problem.times), equations.size).among(cases.count, able, problems)
    projects = problem.stabilise.projects
    compiled = compiled_batch(
        equations,
        problem.settings,
        conditions.efforts,
        conditions.events,
        problem.options["code_cache"],
        projects=projects,
    )
    columns = {name: column[able] for name, column in cases.values.items()}
    found = compiled.run(problem.span, problem.times, states, columns, threads, watch)
    return found.among(cases.count, able, problems) if problems else found


def compiled_batch(
    equations: Equations,
    settings: Settings,
    efforts: Efforts,
    events: Sequence[Event] = (),
    code_cache: CodeStorage | None = None,
    *,
    projects: bool = True,
) -> CompiledBatch:
    """Return what runs the motions: in lanes where nothing can differ but numbers."""
    deciding = equations.rows or events or settings.step is None
    if deciding or efforts.come_from_outside or not settings.method.in_lanes:
        return Each(equations, settings, efforts, events, code_cache, projects=projects)
    return Lanes(equations, settings, efforts, code_cache)


def _starts(
    problem: Problem, cases: Cases, mechanism: Mechanism, equations: Equations
) -> tuple[Array, list[int], dict[int, str]]:
    """Return the states in which motions begin, which ones do, and what is wrong with others."""
    every = list(range(cases.count))
    if not equations.rows and not equations.nx:
        return cases.states(mechanism), every, {}
    states, problems = list[Array](), dict[int, str]()
    for motion in every:
        own, start = mechanism, cases.start(motion)
        if cases.differing:
            own = parameters_of(problem.mechanism, cases.values_of(motion)).mechanism
        first = {**start, "fixed": problem.options["fixed"]}
        try:
            check_motion(own, problem.motion, problem.span)
            begin_state = state_of_motion(
                own, problem.motion, first, problem.span[0], remarks=False
            )
        except RunError as error:
            problems[motion] = error.message
            continue
        states.append(whole_state(own, begin_state.q, begin_state.qd, start["x0"], equations.nx))
    able = [motion for motion in every if motion not in problems]
    return np.array(states).reshape(len(able), equations.size), able, problems


# --- one by one -------------------------------------------------------------------------------


SYSTEMS = 64
"""How many sets of values stay ready at a time."""


class OneByOne:
    """The motions of a batch; `first` is what the first of them needs, made ready before."""

    def __init__(self, problem: Problem, cases: Cases, first: System) -> None:
        self.problem = problem
        self.cases = cases
        self.first = first
        self._ready: LruCache[System] = LruCache(SYSTEMS)
        self._differing = bool(cases.differing)
        self.problems: dict[int, str] = {}
        self._runs: dict[int, Run] = {}

    def run(self, threads: int, watch: BatchProgress) -> tuple[BatchOutcome, tuple[Run, ...]]:
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

    def _one(self, motion: int, watch: BatchProgress) -> Run:
        try:
            system = self._system(motion)
        except Error as problem:
            return self._failed(motion, problem)
        try:
            return system.run(**self.cases.start(motion), interrupt=watch.interrupt)
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
        method, empty = self.problem.settings.method.name, replace(about, ending=ending)
        return Run(mechanism, np.zeros(0), q, qd, tau, method=method, about=empty)

    def _found(self, runs: list[Run]) -> BatchOutcome:
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
        return BatchOutcome(states, ends, events, interrupted, Statistics(*counts), self.problems)


def _number(ending: str, names: list[str]) -> int:
    return names.index(ending) if ending in names else -1


# --- a batch ----------------------------------------------------------------------------------


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
    with interrupt_flag() as interrupt:
        watch = BatchProgress(interrupt, progress)
        found, each = _computed(problem, cases, conditions, count, watch, one_by_one=runs)
        seconds = watch.end()
    batch = _batch(problem, cases, conditions, found, each, seconds)
    if interrupt.came:
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
    watch: BatchProgress,
    *,
    one_by_one: bool,
) -> tuple[BatchOutcome, tuple[Run, ...]]:
    if not one_by_one and not needs_one_by_one(problem, conditions, cases):
        found = vectorised(problem, cases, conditions, threads, watch)
        if found is not None:
            return found, ()
    return OneByOne(problem, cases, problem.system(conditions)).run(threads, watch)


def _batch(
    problem: Problem,
    cases: Cases,
    conditions: Conditions,
    found: BatchOutcome,
    runs: tuple[Run, ...],
    seconds: float,
) -> BatchRun:
    nq, nv = problem.mechanism.nq, problem.mechanism.nv
    about = replace(
        problem.about,
        ending=INTERRUPTED if found.interrupted.any() else END,
        seconds=seconds,
        opened=conditions.barriers.opened,
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
        problem.settings.method.name,
        event_names=tuple(event.name for event in conditions.events if not event.is_kink),
        problems=dict(sorted(found.problems.items())),
        interrupted=found.interrupted,
        runs=runs,
        about=about,
    )
