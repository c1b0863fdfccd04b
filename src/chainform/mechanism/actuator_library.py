"""Usual actuators, written as their physical equations and put into the general form.

N is the gear ratio, motion of the actuator over motion of the joint; P acts on the joint.

DC motor with gear: resistance R, inductance L, torque constant kt, back EMF ke, inertia J and
friction B of the rotor, which turns by N q, efficiency eta of the gear, voltage u:

    L i' = u - R i - ke N qd
    J N qdd = kt i - B N qd - P / (eta N)

Hydraulic servo: valve with flow gain K, spool s with time constant T, cylinder of area S whose
piston of mass m and friction B moves by N q, pressure difference p, leakage C (that of the valve
included: minus the slope of its flow over p), oil of volume V and bulk modulus E:

    T s' = u - s,      V / (4 E) p' = K s - S N qd - C p
    m N qdd = S p - B N qd - P / N

In both the last line, times N (and eta), says that the drive inside less the effort on the own
inertia is P. Without that inertia the line gives P itself, and the motion is no part of the state.
A quantity whose derivative has the factor zero (L, T, V / 4 E) follows at once from the others, so
that the order is one less.

Ideal torque: P = u. Lag: P = y, with y following g u either by  T y' = g u - y  or by
y'' = w^2 (g u - y) - 2 z w y'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from chainform.given import Given
from chainform.mechanism.components import Actuator, Row
from chainform.mechanism.joints import gear_ratio_from
from chainform.mechanism.numbers import product_of, quotient_of, sum_of
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import ONE, ZERO, Joint, Number

Sum: TypeAlias = Mapping[str, Number]
"""A linear combination of states, of "qd", of the signal "u" and of the drive "P"."""
SIGNAL: Sum = {"u": ONE}
LOAD: Sum = {"P": -ONE}


@dataclass(frozen=True, slots=True)
class ActuatorEquations:
    """An actuator before its matrices: derivatives of its states, drive, inertia at the joint."""

    derivatives: Mapping[str, Sum]
    drive: Sum
    inertia: Number
    limit: Number | None
    signal: str


def plus(*sums: Sum) -> Sum:
    """Return the sum of linear combinations."""
    total: dict[str, Number] = {}
    for terms in sums:
        for name, factor in terms.items():
            total[name] = sum_of(total.get(name, ZERO), factor)
    return total


def times(factor: Number, terms: Sum) -> Sum:
    """Return a multiple of a linear combination."""
    return {name: product_of(factor, value) for name, value in terms.items()}


def over(terms: Sum, divisor: Number) -> Sum:
    """Return a linear combination divided by a number that is not zero."""
    return {name: quotient_of(value, divisor) for name, value in terms.items()}


def assembled(name: str, rate: int, equations: ActuatorEquations) -> Actuator:
    """Return the actuator in the general form; q and qd come first where they are states."""
    derivatives = dict(equations.derivatives)
    if equations.inertia != ZERO:
        motion = {"q": {"qd": ONE}, "qd": over(plus(equations.drive, LOAD), equations.inertia)}
        derivatives = {**motion, **derivatives}
    states = tuple(derivatives)

    def row(terms: Sum) -> Row:
        return tuple(terms.get(state, ZERO) for state in states)

    def column(name: str) -> Row:
        return tuple(terms.get(name, ZERO) for terms in derivatives.values())

    general = Actuator(
        name,
        rate,
        A=tuple(row(terms) for terms in derivatives.values()),
        b=column("u"),
        f=column("P"),
        e=(ZERO,) * len(states),
        limit=equations.limit,
        states=states,
        signal=equations.signal,
    )
    if equations.inertia != ZERO:
        return replace(general, position=row({"q": ONE}), velocity=row({"qd": ONE}))
    return replace(
        general,
        e=column("qd"),
        effort=row(equations.drive),
        direct=equations.drive.get("u", ZERO),
        viscous=product_of(-ONE, equations.drive.get("qd", ZERO)),
    )


# --- library --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ActuatorFields:
    """The table of one actuator of the library, and the joint that it drives."""

    table: Given
    joint: Joint
    reader: Reader

    def has(self, field: str) -> bool:
        """Tell whether a field is given."""
        return self.table.has(field)

    def positive(self, field: str) -> Number:
        """Return a number that must be given, greater than zero."""
        return self.reader.number(self.table.required(field), above=0)

    def optional(self, field: str) -> Number:
        """Return a number of at least zero, zero when it is not given.

        Zero leaves out a part of the actuator, so it must be plain to see.
        """
        given = self.table[field]
        number = self.reader.number(given, ZERO, least=0)
        if self.reader.known(number, given) == 0 and number != ZERO:
            remedy = "write 0, or give the parameter another value"
            raise given.error("the parameters make this zero", remedy)
        return number

    def limit(self, field: str) -> Number | None:
        """Return the greatest size of the signal, None for no limit."""
        return self.positive(field) if self.has(field) else None

    def gear(self) -> Number:
        """Return the gear ratio, by default that of the joint."""
        return gear_ratio_from(self.table["gear_ratio"], self.joint.gear_ratio, self.reader)

    def share(self, field: str) -> Number:
        """Return a number above 0, at most 1, by default 1."""
        return self.reader.number(self.table[field], ONE, above=0, most=1)


def dc_motor(fields: ActuatorFields) -> ActuatorEquations:
    """Return the equations of a DC motor with gear; the signal is the voltage."""
    resistance, torque_constant = fields.positive("resistance"), fields.positive("torque_constant")
    back_emf = fields.positive("back_emf") if fields.has("back_emf") else torque_constant
    inductance, gear = fields.optional("inductance"), fields.gear()
    driving = plus(SIGNAL, {"qd": product_of(-ONE, product_of(gear, back_emf))})
    current, states = _settled("current", driving, resistance, inductance)
    once = product_of(fields.share("efficiency"), gear)
    twice = product_of(once, gear)
    friction: Sum = {"qd": product_of(-ONE, product_of(twice, fields.optional("viscous")))}
    drive = plus(times(product_of(once, torque_constant), current), friction)
    inertia = product_of(twice, fields.optional("rotor_inertia"))
    return ActuatorEquations(states, drive, inertia, fields.limit("voltage_limit"), "voltage")


def hydraulic_servo(fields: ActuatorFields) -> ActuatorEquations:
    """Return the equations of a valve with a cylinder; the signal opens the valve."""
    area, valve_gain = fields.positive("area"), fields.positive("valve_gain")
    leakage, gear = fields.optional("leakage"), fields.gear()
    spool, valve = _settled("spool", SIGNAL, ONE, fields.optional("valve_time_constant"))
    displaced: Sum = {"qd": product_of(-ONE, product_of(gear, area))}
    flow = plus(times(valve_gain, spool), displaced)
    storage = _storage(fields)
    if storage == ZERO and leakage == ZERO:
        remedy = "give volume and bulk_modulus, or leakage"
        message = "oil that neither leaks nor gives way leaves the pressure unknown"
        raise fields.table.error(message, remedy)
    pressure, oil = _settled("pressure", flow, leakage, storage)
    square = product_of(gear, gear)
    friction: Sum = {"qd": product_of(-ONE, product_of(square, fields.optional("viscous")))}
    drive = plus(times(product_of(gear, area), pressure), friction)
    inertia = product_of(square, fields.optional("piston_mass"))
    return ActuatorEquations(
        {**oil, **valve}, drive, inertia, fields.limit("signal_limit"), "valve"
    )


def _storage(fields: ActuatorFields) -> Number:
    """Return V / (4 E), how much oil a rise of the pressure takes up; zero for stiff oil."""
    if fields.has("volume") != fields.has("bulk_modulus"):
        message = "volume and bulk_modulus belong together"
        raise fields.table.error(message, "give both, or neither for stiff oil")
    if not fields.has("volume"):
        return ZERO
    stiffness = product_of(Fraction(4), fields.positive("bulk_modulus"))
    return quotient_of(fields.positive("volume"), stiffness)


def _settled(
    name: str, driving: Sum, resisting: Number, storing: Number
) -> tuple[Sum, dict[str, Sum]]:
    """Return y, and its derivative if it is a state:  storing y' = driving - resisting y."""
    if storing == ZERO:
        return over(driving, resisting), {}
    left = plus(driving, {name: product_of(-ONE, resisting)})
    return {name: ONE}, {name: over(left, storing)}


def torque(fields: ActuatorFields) -> ActuatorEquations:
    """Return an actuator whose effort is its signal, up to the effort limit of the joint."""
    limit = fields.limit("limit")
    if limit is None and fields.joint.limits is not None and fields.joint.limits.effort:
        limit = fields.joint.limits.effort
    return ActuatorEquations({}, SIGNAL, ZERO, limit, "effort")


def lag(fields: ActuatorFields) -> ActuatorEquations:
    """Return an actuator whose effort follows the signal by a lag of first or second order."""
    gain = fields.positive("gain") if fields.has("gain") else ONE
    limit, wanted = fields.limit("limit"), times(gain, SIGNAL)
    if fields.has("time_constant") == fields.has("frequency"):
        remedy = "time_constant for the first order, frequency and damping_ratio for the second"
        raise fields.table.error("a lag is of first or of second order", remedy)
    if fields.has("time_constant"):
        if fields.has("damping_ratio"):
            message = "a lag of first order has no damping_ratio"
            raise fields.table.error(message, "remove it, or give frequency")
        _, states = _settled("effort", wanted, ONE, fields.positive("time_constant"))
        return ActuatorEquations(states, {"effort": ONE}, ZERO, limit, "demand")
    frequency, damping = fields.positive("frequency"), fields.optional("damping_ratio")
    square = product_of(frequency, frequency)
    slowing = product_of(Fraction(-2), product_of(damping, frequency))
    rising = plus(times(square, plus(wanted, {"effort": -ONE})), {"effort_rate": slowing})
    states = {"effort": {"effort_rate": ONE}, "effort_rate": rising}
    return ActuatorEquations(states, {"effort": ONE}, ZERO, limit, "demand")


LIBRARY: dict[str, tuple[frozenset[str], Callable[[ActuatorFields], ActuatorEquations]]] = {
    "dc_motor": (
        frozenset(
            {"resistance", "inductance", "torque_constant", "back_emf", "rotor_inertia", "viscous"}
            | {"gear_ratio", "efficiency", "voltage_limit"}
        ),
        dc_motor,
    ),
    "hydraulic_servo": (
        frozenset(
            {"area", "valve_gain", "valve_time_constant", "leakage", "volume", "bulk_modulus"}
            | {"piston_mass", "viscous", "gear_ratio", "signal_limit"}
        ),
        hydraulic_servo,
    ),
    "torque": (frozenset({"limit"}), torque),
    "lag": (frozenset({"gain", "time_constant", "frequency", "damping_ratio", "limit"}), lag),
}
"""The types: the fields of each besides name, joint and type, and the function that reads them."""
