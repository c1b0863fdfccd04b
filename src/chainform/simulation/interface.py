"""From a mechanism, a state and forces to a motion, or to many of them.

Errors of a scenario are written in the words of its file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any, Unpack

from chainform.errors import DeriveError, Error, ReadError, RunError
from chainform.mechanism import Mechanism
from chainform.simulation.batch import run_batch
from chainform.simulation.batch_run import BatchRun
from chainform.simulation.execution import MotionError
from chainform.simulation.files.scenario import Scenario, scenario_of
from chainform.simulation.problem import Problem
from chainform.simulation.problem_options import ProblemOptions
from chainform.simulation.run import Run

PYTHON_PAIR = re.compile(
    r"\b([a-z_]\w*)=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|True|False|[-+.\w]+|(?=\{))"
)
"""An argument as a remedy writes it: method='cvode', energy_balance=True, values={...}."""
ENTRY = re.compile(r"[\"']([A-Za-z_][\w-]*)[\"']: ")
"""The beginning of an entry of a table of Python: "slide": 12."""
ARGUMENTS = {
    "t": "time",
    "t_eval": "output, times",
    "simulate": "motion",
    "hold": "forces, hold",
    **{name: f"solver, {name}" for name in ("method", "rtol", "atol", "step", "largest")},
    "stabilise": "solver, stabilise",
    "fixed": "initial, fixed",
    "threads": "batch, threads",
    **{f"{name}0": f"initial, {name}" for name in ("q", "qd", "x")},
}
"""Where a scenario says what an argument says."""


def simulate(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    *,
    resume: Run | None = None,
    progress: Callable[[float], None] | None = None,
    checkpoint: Callable[[Run], None] | None = None,
    **options: Unpack[ProblemOptions],
) -> Run:
    """Return the motion of a mechanism from a state under forces, or that of a scenario file.

    `q0` and `qd0` are arrays, or tables by names with zero for what is not named; without them the
    motion begins at rest in the zero pose. Loops are closed from there while the coordinates in
    `fixed`, or else those that q0 names, stay. `stabilise` says how they are held: "projection",
    "baumgarte", {"alpha": 50, "beta": 50}, "none". `t` is the start and the end in s, `t_eval` the
    times of output (by default 201 from start to end).

    `forces` are laws by joint, pieces in time, tables, functions, or one function of (t, q, qd) for
    all; with `hold` they are sampled every so many seconds and held in between. `signals` are the
    same for actuators, `x0` their states at the start, and `controllers` are tables by names: pd,
    pid, computed_torque, state_feedback. `motion` are laws of t by coordinates, pieces in time or
    tables, which these follow exactly; `run.motion_forces` is what that takes. `unknowns` are
    forces that an element model leaves unknown: each a number, a law or a table, or all of them the
    result of `analysis.unknown_forces`. `events` are laws whose zeros are noted, or that end or
    change the motion.

    `stops` makes stops of joint limits, `contacts` lets frames and loops touch the ground,
    `friction` gives bounds of sticking; `energy_balance` adds up work and losses on the way.

    `method` is one of those in `solvers.SOLVERS`: verner65, dopri853, rk4, heun, euler,
    semi_implicit, midpoint, gauss4, gauss6, cvode, ida; or a `Solver` with its numbers. With `step`
    the step is fixed, otherwise `rtol` and `atol` control it, and it is never above `largest`, nor
    above a tenth of the whole.

    `reduce` is how far the equations are reduced, as in `derive`: "fast" takes a second or more and
    makes steps some 5 to 10 % faster.

    `values` are those of parameters that the mechanism leaves free, or others than it has. `resume`
    is a run that goes on where it stands: all else is given as before, the end perhaps later.
    Ctrl-C raises Interrupted, and a motion that cannot go on MotionError; `run` of both is what was
    computed. `progress` is called with the time now and then, `checkpoint` every half a minute with
    the run so far. `code_cache` stores machine code, such as the objects of a store.
    """
    with _source(mechanism, options) as source:
        if isinstance(source, Scenario) and source.batch is not None:
            raise ReadError(
                "the scenario asks for many motions",
                element="batch",
                remedy="call chainform.simulation.simulate_batch, or leave out [batch]",
            )
        system = Problem.of(source, **options).compile()
        return system.run(resume=resume, progress=progress, checkpoint=checkpoint)


def simulate_batch(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    *,
    runs: bool = False,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[ProblemOptions],
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
    given = {**options, **({} if threads is None else {"threads": threads})}
    with _source(mechanism, given) as source:
        if threads is None and isinstance(source, Scenario) and source.batch is not None:
            threads = source.batch.get("threads")
        problem = Problem.of(source, **options)
        return run_batch(problem, runs=runs, threads=threads, progress=progress)


@contextmanager
def _source(
    mechanism: Mechanism | Scenario | str | PathLike[str], given: Mapping[str, Any]
) -> Generator[Mechanism | Scenario | str | PathLike[str]]:
    """Give the scenario, read from its file, with errors in its words; else the mechanism."""
    scenario = scenario_of(mechanism)
    if scenario is None:
        yield mechanism
        return
    with errors_of_file(scenario.file, scenario.batch, given):
        yield scenario


# --- errors in the words of a file ------------------------------------------------------------


@contextmanager
def errors_of_file(
    file: str | None, batch: Mapping[str, Any] | None, given: Mapping[str, Any]
) -> Generator[None]:
    """Let errors name the part of the file that they are about, unless that was `given` in a call.

    A motion that fails on the way keeps what there is of it.
    """
    try:
        yield
    except MotionError as problem:
        problem.file = problem.file or file
        problem.element, problem.remedy = tell_in_file(problem, file)
        raise
    except (ReadError, RunError, DeriveError) as problem:
        if (problem.element or "").partition(", ")[0] in given:
            raise
        element, remedy = tell_in_file(problem, file, batch)
        raise ReadError(problem.message, file=file, element=element, remedy=remedy) from problem


def in_toml(text: str) -> str:
    """Return a remedy with arguments and tables as TOML writes them."""

    def pair(found: re.Match[str]) -> str:
        name, value = found.groups()
        value = value.lower() if value in ("True", "False") else value.replace("'", '"')
        return f"{name} = {value}"

    text = ENTRY.sub(r"\1 = ", PYTHON_PAIR.sub(pair, text))
    return re.sub(r"(?<=[^\s{])\}", " }", re.sub(r"\{(?=[^\s}])", "{ ", text))


def place_in_file(element: str | None, batch: Mapping[str, Any] | None) -> str | None:
    """Return which part of a file an error is about; `batch` is what differs between motions."""
    head, comma, rest = (element or "").partition(", ")
    place = ARGUMENTS.get(head, head)
    if batch is not None and head in batch:
        place = place.replace("initial, ", "batch, ")
    return place + comma + rest or None


def tell_in_file(
    problem: Error, file: str | None, batch: Mapping[str, Any] | None = None
) -> tuple[str | None, str | None]:
    """Return element and remedy of an error in the words of a file."""
    remedy = problem.remedy
    if remedy is not None and not (file or "").lower().endswith(".json"):
        remedy = in_toml(remedy)
    return place_in_file(problem.element, batch), remedy
