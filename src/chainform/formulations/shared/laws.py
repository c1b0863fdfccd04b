"""Laws of coordinates, rates and time as scalars of a graph; element models add definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from graphlib import TopologicalSorter

from chainform.expressions import evaluate_expression, symbols_of
from chainform.formulations.shared.kinematics import BuilderArithmetic, Kinematics
from chainform.formulations.shared.scope import error_context
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism, Number, is_law_of_time, meaning_of, numbers_in


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


class ElementLaws:
    """Reads the laws of one element model into a graph."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.kinematics = Kinematics(mechanism, builder)

    @cached_property
    def has_time(self) -> bool:
        """Whether a law names the time t, or the base moves by one."""
        if is_law_of_time(self.mechanism.base.numbers):
            return True
        names = (self.mechanism.coordinates, self.mechanism.rates)
        own = (self.mechanism.elements, self.mechanism.definitions)
        for law in numbers_in((own, self.mechanism.constraints, self.mechanism.quasi)):
            for name in frozenset[str]() if isinstance(law, Fraction) else symbols_of(law):
                meaning = meaning_of(name, *names)
                if meaning is not None and meaning.group == "t":
                    return True
        return False

    def time(self) -> Scalar:
        """Return the time t, an input."""
        return self._laws.time()

    @cached_property
    def definitions(self) -> dict[str, Scalar]:
        """The definitions of the mechanism, by name."""
        laws = Laws(self.kinematics)
        given = {d.name: d.law for d in self.mechanism.definitions}
        needs = {name: _names(law) & given.keys() for name, law in given.items()}
        for name in TopologicalSorter(needs).static_order():
            with error_context(self.mechanism, f"definition {name!r}"):
                laws.further[name] = self.builder.name(name, laws.scalar(given[name]))
        return laws.further

    @cached_property
    def _laws(self) -> Laws:
        """Laws without unknown forces."""
        return Laws(self.kinematics, self.definitions)

    @cached_property
    def unknowns(self) -> tuple[Scalar, ...]:
        """The unknown forces X, inputs."""
        names = enumerate(self.mechanism.unknowns)
        return tuple(self.builder.input(name, "force", place) for place, name in names)

    def scalar(self, law: Number) -> Scalar:
        """Return a law without unknown forces."""
        return self._laws.scalar(law)

    @cached_property
    def _open(self) -> Laws:
        given = dict(zip(self.mechanism.unknowns, self.unknowns, strict=True))
        return Laws(self.kinematics, self.definitions | given)

    @cached_property
    def _closed(self) -> Laws:
        zeros = dict.fromkeys(self.mechanism.unknowns, self.builder.number(0))
        return Laws(self.kinematics, self.definitions | zeros)

    def known(self, laws: Sequence[Number]) -> tuple[Scalar, ...]:
        """Return laws with all unknown forces zero."""
        return tuple(self.builder.keep(self._closed.scalar(law)) for law in laws)

    def whole(self, laws: Sequence[Number]) -> tuple[Scalar, ...]:
        """Return laws with the unknown forces as inputs."""
        return tuple(self.builder.keep(self._open.scalar(law)) for law in laws)

    def unknowns_in(self, laws: Sequence[Number]) -> list[int]:
        """Return the places of the unknown forces that occur in some laws."""
        found = frozenset[str]().union(*(_names(law) for law in laws))
        return [k for k, name in enumerate(self.mechanism.unknowns) if name in found]


def _names(law: Number) -> frozenset[str]:
    return frozenset() if isinstance(law, Fraction) else symbols_of(law)
