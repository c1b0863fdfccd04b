"""From the physical equations of an actuator to the matrices of the general form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from chainform.mechanism.actuators import Actuator, Row
from chainform.mechanism.intake import Intake
from chainform.mechanism.numbers import product_of, quotient_of, sum_of
from chainform.mechanism.types import ONE, ZERO, Joint, Number

Sum: TypeAlias = Mapping[str, Number]
"""A linear combination of states, of "qd", of the signal "u" and of the drive "P"."""

SIGNAL: Sum = {"u": ONE}
LOAD: Sum = {"P": -ONE}


@dataclass(frozen=True, slots=True)
class Equations:
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


def assembled(name: str, rate: int, said: Equations) -> Actuator:
    """Return the actuator in the general form; q and qd come first where they are states."""
    derivatives = dict(said.derivatives)
    if said.inertia != ZERO:
        motion = {"q": {"qd": ONE}, "qd": over(plus(said.drive, LOAD), said.inertia)}
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
        limit=said.limit,
        states=states,
        signal=said.signal,
    )
    if said.inertia != ZERO:
        return replace(general, position=row({"q": ONE}), velocity=row({"qd": ONE}))
    return replace(
        general,
        e=column("qd"),
        effort=row(said.drive),
        direct=said.drive.get("u", ZERO),
        viscous=product_of(-ONE, said.drive.get("qd", ZERO)),
    )


@dataclass(frozen=True, slots=True)
class Fields:
    """What a file says about one actuator of the library, and the joint that it drives."""

    table: Mapping[str, object]
    joint: Joint
    intake: Intake
    where: str

    def has(self, field: str) -> bool:
        """Tell whether a field is given."""
        return self.table.get(field) is not None

    def positive(self, field: str) -> Number:
        """Return a number that must be given, greater than zero."""
        where = f"{self.where}, {field}"
        if not self.has(field):
            raise self.intake.error("the number is missing", where, "give it")
        number = self.intake.number(self.table[field], where)
        known = self.intake.known(number, where)
        if known is not None and known <= 0:
            raise self.intake.error("the number is not positive", where, "give one above zero")
        return number

    def optional(self, field: str) -> Number:
        """Return a number of at least zero, zero when it is not given.

        Zero leaves out a part of the actuator, so it must be plain to see.
        """
        where = f"{self.where}, {field}"
        number = self.intake.number(self.table[field], where) if self.has(field) else ZERO
        known = self.intake.known(number, where)
        if known is not None and known < 0:
            raise self.intake.error("the number is negative", where, "give one of at least zero")
        if known == 0 and number != ZERO:
            remedy = "write 0, or give the parameter another value"
            raise self.intake.error("the parameters make this zero", where, remedy)
        return number

    def limit(self, field: str) -> Number | None:
        """Return the greatest size of the signal, None for no limit."""
        return self.positive(field) if self.has(field) else None

    def gear(self) -> Number:
        """Return the gear ratio, by default that of the joint."""
        if not self.has("gear_ratio"):
            return self.joint.gear_ratio
        where = f"{self.where}, gear_ratio"
        number = self.intake.number(self.table["gear_ratio"], where)
        if self.intake.known(number, where) == 0:
            remedy = "give motion of the actuator over motion of the joint"
            raise self.intake.error("the gear ratio is zero", where, remedy)
        return number

    def share(self, field: str) -> Number:
        """Return a number above 0, at most 1, by default 1."""
        if not self.has(field):
            return ONE
        number = self.positive(field)
        known = self.intake.known(number, f"{self.where}, {field}")
        if known is not None and known > 1:
            where = f"{self.where}, {field}"
            raise self.intake.error("the number is above 1", where, "give a part of 1, as 0.8")
        return number
