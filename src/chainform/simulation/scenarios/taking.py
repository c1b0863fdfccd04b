"""Functions that simulate a mechanism take a scenario, or the file of one, in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from chainform.errors import DeriveError, Error, ReadError, RunError
from chainform.mechanism.numbers import number_of
from chainform.simulation.interruption import BatchInterrupted, Interrupted, MotionError
from chainform.simulation.scenarios.scenario import Scenario, scenario_of
from chainform.simulation.scenarios.words import tell_in_file
from chainform.simulation.span import span_of

if TYPE_CHECKING:
    from chainform.simulation.batches.batch_run import BatchRun
    from chainform.simulation.run import Run

P = ParamSpec("P")
Result = TypeVar("Result", "Run", "BatchRun")


def takes_scenarios(function: Callable[P, Run]) -> Callable[P, Run]:
    """Let `simulate` take a scenario.

    Arguments beside it come before those of the scenario, and another time has the times of output
    that the scenario asks for. Whatever is wrong with its own is an error of the file.
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
            given |= _output_times(scenario, named)
            if named.get("resume") is not None and scenario.times.points is not None:
                given["t_eval"] = _from_there(given["t_eval"], named["resume"])
            made = cast("Callable[..., Run]", function)(scenario.mechanism, **given)
            return _told(made, scenario)
        except Interrupted as stop:
            stop.run = _told(stop.run, scenario)
            raise
        except MotionError as problem:
            problem.run = _told(problem.run, scenario)
            problem.file = problem.file or scenario.file
            problem.element, problem.remedy = tell_in_file(problem, scenario.file)
            raise
        except (ReadError, RunError, DeriveError) as problem:
            if _is_about(problem, named):
                raise
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
            given |= _output_times(scenario, named)
            if given.get("t_eval") is None:
                given["t_eval"] = span_of(given["t"], None)[1]
            made = cast("Callable[..., BatchRun]", function)(scenario.mechanism, **given)
            return _told(made, scenario)
        except BatchInterrupted as stop:
            stop.batch = _told(stop.batch, scenario)
            raise
        except (ReadError, RunError, DeriveError) as problem:
            if _is_about(problem, named):
                raise
            raise _of_file(problem, scenario) from problem

    return simulate_batch


def _told(run: Result, scenario: Scenario) -> Result:
    """Return a run that knows the text that asked for it, and what that is called."""
    about = replace(run.about, scenario=scenario.text, title=scenario.name)
    return replace(run, about=about)


def _output_times(scenario: Scenario, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the times of output that the scenario asks for where a call has another time."""
    if named.get("t") is None or named.get("t_eval") is not None:
        return {}
    first, last = (cast("Fraction", number_of(bound)) for bound in span_of(named["t"], None)[0])
    return {"t_eval": scenario.times.within(first, last)}


def _from_there(times: Any, run: Any) -> Any:
    """Return times of output from where a run stands: over another time so many lie elsewhere."""
    mark = getattr(getattr(run, "about", None), "bookmark", None)
    return times if mark is None else times[times >= mark.t]


def _is_about(problem: Error, named: Mapping[str, Any]) -> bool:
    """Tell whether an error is about an argument of the call that a file might have said."""
    return (problem.element or "").partition(", ")[0] in named.keys() - {"resume"}


def _of_file(problem: Error, scenario: Scenario) -> ReadError:
    element, remedy = tell_in_file(problem, scenario.file, scenario.batch)
    return ReadError(problem.message, file=scenario.file, element=element, remedy=remedy)
