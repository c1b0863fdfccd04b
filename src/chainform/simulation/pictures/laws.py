"""Laws of coordinates and time as numbers, for many times at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.expressions import evaluate_expression, symbols_of
from chainform.mechanism import Mechanism, Number
from chainform.mechanism.laws import meaning_of
from chainform.mechanism.pose import known_values

Array = NDArray[np.float64]


class LawValues:
    """The values of the laws of one mechanism at the coordinates q (m, nq) and times t (m,).

    Where a law has no value, as the root of a negative number, the result is NaN.
    """

    def __init__(self, mechanism: Mechanism, q: Array, t: Array | None) -> None:
        self.mechanism = mechanism
        self.q = q
        self.t = t
        self._known = known_values(mechanism)
        self._definitions = {one.name: one.law for one in mechanism.definitions}
        self._definition = cache(self._value_of_definition)

    def value(self, law: Number) -> Array:
        """Return a law at all times, (m,)."""
        if isinstance(law, Fraction):
            return np.full(len(self.q), float(law))
        symbols = {name: self._symbol(name) for name in symbols_of(law)}
        with np.errstate(all="ignore"):
            value = evaluate_expression(law, symbols, _Arrays(len(self.q)))
        return np.asarray(value, dtype=np.float64)

    def vector(self, laws: Sequence[Number]) -> Array:
        """Return three laws at all times, (m, 3)."""
        return np.stack([self.value(law) for law in laws], axis=-1)

    def depends(self, law: Number) -> bool:
        """Tell whether a law changes with the coordinates or with time."""
        if isinstance(law, Fraction):
            return False
        names = (self.mechanism.coordinates, self.mechanism.rates)
        for name in symbols_of(law):
            if name in self._definitions:
                if self.depends(self._definitions[name]):
                    return True
            elif meaning_of(name, *names) is not None:
                return True
        return False

    def _value_of_definition(self, name: str) -> Array:
        return self.value(self._definitions[name])

    def _symbol(self, name: str) -> Array:
        if name in self._definitions:
            return self._definition(name)
        meaning = meaning_of(name, self.mechanism.coordinates, self.mechanism.rates)
        if meaning is None:
            return self._parameter(name)
        if meaning.group == "q":
            return self.q[:, meaning.index]
        if meaning.group == "t" and self.t is not None:
            return self.t
        raise RunError(
            "places that are laws of time need the times",
            file=self.mechanism.file,
            element=name,
            remedy="give t, one time for each row of q",
        )

    def _parameter(self, name: str) -> Array:
        if name not in self._known:
            raise RunError(
                f"the parameter {name!r} has no value, so the mechanism cannot be drawn",
                file=self.mechanism.file,
                element=name,
                remedy="give it a value in the mechanism",
            )
        return np.full(len(self.q), float(self._known[name]))


class _Arrays:
    """The arithmetic of arrays of one length."""

    def __init__(self, count: int) -> None:
        self.count = count

    def number(self, value: Fraction) -> Array:
        return np.full(self.count, float(value))

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        return _FUNCTIONS[function](*arguments)


def _step(x: Array) -> Array:
    return np.where(x >= 0, 1.0, 0.0)


def _least(*arguments: Array) -> Array:
    return np.min(arguments, axis=0)


def _greatest(*arguments: Array) -> Array:
    return np.max(arguments, axis=0)


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "sign": np.sign,
    "step": _step,
    "min": _least,
    "max": _greatest,
    "reciprocal": np.reciprocal,
    "sqrt": np.sqrt,
    "pow": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
}
