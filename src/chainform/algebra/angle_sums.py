"""Products of sines and cosines folded into sums of angles: the collected form of an expansion.

A sum is taken apart by its factors that are no sines or cosines; what remains of each part is a
sum in the angles alone, and is shortened by itself. Three identities serve. An angle may be
replaced by its sum with another one wherever it stands, as q3 by q2 + q3: what chains of parallel
axes give becomes short in the angles of their bodies. cos a cos b - sin a sin b is cos(a + b),
with any common cofactor. Of s^2, c^2 and 1 with a common cofactor one can always be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from chainform.algebra.angle_basis import AngleBasis
from chainform.algebra.angle_letters import (
    Allowance,
    AngleLetters,
    Letter,
    Monomial,
    Sum,
    add_to,
    is_turned,
    product,
    size,
    symbol_order,
)
from chainform.algebra.trig_identities import folded
from chainform.graph import Expansion, ExpansionSymbol, expansion_of, terms_of

MOST_WORK = 100_000
"""Terms that are formed in search of a shorter form of one expression."""

Parts: TypeAlias = dict[tuple[tuple[ExpansionSymbol, int], ...], Sum]
"""Sums in angles alone, by the other factors."""
Memory: TypeAlias = dict[frozenset[tuple[Monomial, Fraction]], Sum]
"""The shortest forms that were found, by the sum that they are of."""


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
