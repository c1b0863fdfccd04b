"""From a mechanism and what drives it to the equations of a motion, and to their machine code."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from chainform.formulations import rows_of, shares_of
from chainform.graph import Scalar
from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.pipeline import derive
from chainform.runtime import CodeStorage, Key, LruCache, target_for
from chainform.simulation.equations.builder import EquationBuilder, Equations
from chainform.simulation.equations.contact.contact_rows import ContactEquations
from chainform.simulation.equations.contact.laws import NO_BARRIERS, Barriers
from chainform.simulation.equations.controllers import Controller
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.equations.events import Event, Kink
from chainform.simulation.equations.inputs import put_inputs
from chainform.simulation.equations.loop_constraints import PROJECTION, Stabilise, damped
from chainform.simulation.equations.parameters import without_values
from chainform.simulation.machine.machine import Machine
from chainform.simulation.machine.method import Method

MODELS: LruCache[Model] = LruCache(32)

MACHINES: LruCache[tuple[Machine, Model]] = LruCache(16)
"""Each with its model, so that no other one can have the place of that in memory."""


@dataclass(frozen=True, eq=False)
class EquationOptions:
    """What the equations of a motion hold besides those of the mechanism.

    With `hold` efforts are sampled and held; `energy_balance` adds up work and losses.
    """

    efforts: Efforts
    method: Method
    events: tuple[Event, ...] = ()
    controllers: tuple[Controller, ...] = ()
    barriers: Barriers = NO_BARRIERS
    stabilise: Stabilise = PROJECTION
    without: tuple[str, ...] = ()
    hold: bool = False
    energy_balance: bool = False

    def key(self) -> tuple[Hashable, ...]:
        """Return what tells them from others."""
        laws = (_laws(self.efforts), tuple(event.law for event in self.events))
        choices = (self.hold, self.method.name, self.barriers, self.energy_balance, self.without)
        return (*laws, *choices, self.controllers, self.stabilise)


def _laws(efforts: Efforts) -> Hashable:
    signals = None if efforts.signals is None else _laws(efforts.signals)
    return efforts.laws, efforts.tables, signals


def model_of(
    mechanism: Mechanism,
    without: Sequence[str],
    method: Method,
    parameters: Sequence[str] = (),
    *,
    rows: bool = False,
    reduce: str = "none",
) -> Model:
    """Return the equations: forward dynamics, or the parts of it where constraints hold.

    With `rows` both, for constraints that come and go. `parameters` stay free. Recent models are
    in a cache.
    """
    held = [c for c in mechanism.constraints if c.kind != "unilateral"]
    outputs = ["forward_dynamics"]
    if mechanism.loops or held or mechanism.actuators:
        outputs = ["mass_matrix", "inverse_dynamics"]
    elif rows:
        outputs += ["mass_matrix", "inverse_dynamics"]
    outputs += [output for output in method.outputs if output not in outputs]
    choices = (tuple(outputs), tuple(without), tuple(parameters), reduce)
    free, blank = parameters or "numeric", without_values(mechanism, parameters)
    return MODELS.get(
        Key((*choices, blank.name, blank.nv), (blank,)),
        lambda: derive(blank, outputs, without=without, parameters=free, reduce=reduce),
    )


def machine_of(
    mechanism: Mechanism,
    model: Model,
    options: EquationOptions,
    free: Sequence[str] = (),
    code_cache: CodeStorage | None = None,
    cache: LruCache[tuple[Machine, Model]] = MACHINES,
) -> Machine:
    """Return the machine code for a mechanism, from `cache` where it is there.

    The same code serves for other values of the parameters that are `free`.
    """

    def make() -> Machine:
        return Machine(
            equations_of(mechanism, model, options),
            options.efforts,
            hold=options.hold,
            loop=options.method.loop,
            code_cache=code_cache,
            projects=options.stabilise.projects,
        )

    # Which states of actuators follow from q and qd is chosen by the size of numbers.
    divided = tuple((share.position, share.velocity) for share in shares_of(mechanism))
    # Functions of Python are the same in the motions of one batch only, which has its own cache.
    is_alone = options.efforts.has_functions and cache is MACHINES
    key = None if is_alone else _key(without_values(mechanism, free), model, options, divided)
    machine = make() if key is None else cache.get(key, lambda: (make(), model))[0]
    return machine.with_values(mechanism) if free else machine


def _key(
    mechanism: Mechanism, model: Model, options: EquationOptions, divided: Hashable
) -> Key | None:
    """Return the key of a machine; None where something cannot be compared, such as an array."""
    try:
        return Key((id(model), target_for(), *options.key(), divided), (mechanism,))
    except TypeError:
        return None


def _zero_of(builder: EquationBuilder, event: Event) -> Scalar:
    """Return what is zero at an event."""
    if isinstance(event.law, Kink):
        assert builder.actuated is not None
        return builder.actuated.drives[event.law.place].kink(event.law.number)
    return builder.laws.scalar(event.law)


def equations_of(mechanism: Mechanism, model: Model, options: EquationOptions) -> Equations:
    """Return the system of equations of a mechanism, for a method of integration."""
    barriers = options.barriers
    builder = EquationBuilder(mechanism, model)
    given = tau = put_inputs(builder, options.efforts, options.controllers, hold=options.hold)
    stabilise = options.stabilise
    always = damped(rows_of(builder.builder, mechanism), stabilise.alpha, stabilise.beta)
    if builder.actuated is not None and (always or barriers.has_rows):
        always += builder.actuated.rows()
    contact_equations = ContactEquations(builder, barriers)
    given = contact_equations.declare(
        given, always, energy_balance=options.energy_balance, without=options.without
    )
    builder.declare_drives(tau)
    builder.declare_settled()
    if options.events:
        builder.declare("events", [_zero_of(builder, event) for event in options.events])
    options.method.declare(builder, given)
    equations = builder.finish()
    options.method.check(equations)
    return equations
