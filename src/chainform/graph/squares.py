"""Sums in which s^2 + c^2 = 1 is used: other ways to write the same expression.

Seen from one angle, an expression is a sum of M (a s^2 + b c^2 + g) over cofactors M. Of the three
coefficients one can always be made zero; which one is cheapest depends on the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chainform.graph.draft import add_term, price
from chainform.graph.scalar import Monomial, Number, Terms


def without_square(terms: Terms, gone: int, kept: int) -> Terms:
    """Return a sum with every square of one letter replaced: gone^2 = 1 - kept^2.

    The result is canonical in this angle. Where the true function is at most quadratic in sine and
    cosine of it, no power above two is left.
    """
    total = {m: k for m, k in terms.items() if m.count(gone) < 2}
    stack = [(m, k) for m, k in terms.items() if m.count(gone) >= 2]
    while stack:
        monomial, k = stack.pop()
        if monomial.count(gone) < 2:
            add_term(total, monomial, k)
            continue
        rest = _without(_without(monomial, gone), gone)
        stack.append((rest, k))
        stack.append((tuple(sorted((*rest, kept, kept))), -k))
    return total


def _without(monomial: Monomial, letter: int) -> Monomial:
    place = monomial.index(letter)
    return monomial[:place] + monomial[place + 1 :]


def cheapest_squares(terms: Terms, sine: int, cosine: int) -> Terms:
    """Return a sum with the cheapest of the three forms chosen for each cofactor of an angle."""
    groups: dict[Monomial, list[Number]] = {}
    for monomial, k in terms.items():
        for letter, place in ((sine, 0), (cosine, 1)):
            if monomial.count(letter) >= 2:
                rest = _without(_without(monomial, letter), letter)
                groups.setdefault(rest, [0, 0, 0])[place] = k
    total = dict(terms)
    for rest in sorted(groups, key=len, reverse=True):
        forms = (
            tuple(sorted((*rest, sine, sine))),
            tuple(sorted((*rest, cosine, cosine))),
            rest,
        )
        a, b, g = (total.get(monomial, 0) for monomial in forms)
        choices = ((a, b, g), (a - b, 0, g + b), (0, b - a, g + a), (a + g, b + g, 0))
        best = min(choices, key=lambda choice: _group_price(forms, choice))
        for monomial, k in zip(forms, best, strict=True):
            total.pop(monomial, None)
            if k:
                total[monomial] = k
    return total


def _group_price(forms: tuple[Monomial, ...], choice: tuple[Number, ...]) -> int:
    present = {monomial: k for monomial, k in zip(forms, choice, strict=True) if k}
    return price(present) + 1 if present else 0


def highest_power(terms: Terms, letters: tuple[int, int]) -> int:
    """Return the highest power of some letters in a sum."""
    return max((m.count(letter) for m in terms for letter in letters), default=0)


def shortest(terms: Terms, pairs: Sequence[tuple[int, int]], *, best_first: bool = True) -> Terms:
    """Return a sum with s^2 + c^2 = 1 used on one angle after the other until nothing is saved."""
    squared = {v for m in terms for v, w in pairwise(m) if v == w}
    todo = [pair for pair in pairs if pair[0] in squared or pair[1] in squared]
    improved = True
    while improved and todo:
        improved = False
        if best_first:
            todo.sort(key=lambda pair: _grade(_rewritten(terms, pair), pair))
        for pair in todo:
            rewritten = _rewritten(terms, pair)
            if _grade(rewritten, pair) < _grade(terms, pair):
                terms, improved = rewritten, True
    return terms


def _rewritten(terms: Terms, pair: tuple[int, int]) -> Terms:
    """Return the best form of a sum in one angle."""
    sine, cosine = pair
    forms = [
        without_square(terms, sine, cosine),
        without_square(terms, cosine, sine),
        cheapest_squares(terms, sine, cosine),
    ]
    return min(forms, key=lambda form: _grade(form, pair))


def _grade(terms: Terms, pair: tuple[int, int]) -> tuple[int, int]:
    """Return what makes one form better than another: its price, then its highest power."""
    return price(terms), highest_power(terms, pair)
