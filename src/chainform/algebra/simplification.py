"""Put sums in order after a change: zeros, other names, repetitions, sums used once.

Only what was touched is looked at, and whatever that touches in turn.
"""

from __future__ import annotations

from chainform.algebra.monomials import EMPTY, ZERO
from chainform.algebra.sums import Sums


class Tidier:
    """Keeps the sums free of variables that are zero, numbers, other names, or used but once."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        self._of_shape: dict[tuple[tuple[int, int], ...], int] = {}

    def tidy(self) -> None:
        """Look at every sum that was touched."""
        touched = self.sums.touched
        while touched:
            variable, _ = touched.popitem()
            if self.sums.terms[variable] is not None:
                self._look_at(variable)

    def _look_at(self, v: int) -> None:
        sums = self.sums
        users = sums.users[v]
        if not users:
            if v not in sums.roots:
                sums.drop(v)
            else:
                self._merge(v)
            return
        terms = sums.sum_of(v)
        if not terms or (len(terms) == 1 and (EMPTY in terms or self._is_other_name(v))):
            self._substitute(v)
        elif v not in sums.roots and len(users) == 1 and next(iter(users.values())) == 1:
            if not self._inline_once(v):
                self._merge(v)
        else:
            self._merge(v)

    def _is_other_name(self, v: int) -> bool:
        ((monomial, coefficient),) = self.sums.sum_of(v).items()
        return coefficient < 2 and len(self.sums.monomials.factors[monomial]) == 1

    def _substitute(self, v: int) -> None:
        """Write the definition in the place of the variable, wherever it is used."""
        substitute(self.sums, v, list(self.sums.users[v]))

    def _inline_once(self, v: int) -> bool:
        """Write a variable that is used once where it is used, unless that costs more."""
        sums = self.sums
        (user,) = sums.users[v]
        if sums.is_constant[v] and not sums.is_constant[user]:
            return False
        monomials, numbers = sums.monomials, sums.numbers
        definition = list(sums.sum_of(v).items())
        single = monomials.of((v,))
        monomial, rest = single, EMPTY
        if single not in sums.sum_of(user):
            if len(definition) > 1:
                return False
            monomial = next(m for m in sums.sum_of(user) if v in monomials.factors[m])
            quotient = monomials.quotient(monomial, single)
            assert quotient is not None
            rest = quotient
        k = sums.sum_of(user)[monomial]
        written = [(monomials.product(rest, m), numbers.product(k, l)) for m, l in definition]
        before = sum(sums.term_cost(m, l) for m, l in definition) + sums.term_cost(monomial, k)
        if sum(sums.term_cost(m, l) for m, l in written) > before + 1e-9:
            return False
        sums.remove(user, monomial)
        for m, l in written:
            sums.insert(user, m, l)
        sums.drop(v)
        return True

    def _merge(self, v: int) -> None:
        """Let variables with proportional sums be one and a multiple of it."""
        sums = self.sums
        terms = sums.sum_of(v)
        if not terms or (len(terms) == 1 and not self._is_costly(v)):
            return
        shape = self._shape(v)
        other = self._of_shape.setdefault(shape, v)
        if other == v:
            return
        known = sums.terms[other]
        if known is None or len(known) != len(terms) or self._shape(other) != shape:
            self._of_shape[shape] = v
            return
        first = shape[0][0]
        scale = sums.numbers.ratio(terms[first], known[first])
        if scale > 1 and len(terms) == 1:
            return
        for monomial in list(terms):
            sums.remove(v, monomial)
        sums.insert(v, sums.monomials.of((other,)), scale)

    def _is_costly(self, v: int) -> bool:
        ((monomial, coefficient),) = self.sums.sum_of(v).items()
        return self.sums.term_cost(monomial, coefficient) > 0

    def _shape(self, v: int) -> tuple[tuple[int, int], ...]:
        """Return the terms with the first coefficient divided out; a single term keeps its own."""
        items = sorted(self.sums.sum_of(v).items())
        if len(items) == 1:
            return ((items[0][0], items[0][1] & ~1),)
        ratio, scale = self.sums.numbers.ratio, items[0][1]
        return tuple((m, ratio(k, scale)) for m, k in items)


def substitute(sums: Sums, variable: int, users: list[int]) -> None:
    """Multiply the sum of a variable out in each of some users."""
    for user in users:
        for monomial in [m for m in sums.sum_of(user) if variable in sums.monomials.factors[m]]:
            if monomial in sums.sum_of(user):
                _multiply_out(sums, variable, user, monomial)


def _multiply_out(sums: Sums, variable: int, user: int, monomial: int) -> None:
    monomials, numbers = sums.monomials, sums.numbers
    factors = monomials.factors[monomial]
    rest = tuple(v for v in factors if v != variable)
    product: dict[int, int] = {monomials.of(rest): sums.remove(user, monomial)}
    definition = sums.sum_of(variable)
    for _ in range(len(factors) - len(rest)):
        expanded: dict[int, int] = {}
        for m, k in product.items():
            for n, l in definition.items():
                key = monomials.product(m, n)
                term = numbers.product(k, l)
                present = expanded.get(key)
                total = term if present is None else numbers.total(present, term)
                if total == ZERO:
                    del expanded[key]
                else:
                    expanded[key] = total
        product = expanded
    for m, k in product.items():
        sums.insert(user, m, k)
