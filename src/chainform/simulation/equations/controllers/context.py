"""What controllers use: the graph of a system seen from its drives, and fields of their tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from chainform.formulations import Actuated, coordinate_of
from chainform.given import Given, plain
from chainform.graph import Scalar, Tangents
from chainform.mechanism import (
    GROUND,
    ZERO,
    Joint,
    LawReader,
    Mechanism,
    Number,
    law_reader,
    reader_of,
)
from chainform.simulation.equations.builder import EquationBuilder


class Controller(Protocol):
    """Something that gives efforts, or signals where joints have actuators, by rate.

    An actuator of several joints has a number of its own: its place behind all rates.
    """

    @property
    def targets(self) -> Sequence[int]:
        """The numbers of what it gives."""
        ...

    def outputs(self, context: ControlContext) -> dict[int, Scalar]: ...


class ControlContext:
    """Coordinates, rates and laws as scalars, and room for states of controllers."""

    def __init__(self, equations: EquationBuilder, actuated: Actuated | None) -> None:
        self.equations = equations
        self.builder = equations.builder
        self.actuated = actuated
        self.mechanism = equations.mechanism

    @cached_property
    def _clock(self) -> Tangents:
        time = self.builder.variable_of(self.equations.laws.time())
        return Tangents(self.builder, {time: self.builder.number(1)})

    def q(self, rate: int) -> Scalar:
        """Return the coordinate with a rate, or the motion that an actuator drives."""
        if rate >= self.mechanism.nv:
            return self._driven(rate, self.q)
        return self.equations.input("q", coordinate_of(self.mechanism, rate))

    def qd(self, rate: int) -> Scalar:
        """Return a rate, or that of the motion that an actuator drives."""
        if rate >= self.mechanism.nv:
            return self._driven(rate, self.qd)
        return self.equations.input("qd", rate)

    def _driven(self, number: int, part: Callable[[int], Scalar]) -> Scalar:
        """Return the sum of joints by the weights of an actuator."""
        actuator = self.mechanism.actuators[number - self.mechanism.nv]
        total = self.builder.number(0)
        for rate, weight in actuator.shares:
            total = total + self.law(weight) * part(rate)
        return self.builder.keep(total)

    def law(self, law: Number) -> Scalar:
        """Return a law as a scalar."""
        return self.builder.keep(self.equations.laws.scalar(law))

    def derivative(self, value: Scalar) -> Scalar:
        """Return the derivative by time of a law of t alone."""
        return self.builder.keep(self._clock.of(value))

    def target(self, law: Number) -> tuple[Scalar, Scalar, Scalar]:
        """Return a law of t, its rate and its acceleration."""
        value = self.law(law)
        rate = self.derivative(value)
        return value, rate, self.derivative(rate)

    def integral(self, rate: Scalar) -> Scalar:
        """Return an extra state that has a rate: zero at the start."""
        place = len(self.equations.extra)
        self.equations.extra.append(self.builder.keep(rate))
        return self.equations.input("x", place)

    def limited(self, value: Scalar, limit: Number | None) -> Scalar:
        """Return a value within -limit and limit."""
        if limit is None:
            return self.builder.keep(value)
        bound, call = self.law(limit), self.builder.call
        value = self.builder.keep(value)
        return self.builder.keep((call("abs", value + bound) - call("abs", value - bound)) / 2)


# --- fields of a table ------------------------------------------------------------------------


@dataclass(frozen=True)
class ControllerFields:
    """The table of one controller."""

    mechanism: Mechanism
    name: str
    table: Given

    def check(self, allowed: Sequence[str], required: Sequence[str] = ()) -> None:
        """Refuse fields that are not known, or that are missing."""
        self.table.table(("type", *allowed))
        for key in required:
            self.table.required(key)

    @cached_property
    def _laws(self) -> LawReader:
        return law_reader(self.mechanism)

    def law(self, given: Given, groups: Collection[str] = ("t",)) -> Number:
        """Return a law; unless more is allowed, one of time and parameters; zero if not given."""
        return self._laws.law(given.holding(plain(given.value)), groups) if given.is_given else ZERO

    def gain(self, given: Given) -> Number:
        """Return a number, or an expression of parameters; zero if not given."""
        return self.law(given, ())

    # --- joints -------------------------------------------------------------------------

    def rate(self, given: Given) -> int:
        """Return the rate of a joint of one freedom, by its name."""
        with given.translate_errors():
            rate = self.mechanism.rate_index(str(given.value))
        joint = self.joint(rate)
        if joint is not None and joint.kind.has_quaternion:
            remedy = 'write euler = "zyx" in the file to have one coordinate for each turn'
            raise given.error("a joint with a quaternion has no single target", remedy)
        return rate

    def drive(self, given: Given) -> int:
        """Return the rate of a joint that has an actuator of its own or none, else refuse it.

        For an actuator of several joints its place behind all rates is returned. It has its own
        name, also where that is the name of a joint that it or another one drives together with
        others, and that of its signal.
        """
        mechanism = self.mechanism
        shared = [(k, a) for k, a in enumerate(mechanism.actuators) if a.weights]
        bound = {mechanism.rates[rate]: k for k, a in shared for rate, _ in a.weights}
        alone = set(mechanism.rates) - set(bound)
        names = {mechanism.signals[k]: k for k, _ in shared} | {a.name: k for k, a in shared}
        if given.value in names and given.value not in alone:
            return mechanism.nv + names[str(given.value)]
        rate = self.rate(given)
        place = bound.get(mechanism.rates[rate])
        if place is not None:
            name = mechanism.actuators[place].name
            message = f"the joint is driven together with others, by {name}"
            name = mechanism.signals[place] if name in alone else name
            raise given.error(message, f"name the actuator in place of the joint: {name!r}")
        return rate

    def joint(self, rate: int) -> Joint | None:
        """Return the joint with a rate; an element model has none."""
        segment = self.mechanism.rate_records[rate].segment
        return None if segment == GROUND else self.mechanism.segments[segment].joint

    def refuse_quaternions(self) -> None:
        """Refuse mechanisms whose rates are not those of the coordinates."""
        if self.mechanism.nq != self.mechanism.nv:
            raise self.table["type"].error(
                "this controller needs as many coordinates as rates, and there are quaternions",
                'write euler = "zyx" in the file for free and spherical joints',
            )

    # --- several joints -----------------------------------------------------------------

    def by_joint(self, given: Given, groups: Collection[str] = ("t",)) -> dict[int, Number]:
        """Return the laws of a table by joints, by rates."""
        return {
            self.rate(law.holding(joint)): self.law(law, groups)
            for joint, law in given.table().items()
        }

    def listed(self, given: Given, count: int) -> list[Number]:
        """Return so many laws of t."""
        return [self.law(entry) for entry in given.entries(count, 'write [0, "sin(t)"]')]

    def per_rate(self, given: Given) -> tuple[Number, ...]:
        """Return a gain for every rate: one number for all, a list, or a table by joints."""
        count = self.mechanism.nv
        if given.is_table:
            gains = self.by_joint(given, ())
            return tuple(gains.get(rate, ZERO) for rate in range(count))
        if given.is_list:
            remedy = "give one for each: " + ", ".join(self.mechanism.rates)
            return tuple(self.gain(entry) for entry in given.entries(count, remedy))
        return (self.gain(given),) * count

    def matrix(self, given: Given) -> list[list[Number]]:
        """Return a matrix of numbers and expressions of parameters."""
        remedy = "write [[100, 10]]"
        rows = [
            [self.gain(entry) for entry in row.entries(remedy=remedy)]
            for row in given.entries(remedy=remedy)
        ]
        if len({len(row) for row in rows}) != 1:
            lengths = ", ".join(str(len(row)) for row in rows) or "none"
            message = f"the rows of a matrix are equally long, not {lengths}"
            raise given.error(message, "write as many numbers in each row")
        return rows

    def limit(self, rates: Sequence[int]) -> dict[int, Number]:
        """Return the greatest sizes by rate: a number, or true for the effort limits of joints."""
        given = self.table["limit"]
        if given.value is None or given.value is False:
            return {}
        if given.value is not True:
            bound = self.gain(given)
            known = reader_of(self.mechanism).known(bound, given)
            if known is not None:
                given.within(known, above=0)
            return dict.fromkeys(rates, bound)
        actuators = self.mechanism.actuators
        driven = {rate for actuator in actuators for rate, _ in actuator.shares}
        limits: dict[int, Number] = {}
        for rate in rates:
            if rate >= self.mechanism.nv:
                message = "the signal of an actuator is no effort"
                raise given.error(message, "give limit as a number")
            name, joint = self.mechanism.rates[rate], self.joint(rate)
            if rate in driven:
                remedy = "give limit as a number; what the signal itself allows is in the actuator"
                raise given.error(f"{name} has an actuator, whose signal is no effort", remedy)
            effort = None if joint is None or joint.limits is None else joint.limits.effort
            if effort is None:
                remedy = "give limit as a number, or limits = { effort = ... } in the file"
                raise given.error(f"{name} has no limit of its effort", remedy)
            limits[rate] = effort
        return limits
