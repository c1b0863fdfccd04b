"""From a mechanism, a state and forces to a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from chainform.mechanism import Mechanism
from chainform.readers import read
from chainform.runtime import Keeper
from chainform.simulation.constraints.stabilise import stabilise_of
from chainform.simulation.drives.efforts import Forces
from chainform.simulation.drives.unknowns import FoundForces, with_unknowns
from chainform.simulation.run import Run
from chainform.simulation.scenarios import Scenario, takes_scenarios
from chainform.simulation.solvers import settings_of
from chainform.simulation.span import span_of
from chainform.simulation.task import Task


@takes_scenarios
def simulate(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    *,
    q0: Any = None,
    qd0: Any = None,
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
    values: Mapping[str, float] | None = None,
    resume: Run | None = None,
    progress: Callable[[float], None] | None = None,
    checkpoint: Callable[[Run], None] | None = None,
    keeper: Keeper | None = None,
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
    pid, computed_torque, state_feedback. `unknowns` are forces that an element model leaves
    unknown: each a number, a law or a table, or all of them the result of
    `analysis.unknown_forces`. `events` are laws whose zeros are noted, or that end or change the
    motion.

    `stops` makes stops of joint limits, `contacts` lets frames and loops touch the ground,
    `friction` gives bounds of sticking; `books` adds up work and losses on the way.

    `method` is one of those in `solvers.SOLVERS`: verner65, dopri853, rk4, heun, euler,
    semi_implicit, midpoint, gauss4, gauss6, cvode, ida. With `step` the step is fixed, otherwise
    `rtol` and `atol` control it, and it is never above `largest`, nor above a tenth of the whole.

    `reduce` is how far the equations are reduced, as in `derive`: "fast" takes a second or more and
    makes steps some 5 to 10 % faster.

    `values` are those of parameters that the mechanism leaves free, or others than it has. `resume`
    is a run that goes on where it stands: all else is given as before, the end perhaps later.
    Ctrl-C raises Interrupted, and a motion that cannot go on MotionError; `run` of both is what was
    computed. `progress` is called with the time now and then, `checkpoint` every half a minute with
    the run so far. `keeper` keeps machine code for the next time, such as the objects of a store.
    """
    assert not isinstance(mechanism, Scenario), "scenarios are read before"
    given = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
    source, bends = with_unknowns(given, unknowns)
    span, times = span_of(t, t_eval)
    task = Task(
        source,
        span,
        times,
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
        has_times=t_eval is not None,
    )
    prepared = task.prepared(task.understood(values))
    return prepared.run(q0, qd0, x0, resume=resume, progress=progress, checkpoint=checkpoint)
