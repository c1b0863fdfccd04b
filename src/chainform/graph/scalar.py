"""A number under construction: what formulations compute with."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Protocol, TypeAlias

from chainform.graph.types import LARGEST_POWER
from chainform.graph.verification import GraphError

Number: TypeAlias = int | Fraction
Monomial: TypeAlias = tuple[int, ...]
"""The variables of a product in ascending order; x^2 y is (x, x, y), a pure number is ()."""
Terms: TypeAlias = dict[Monomial, Number]
"""A sum: the non-zero coefficient of each monomial."""


class ScalarFactory(Protocol):
    """The builder as its scalars see it: it defines variables and makes scalars."""

    names: list[str]

    def define(self, name: str | None, terms: Terms) -> int:
        """Return the variable with these terms."""
        ...

    def number(self, value: Number) -> Scalar:
        """Return an exact number as a scalar."""
        ...

    def call(self, function: str, argument: Scalar | Number) -> Scalar:
        """Return a function of a scalar."""
        ...

    def keep(self, value: Scalar | Number) -> Scalar:
        """Return a value as one variable."""
        ...

    def keep_vector(self, v: Vector) -> Vector:
        """Make every component of a vector one variable."""
        ...


class Scalar:
    """A sum of terms without a name, on its way into a graph. Immutable."""

    __slots__ = ("builder", "terms")

    def __init__(self, builder: ScalarFactory, terms: Terms) -> None:
        self.builder = builder
        self.terms = terms

    @property
    def is_number(self) -> bool:
        """Whether no variable occurs."""
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @property
    def number(self) -> Number:
        """The value of a scalar that is a number."""
        return self.terms.get((), 0)

    @property
    def is_signed_variable(self) -> bool:
        """Whether this is a variable or its opposite, which is free to use in its place."""
        if len(self.terms) != 1:
            return False
        ((monomial, coefficient),) = self.terms.items()
        return len(monomial) == 1 and coefficient in (1, -1)

    @property
    def is_free(self) -> bool:
        """Whether this takes no operation: a number, or a variable with or without a sign."""
        return self.is_number or self.is_signed_variable

    @property
    def is_negative(self) -> bool:
        """Whether the first term, in the order of monomials, has a negative coefficient."""
        return bool(self.terms) and self.terms[min(self.terms)] < 0

    def __repr__(self) -> str:
        names = self.builder.names
        parts = ("*".join([str(k), *(names[v] for v in m)]) for m, k in sorted(self.terms.items()))
        return f"Scalar({' + '.join(parts) or 0})"

    def __neg__(self) -> Scalar:
        return Scalar(self.builder, {monomial: -k for monomial, k in self.terms.items()})

    def __pos__(self) -> Scalar:
        return self

    def __add__(self, other: Scalar | Number) -> Scalar:
        if not isinstance(other, Scalar):
            return self._plus((((), other),)) if other else self
        if not other.terms:
            return self
        return self._plus(other.terms.items()) if self.terms else other

    __radd__ = __add__

    def _plus(self, items: Iterable[tuple[Monomial, Number]]) -> Scalar:
        terms = dict(self.terms)
        for monomial, coefficient in items:
            present = terms.get(monomial)
            total = coefficient if present is None else present + coefficient
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return Scalar(self.builder, terms)

    def __sub__(self, other: Scalar | Number) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: Scalar | Number) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar | Number) -> Scalar:
        if not isinstance(other, Scalar):
            return self._times_number(other)
        if other.is_number:
            return self._times_number(other.number)
        if self.is_number:
            return other._times_number(self.number)
        left, k = self._product()
        right, l = other._product()
        return Scalar(self.builder, {tuple(sorted(left + right)): _times(k, l)})

    __rmul__ = __mul__

    def _times_number(self, number: Number) -> Scalar:
        if number == 1:
            return self
        if number == -1:
            return -self
        if not number:
            return Scalar(self.builder, {})
        if len(self.terms) > 1:
            monomial, sign = self._product()
            return Scalar(self.builder, {monomial: sign * number})
        return Scalar(self.builder, {m: _times(number, k) for m, k in self.terms.items()})

    def _product(self) -> tuple[Monomial, Number]:
        """Return this scalar as one product; a sum becomes a variable, its first term positive."""
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            return monomial, coefficient
        if self.is_negative:
            return (self.builder.define(None, (-self).terms),), -1
        return (self.builder.define(None, self.terms),), 1

    def __pow__(self, exponent: int) -> Scalar:
        if exponent < 0:
            return self.builder.call("reciprocal", self**-exponent)
        if exponent > LARGEST_POWER:
            raise GraphError(f"the power {exponent} is above {LARGEST_POWER}")
        if exponent in (0, 1):
            return self if exponent else self.builder.number(1)
        if self.is_number:
            return self.builder.number(self.number**exponent)
        monomial, k = self._product()
        return Scalar(self.builder, {tuple(sorted(monomial * exponent)): k**exponent})

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        if isinstance(other, Scalar):
            return self * self.builder.call("reciprocal", other)
        return self / self.builder.number(other)

    def __rtruediv__(self, other: Number) -> Scalar:
        return self.builder.call("reciprocal", self) * other


Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]


def is_zero(value: Scalar | Number) -> bool:
    """Whether a scalar is known to be zero."""
    if isinstance(value, Scalar):
        return value.is_number and not value.number
    return not value


def shortest_number(value: Number) -> Number:
    """Return a fraction that is whole as an integer."""
    return value.numerator if value.denominator == 1 else value


def _times(k: Number, l: Number) -> Number:
    """Return k l; most coefficients are 1, and a product of fractions takes long."""
    if l == 1:
        return k
    return l if k == 1 else k * l
