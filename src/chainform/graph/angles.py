"""Sines and cosines in a draft: which angle each is of, and angles added and subtracted.

An angle is a sum of variables with coefficients, so that (q2 + q3) + q4 and q2 + (q3 + q4) are
known to be the same. Its first coefficient is positive: sin(-x) is -sin(x).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from chainform.graph.draft import Draft
from chainform.graph.scalar import Number, Terms

AngleSum: TypeAlias = tuple[tuple[int, Number], ...]
"""Variables, ascending, with their coefficients; the first one is positive."""


class Angles:
    """The angles of the sines and cosines that some variables use."""

    def __init__(self, draft: Draft, variables: Iterable[int]) -> None:
        self.draft = draft
        self.of: dict[int, AngleSum] = {}
        """The angle of each sine and cosine."""
        self._sine: dict[AngleSum, int] = {}
        self._cosine: dict[AngleSum, int] = {}
        self._argument: dict[AngleSum, int] = {}
        self._linear: dict[int, dict[int, Number]] = {}
        for v in variables:
            function, argument = draft.calls.get(v, ("", -1))
            if function in ("sin", "cos"):
                self._note(v, function, argument)

    def _note(self, v: int, function: str, argument: int) -> None:
        angle, sign = canonical(self.linear(argument))
        if sign < 0 or not angle:
            return
        self.of[v] = angle
        self._argument.setdefault(angle, argument)
        (self._sine if function == "sin" else self._cosine).setdefault(angle, v)

    def linear(self, variable: int) -> dict[int, Number]:
        """Return a variable as a sum of inputs and other variables with coefficients."""
        known = self._linear.get(variable)
        if known is not None:
            return known
        terms = self.draft.terms.get(variable)
        total: dict[int, Number] = {variable: 1}
        if terms and all(len(monomial) == 1 for monomial in terms):
            total = {}
            for (v,), k in terms.items():
                for inner, l in self.linear(v).items():
                    total[inner] = total.get(inner, 0) + k * l
            total = {v: k for v, k in total.items() if k}
        self._linear[variable] = total
        return total

    @property
    def complete(self) -> list[AngleSum]:
        """The angles of which both sine and cosine are present."""
        return [angle for angle in self._sine if angle in self._cosine]

    def is_sine(self, v: int) -> bool:
        """Whether a variable is a sine of a known angle."""
        return v in self.of and self._sine.get(self.of[v]) == v

    def has(self, function: str, angle: AngleSum) -> bool:
        """Whether that sine or cosine is present."""
        return angle in (self._sine if function == "sin" else self._cosine)

    def sine(self, angle: AngleSum) -> int:
        """Return the sine of an angle, a new call if need be."""
        if angle not in self._sine:
            self._sine[angle] = self._new("sin", angle)
        return self._sine[angle]

    def cosine(self, angle: AngleSum) -> int:
        """Return the cosine of an angle, a new call if need be."""
        if angle not in self._cosine:
            self._cosine[angle] = self._new("cos", angle)
        return self._cosine[angle]

    def _new(self, function: str, angle: AngleSum) -> int:
        if angle not in self._argument:
            self._argument[angle] = self._sum_of(angle)
        v = self.draft.call(function, self._argument[angle])
        self.of[v] = angle
        return v

    def _sum_of(self, angle: AngleSum) -> int:
        """Return a new variable for an angle, made of as few present angles as possible."""
        if len(angle) == 1 and angle[0][1] == 1:
            return angle[0][0]
        wanted = dict(angle)
        for known, argument in self._argument.items():
            rest = dict(wanted)
            for v, k in known:
                rest[v] = rest.get(v, 0) - k
            left = [(v, k) for v, k in rest.items() if k]
            if len(known) > 1 and len(left) == 1 and left[0][1] in (1, -1):
                terms: Terms = {(argument,): 1, (left[0][0],): left[0][1]}
                return self.draft.add(terms, self._name(angle))
        return self.draft.add({(v,): k for v, k in angle}, self._name(angle))

    def _name(self, angle: AngleSum) -> str:
        """Return a name such as q2_q2_q3 or q1_minus_q2 for a short sum of named angles."""
        names = self.draft.graph.names
        if any(v >= len(names) or k not in (1, 2, -1) for v, k in angle):
            return ""
        parts = [
            names[v] if k > 0 else f"minus_{names[v]}" for v, k in angle for _ in range(abs(int(k)))
        ]
        return "_".join(parts)


def canonical(parts: dict[int, Number]) -> tuple[AngleSum, int]:
    """Return an angle with its first coefficient positive, and the sign that was taken out."""
    rows = tuple(sorted((v, k) for v, k in parts.items() if k))
    if rows and rows[0][1] < 0:
        return tuple((v, -k) for v, k in rows), -1
    return rows, 1


def combined(a: AngleSum, b: AngleSum, sign: int) -> tuple[AngleSum, int]:
    """Return a + b or a - b, in canonical form, and its sign."""
    total: dict[int, Number] = dict(a)
    for v, k in b:
        total[v] = total.get(v, 0) + sign * k
    return canonical(total)


def whole_parts(parts: dict[int, Number]) -> dict[int, int] | None:
    """Return the parts of an angle if it can be split by the addition formulas."""
    if any(Fraction(k).denominator != 1 for k in parts.values()):
        return None
    counts = {v: int(k) for v, k in parts.items()}
    return counts if sum(map(abs, counts.values())) <= LARGEST_MULTIPLE else None


LARGEST_MULTIPLE = 100
"""The longest sum of angles, counted with repetition, that is split into its parts."""
