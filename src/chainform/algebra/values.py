"""What the variables of a system are worth at a random place, in a finite field."""

from __future__ import annotations

from chainform.algebra.completion import complete
from chainform.algebra.convert import System
from chainform.algebra.residues import CURVED, Field, residues
from chainform.graph import CALLS


class Values:
    """The values of a system's variables, found when they are asked for.

    A variable keeps its value whatever happens to its definition.
    """

    def __init__(self, system: System, prime: int, seed: int) -> None:
        self.system = system
        self.sums = system.sums
        self.prime = prime
        self.field = Field(prime, seed)
        self._known: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._give()

    def _give(self) -> None:
        """Set the values of everything that is given, but calls of sums."""
        graph, field, birth = self.system.graph, self.field, self.sums.birth
        given = {new: old for new, old in self.system.origin.items() if self._is_given(new, old)}
        found = residues(graph, field, list(given.values()))
        for new, old in given.items():
            self._known[birth[new]] = found[old]
        differences = self.system.differences
        ends = {v for d in differences.values() for v in (d.minuend, d.subtrahend)}
        angles = residues(graph, field.angles, sorted(ends))
        for new, difference in differences.items():
            angle = angles[difference.minuend] - angles[difference.subtrahend]
            self._known[birth[new]] = field.curved(difference.function, angle)

    def _is_given(self, variable: int, origin: int) -> bool:
        """Whether the value of a variable has to be found in the graph."""
        if variable in self.sums.argument:
            return CALLS[int(self.system.graph.call[origin])] in CURVED
        return self.sums.terms[variable] is None

    def of(self, variable: int) -> int:
        """Return the value of a variable."""
        birth = self.sums.birth
        value = self._known.get(birth[variable])
        if value is not None:
            return value
        try:
            value = self._known[birth[variable]] = self._computed(variable)
        except KeyError:
            # It is not made of what is known already, as most are.
            value = complete(self._known, variable, self._names, self._computed, birth.__getitem__)
        return value

    def _names(self, variable: int) -> list[int]:
        if variable in self.sums.argument:
            return [self.sums.argument[variable]]
        terms = self.sums.terms[variable]
        if terms is None:
            return []
        factors = self.sums.monomials.factors
        return list({v: None for m in terms for v in factors[m]})

    def _computed(self, variable: int) -> int:
        if variable in self.sums.argument:
            inner = self._known[self.sums.birth[self.sums.argument[variable]]]
            call = CALLS[int(self.system.graph.call[self.system.origin[variable]])]
            return self.field.call_of(call, inner)
        return sum(self.term(m, k) for m, k in self.sums.sum_of(variable).items()) % self.prime

    def term(self, monomial: int, coefficient: int) -> int:
        """Return the value of a coefficient times a monomial whose factors are known."""
        known, birth = self._known, self.sums.birth
        value = self.number(coefficient)
        for v in self.sums.monomials.factors[monomial]:
            value = value * known[birth[v]] % self.prime
        return value

    def number(self, coefficient: int) -> int:
        """Return a coefficient modulo the prime."""
        known = self._numbers.get(coefficient)
        if known is None:
            known = self.field.number(self.sums.numbers.fraction(coefficient))
            self._numbers[coefficient] = known
        return known
