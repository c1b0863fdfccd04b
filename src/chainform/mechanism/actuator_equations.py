"""From the physical equations of an actuator to the matrices of the general form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from chainform.given import Given
from chainform.mechanism.actuators import Actuator, Row
from chainform.mechanism.drives import gear_ratio_from
from chainform.mechanism.numbers import product_of, quotient_of, sum_of
from chainform.mechanism.reader import Reader
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


def assembled(name: str, rate: int, equations: Equations) -> Actuator:
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


@dataclass(frozen=True, slots=True)
class Fields:
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
