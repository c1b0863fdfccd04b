"""Definitions multiplied out: an exact polynomial over inputs, sines and cosines for each.

Every square of a sine is written 1 - cos^2 as soon as it appears, which keeps the sums short. With
angles split, sin(q2 + q3) is written in the sines and cosines of q2 and q3: the result is then
canonical, two polynomials in sines and cosines of sums of angles are equal if and only if their
expansions are. Any other call is a letter, named by its expanded argument; what such letters have
to do with one another, as in x * reciprocal(x) = 1, is left to `algebra.quotients`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from chainform.errors import RunError
from chainform.given import argument as given_argument
from chainform.graph.arithmetic import call_of_number, is_even, is_odd
from chainform.graph.expansion import (
    LIMIT,
    Expansion,
    ExpansionSymbol,
    by_name,
    expansion_text,
    limit_of,
    written_size,
)
from chainform.graph.types import CALLS, Graph, Kind, Term

if TYPE_CHECKING:
    from flint import fmpq, fmpq_mpoly

BETWEEN = 2
"""An intermediate variable may have so many times more terms than the limit."""
FORMED = 8
"""So many times more terms may a sum have while it is formed."""
FEWEST = 1_000
"""Terms that an intermediate variable may have in any case."""
REMEDY = (
    "look at the intermediate variables instead (str, or show --steps), choose an entry instead of "
    "a matrix, keep sums of angles as they are (angles='kept', --angles kept), or raise the limit "
    "(limit=N, --limit N)"
)


def expand(
    graph: Graph, variables: Sequence[int], *, angles: str = "split", limit: int | None = LIMIT
) -> list[Expansion]:
    """Return variables multiplied out; RunError where one has more than `limit` terms.

    With angles "split" the result is canonical; "kept" leaves sums of angles as they stand.
    `chainform.algebra.formula_forms` collects them as well. A limit of None is no limit.
    """
    given_argument("angles", angles).choice(("kept", "split"))
    limit = limit_of(limit)
    expander = Expander(graph, variables, split=angles == "split", limit=between(limit))
    return [expander.within(v, limit) for v in variables]


def between(limit: int | None) -> int | None:
    """Return how many terms intermediate variables may have."""
    return None if limit is None else max(BETWEEN * limit, FEWEST)


def entry_name(graph: Graph, variable: int) -> str:
    """Return the name of a variable as an entry of an output, or its own."""
    blocks = graph.outputs.values()
    labels = (pair for block in blocks for pair in zip(block.variables, block.labels, strict=True))
    return next((label for v, label in labels if v == variable), graph.names[variable])


def too_long(name: str, terms: int, limit: int, which: str = "") -> RunError:
    """Return the refusal of an expression of more terms than the limit."""
    message = f"it has {terms} terms when it is multiplied out{which}; the limit is {limit}"
    return RunError(message, element=name, remedy=REMEDY)


LARGEST_MULTIPLE = 100
"""The longest sum of angles, counted with repetition, that is split into its parts."""


_LONGEST_ARGUMENT = 2000
"""Terms in the argument of a call beyond which its text would be longer than anyone reads; those
in the arguments within it count."""
_DEEPEST = 50
"""Functions within functions, beyond which an argument is not written."""


class Expander:
    """The polynomials of every variable in a cone, in one ring.

    The letters of the ring are laid out before the arguments of calls are known: the sine and
    cosine of each input that occurs in an angle, then the inputs, then room for every call
    that may turn out to be a letter of its own. A sine stands before its cosine, so that the
    square of the sine is the leading term of s^2 + c^2 - 1.
    """

    def __init__(
        self,
        graph: Graph,
        variables: Sequence[int],
        *,
        split: bool,
        limit: int | None,
    ) -> None:
        # Exact polynomials take long to import; a stored model is loaded, and run, without them.
        from flint import Ordering, fmpq, fmpq_mpoly_ctx

        self.graph = graph
        self.rational = fmpq
        self.split = split
        self.limit = limit
        self.variable = 0
        order = np.flatnonzero(graph.cone(variables)).tolist()
        self.symbols: list[ExpansionSymbol | None] = []
        self.index: dict[ExpansionSymbol, int] = {}
        self.room: dict[int, int] = {}
        self._lay_out(order)
        names = [f"x{index}" for index in range(len(self.symbols))]
        self.ring = fmpq_mpoly_ctx.get(names, Ordering.lex)
        self.generators = self.ring.gens()
        self.pythagoras: dict[int, fmpq_mpoly] = {}
        for symbol, index in self.index.items():
            if symbol.function == "sin":
                self._relate(index)
        self.polynomials: dict[int, fmpq_mpoly] = {}
        self.refused: dict[int, RunError] = {}
        """What cannot be multiplied out, and why; it matters only where it is needed."""
        for v in order:
            self.variable = v
            try:
                self.polynomials[v] = self._bounded(self._polynomial(v))
            except RunError as problem:
                self.refused[v] = problem

    # --- letters ------------------------------------------------------------------------

    def _lay_out(self, order: Sequence[int]) -> None:
        graph = self.graph
        trigonometric = {v for v in order if CALLS[int(graph.call[v])] in ("sin", "cos")}
        sums: set[int] = set()
        if self.split:
            arguments = graph.argument[sorted(trigonometric)]
            in_angles = np.flatnonzero(graph.cone(arguments)).tolist()
            sums = self._angle_sums(in_angles)
            for v in (v for v in in_angles if v in graph.inputs):
                angle = self._input_expansion(v)
                self._put(ExpansionSymbol("sin", graph.names[v], angle))
                self._put(ExpansionSymbol("cos", graph.names[v], angle))
        for v in (v for v in order if v in graph.inputs):
            self._put(ExpansionSymbol("", graph.names[v]))
        for v in (v for v in order if graph.call[v]):
            if v in trigonometric and int(graph.argument[v]) in sums:
                continue
            self.room[v] = len(self.symbols)
            self.symbols += [None] * (2 if v in trigonometric else 1)

    def _put(self, symbol: ExpansionSymbol) -> None:
        self.index[symbol] = len(self.symbols)
        self.symbols.append(symbol)

    def _input_expansion(self, variable: int) -> Expansion:
        return Expansion(
            (ExpansionSymbol("", self.graph.names[variable]),), ((Fraction(1), ((0, 1),)),)
        )

    def _angle_sums(self, order: Sequence[int]) -> set[int]:
        """Return the variables that are plainly sums of inputs with whole coefficients."""
        parts: dict[int, dict[int, Fraction]] = {}
        for v in order:
            if v in self.graph.inputs:
                parts[v] = {v: Fraction(1)}
            elif self.graph.kind[v] == Kind.COMPUTED:
                total = _combined(self.graph.terms(v), parts)
                if total is not None:
                    parts[v] = total
        return {v for v, total in parts.items() if _is_angle(total.values())}

    def _relate(self, index: int) -> None:
        """Note s^2 + c^2 = 1 for the sine at an index and the cosine next to it."""
        sine, cosine = self.generators[index], self.generators[index + 1]
        self.pythagoras[index] = sine**2 + cosine**2 - 1

    # --- polynomials --------------------------------------------------------------------

    def _reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        degrees = polynomial.degrees()
        squared = (identity for sine, identity in self.pythagoras.items() if degrees[sine] > 1)
        return reduce(lambda p, identity: p % identity, squared, polynomial)

    def _bounded(self, polynomial: fmpq_mpoly, times: int = 1) -> fmpq_mpoly:
        """Return a polynomial; RunError where it has more terms than are allowed."""
        if self.limit is None or len(polynomial) <= times * self.limit:
            return polynomial
        name = self.graph.names[self.variable]
        message = f"{name} has more than {self.limit} terms when it is multiplied out"
        raise RunError(message, element=name, remedy=REMEDY)

    def _product(self, a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly:
        """Return a b; the longer factor is multiplied by parts of the other that keep it short."""
        if len(b) > len(a):
            a, b = b, a
        if self.limit is None or len(b) <= 1 or len(a) * len(b) <= FORMED * self.limit:
            return self._bounded(self._reduced(a * b), FORMED)
        size = max(1, FORMED * self.limit // len(a))
        terms, total = list(b.to_dict().items()), self.ring.constant(0)
        for first in range(0, len(terms), size):
            part = self.ring.from_dict(dict(terms[first : first + size]))
            total = self._bounded(total + self._reduced(a * part), FORMED)
        return total

    def _power(self, base: fmpq_mpoly, exponent: int) -> fmpq_mpoly:
        if len(base) <= 1:
            return self._reduced(base**exponent)
        result = base
        for _ in range(exponent - 1):
            result = self._product(result, base)
        return result

    def _constant(self, value: Fraction) -> fmpq_mpoly:
        return self.ring.constant(self.rational(value.numerator, value.denominator))

    def _of(self, variable: int) -> fmpq_mpoly:
        if variable in self.refused:
            raise self.refused[variable]
        return self.polynomials[variable]

    def _polynomial(self, variable: int) -> fmpq_mpoly:
        graph = self.graph
        if variable in graph.inputs:
            return self.generators[self.index[ExpansionSymbol("", graph.names[variable])]]
        if graph.call[variable]:
            return self._call(variable)
        total = self.ring.constant(0)
        for term in graph.terms(variable):
            product = self._constant(term.coefficient)
            for factor in term.factors:
                power = self._power(self._of(factor.variable), factor.power)
                product = self._product(product, power)
            total = self._bounded(total + product, FORMED)
        return total

    def _call(self, variable: int) -> fmpq_mpoly:
        """Return a call: its exact value, an addition formula, or a letter."""
        function = CALLS[int(self.graph.call[variable])]
        argument = self._of(int(self.graph.argument[variable]))
        if argument.is_constant():
            exact = call_of_number(function, _fraction(argument.leading_coefficient()))
            if exact is not None:
                return self._constant(exact)
        inner = by_name(self._expansion(argument))
        sign = 1
        if inner.terms and inner.terms[0][0] < 0 and (is_odd(function) or is_even(function)):
            inner = Expansion(inner.symbols, tuple((-k, factors) for k, factors in inner.terms))
            sign = -1 if is_odd(function) else 1
        if function in ("sin", "cos") and self.split:
            parts = _angle_parts(inner)
            if parts is not None:
                cosine, sine = self._cosine_and_sine(parts)
                return sign * sine if function == "sin" else cosine
        return sign * self._letter(variable, function, inner)

    def _letter(self, variable: int, function: str, inner: Expansion) -> fmpq_mpoly:
        """Return the letter of a call; its sine or cosine partner gets an index as well."""
        terms, depth = written_size(inner)
        if terms > _LONGEST_ARGUMENT or depth > _DEEPEST:
            size = f"{terms} terms" if depth <= _DEEPEST else f"functions {depth} deep"
            raise RunError(
                f"the argument of {function} alone has {size}, multiplied out",
                remedy="look at the definitions instead (str, or show --steps); an expression with "
                "nested reciprocals, such as forward dynamics, is not meant to be multiplied out",
            )
        symbol = ExpansionSymbol(function, expansion_text(inner), inner)
        if symbol not in self.index:
            room = self.room[variable]
            names = ("sin", "cos") if function in ("sin", "cos") else (function,)
            for offset, name in enumerate(names):
                letter = ExpansionSymbol(name, symbol.argument, inner)
                self.symbols[room + offset] = letter
                self.index[letter] = room + offset
            if len(names) == 2:
                self._relate(room)
        return self.generators[self.index[symbol]]

    def _cosine_and_sine(self, parts: dict[str, int]) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """Return the cosine and sine of a sum of angles by the addition formulas."""
        cosine, sine = self.ring.constant(1), self.ring.constant(0)
        for name, count in parts.items():
            s = self.generators[self.index[ExpansionSymbol("sin", name)]]
            c = self.generators[self.index[ExpansionSymbol("cos", name)]]
            for _ in range(abs(count)):
                turn = s if count > 0 else -s
                cosine, sine = cosine * c - sine * turn, sine * c + cosine * turn
                self._bounded(cosine, FORMED)
        return self._reduced(cosine), self._reduced(sine)

    # --- results ------------------------------------------------------------------------

    def within(self, variable: int, limit: int | None) -> Expansion:
        """Return the polynomial of a variable as plain data; RunError beyond a limit of terms."""
        name, problem = entry_name(self.graph, int(variable)), self.refused.get(int(variable))
        if problem is not None:
            if problem.element in (name, None):
                raise problem
            message = f"it is not multiplied out: {problem.message}"
            raise RunError(message, element=name, remedy=problem.remedy)
        polynomial = self.polynomials[int(variable)]
        if limit is not None and len(polynomial) > limit:
            raise too_long(name, len(polynomial), limit)
        expansion = self._expansion(polynomial)
        most = None if self.limit is None else BETWEEN * self.limit
        if most is not None and (terms := written_size(expansion)[0]) > most:
            raise too_long(name, terms, most, ", those in the arguments of functions included")
        return expansion

    def _expansion(self, polynomial: fmpq_mpoly) -> Expansion:
        rows = [
            (_fraction(k), [(index, int(power)) for index, power in enumerate(powers) if power])
            for powers, k in polynomial.terms()
        ]
        used = sorted({index for _, factors in rows for index, _ in factors})
        new_index = {index: new for new, index in enumerate(used)}
        return Expansion(
            tuple(symbol for symbol in map(self.symbols.__getitem__, used) if symbol is not None),
            tuple((k, tuple((new_index[p], power) for p, power in row)) for k, row in rows),
        )


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _combined(
    terms: Iterable[Term], parts: Mapping[int, Mapping[int, Fraction]]
) -> dict[int, Fraction] | None:
    """Return a sum of terms as input -> coefficient, or None if it is not linear."""
    total: dict[int, Fraction] = {}
    for term in terms:
        if len(term.factors) != 1 or term.factors[0].power != 1:
            return None
        inner = parts.get(term.factors[0].variable)
        if inner is None:
            return None
        for v, k in inner.items():
            total[v] = total.get(v, Fraction(0)) + k * term.coefficient
    return total


def _angle_parts(expansion: Expansion) -> dict[str, int] | None:
    """Return a sum of inputs with whole coefficients as name -> coefficient, or None."""
    parts: dict[str, int] = {}
    for k, factors in expansion.terms:
        if len(factors) != 1 or factors[0][1] != 1:
            return None
        symbol = expansion.symbols[factors[0][0]]
        if symbol.function:
            return None
        parts[symbol.argument] = k.numerator
    return parts if _is_angle(k for k, _ in expansion.terms) else None


def _is_angle(coefficients: Iterable[Fraction]) -> bool:
    """Whether angles with these coefficients can be added up by the addition formulas."""
    counts = list(coefficients)
    is_whole = all(k.denominator == 1 for k in counts)
    return is_whole and sum(map(abs, counts)) <= LARGEST_MULTIPLE
