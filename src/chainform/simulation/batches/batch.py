"""Many motions of one mechanism at once, on all cores: other initial states, other parameters.

With a fixed step, motions run side by side in the lanes of vector registers; with controlled steps,
closed loops, events that end them, or functions of Python each runs on its own in a compiled loop
over many. All that decides more on the way, such as stops, is run as by `simulate`, motion by
motion, in several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.mechanism import Mechanism
from chainform.readers import read
from chainform.runtime import Keeper, LruCache, cores, threads_of
from chainform.simulation.about import END, INTERRUPTED, About
from chainform.simulation.batches.alone import Alone
from chainform.simulation.batches.batch_run import BatchRun
from chainform.simulation.batches.cases import Cases, cases_of
from chainform.simulation.batches.found import Found
from chainform.simulation.batches.side_by_side import runs_alone, side_by_side
from chainform.simulation.batches.watch import Watch
from chainform.simulation.constraints.stabilise import stabilise_of
from chainform.simulation.drives.actuator_states import initial_rest
from chainform.simulation.drives.efforts import Forces
from chainform.simulation.drives.unknowns import FoundForces, with_unknowns
from chainform.simulation.interruption import BatchInterrupted, listening
from chainform.simulation.parameters import check_signs
from chainform.simulation.run import Run
from chainform.simulation.scenarios import Scenario, takes_batches
from chainform.simulation.solvers import settings_of
from chainform.simulation.span import span_of
from chainform.simulation.task import Task, Understood

Array = NDArray[np.float64]


@takes_batches
def simulate_batch(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    *,
    q0: Any = None,
    qd0: Any = None,
    values: Mapping[str, Any] | None = None,
    t: tuple[float, float] | float = (0.0, 1.0),
    t_eval: Any = None,
    forces: Forces | None = None,
    signals: Forces | None = None,
    unknowns: Mapping[str, Any] | FoundForces | None = None,
    controllers: Mapping[str, Any] | None = None,
    x0: Any = None,
    fixed: Sequence[str] | None = None,
    stabilise: Any = "projection",
    hold: float | None = None,
    events: Mapping[str, Any] | None = None,
    method: str = "verner65",
    rtol: float = 1e-9,
    atol: float | None = None,
    step: float | None = None,
    largest: float | None = None,
    leave_out: Sequence[str] = (),
    reduce: str = "none",
    stops: Any = None,
    contacts: Any = None,
    friction: Mapping[str, float] | None = None,
    books: bool = True,
    runs: bool = False,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    keeper: Keeper | None = None,
) -> BatchRun:
    """Return the motions of a mechanism from many states, or with many values of parameters.

    `q0` (b, nq), `qd0` (b, nv), `x0`, or tables by names, and `values` of parameters have a leading
    dimension b, or none where all motions have the same. Without `t_eval` only the states at the
    end are put out. All else is as in `simulate`, and so is each motion; one that fails leaves the
    others alone. A scenario with a section `batch` will do in place of a mechanism.

    Motions run side by side in compiled loops, unless there are stops, contacts, Coulomb friction,
    events after which a motion goes on, `cvode` or `ida`, or `runs` asks for it: then they run one
    by one in threads, and `runs` of the result has them all. `threads` is the number of threads,
    all cores without it. `progress` is called with the number of motions done. Ctrl-C raises
    BatchInterrupted, whose `batch` has those that were finished.
    """
    assert not isinstance(mechanism, Scenario), "scenarios are read before"
    given = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    source, bends = with_unknowns(given, unknowns)
    span, times = span_of(t, t_eval)
    task = Task(
        source,
        span,
        np.array([span[1]]) if t_eval is None else times,
        settings_of(method, rtol, atol, step, largest, hold, span=span),
        forces=forces,
        signals=signals,
        controllers=controllers,
        events=events,
        stops=stops,
        contacts=contacts,
        friction=friction,
        fixed=fixed,
        stabilise=stabilise_of(stabilise),
        leave_out=leave_out,
        reduce=reduce,
        books=books,
        keeper=keeper,
        bends=bends,
        own=LruCache(16),
    )
    cases, count = cases_of(source, q0, qd0, x0, values), threads_of(threads) or cores()
    understood = task.understood(cases.values_of(0))
    check_signs(understood.given.mechanism, cases.values)
    _check_names(task, cases, understood)
    with listening() as ear:
        watch = Watch(ear, progress)
        found, each = _computed(task, cases, understood, count, watch, one_by_one=runs)
        seconds = watch.end()
    batch = _batch(task, cases, understood, found, each, seconds)
    if ear.came:
        raise BatchInterrupted(batch)
    return batch


def _check_names(task: Task, cases: Cases, understood: Understood) -> None:
    """Refuse names that are wrong in all motions alike."""
    mechanism = understood.given.mechanism
    if isinstance(cases.x0, dict):
        initial_rest(mechanism, mechanism.neutral(), np.zeros(mechanism.nv), cases.start(0)["x0"])
    if mechanism.loops or mechanism.constraints:
        for name in (task.fixed,) if isinstance(task.fixed, str) else task.fixed or ():
            mechanism.coordinate_index(name)


def _computed(
    task: Task,
    cases: Cases,
    understood: Understood,
    threads: int,
    watch: Watch,
    *,
    one_by_one: bool,
) -> tuple[Found, tuple[Run, ...]]:
    if not one_by_one and not runs_alone(task, understood, cases):
        found = side_by_side(task, cases, understood, threads, watch)
        if found is not None:
            return found, ()
    return Alone(task, cases, task.prepared(understood)).run(threads, watch)


def _batch(
    task: Task,
    cases: Cases,
    understood: Understood,
    found: Found,
    runs: tuple[Run, ...],
    seconds: float,
) -> BatchRun:
    nq, nv = task.source.nq, task.source.nv
    about = About(
        task.span,
        INTERRUPTED if found.interrupted.any() else END,
        task.settings.numbers,
        leave_out=tuple(task.leave_out),
        seconds=seconds,
        opened=understood.switches.opened,
    )
    return BatchRun(
        task.source,
        task.times,
        found.states[..., :nq],
        found.states[..., nq : nq + nv],
        cases.values,
        found.ends,
        found.events,
        found.statistics,
        task.settings.solver.name,
        event_names=tuple(event.name for event in understood.events),
        problems=dict(sorted(found.problems.items())),
        interrupted=found.interrupted,
        runs=runs,
        about=about,
    )
