"""Laws of coordinates, rates and time as scalars of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from chainform.expressions import evaluate_expression, symbols_of
from chainform.formulations.kinematics import BuilderArithmetic, Kinematics
from chainform.graph import Scalar
from chainform.mechanism import Number, meaning_of


class Laws:
    """Reads the laws of one mechanism into its graph.

    `further` are scalars that stand for names which only the caller knows.
    """

    def __init__(self, kinematics: Kinematics, further: Mapping[str, Scalar] | None = None) -> None:
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.further = dict(further or {})

    def time(self) -> Scalar:
        """Return the time t, an input."""
        return self.builder.input("t", "t", 0)

    def scalar(self, law: Number) -> Scalar:
        """Return a law as a scalar."""
        if isinstance(law, Fraction):
            return self.builder.number(law)
        symbols = {name: self._symbol(name) for name in sorted(symbols_of(law))}
        return evaluate_expression(law, symbols, BuilderArithmetic(self.builder))

    def _symbol(self, name: str) -> Scalar:
        if name in self.further:
            return self.further[name]
        mechanism = self.kinematics.mechanism
        meaning = meaning_of(name, mechanism.coordinates, mechanism.rates)
        if meaning is None:
            return self.kinematics.parameter(name)
        if meaning.group == "t":
            return self.time()
        return self.kinematics.q(meaning.index, meaning.group)
