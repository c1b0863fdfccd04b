"""Computed torque: inverse dynamics of a model makes every joint a double integrator.

symbol   meaning
e        target - q
v        target'' + kd e' + kp e, the acceleration that is wanted
tau      inverse dynamics of the model at (q, qd, v)

The model may be another one than that which moves: with other values of its parameters, or out of
another file. Where a joint has an actuator its signal is that which gives the drive tau while the
joint is accelerated by v:

    P = m0 + k N - I qdd,    N = (tau + I v - m0) / k

m0 being its effort without a signal, I its inertia. That needs an actuator whose drive follows its
signal at once (k not zero): a motor with an inductance has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any, cast

from chainform.formulations import Drive
from chainform.given import Given
from chainform.graph import Graph, Scalar, include, is_zero
from chainform.mechanism import Mechanism, Number, number_of
from chainform.pipeline import derive
from chainform.readers import read
from chainform.simulation.equations.controllers.context import ControlContext, ControllerFields

FIELDS = ("kp", "kd", "targets", "values", "model", "without", "limit")


@dataclass(frozen=True)
class ComputedTorque:
    """Computed torque for all joints; `values` stand in place of inputs of the model."""

    fields: ControllerFields
    model: Graph
    values: Mapping[str, Fraction]
    wanted: tuple[Number, ...]
    kp: tuple[Number, ...]
    kd: tuple[Number, ...]
    limits: Mapping[int, Number]

    @property
    def targets(self) -> Sequence[int]:
        """The numbers of what it gives."""
        return range(len(self.wanted))

    def outputs(self, context: ControlContext) -> dict[int, Scalar]:
        """Return the efforts or signals of all joints."""
        v = [self._wanted(context, rate) for rate in range(context.mechanism.nv)]
        given = {f"qdd{rate + 1}": value for rate, value in enumerate(v)}
        given |= {name: context.builder.number(value) for name, value in self.values.items()}
        zero = context.builder.number(0)
        given |= {i.name: zero for i in self.model.inputs.values() if i.group == "sigma"}
        tau = include(context.builder, self.model, given, ["inverse_dynamics"])["inverse_dynamics"]
        made = dict(enumerate(tau))
        if context.actuated is not None:
            for place, share in enumerate(context.actuated.shares):
                rate = share.actuator.rate
                made[rate] = self._signal(context, place, made[rate], v[rate])
        return {rate: context.limited(x, self.limits.get(rate)) for rate, x in made.items()}

    def _wanted(self, context: ControlContext, rate: int) -> Scalar:
        target, speed, acceleration = context.target(self.wanted[rate])
        kp, kd = context.law(self.kp[rate]), context.law(self.kd[rate])
        v = acceleration + kd * (speed - context.qd(rate)) + kp * (target - context.q(rate))
        return context.builder.keep(v)

    def _signal(self, context: ControlContext, place: int, tau: Scalar, v: Scalar) -> Scalar:
        """Return the signal with which an actuator gives a drive."""
        assert context.actuated is not None
        number, keep = context.builder.number, context.builder.keep
        actuator = context.actuated.shares[place].actuator
        kinematics = context.equations.kinematics
        drive = Drive(actuator, kinematics, context.actuated.x[place], place, number(0))
        if drive.is_prescribed:
            slope, start, wanted = (
                drive.acceleration(number(1), free=False),
                drive.acceleration(number(0), free=True),
                v,
            )
        else:
            slope = drive.effort(number(1), free=False)
            start, wanted = drive.effort(number(0), free=True), tau
            if drive.inertia is not None:
                wanted = tau + drive.inertia * v
        if is_zero(slope):
            raise self.fields.table["type"].error(
                f"the drive of {actuator.name} follows its signal only after a while",
                "leave out its inductance (or time constant), or use pd or state_feedback there",
            )
        return keep(keep(wanted - start) / slope)


def computed_torque_of(fields: ControllerFields, without: Sequence[str] = ()) -> ComputedTorque:
    """Return a checked controller of all joints."""
    fields.check(FIELDS, ("kp", "kd", "targets"))
    fields.refuse_quaternions()
    mechanism = fields.mechanism
    if any(actuator.weights for actuator in mechanism.actuators):
        message = "computed torque does not share a torque among actuators of several joints"
        raise fields.table["type"].error(message, "use pd or state_feedback, by actuators")
    targets = _targets(fields)
    kp, kd = (fields.per_rate(fields.table[name]) for name in ("kp", "kd"))
    values = _values(fields.table["values"])
    model = _graph(fields, values, fields.table.value.get("without", without))
    limits = fields.limit(range(mechanism.nv))
    return ComputedTorque(fields, model, values, targets, kp, kd, limits)


def _targets(fields: ControllerFields) -> tuple[Number, ...]:
    given, names = fields.table["targets"], fields.mechanism.rates
    targets = fields.by_joint(given.table(remedy=f'{{"{names[0]}": "sin(t)"}}'))
    missing = [name for rate, name in enumerate(names) if rate not in targets]
    if missing:
        remedy = f'give each a law of t: {{"{missing[0]}": "0"}} holds it'
        raise given.error(f"no target for {', '.join(missing)}", remedy)
    return tuple(targets[rate] for rate in range(len(names)))


def _values(given: Given) -> dict[str, Fraction]:
    values: dict[str, Fraction] = {}
    for name, value in given.table(remedy='{"m_2": 5}').items() if given.is_given else ():
        with value.translate_errors():
            number = number_of(value.value)
        if not isinstance(number, Fraction):
            raise value.error("the value is not a number", "give a number")
        values[name] = number
    return values


def _graph(
    fields: ControllerFields, values: Mapping[str, Fraction], without: Sequence[str]
) -> Graph:
    """Return inverse dynamics of the model, with the parameters that have other values free."""
    given = fields.table["model"]
    with given.translate_errors():
        model = _model(given.value) if given.is_given else fields.mechanism
        parameters = list(values) or "numeric"
        derived = derive(model, ["inverse_dynamics"], parameters=parameters, without=without)
    for name, value in derived.free_parameters.items():
        if value is None and name not in values:
            message = f"the parameter {name} of the model has no value"
            raise fields.table["values"].error(message, f"give one: {{{name!r}: ...}}")
    if model.rates != fields.mechanism.rates:
        names = ", ".join(fields.mechanism.rates)
        remedy = f"its joints must have the same names in the same order: {names}"
        raise given.error("the model has other joints", remedy)
    return derived.graph


def _model(given: Any) -> Mechanism:
    return given if isinstance(given, Mechanism) else read(cast("str | PathLike[str]", given))
