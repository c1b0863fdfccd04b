"""A sum written in other angles: an angle is replaced by its sum with another one everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from chainform.algebra.angle_letters import (
    Allowance,
    AngleLetters,
    Letter,
    Sum,
    add_to,
    added,
    product,
)
from chainform.graph import NamedMonomial

if TYPE_CHECKING:
    from flint import fmpq_mpoly


MOST_FORMED = 300_000
"""Terms that are formed, before like ones are added up, when an angle is replaced."""


class AngleBasis:
    """A sum as a polynomial in the sines and cosines of some angles, and steps to other angles."""

    def __init__(self, terms: Sum, angles: AngleLetters, allowance: Allowance) -> None:
        from flint import Ordering, fmpq, fmpq_mpoly_ctx

        self.numbers = angles
        self.allowance = allowance
        present = sorted({letter // 2 for monomial in terms for letter, _ in monomial})
        self.angles = [dict(angles.terms[number]) for number in present]
        first = {number: 2 * index for index, number in enumerate(present)}
        names = [f"x{index}" for index in range(2 * len(present))]
        self.ring: Any = fmpq_mpoly_ctx.get(names, Ordering.lex)
        self.generators: list[Any] = list(self.ring.gens())
        rows: dict[tuple[int, ...], Any] = {}
        for monomial, k in terms.items():
            powers = [0] * len(names)
            for letter, power in monomial:
                powers[first[letter // 2] + letter % 2] = power
            rows[tuple(powers)] = fmpq(k.numerator, k.denominator)
        self.polynomial = self._reduced(self.ring.from_dict(rows))

    def terms(self) -> Sum:
        """Return the sum as terms by angles."""
        numbers = [self.numbers.number(parts) for parts in self.angles]
        found: Sum = {}
        for powers, k in self.polynomial.terms():
            coefficient = Fraction(int(k.p), int(k.q))
            monomial: list[tuple[Letter, int]] = []
            for index, power in enumerate(map(int, powers)):
                if power:
                    number, sign = numbers[index // 2]
                    monomial.append((2 * number + index % 2, power))
                    coefficient *= 1 if index % 2 else sign**power
            add_to(found, product(monomial), coefficient)
        return found

    def _reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        degrees = polynomial.degrees()
        for index in range(0, len(self.generators), 2):
            if degrees[index] > 1:
                sine, cosine = self.generators[index : index + 2]
                polynomial = polynomial % (sine**2 + cosine**2 - 1)
        return polynomial

    def _pair(self, index: int, times: int = 1) -> tuple[Any, Any]:
        """Return the sine and cosine of a multiple of an angle."""
        s, c = self.generators[2 * index : 2 * index + 2]
        sine, cosine = self.ring.constant(0), self.ring.constant(1)
        for _ in range(abs(times)):
            sine, cosine = sine * c + cosine * s, cosine * c - sine * s
        return (sine if times > 0 else -sine), cosine

    def _with(self, index: int, sine: Any, cosine: Any) -> fmpq_mpoly | None:
        """Return the polynomial with another sine and cosine in place of those of an angle.

        None where too many terms would be formed on the way.
        """
        s, c = self.polynomial.degrees()[2 * index : 2 * index + 2]
        if len(self.polynomial) * len(sine) ** int(s) * len(cosine) ** int(c) > MOST_FORMED:
            return None
        images = list(self.generators)
        images[2 * index : 2 * index + 2] = [sine, cosine]
        found = self._reduced(self.polynomial.compose(*images, ctx=self.ring))
        self.allowance.spend(len(self.polynomial) + len(found))
        return found

    def remove_dependent(self) -> None:
        """Write sines and cosines of sums of other angles by those, rare angles first."""
        degrees = self.polynomial.degrees()
        uses = [degrees[2 * i] + degrees[2 * i + 1] for i in range(len(self.angles))]
        order = sorted(range(len(self.angles)), key=lambda i: (-uses[i], i))
        basis: list[int] = []
        for index in order:
            if not uses[index]:
                continue
            parts = _whole_parts(self.angles[index], [self.angles[b] for b in basis])
            if parts is None:
                basis.append(index)
                continue
            sine, cosine = self.ring.constant(0), self.ring.constant(1)
            for b, times in zip(basis, parts, strict=True):
                if times:
                    s, c = self._pair(b, times)
                    sine, cosine = sine * c + cosine * s, cosine * c - sine * s
            found = self._with(index, sine, cosine)
            self.polynomial = self.polynomial if found is None else found

    def run(self) -> None:
        """Replace one angle after the other by its sum with another one, as long as this pays."""
        while self.allowance.left > 0:
            best = min(self._steps(), key=lambda step: step[0], default=None)
            if best is None or best[0] >= _grade(self.polynomial):
                return
            _, self.polynomial, index, parts = best
            self.angles[index] = parts

    def _steps(
        self,
    ) -> Iterator[tuple[tuple[int, int], Any, int, dict[NamedMonomial, Fraction]]]:
        """Yield what each replacement of an angle a by a + b or a - b gives."""
        for i, j in sorted(self._together()):
            for sign in (1, -1):
                if self.allowance.left <= 0:
                    return
                # a is (a + b) - b; from here on the letters of a are those of a + b.
                (s, c), (sine, cosine) = self._pair(i), self._pair(j, -sign)
                found = self._with(i, s * cosine + c * sine, c * cosine - s * sine)
                parts = added(self.angles[i].items(), self.angles[j].items(), sign)
                if parts and found is not None:
                    yield _grade(found), found, i, parts

    def _together(self) -> set[tuple[int, int]]:
        """Return the pairs of angles that stand in one term."""
        pairs: set[tuple[int, int]] = set()
        for powers in self.polynomial.monoms():
            present = sorted({index // 2 for index, power in enumerate(powers) if power})
            pairs |= {(i, j) for i in present for j in present if i != j}
        return pairs


def _grade(polynomial: fmpq_mpoly) -> tuple[int, int]:
    """Return what makes one polynomial shorter than another, as far as it is known at once."""
    return len(polynomial), sum(polynomial.degrees())


def _whole_parts(
    angle: dict[NamedMonomial, Fraction], basis: list[dict[NamedMonomial, Fraction]]
) -> list[int] | None:
    """Return an angle as a sum of others, times whole numbers up to 3; None if it is none."""
    rows = sorted({m for parts in (*basis, angle) for m in parts})
    matrix = [
        [parts.get(m, Fraction(0)) for parts in basis] + [angle.get(m, Fraction(0))] for m in rows
    ]
    columns = len(basis)
    pivots: list[int] = []
    for column in range(columns):
        rank = len(pivots)
        row = next((r for r in range(rank, len(matrix)) if matrix[r][column]), None)
        if row is None:
            continue
        matrix[rank], matrix[row] = matrix[row], matrix[rank]
        pivot = matrix[rank][column]
        matrix[rank] = [value / pivot for value in matrix[rank]]
        for other in range(len(matrix)):
            factor = matrix[other][column]
            if other != rank and factor:
                pairs = zip(matrix[other], matrix[rank], strict=True)
                matrix[other] = [x - factor * y for x, y in pairs]
        pivots.append(column)
    if any(row[columns] for row in matrix[len(pivots) :]):
        return None
    found = [Fraction(0)] * columns
    for rank, column in enumerate(pivots):
        found[column] = matrix[rank][columns]
    if any(k.denominator != 1 or abs(k) > 3 for k in found):
        return None
    return [int(k) for k in found]
