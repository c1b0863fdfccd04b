"""sin^2 + cos^2 = 1 and the formulas for sums of angles, wherever they save terms of a sum."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TypeAlias

from chainform.algebra.angle_letters import (
    Allowance,
    AngleLetters,
    Monomial,
    Sum,
    add_to,
    product,
    size,
)


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
