"""Products of sines and cosines folded into sums of angles: the collected form of an expansion.

A sum is taken apart by its factors that are no sines or cosines; what remains of each part is a
sum in the angles alone, and is shortened by itself. Three identities serve. An angle may be
replaced by its sum with another one wherever it stands, as q3 by q2 + q3: what chains of parallel
axes give becomes short in the angles of their bodies. cos a cos b - sin a sin b is cos(a + b),
with any common cofactor. Of s^2, c^2 and 1 with a common cofactor one can always be left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from chainform.algebra.angle_letters import (
    Allowance,
    AngleLetters,
    Letter,
    Monomial,
    Sum,
    add_to,
    added,
    is_turned,
    product,
    size,
    symbol_order,
)
from chainform.graph import Expansion, ExpansionSymbol, NamedMonomial, expansion_of, terms_of

if TYPE_CHECKING:
    from flint import fmpq_mpoly


MOST_WORK = 100_000
"""Terms that are formed in search of a shorter form of one expression."""

Parts: TypeAlias = dict[tuple[tuple[ExpansionSymbol, int], ...], Sum]
"""Sums in angles alone, by the other factors."""
Memory: TypeAlias = dict[frozenset[tuple[Monomial, Fraction]], Sum]
"""The shortest forms that were found, by the sum that they are of."""
MOST_FORMED = 300_000
"""Terms that are formed, before like ones are added up, when an angle is replaced."""


def collected(forms: Sequence[Expansion], work: int = MOST_WORK) -> Expansion:
    """Return the shortest form found of an expression that is given in one or several forms."""
    angles, allowance = AngleLetters(), Allowance(work)
    memory: Memory = {}
    found = [_shortened(_parts(form, angles), memory, angles, allowance) for form in forms]
    best = min(found, key=_length)
    for other in found:
        if other.keys() == best.keys():
            best = {key: min(best[key], other[key], key=size) for key in best}
    return _written(best, angles, forms[0])


def arranged(form: Expansion) -> Expansion:
    """Return an expression with its terms in an order that does not depend on its angles' order."""
    angles = AngleLetters()
    return _written(_parts(form, angles), angles, form)


def _written(parts: Parts, angles: AngleLetters, form: Expansion) -> Expansion:
    """Return parts as an expression, with the factors other than angles in the order of a form."""
    rows: list[tuple[Fraction, dict[ExpansionSymbol, int]]] = []
    for others, terms in parts.items():
        for monomial, k in sorted(terms.items(), key=lambda item: angles.order(item[0])):
            factors: dict[ExpansionSymbol, int] = {}
            for letter, power in monomial:
                symbol, sign = angles.symbol(letter)
                factors[symbol] = factors.get(symbol, 0) + power
                k *= sign**power
            rows.append((k, factors | dict(others)))
    turned = {symbol for _, factors in rows for symbol in factors if is_turned(symbol)}
    plain = [symbol for symbol in form.symbols if not is_turned(symbol)]
    return expansion_of(rows, [*plain, *sorted(turned, key=symbol_order)])


def _length(parts: Parts) -> tuple[int, int]:
    sizes = [size(terms) for terms in parts.values()]
    return sum(terms for terms, _ in sizes), sum(factors for _, factors in sizes)


def _parts(form: Expansion, angles: AngleLetters) -> Parts:
    parts: Parts = {}
    for k, factors in terms_of(form):
        others: list[tuple[ExpansionSymbol, int]] = []
        monomial: list[tuple[Letter, int]] = []
        for symbol, power in factors.items():
            if is_turned(symbol):
                letter, sign = angles.letter(symbol)
                monomial.append((letter, power))
                k *= sign**power
            else:
                others.append((symbol, power))
        others.sort(key=lambda factor: str(factor[0]))
        add_to(parts.setdefault(tuple(others), {}), product(monomial), k)
    return parts


def _shortened(parts: Parts, memory: Memory, angles: AngleLetters, allowance: Allowance) -> Parts:
    found: Parts = {}
    for others, terms in parts.items():
        scale = next(iter(terms.values()), Fraction(1))
        key = frozenset((monomial, k / scale) for monomial, k in terms.items())
        if key not in memory:
            memory[key] = _shortest({m: k / scale for m, k in terms.items()}, angles, allowance)
        found[others] = {monomial: k * scale for monomial, k in memory[key].items()}
    return found


def _shortest(terms: Sum, angles: AngleLetters, allowance: Allowance) -> Sum:
    """Return the shortest form found of a sum in angles alone."""
    found = [folded(terms, angles, allowance)]
    if any(sum(power for _, power in monomial) > 1 for monomial in terms):
        basis = AngleBasis(terms, angles, allowance)
        basis.remove_dependent()
        basis.run()
        found.append(folded(basis.terms(), angles, allowance))
    return min(found, key=size)


def folded(terms: Sum, angles: AngleLetters, allowance: Allowance) -> Sum:
    """Return a sum with squares and products replaced as long as terms are saved."""
    best = terms
    while True:
        found = _products(_squares(best, angles, allowance), angles, allowance)
        if size(found) >= size(best):
            return best
        best = found


def _squares(terms: Sum, angles: AngleLetters, allowance: Allowance) -> Sum:
    """Return a sum with the fewest of s^2, c^2, 1 and cos 2a for each cofactor of an angle."""
    terms = dict(terms)
    squared = sorted({letter // 2 for m in terms for letter, power in m if power > 1})
    for angle in squared:
        sine, cosine = 2 * angle, 2 * angle + 1
        rests = {
            product((*monomial, (letter, -2)))
            for monomial in terms
            for letter, power in monomial
            if letter in (sine, cosine) and power > 1
        }
        for rest in sorted(rests, key=lambda m: (-sum(power for _, power in m), m)):
            if not allowance.spend(1):
                return terms
            forms = [product((*rest, (sine, 2))), product((*rest, (cosine, 2))), rest]
            a, b, g = (terms.get(m, Fraction(0)) for m in forms)
            none = Fraction(0)
            choices = [(a, b, g), (none, b - a, g + a), (a - b, none, g + b), (a + g, b + g, none)]
            chosen = min(choices, key=lambda choice: sum(map(bool, choice)))
            if sum(map(bool, chosen)) == 2 and a + b + 2 * g == 0:
                double, _ = angles.sum(angle, angle, 1)
                forms.append(product((*rest, (2 * double + 1, 1))))
                chosen = (none, none, none, terms.get(forms[3], none) + (b - a) / 2)
            for monomial, k in zip(forms, chosen, strict=True):
                terms.pop(monomial, None)
                if k:
                    terms[monomial] = k
    return terms


def _products(terms: Sum, angles: AngleLetters, allowance: Allowance) -> Sum:
    """Return a sum with cos a cos b - sin a sin b and the like folded, the most frequent first."""
    terms = dict(terms)
    while True:
        folds = _folds(terms, allowance)
        if not folds:
            return terms
        a, b, times = best = min(folds, key=lambda key: (-len(folds[key]), key))
        number, turned = angles.sum(a, b, times)
        for first, second, rest, kind in folds[best]:
            k, l = terms.get(first), terms.get(second)
            if k is None or l is None or _times(k, l, kind) != times:
                continue
            del terms[first], terms[second]
            if not angles.is_zero(number):
                add_to(terms, product((*rest, (2 * number + kind, 1))), k if kind else k * turned)
            elif kind:
                add_to(terms, rest, k)


Fold: TypeAlias = tuple[Monomial, Monomial, Monomial, int]
"""Two monomials, their cofactor, and whether they make a sine (0) or a cosine (1)."""


def _times(k: Fraction, l: Fraction, kind: int) -> int:
    """Return the sign of b in the angle a + b or a - b, 0 if the coefficients do not fit."""
    if abs(k) != abs(l):
        return 0
    return (1 if k == l else -1) * (-1 if kind else 1)


def _folds(terms: Sum, allowance: Allowance) -> dict[tuple[int, int, int], list[Fold]]:
    """Return where two products of two angles a, b are one of a + b or a - b."""
    products: dict[tuple[Monomial, int, int], dict[tuple[int, int], Monomial]] = {}
    for monomial in terms:
        if not allowance.spend(len(monomial)):
            return {}
        for index, (x, _) in enumerate(monomial):
            for y, _ in monomial[index + 1 :]:
                if x // 2 != y // 2:
                    rest = product((*monomial, (x, -1), (y, -1)))
                    products.setdefault((rest, x // 2, y // 2), {})[x % 2, y % 2] = monomial
    found: dict[tuple[int, int, int], list[Fold]] = defaultdict(list)
    for (rest, a, b), present in products.items():
        for one, other, kind in (((1, 1), (0, 0), 1), ((0, 1), (1, 0), 0)):
            if one in present and other in present:
                first, second = present[one], present[other]
                if times := _times(terms[first], terms[second], kind):
                    found[a, b, times].append((first, second, rest, kind))
    return found


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
