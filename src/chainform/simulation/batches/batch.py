"""Many motions of one mechanism at once, on all cores: other initial states, other parameters.

With a fixed step, motions run side by side in the lanes of vector registers. Otherwise, and where
there are closed loops, events or functions of Python, each runs on its own, many in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.readers import read
from chainform.runtime.keeping import Keeper
from chainform.runtime.options import threads_of
from chainform.runtime.share import cores
from chainform.simulation.batches.batch_run import BatchRun
from chainform.simulation.batches.fleet import Each, Fleet, Lanes
from chainform.simulation.beginning import beginning
from chainform.simulation.constraints.stabilise import stabilise_of
from chainform.simulation.contact.stops import stops_of
from chainform.simulation.controllers import controllers_of
from chainform.simulation.drives.efforts import Efforts, Forces, efforts_of
from chainform.simulation.drives.signals import with_signals
from chainform.simulation.equations import Equations
from chainform.simulation.initial import initial_states, whole_state
from chainform.simulation.parameters import parameters_of
from chainform.simulation.simulate import equations_of, model_of, span_of
from chainform.simulation.solver import Settings
from chainform.simulation.solvers import settings_of
from chainform.simulation.watches import Event, events_of

Array = NDArray[np.float64]


def simulate_batch(
    mechanism: Mechanism | str | PathLike[str],
    *,
    q0: Any = None,
    qd0: Any = None,
    values: Mapping[str, Any] | None = None,
    t: tuple[float, float] | float = (0.0, 1.0),
    t_eval: Any = None,
    forces: Forces | None = None,
    signals: Forces | None = None,
    controllers: Mapping[str, Any] | None = None,
    x0: Any = None,
    stabilise: Any = "projection",
    hold: float | None = None,
    events: Mapping[str, Any] | None = None,
    method: str = "verner65",
    rtol: float = 1e-9,
    atol: float | None = None,
    step: float | None = None,
    largest: float | None = None,
    leave_out: Sequence[str] = (),
    threads: int | None = None,
    keeper: Keeper | None = None,
) -> BatchRun:
    """Return the motions of a mechanism from many states, or with many values of parameters.

    `q0` (b, nq), `qd0` (b, nv), or tables by names, and `values` of parameters have a leading
    dimension b, or none where all motions have the same. Without `t_eval` only the states at the
    end are put out. Events end a motion. Dry friction is the sign of the rate: nothing sticks, and
    there are no stops and contacts. All else is as in `simulate`. `threads` is the number of
    threads, all cores without it.
    """
    source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    end = t if isinstance(t, int | float) else t[-1]
    span, times = span_of(t, [end] if t_eval is None else t_eval)
    settings = settings_of(method, rtol, atol, step, largest, hold)
    states, columns = arranged(source, q0, qd0, values)
    given = parameters_of(source, {name: column[0] for name, column in columns.items()})
    moved = given.mechanism
    _check(settings, moved, leave_out)
    efforts = with_signals(moved, efforts_of(moved, forces), signals)
    watched, held = _ending(events_of(moved, events)), stabilise_of(stabilise)
    model = model_of(source, leave_out, settings.solver, given.names(source))
    equations = equations_of(
        given.settled(moved),
        model,
        efforts,
        watched,
        hold=hold is not None,
        solver=settings.solver,
        leave_out=leave_out,
        controllers=controllers_of(moved, controllers, leave_out),
        stabilise=held,
    )
    _check_columns(equations, columns)
    if equations.rows:
        begun = [beginning(moved, y[: source.nq], y[source.nq :], span[0]) for y in states]
        states = np.array([np.concatenate([state.q, state.qd]) for state in begun])
    whole = states if equations.nx == 0 else _with_rest(moved, states, x0, equations.nx)
    fleet = fleet_of(equations, settings, efforts, watched, keeper, projects=held.projects)
    found = fleet.run(span, times, whole, columns, threads_of(threads) or cores())
    q, qd = found.states[..., : source.nq], found.states[..., source.nq : source.nq + source.nv]
    return BatchRun(
        source, times, q, qd, columns, found.ends, found.events, found.statistics, method
    )


def fleet_of(
    equations: Equations,
    settings: Settings,
    efforts: Efforts,
    events: Sequence[Event] = (),
    keeper: Keeper | None = None,
    *,
    projects: bool = True,
) -> Fleet:
    """Return what runs the motions: in lanes where nothing can differ but numbers."""
    deciding = equations.rows or events or settings.step is None
    if deciding or efforts.come_from_outside or not settings.solver.in_lanes:
        return Each(equations, settings, efforts, events, keeper, projects=projects)
    return Lanes(equations, settings, efforts, keeper)


def _check(settings: Settings, mechanism: Mechanism, leave_out: Sequence[str]) -> None:
    if settings.solver.tableau is None:
        raise RunError(
            f"{settings.solver.name} runs one motion at a time",
            element="method",
            remedy="call simulate for each, or choose another method",
        )
    if stops_of(mechanism, None, leave_out):
        raise RunError(
            "motions with stops and contacts run one at a time",
            element="stops",
            remedy="call simulate for each, or leave the unilateral constraints out of the file",
        )


def _check_columns(equations: Equations, columns: Mapping[str, Array]) -> None:
    """Refuse values that differ of parameters that are numbers in the machine code."""
    for name, column in columns.items():
        if name not in equations.parameters and np.ptp(column) > 0:
            raise RunError(
                f"{name} occurs in laws of forces or events only, and cannot differ",
                element="values",
                remedy="call simulate_batch for each of its values",
            )


def _with_rest(mechanism: Mechanism, states: Array, x0: Any, count: int) -> Array:
    """Return states with those of actuators behind them, which begin alike."""
    nq = mechanism.nq
    return np.array([whole_state(mechanism, y[:nq], y[nq:], x0, count) for y in states])


def _ending(events: list[Event]) -> list[Event]:
    for event in events:
        if event.change is not None or not event.stop:
            raise RunError(
                "in a batch an event ends the motion",
                element=f"event {event.name!r}",
                remedy='write {"law": ..., "stop": True}, or call simulate for each motion',
            )
    return events


def arranged(
    mechanism: Mechanism, q0: Any, qd0: Any, values: Mapping[str, Any] | None
) -> tuple[Array, dict[str, Array]]:
    """Return the initial states (b, nq + nv) and the values (b,) of parameters."""
    q, qd = initial_states(mechanism, q0, qd0)
    given = {name: _numbers(name, value) for name, value in (values or {}).items()}
    lengths = {len(array) for array in (q, qd, *given.values()) if len(array) != 1}
    if len(lengths) > 1:
        raise RunError(
            f"there are {' and '.join(map(str, sorted(lengths)))} motions",
            element="q0",
            remedy="give all leading dimensions the same length",
        )
    count = lengths.pop() if lengths else 1
    states = np.concatenate([np.broadcast_to(a, (count, a.shape[1])) for a in (q, qd)], axis=1)
    return states, {name: np.broadcast_to(array, count) for name, array in given.items()}


def _numbers(name: str, value: Any) -> Array:
    try:
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError) as problem:
        raise RunError(f"{name} is not made of numbers: {problem}", element=name) from None
    if array.ndim != 1 or not np.all(np.isfinite(array)):
        raise RunError(f"{name} is one finite number, or one for each motion", element=name)
    return array
