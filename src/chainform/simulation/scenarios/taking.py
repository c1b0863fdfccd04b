"""Functions that simulate a mechanism take a scenario, or the file of one, in its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from chainform.errors import DeriveError, ReadError, RunError
from chainform.simulation.interruption import BatchInterrupted, Interrupted, MotionError
from chainform.simulation.scenarios.scenario import Scenario, scenario_of
from chainform.simulation.span import span_of

if TYPE_CHECKING:
    from chainform.simulation.batches.batch_run import BatchRun
    from chainform.simulation.run import Run

P = ParamSpec("P")
Result = TypeVar("Result", "Run", "BatchRun")

PYTHON = re.compile(r"values=\{'(\w+)': \.\.\.\}")
"""How a remedy names a value in Python; a file has other words."""


def takes_scenarios(function: Callable[P, Run]) -> Callable[P, Run]:
    """Let `simulate` take a scenario.

    Arguments beside it come before those of the scenario. Whatever is wrong with them before the
    motion begins is an error of the file.
    """

    @wraps(function)
    def simulate(*positional: P.args, **named: P.kwargs) -> Run:
        scenario = scenario_of(positional[0]) if positional else None
        if scenario is None:
            return function(*positional, **named)
        if scenario.batch is not None:
            raise ReadError(
                "the scenario asks for many motions",
                file=scenario.file,
                element="batch",
                remedy="call chainform.simulation.simulate_batch, or leave out [batch]",
            )
        checkpoint = cast("Callable[[Run], None] | None", named.get("checkpoint"))
        given: dict[str, Any] = {**scenario.arguments, **named}
        if checkpoint is not None:

            def told(run: Run) -> None:
                checkpoint(_told(run, scenario))

            given["checkpoint"] = told
        try:
            made = cast("Callable[..., Run]", function)(scenario.mechanism, **given)
            return _told(made, scenario)
        except (Interrupted, MotionError) as problem:
            problem.run = _told(problem.run, scenario)
            raise
        except (ReadError, RunError, DeriveError) as problem:
            raise _of_file(problem, scenario) from problem

    return simulate


def takes_batches(function: Callable[P, BatchRun]) -> Callable[P, BatchRun]:
    """Let `simulate_batch` take a scenario; one without a section `batch` is a single motion.

    All is as in `takes_scenarios`, the times of output too: as many as a file has by default.
    """

    @wraps(function)
    def simulate_batch(*positional: P.args, **named: P.kwargs) -> BatchRun:
        scenario = scenario_of(positional[0]) if positional else None
        if scenario is None:
            return function(*positional, **named)
        given: dict[str, Any] = {**scenario.arguments, **(scenario.batch or {}), **named}
        try:
            if given.get("t_eval") is None:
                given["t_eval"] = span_of(given["t"], None)[1]
            made = cast("Callable[..., BatchRun]", function)(scenario.mechanism, **given)
            return _told(made, scenario)
        except BatchInterrupted as stop:
            stop.batch = _told(stop.batch, scenario)
            raise
        except (ReadError, RunError, DeriveError) as problem:
            raise _of_file(problem, scenario) from problem

    return simulate_batch


def _told(run: Result, scenario: Scenario) -> Result:
    """Return a run that knows the text that asked for it."""
    return replace(run, about=replace(run.about, scenario=scenario.text))


def _of_file(problem: ReadError | RunError | DeriveError, scenario: Scenario) -> ReadError:
    batch = scenario.batch or {}
    names = {f"{name}0": f"{_section(f'{name}0', batch)}, {name}" for name in ("q", "qd", "x")}
    names |= {"t": "time", **{name: f"batch, {name}" for name in ("threads",)}}
    names |= {name: f"solver, {name}" for name in ("method", "rtol", "atol", "step", "largest")}
    head, comma, rest = (problem.element or "").partition(", ")
    element = names.get(head, head) + comma + rest
    remedy = PYTHON.sub(r"values = { \1 = ... }", problem.remedy or "") or None
    return ReadError(problem.message, file=scenario.file, element=element or None, remedy=remedy)


def _section(name: str, batch: Any) -> str:
    return "batch" if name in batch else "initial"
