"""A graph in the form reductions work on: sums of terms that change in place, and back again.

Variable v is either given (an input, a call, an angle) or a sum: a dictionary from monomial to
coefficient, both by number (`Monomials`, `Coefficients`). Whatever is done to the sums, the value
of a variable never changes; only its definition does. All changes go through `insert` and `remove`,
which keep the cost, the users of each variable and the index of divisors up to date, and write a
log; `undo` takes everything back to a mark, in time proportional to what was changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from chainform.algebra.index import LONG, Index, Pair, Sum
from chainform.algebra.monomials import ZERO, Coefficients, Monomials


@dataclass(frozen=True)
class Prices:
    """What an operation costs in the objective of a reduction."""

    multiplication: float = 1.0
    addition: float = 1.0
    call: float = 12.0
    """A sine or cosine that is added or saved, on the target."""


STANDARD = Prices()


class Sums:
    """Sums of terms over given variables."""

    def __init__(self, prices: Prices = STANDARD) -> None:
        self.prices = prices
        self.numbers = Coefficients()
        self.is_constant: list[bool] = []
        """Which variables depend on parameters alone: they are computed once and cost nothing."""
        self.monomials = Monomials(self.is_constant, prices.multiplication)
        self.terms: list[Sum | None] = []
        """The sum of each variable; None for one that is given."""
        self.users: list[dict[int, int]] = []
        """For each variable, the variables that use it and in how many terms."""
        self.roots: set[int] = set()
        """Variables that have to stay: outputs, and arguments of calls."""
        self.argument: dict[int, int] = {}
        """The argument of each given variable that is a call of a sum."""
        self.birth: list[int] = []
        """A number for each variable that no earlier variable of the same index had."""
        self._births = 0
        self.partner: dict[int, int] = {}
        """The cosine of each given sine and the sine of each given cosine."""
        self.sines: set[int] = set()
        self.identities: dict[Pair, tuple[int, int]] = {}
        """Divisors of which a given variable is a multiple, by an addition formula."""
        self.price: dict[int, float] = {}
        """What a given variable costs as soon as it is used."""
        self.cost = 0.0
        self.index = Index(self.monomials, self.numbers, self.identities)
        self.constants: list[int] = []
        """How many terms of each sum have no factor that moves; together they are one constant."""
        self._free: dict[bool, list[int]] = {False: [], True: []}
        self._dropped: list[int] = []
        self._log: list[tuple[int, int, int]] = []
        self.touched: dict[int, None] = {}
        """Variables whose sum has changed since the last tidying."""

    # --- variables ----------------------------------------------------------------------

    def given(self, *, is_constant: bool = False, price: float = 0.0) -> int:
        """Return a new variable without a sum."""
        variable = self._row(None, is_constant)
        if price:
            self.price[variable] = price
        return variable

    def define(self, terms: Iterable[tuple[int, int]], *, is_constant: bool = False) -> int:
        """Return a new variable with these terms."""
        free = self._free[is_constant]
        if free:
            variable = free.pop()
            self.terms[variable] = {}
            self._births += 1
            self.birth[variable] = self._births
        else:
            variable = self._row({}, is_constant)
        self._log.append((variable, _DEFINED, 0))
        for monomial, coefficient in terms:
            self.insert(variable, monomial, coefficient)
        return variable

    def _row(self, terms: Sum | None, is_constant: bool) -> int:
        self.terms.append(terms)
        self.users.append({})
        self.is_constant.append(is_constant)
        self.constants.append(0)
        self._births += 1
        self.birth.append(self._births)
        return len(self.terms) - 1

    def drop(self, variable: int) -> None:
        """Remove a sum that nothing uses; its index is free once this cannot be taken back."""
        for monomial in list(self.sum_of(variable)):
            self.remove(variable, monomial)
        self.terms[variable] = None
        self._dropped.append(variable)
        self._log.append((variable, _DROPPED, 0))

    def sum_of(self, variable: int) -> Sum:
        """Return the sum of a variable that has one."""
        terms = self.terms[variable]
        assert terms is not None
        return terms

    def defined(self) -> list[int]:
        """Return the variables that have a sum."""
        return [v for v, terms in enumerate(self.terms) if terms is not None]

    def unused(self) -> list[int]:
        """Return the sums that neither a sum nor a root needs."""
        users, roots = self.users, self.roots
        return [v for v in self.defined() if not users[v] and v not in roots]

    # --- terms --------------------------------------------------------------------------

    def insert(self, variable: int, monomial: int, coefficient: int) -> None:
        """Add a term to a sum; terms with the same monomial become one."""
        terms = self.terms[variable]
        assert terms is not None
        if monomial in terms:
            present = self.remove(variable, monomial)
            coefficient = self.numbers.total(present, coefficient)
            if coefficient == ZERO:
                return
        self._account(variable, monomial, coefficient, len(terms), 1)
        self._use(variable, monomial)
        if not self.is_constant[variable]:
            self.index.enter(variable, monomial, coefficient, terms)
        terms[monomial] = coefficient
        self._log.append((variable, monomial, _INSERTED))
        self.touched[variable] = None

    def remove(self, variable: int, monomial: int) -> int:
        """Take a term out of a sum and return its coefficient."""
        terms = self.terms[variable]
        assert terms is not None
        coefficient = terms.pop(monomial)
        self._account(variable, monomial, coefficient, len(terms), -1)
        self._leave(variable, monomial)
        if not self.is_constant[variable]:
            self.index.leave(variable, monomial, coefficient, terms)
        self._log.append((variable, monomial, coefficient))
        self.touched[variable] = None
        return coefficient

    def _use(self, variable: int, monomial: int) -> None:
        """Note that a variable uses the factors of a monomial, in one term more."""
        users_of = self.users
        for v in self.monomials.factors[monomial]:
            users = users_of[v]
            if variable in users:
                users[variable] += 1
                continue
            if not users and v in self.price:
                self.cost += self.price[v]
            users[variable] = 1

    def _leave(self, variable: int, monomial: int) -> None:
        """Note that a variable uses the factors of a monomial in one term less."""
        users_of = self.users
        for v in self.monomials.factors[monomial]:
            users = users_of[v]
            if users[variable] > 1:
                users[variable] -= 1
                continue
            del users[variable]
            if not users:
                self._left(v)

    def _left(self, variable: int) -> None:
        """Note that nothing uses a variable any more."""
        if variable in self.price:
            self.cost -= self.price[variable]
        elif self.terms[variable] is not None:
            self.touched[variable] = None

    def term_cost(self, monomial: int, coefficient: int) -> float:
        """Return the cost of one term by the counting rule, its addition to others apart."""
        size = coefficient >> 1
        if size == 0:
            return self.monomials.unit_cost[monomial]
        if size == 1 and not self.monomials.has_constant[monomial]:
            doubling = self.prices.addition if self.monomials.degree[monomial] else 0.0
            return self.monomials.unit_cost[monomial] + doubling
        return self.monomials.scaled_cost[monomial]

    def _account(self, v: int, monomial: int, coefficient: int, others: int, sign: int) -> None:
        """Charge a term that comes to, or leaves, a sum with so many others.

        The terms without a moving factor are one constant, computed once.
        """
        if self.is_constant[v]:
            return
        if not self.monomials.degree[monomial]:
            before = self.constants[v]
            self.constants[v] = before + sign
            if before if sign > 0 else before > 1:
                return
            constants = 0
        else:
            constants = self.constants[v]
        if others - constants + (constants > 0) > 0:
            self.cost += sign * self.prices.addition
        self.cost += sign * self.term_cost(monomial, coefficient)

    # --- undo ---------------------------------------------------------------------------

    def mark(self) -> int:
        """Return the present length of the log."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Take back every change since a mark."""
        log = self._log
        passing = self._passing(mark)
        while len(log) > mark:
            variable, monomial, change = log.pop()
            if (variable, monomial) in passing:
                # Its users are gone through all the same: they keep the order they came in.
                if change == _INSERTED:
                    self._leave(variable, monomial)
                else:
                    self._use(variable, monomial)
            elif monomial == _DEFINED:
                self.terms[variable] = None
                self._free[self.is_constant[variable]].append(variable)
            elif monomial == _DROPPED:
                self.terms[variable] = {}
                self._dropped.pop()
            elif change == _INSERTED:
                self.remove(variable, monomial)
                log.pop()
            else:
                self.insert(variable, monomial, change)
                log.pop()
        self.touched.clear()
        self.index.fresh.clear()

    def _passing(self, mark: int) -> set[tuple[int, int]]:
        """Return the terms that came after a mark and have gone again: most that is in the log.

        A sum that was long meanwhile is gone through term by term, as the index notes but a part
        of its pairs, and which depends on what was there.
        """
        first: dict[tuple[int, int], int] = {}
        lengths: dict[int, int] = {}
        for variable, monomial, change in islice(self._log, mark, None):
            first.setdefault((variable, monomial), change)
            if change != _INSERTED:
                lengths[variable] = lengths.get(variable, 0) + 1
        for variable in lengths:
            lengths[variable] += len(self.terms[variable] or ())
        return {
            (variable, monomial)
            for (variable, monomial), change in first.items()
            if change == _INSERTED
            and monomial not in (self.terms[variable] or ())
            and lengths[variable] < LONG
        }

    def forget(self) -> None:
        """Empty the log: what was done until now stays."""
        self._log.clear()
        for variable in self._dropped:
            self._free[self.is_constant[variable]].append(variable)
        self._dropped.clear()

    # --- results ------------------------------------------------------------------------

    def above(self, variable: int) -> set[int]:
        """Return a variable and everything that is computed from it."""
        calls: dict[int, list[int]] = {}
        for call, argument in self.argument.items():
            calls.setdefault(argument, []).append(call)
        found = {variable}
        stack = [variable]
        while stack:
            v = stack.pop()
            for user in (*self.users[v], *calls.get(v, ())):
                if user not in found:
                    found.add(user)
                    stack.append(user)
        return found

    def order(self) -> list[int]:
        """Return all variables with a sum, and calls of sums, so that what is used comes first."""
        seen: set[int] = set()
        order: list[int] = []
        for root in (*self.defined(), *self.argument):
            if root in seen:
                continue
            stack = [(root, iter(self.needs(root)))]
            seen.add(root)
            while stack:
                variable, needed = stack[-1]
                for v in needed:
                    if v not in seen:
                        seen.add(v)
                        stack.append((v, iter(self.needs(v))))
                        break
                else:
                    stack.pop()
                    order.append(variable)
        return order

    def needs(self, variable: int) -> list[int]:
        """Return the sums and calls of sums that the definition of a variable names."""
        terms, argument = self.terms, self.argument
        return [v for v in self.names_in(variable) if terms[v] is not None or v in argument]

    def names_in(self, variable: int) -> list[int]:
        """Return the variables in a definition, each once; of a call of a sum, its argument."""
        terms = self.terms[variable]
        if terms is None:
            return [self.argument[variable]] if variable in self.argument else []
        factors = self.monomials.factors
        return list({v: None for m in terms for v in factors[m]})


_DEFINED, _DROPPED, _INSERTED = -1, -2, -1
Value = TypeVar("Value")


def complete(
    known: MutableMapping[int, Value],
    variable: int,
    needs: Callable[[int], Iterable[int]],
    compute: Callable[[int], Value],
    key: Callable[[int], int] = int,
) -> Value:
    """Return what is known of a variable; what is missing is computed first, the deepest first.

    Each variable is known under its `key`.
    """
    stack = [variable]
    while stack:
        v = stack[-1]
        if key(v) not in known:
            missing = [u for u in needs(v) if key(u) not in known]
            if missing:
                stack += missing
                continue
            known[key(v)] = compute(v)
        stack.pop()
    return known[key(variable)]
