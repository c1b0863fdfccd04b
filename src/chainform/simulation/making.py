"""From a mechanism and what drives it to the equations of a motion, and to their machine code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.pipeline import derive
from chainform.runtime import Keeper, Key, LruCache, target_for
from chainform.simulation.constraints.closures import damped, rows_of
from chainform.simulation.constraints.stabilise import PROJECTION, Stabilise
from chainform.simulation.contact.switched_equations import SwitchedEquations
from chainform.simulation.contact.switches import NO_SWITCHES, Switches
from chainform.simulation.controllers import Controller
from chainform.simulation.drives.actuated import shares_of
from chainform.simulation.drives.efforts import Efforts
from chainform.simulation.drives.inputs import put_inputs
from chainform.simulation.equations import EquationBuilder, Equations
from chainform.simulation.machines.machine import Machine
from chainform.simulation.parameters import without_values
from chainform.simulation.solvers import SOLVERS, Solver
from chainform.simulation.watches import Event

MODELS: LruCache[Model] = LruCache(32)

MACHINES: LruCache[tuple[Machine, Model]] = LruCache(16)
"""Each with its model, so that no other one can have the place of that in memory."""


def model_of(
    mechanism: Mechanism,
    leave_out: Sequence[str],
    solver: Solver,
    parameters: Sequence[str] = (),
    *,
    rows: bool = False,
    reduce: str = "none",
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
    asked = (tuple(outputs), tuple(leave_out), tuple(parameters), reduce)
    free, blank = parameters or "numeric", without_values(mechanism, parameters)
    return MODELS.get(
        Key((*asked, blank.name, blank.nv), (blank,)),
        lambda: derive(blank, outputs, leave_out=leave_out, parameters=free, reduce=reduce),
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
    free: Sequence[str] = (),
    cached: LruCache[tuple[Machine, Model]] = MACHINES,
) -> Machine:
    """Return the machine code for a mechanism under given efforts.

    The same code serves for other values of the parameters that are `free`. It is looked for in
    `cached`, and stays there.
    """

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
    # Which states of actuators follow from q and qd is chosen by the size of numbers.
    divided = tuple((share.position, share.velocity) for share in shares_of(mechanism))
    blank = without_values(mechanism, free)
    machine = _cached_machine(blank, model, efforts, (laws, *ways, divided), make, cached)
    return machine.with_values(mechanism) if free else machine


def _cached_machine(
    mechanism: Mechanism,
    model: Model,
    efforts: Efforts,
    choices: tuple[Hashable, ...],
    make: Callable[[], Machine],
    cached: LruCache[tuple[Machine, Model]],
) -> Machine:
    """Return the machine for a mechanism, its model, efforts, and all else that it is made of.

    Nothing of a motion stays in a machine, unless functions of Python are called: such a one is
    cached only for the motions of one batch, where all have the same functions.
    """
    is_alone = efforts.has_functions and cached is MACHINES
    key = None if is_alone else _key(mechanism, model, efforts, choices)
    if key is None:
        return make()
    return cached.get(key, lambda: (make(), model))[0]


def _key(
    mechanism: Mechanism, model: Model, efforts: Efforts, choices: tuple[Hashable, ...]
) -> Key | None:
    """Return the key of a machine; None where something cannot be compared, such as an array."""
    try:
        return Key((id(model), target_for(), _laws(efforts), *choices), (mechanism,))
    except TypeError:
        return None


def _laws(efforts: Efforts) -> Hashable:
    signals = None if efforts.signals is None else _laws(efforts.signals)
    return efforts.laws, efforts.tables, signals


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
