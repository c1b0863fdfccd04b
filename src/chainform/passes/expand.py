"""Write outputs as analytic expressions: sums of products of inputs, sines and cosines.

Definitions are multiplied out as polynomials with packed exponents. A monomial is one whole number:
each letter has a field of `width` bits that holds its power, so that two monomials are multiplied
by one addition. Coefficients are whole numbers over one denominator for the whole polynomial. A sum
of ten thousand terms takes a hundredth of a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from fractions import Fraction
from math import lcm
from typing import ClassVar

from chainform.errors import DeriveError
from chainform.given import Given
from chainform.graph import Angles, Draft, Graph, Number, Terms, shortest_number, whole_parts


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Whole coefficients by packed monomial, all over one denominator. Not to be changed."""

    terms: dict[int, int]
    denominator: int = 1

    def __len__(self) -> int:
        return len(self.terms)


LARGEST_DEGREE = 1000
"""Products of more factors are not formed: a power of a power may have any number."""


class TooLongError(Exception):
    """A polynomial has more terms than were allowed, or terms of too many factors."""


class Ring:
    """The letters of polynomials; no power reaches 2^width, which the caller sees to."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.work = 0
        """Products of terms formed so far."""
        self.letters: list[int] = []
        self._unit: dict[int, int] = {}
        self._cosine_squared: dict[int, int] = {}
        self._squared_sines = 0

    def unit(self, letter: int) -> int:
        """Return a letter as a monomial."""
        known = self._unit.get(letter)
        if known is None:
            known = self._unit[letter] = 1 << (self.width * len(self.letters))
            self.letters.append(letter)
        return known

    def letter(self, letter: int) -> Polynomial:
        """Return a letter as a polynomial."""
        return Polynomial({self.unit(letter): 1})

    def number(self, value: Number) -> Polynomial:
        """Return an exact number as a polynomial."""
        return Polynomial({0: value.numerator} if value else {}, value.denominator)

    def relate(self, sine: int, cosine: int) -> None:
        """Note s^2 = 1 - c^2; from here on no product holds the square of that sine."""
        place = self.unit(sine).bit_length() - 1
        self._cosine_squared[place // self.width] = 2 * self.unit(cosine)
        self._squared_sines |= ((1 << self.width) - 2) << place

    # --- arithmetic ---------------------------------------------------------------------

    def product(self, a: Polynomial, b: Polynomial, limit: int | None = None) -> Polynomial:
        """Return a b, with squares of related sines removed; TooLongError beyond the limit.

        While it is formed, the sum may be some times as long as it is when all is collected.
        """
        if len(b) > len(a):
            a, b = b, a
        self.work += len(a) * len(b)
        total: dict[int, int] = {}
        get = total.get
        most = None if limit is None else 8 * limit
        for n, l in b.terms.items():
            for m, k in a.terms.items():
                monomial = m + n
                total[monomial] = get(monomial, 0) + k * l
            if most is not None and len(total) > most:
                raise TooLongError
        reduced = self._reduced(total)
        if limit is not None and len(reduced) > limit:
            raise TooLongError
        return Polynomial(reduced, a.denominator * b.denominator)

    def power(self, base: Polynomial, exponent: int, limit: int | None = None) -> Polynomial:
        """Return a whole power."""
        result = base
        for _ in range(exponent - 1):
            result = self.product(result, base, limit)
        return result

    def _reduced(self, terms: dict[int, int]) -> dict[int, int]:
        """Return a sum with s^2 written 1 - c^2 and without zeros."""
        mask = self._squared_sines
        squares = [m for m in terms if m & mask] if mask else []
        while squares:
            m = squares.pop()
            k = terms.pop(m, 0)
            if not k:
                continue
            field = ((m & mask).bit_length() - 1) // self.width
            rest = m - (2 << (field * self.width))
            for monomial, value in ((rest, k), (rest + self._cosine_squared[field], -k)):
                if monomial & mask and not terms.get(monomial):
                    squares.append(monomial)
                terms[monomial] = terms.get(monomial, 0) + value
        return {m: k for m, k in terms.items() if k}

    def total(self, parts: Iterable[Polynomial]) -> Polynomial:
        """Return a sum of polynomials."""
        addends = list(parts)
        denominator = lcm(*(part.denominator for part in addends))
        total: dict[int, int] = {}
        for part in addends:
            scale = denominator // part.denominator
            for m, k in part.terms.items():
                total[m] = total.get(m, 0) + k * scale
        return Polynomial({m: k for m, k in total.items() if k}, denominator)

    # --- results ------------------------------------------------------------------------

    def terms(self, polynomial: Polynomial) -> Terms:
        """Return a polynomial as terms over its letters."""
        denominator = polynomial.denominator
        return {
            self._monomial(m): k if denominator == 1 else shortest_number(Fraction(k, denominator))
            for m, k in polynomial.terms.items()
        }

    def _monomial(self, packed: int) -> tuple[int, ...]:
        factors: list[int] = []
        while packed:
            lowest = (packed & -packed).bit_length() - 1
            place = lowest // self.width
            power = (packed >> (place * self.width)) & ((1 << self.width) - 1)
            factors.extend([self.letters[place]] * power)
            packed -= power << (place * self.width)
        return tuple(sorted(factors))


# --- the pass -------------------------------------------------------------------------------------

BEYOND = ("refuse", "stop")
ANGLES = ("kept", "split")


@dataclass(frozen=True)
class Expand:
    """Multiply definitions out (algorithm 2.3 of Racković 1996).

    Identities and equal expressions only show when nothing stands between an output and the
    sines and cosines of the coordinates. What is gained by it comes later; the step itself costs.

    With `trig`, s^2 is written 1 - c^2 on the way: the expressions are then canonical and far
    shorter. Sums of angles stay as they stand (`angles="kept"`) or are written in the sines and
    cosines of single angles ("split"); `trig_identities` collects them. `of` names the outputs,
    quantities or variables to be expanded, with wildcards; all outputs if empty. Where an
    expression would have more than `limit` terms, `beyond` says what happens: an error ("refuse"),
    or its definition stays, over factors that are expanded as far as they go ("stop"). The same
    holds for all that comes after `work` products of terms, if that is not none.
    """

    name: ClassVar[str] = "expand"
    may_cost_more: ClassVar[bool] = True

    trig: bool = field(default=False, metadata={"meaning": "write s^2 as 1 - c^2 on the way"})
    angles: str = field(
        default="kept",
        metadata={"meaning": "sums of angles stay, or are split into angles", "choices": ANGLES},
    )
    limit: int = field(default=100_000, metadata={"meaning": "most terms of an expression"})
    beyond: str = field(
        default="refuse",
        metadata={"meaning": "what happens where one would have more", "choices": BEYOND},
    )
    work: int | None = field(default=None, metadata={"meaning": "most products of terms formed"})
    of: tuple[str, ...] = field(
        default=(), metadata={"meaning": "what is expanded, with wildcards; all outputs if empty"}
    )

    def __post_init__(self) -> None:
        Given(self.beyond, "expand, beyond", raises=DeriveError).choice(BEYOND)
        Given(self.angles, "expand, angles", raises=DeriveError).choice(ANGLES)

    @property
    def split(self) -> bool:
        """Whether sums of angles are written by single angles."""
        return self.angles == "split"

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with its outputs expanded."""
        draft = Draft(graph)
        targets = _targets(graph, self.of)
        work = _Work(draft, self, targets)
        for v, terms in work.expressions().items():
            draft.terms[v] = terms
        return draft.finish()


def _targets(graph: Graph, patterns: tuple[str, ...]) -> list[int]:
    """Return the variables that the patterns name."""
    if not patterns:
        return graph.output_variables().tolist()
    found: set[int] = set()
    for pattern in patterns:
        blocks = {**graph.quantities, **graph.outputs}
        named = [v for name in blocks if fnmatchcase(name, pattern) for v in blocks[name].variables]
        named += [v for name, v in graph.numbers.items() if fnmatchcase(name, pattern)]
        if not named:
            raise DeriveError(f"nothing in the graph is called {pattern}", element=pattern)
        found.update(named)
    return sorted(found)


class _Work:
    """Polynomials of everything the targets need, in definition order."""

    def __init__(self, draft: Draft, options: Expand, targets: list[int]) -> None:
        self.draft = draft
        self.options = options
        self.targets = targets
        self.cone = draft.graph.cone(targets).nonzero()[0].tolist()
        self.angles = Angles(draft, self.cone)
        self.ring = Ring(self._width())
        self.polynomials: dict[int, Polynomial] = {}
        self.degree: dict[int, int] = {}
        """Bounds on the factors in the terms of polynomials."""
        self.stopped: set[int] = set()
        if options.trig and not options.split:
            for angle in self.angles.complete:
                self.ring.relate(self.angles.sine(angle), self.angles.cosine(angle))
        for v in self.cone:
            self.polynomials[v] = self._polynomial(v)

    def _width(self) -> int:
        """Return the bits that hold the highest degree that any product can have."""
        degree: dict[int, int] = {}
        for v in self.cone:
            terms = self.draft.terms.get(v, {})
            degree[v] = max([1, *(sum(degree[f] for f in monomial) for monomial in terms)])
            parts = whole_parts(self.angles.linear(self.draft.calls.get(v, ("", v))[1]))
            if self.options.split and v in self.draft.calls and parts:
                degree[v] = sum(map(abs, parts.values())) + 1
        return max(degree.values(), default=1).bit_length() + 1

    def _polynomial(self, v: int) -> Polynomial:
        self.degree[v] = 1
        if v not in self.draft.calls and v not in self.draft.terms:
            return self.ring.letter(v)
        try:
            return self._call(v) if v in self.draft.calls else self._sum(v)
        except TooLongError:
            if self.options.beyond == "refuse":
                raise self._refusal(v) from None
            self.stopped.add(v)
            return self.ring.letter(v)

    def _sum(self, v: int) -> Polynomial:
        limit, work = self.options.limit, self.options.work
        if work is not None and self.ring.work > work:
            raise TooLongError
        degrees = (sum(self.degree[f] for f in monomial) for monomial in self.draft.terms[v])
        degree = max(degrees, default=0)
        if degree > LARGEST_DEGREE:
            raise TooLongError
        parts: list[Polynomial] = []
        for monomial, coefficient in self.draft.terms[v].items():
            product = self.ring.number(coefficient)
            for factor in monomial:
                product = self.ring.product(product, self.polynomials[factor], limit)
            parts.append(product)
        total = self.ring.total(parts)
        if len(total) > limit:
            raise TooLongError
        self.degree[v] = degree
        return total

    def _call(self, v: int) -> Polynomial:
        """Return a call: an addition formula where angles are split, else a letter."""
        function, argument = self.draft.calls[v]
        if function not in ("sin", "cos") or not self.options.split:
            return self.ring.letter(v)
        parts = whole_parts(self.angles.linear(argument))
        if parts is None:
            return self.ring.letter(v)
        cosine, sine = self.ring.number(1), self.ring.number(0)
        for angle, count in parts.items():
            c, s = self._pair(angle)
            minus_s = self.ring.product(self.ring.number(-1), s)
            turn, back = (s, minus_s) if count > 0 else (minus_s, s)
            for _ in range(abs(count)):
                cosine, sine = (
                    self._sum_of_two(cosine, c, sine, back),
                    self._sum_of_two(sine, c, cosine, turn),
                )
        return sine if function == "sin" else cosine

    def _sum_of_two(self, a: Polynomial, b: Polynomial, c: Polynomial, d: Polynomial) -> Polynomial:
        limit, work = self.options.limit, self.options.work
        if work is not None and self.ring.work > work:
            raise TooLongError
        total = self.ring.total((self.ring.product(a, b, limit), self.ring.product(c, d, limit)))
        if len(total) > limit:
            raise TooLongError
        return total

    def _pair(self, angle: int) -> tuple[Polynomial, Polynomial]:
        """Return the cosine and sine of one part of an angle."""
        sine, cosine = self.draft.call("sin", angle), self.draft.call("cos", angle)
        s, c = self.ring.letter(sine), self.ring.letter(cosine)
        if self.options.trig:
            self.ring.relate(sine, cosine)
        return c, s

    def _refusal(self, v: int) -> DeriveError:
        work = self.options.work
        products = "" if work is None else f", or needs more than {work} products of terms"
        return DeriveError(
            f"it has more than {self.options.limit} terms when it is multiplied out, or terms "
            f"of more than {LARGEST_DEGREE} factors{products}",
            element=self.draft.graph.names[v],
            remedy="raise limit or work, or let beyond=stop leave long definitions as they are",
        )

    def expressions(self) -> dict[int, Terms]:
        """Return the new terms of the targets, and of what stopped definitions are made of."""
        wanted = list(self.targets)
        found: dict[int, Terms] = {}
        while wanted:
            v = wanted.pop()
            if v in found or v not in self.draft.terms:
                continue
            if v in self.stopped:
                found[v] = dict(self.draft.terms[v])
            else:
                found[v] = dict(self.ring.terms(self.polynomials[v]))
            wanted += [f for monomial in found[v] for f in monomial]
        return found
