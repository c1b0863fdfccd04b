"""Where controllers are written: the graph of a system, seen from its drives."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from chainform.graph import Scalar, Tangents
from chainform.mechanism import Number
from chainform.simulation.drives.actuated import Actuated, coordinate_of
from chainform.simulation.equations import EquationBuilder


class Controller(Protocol):
    """Something that gives efforts, or signals where joints have actuators, by rate."""

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
        """Return the coordinate with a rate."""
        return self.equations.input("q", coordinate_of(self.mechanism, rate))

    def qd(self, rate: int) -> Scalar:
        """Return a rate."""
        return self.equations.input("qd", rate)

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
        """Return a further state that has a rate: zero at the start."""
        place = len(self.equations.further)
        self.equations.further.append(self.builder.keep(rate))
        return self.equations.input("x", place)

    def limited(self, value: Scalar, limit: Number | None) -> Scalar:
        """Return a value that is kept within -limit and limit."""
        if limit is None:
            return self.builder.keep(value)
        bound, call = self.law(limit), self.builder.call
        value = self.builder.keep(value)
        return self.builder.keep((call("abs", value + bound) - call("abs", value - bound)) / 2)
