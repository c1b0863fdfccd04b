"""From a mechanism, a state and forces to a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.mechanism import Mechanism
from chainform.mechanism.elements.unknowns import without_unknowns
from chainform.model import Model
from chainform.pipeline import derive
from chainform.readers import read
from chainform.runtime.keeping import Keeper
from chainform.simulation.about import END, About
from chainform.simulation.beginning import Remarks, beginning
from chainform.simulation.bookkeeping import can_be_booked
from chainform.simulation.columns import Columns
from chainform.simulation.constraints.closures import damped, rows_of
from chainform.simulation.constraints.stabilise import PROJECTION, Stabilise, stabilise_of
from chainform.simulation.contact.switched_equations import SwitchedEquations
from chainform.simulation.contact.switches import NO_SWITCHES, Switches, switches_for
from chainform.simulation.contact.switching import Switching
from chainform.simulation.controllers import Controller, controllers_of
from chainform.simulation.drives.efforts import Efforts, Forces, efforts_of
from chainform.simulation.drives.inputs import put_inputs
from chainform.simulation.drives.signals import with_signals
from chainform.simulation.equations import EquationBuilder, Equations
from chainform.simulation.initial import whole_state
from chainform.simulation.machines.kept_machines import kept_machine
from chainform.simulation.machines.machine import Machine
from chainform.simulation.parameters import parameters_of
from chainform.simulation.recent import Key, Recent
from chainform.simulation.recording import Recording, carried_out
from chainform.simulation.resuming import Start, resumed
from chainform.simulation.run import Run
from chainform.simulation.runner import Runner
from chainform.simulation.scenarios import Scenario, takes_scenarios
from chainform.simulation.solvers import SOLVERS, Solver, settings_of
from chainform.simulation.watches import Event, events_of

Array = NDArray[np.float64]

MODELS: Recent[Model] = Recent(32)

POINTS = 201
"""How many times are put out when none are asked for."""


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
    pid, computed_torque, state_feedback. `events` are laws whose zeros are noted, or that end or
    change the motion.

    `stops` makes stops of joint limits, `contacts` lets frames and loops touch the ground,
    `friction` gives bounds of sticking; `books` adds up work and losses on the way.

    `method` is one of those in `solvers.SOLVERS`: verner65, dopri853, rk4, heun, euler,
    semi_implicit, midpoint, gauss4, gauss6, cvode, ida. With `step` the step is fixed, otherwise
    `rtol` and `atol` control it, and it is never above `largest`.

    `values` are those of parameters that the mechanism leaves free, or others than it has. `resume`
    is a run that goes on where it stands: all else is given as before, the end perhaps later.
    Ctrl-C raises Interrupted, and a motion that cannot go on MotionError; `run` of both is what was
    computed. `progress` is called with the time now and then, `checkpoint` every half a minute with
    the run so far. `keeper` keeps machine code for the next time, such as the objects of a store.
    """
    assert not isinstance(mechanism, Scenario), "scenarios are read before"
    # Drives act on the coordinates in place of forces that an element model leaves unknown.
    source = without_unknowns(mechanism if isinstance(mechanism, Mechanism) else read(mechanism))
    span, times = span_of(t, t_eval)
    settings = settings_of(method, rtol, atol, step, largest, hold)
    given = parameters_of(source, values)
    moved = given.mechanism
    efforts, watched = efforts_of(moved, forces), events_of(moved, events)
    efforts = with_signals(moved, efforts, signals)
    control = controllers_of(moved, controllers, leave_out)
    switches = switches_for(moved, settings.solver, stops, contacts, friction, leave_out)
    moving = switches.bare(source)
    booked = books and settings.solver.switches and can_be_booked(source)
    free = given.names(moving)
    model = model_of(moving, leave_out, settings.solver, free, rows=switches.has_rows)
    machine = machine_of(
        given.settled(switches.bare(moved)),
        model,
        efforts,
        watched,
        hold=hold is not None,
        solver=settings.solver,
        keeper=keeper,
        switches=switches,
        books=booked,
        leave_out=leave_out,
        controllers=control,
        stabilise=stabilise_of(stabilise),
    )
    p = machine.layout.fresh()
    if resume is None:
        begun = beginning(switches.bare(moved), q0, qd0, span[0], fixed)
        y = whole_state(moved, begun.q, begun.qd, x0, machine.equations.nx)
        start = Start(span[0], machine.settled(span[0], y, p), times)
        lowest = machine.layout.part(p, "lowest")
        remarks = Remarks(begun.notes, None if switches else lowest.copy())
    else:
        start = resumed(resume, moved, machine, p, span, times)
        remarks = Remarks(resume.report)
    directions = [event.direction for event in watched] + switches.directions
    breaks = efforts.breaks
    integrator = settings.solver.start(machine, settings, start.t, start.y, p, directions, breaks)
    switching = Switching(integrator, switches) if switches else None
    runner = Runner(integrator, watched, source.nq, switching)
    about = About(span, END, settings.numbers, given.values, tuple(leave_out))
    start.remind(runner, settings.numbers, method)
    columns = Columns(machine, efforts, is_held=hold is not None, has_books=booked)
    recording = Recording(moved, model, method, about, columns, switches, start.before, remarks)
    return carried_out(recording, runner, span[1], start.times, progress, checkpoint)


def span_of(t: tuple[float, float] | float, t_eval: Any) -> tuple[tuple[float, float], Array]:
    """Return start and end, and the times of output, checked."""
    try:
        first, last = (0.0, float(t)) if isinstance(t, int | float) else (float(t[0]), float(t[1]))
        times = np.linspace(first, last, POINTS)
        if t_eval is not None:
            times = np.asarray(t_eval, dtype=np.float64)
    except (TypeError, ValueError, IndexError) as problem:
        raise RunError(f"the times are not numbers: {problem}", element="t") from None
    if not (np.isfinite(first) and np.isfinite(last) and first < last):
        raise RunError(
            f"the time cannot go from {first:g} to {last:g}",
            element="t",
            remedy="give start and end in s, the end after the start",
        )
    wrong = times.ndim != 1 or np.any(np.diff(times) < 0) or np.any(~np.isfinite(times))
    if wrong or (len(times) and (times[0] < first or times[-1] > last)):
        raise RunError(
            "the times of output must grow and lie between start and end",
            element="t_eval",
            remedy=f"choose them between {first:g} and {last:g}",
        )
    return (first, last), times


def model_of(
    mechanism: Mechanism,
    leave_out: Sequence[str],
    solver: Solver,
    parameters: Sequence[str] = (),
    *,
    rows: bool = False,
) -> Model:
    """Return the equations: forward dynamics, or the parts of it where constraints hold.

    With `rows` both, for constraints that come and go. `parameters` stay free. What was derived
    lately is not derived again.
    """
    held = [c for c in mechanism.constraints if c.kind != "unilateral"]
    outputs = ["forward_dynamics"]
    if mechanism.loops or held or mechanism.actuators:
        outputs = ["mass_matrix", "inverse_dynamics"]
    elif rows:
        outputs += ["mass_matrix", "inverse_dynamics"]
    outputs += [output for output in solver.outputs if output not in outputs]
    asked = (tuple(outputs), tuple(leave_out), tuple(parameters))
    free = parameters or "numeric"
    return MODELS.get(
        Key((*asked, mechanism.name, mechanism.nv), (mechanism,)),
        lambda: derive(mechanism, outputs, leave_out=leave_out, parameters=free),
    )


def machine_of(
    mechanism: Mechanism,
    model: Model,
    efforts: Efforts,
    events: Sequence[Event] = (),
    *,
    hold: bool = False,
    solver: Solver = SOLVERS["verner65"],
    keeper: Keeper | None = None,
    switches: Switches = NO_SWITCHES,
    books: bool = False,
    leave_out: Sequence[str] = (),
    controllers: Sequence[Controller] = (),
    stabilise: Stabilise = PROJECTION,
) -> Machine:
    """Return the machine code for a mechanism under given efforts."""

    def make() -> Machine:
        equations = equations_of(
            mechanism,
            model,
            efforts,
            events,
            hold=hold,
            solver=solver,
            switches=switches,
            books=books,
            leave_out=leave_out,
            controllers=controllers,
            stabilise=stabilise,
        )
        return Machine(
            equations,
            efforts,
            hold=hold,
            loop=solver.loop,
            keeper=keeper,
            projects=stabilise.projects,
        )

    laws = tuple(event.law for event in events)
    ways = (hold, solver.name, switches, books, tuple(leave_out), tuple(controllers), stabilise)
    return kept_machine(mechanism, model, efforts, (laws, *ways), make)


def equations_of(
    mechanism: Mechanism,
    model: Model,
    efforts: Efforts,
    events: Sequence[Event] = (),
    *,
    hold: bool = False,
    solver: Solver = SOLVERS["verner65"],
    switches: Switches = NO_SWITCHES,
    books: bool = False,
    leave_out: Sequence[str] = (),
    controllers: Sequence[Controller] = (),
    stabilise: Stabilise = PROJECTION,
) -> Equations:
    """Return the system of equations of a mechanism under given efforts, for a method."""
    builder = EquationBuilder(mechanism, model)
    given = tau = put_inputs(builder, efforts, controllers, hold=hold)
    always = damped(rows_of(builder.builder, mechanism), stabilise.alpha, stabilise.beta)
    if builder.actuated is not None and (always or switches.has_rows):
        always += builder.actuated.rows()
    switched = SwitchedEquations(builder, switches)
    given = switched.declare(given, always, books=books, leave_out=leave_out)
    builder.declare_drives(tau)
    builder.declare_settled()
    if events:
        builder.declare("events", [builder.laws.scalar(event.law) for event in events])
    solver.declare(builder, given)
    equations = builder.finish()
    solver.check(equations)
    return equations
