"""Use s^2 + c^2 = 1 and the formulas for sums of angles, the greatest saving first.

Seen from one angle, an expression is a sum of M (a s^2 + b c^2 + g) over cofactors M. Of the three
coefficients one can always be made zero; which one is cheapest depends on the numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import ClassVar, TypeAlias

from chainform.errors import DeriveError
from chainform.given import Given
from chainform.graph import (
    Angles,
    AngleSum,
    Draft,
    Graph,
    Monomial,
    Number,
    Terms,
    add_term,
    cheaper_graph,
    combined,
    terms_cost,
)

# --- squares of sines and cosines -----------------------------------------------------------------


def without_square(terms: Terms, gone: int, other: int) -> Terms:
    """Return a sum with every square of one letter replaced: gone^2 = 1 - other^2.

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
        stack.append((tuple(sorted((*rest, other, other))), -k))
    return total


def _without(monomial: Monomial, letter: int) -> Monomial:
    index = monomial.index(letter)
    return monomial[:index] + monomial[index + 1 :]


def cheapest_squares(terms: Terms, sine: int, cosine: int) -> Terms:
    """Return a sum with the cheapest of the three forms chosen for each cofactor of an angle."""
    groups: dict[Monomial, list[Number]] = {}
    for monomial, k in terms.items():
        for letter, index in ((sine, 0), (cosine, 1)):
            if monomial.count(letter) >= 2:
                rest = _without(_without(monomial, letter), letter)
                groups.setdefault(rest, [0, 0, 0])[index] = k
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
    return terms_cost(present) + 1 if present else 0


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
    return terms_cost(terms), highest_power(terms, pair)


# --- the pass -------------------------------------------------------------------------------------

CHOICES = ("best", "first")
ANGLES = ("collected", "kept")


@dataclass(frozen=True)
class TrigIdentities:
    """Shorten expressions in sines and cosines (algorithm 3.1 of Racković 1996).

    Rotations about parallel axes multiply out to c1 c2 - s1 s2, moments of inertia to s^2 and
    c^2 with the same cofactor. Of each angle the form in s^2, in c^2 or in both is chosen that
    takes the fewest operations; powers above two disappear where the expression is at most
    quadratic in every rotation, as the theorem of [Vuk85] promises for chains.

    The paper applies identities in the order in which it meets them (`choose="first"`) and names
    the greatest saving first as future work; that is "best". With angles "collected",
    sines and cosines of sums of angles may appear that were not there; each counts `sine_cost`
    operations against the saving, and is made only where something is left. With "kept" only those
    are used that are there.
    """

    name: ClassVar[str] = "trig_identities"
    may_cost_more: ClassVar[bool] = False

    choose: str = field(
        default="best",
        metadata={
            "meaning": "the identity that comes first: the best one, or the first one met",
            "choices": CHOICES,
        },
    )
    angles: str = field(
        default="collected",
        metadata={"meaning": "sums of angles stay, or new ones may appear", "choices": ANGLES},
    )
    sine_cost: int = field(
        default=2, metadata={"meaning": "what each of them costs, in operations"}
    )

    def __post_init__(self) -> None:
        Given(self.choose, "trig_identities, choose", raises=DeriveError).choice(CHOICES)
        Given(self.angles, "trig_identities, angles", raises=DeriveError).choice(ANGLES)

    def __call__(self, graph: Graph) -> Graph:
        """Return the graph with shorter definitions of what the outputs need."""
        draft = Draft(graph)
        angles = Angles(draft, draft.live())
        sums = [v for v in draft.live_sums() if any(map(angles.of.__contains__, draft.uses(v)))]
        self._squares(draft, angles, sums)
        _AngleSums(draft, angles, sums, self).run()
        self._squares(draft, angles, sums)
        return cheaper_graph(draft.finish(), graph)

    def _squares(self, draft: Draft, angles: Angles, sums: list[int]) -> None:
        pairs = [(angles.sine(angle), angles.cosine(angle)) for angle in angles.complete]
        for v in sums:
            draft.terms[v] = shortest(draft.terms[v], pairs, best_first=self.choose == "best")


Pair: TypeAlias = tuple[int, int]
"""Two angles by number, ascending."""
Occurrence: TypeAlias = tuple[int, Monomial, Pair]
"""Where an identity may apply: the products of two angles with one cofactor in one sum."""
Identity: TypeAlias = tuple[Pair, int]
"""Sine and cosine of a + b (1) or a - b (-1)."""
Entry: TypeAlias = tuple[int, int, Identity]
"""What the order of identities is: by saving, then as they were met."""
KINDS = {"cos": ("cc", "ss"), "sin": ("sc", "cs")}
"""The two products that cos(a + b) and sin(a + b) are made of."""


class _AngleSums:
    """The products of sines and cosines in all sums, and the identities they allow."""

    def __init__(
        self, draft: Draft, angles: Angles, sums: list[int], options: TrigIdentities
    ) -> None:
        self.draft = draft
        self.angles = angles
        self.options = options
        self.numbered: list[AngleSum] = []
        self.number: dict[AngleSum, int] = {}
        self.letters: dict[int, tuple[int, str]] = {}
        """The angle of each sine and cosine, and which of the two it is."""
        self.products: dict[Occurrence, dict[str, Monomial]] = {}
        self.occurrences: dict[Identity, dict[tuple[Occurrence, str], int]] = defaultdict(dict)
        self.saving: dict[Identity, dict[str, int]] = defaultdict(lambda: {"cos": 0, "sin": 0})
        self.heap: list[Entry] = []
        self.order: dict[Identity, int] = {}
        self.noted: set[Occurrence] = set()
        self.running = False
        for v in list(angles.of):
            self._letter(v)
        for v in sums:
            for monomial in list(draft.terms[v]):
                self._enter(v, monomial)

    def _letter(self, v: int) -> None:
        angle = self.angles.of[v]
        if angle not in self.number:
            self.number[angle] = len(self.numbered)
            self.numbered.append(angle)
        self.letters[v] = (self.number[angle], "s" if self.angles.is_sine(v) else "c")

    def run(self) -> None:
        """Apply identities, one pair of angles after another, until none saves anything."""
        self.heap = [self._entry(identity) for identity in self.occurrences]
        heapify(self.heap)
        self.running = True
        while self.heap:
            entry = heappop(self.heap)
            identity = entry[2]
            if self._gain(identity) <= 0:
                continue
            if self._entry(identity) != entry:
                heappush(self.heap, self._entry(identity))
                continue
            self._apply(identity)

    def _entry(self, identity: Identity) -> Entry:
        order = self.order.setdefault(identity, len(self.order))
        is_first = self.options.choose == "first"
        return (0 if is_first else -self._gain(identity)), order, identity

    def _combined(self, identity: Identity) -> tuple[AngleSum, int]:
        (a, b), sign = identity
        return combined(self.numbered[a], self.numbered[b], sign)

    def _gain(self, identity: Identity) -> int:
        """Return the operations that an identity saves in all sums, less the new calls."""
        saving = self.saving[identity]
        angle, _ = self._combined(identity)
        if not angle:
            return 0
        used = [function for function, saved in saving.items() if saved]
        missing = sum(not self.angles.has(function, angle) for function in used)
        if missing and self.options.angles == "kept":
            return 0
        return sum(saving.values()) - missing * self.options.sine_cost

    # --- finding ------------------------------------------------------------------------

    def _pairs(self, owner: int, monomial: Monomial) -> Iterator[tuple[Occurrence, str]]:
        """Yield each product of two angles in a monomial: where, and which product it is."""
        letters = self.letters
        found = [(i, v, *letters[v]) for i, v in enumerate(monomial) if v in letters]
        seen: set[Pair] = set()
        for index, (i, x, a, kind) in enumerate(found):
            for j, y, b, other in found[index + 1 :]:
                if (x, y) in seen:
                    continue
                seen.add((x, y))
                rest = monomial[:i] + monomial[i + 1 : j] + monomial[j + 1 :]
                if a < b:
                    yield (owner, rest, (a, b)), kind + other
                elif a > b:
                    yield (owner, rest, (b, a)), other + kind
                else:
                    yield (owner, rest, (a, a)), kind + other if kind == other else "sc"

    def _enter(self, owner: int, monomial: Monomial) -> None:
        for occurrence, kind in self._pairs(owner, monomial):
            present = self.products.setdefault(occurrence, {})
            present[kind] = monomial
            if len(present) > 1 or occurrence[2][0] == occurrence[2][1]:
                self._look(occurrence)

    def _leave(self, owner: int, monomial: Monomial) -> None:
        for occurrence, kind in self._pairs(owner, monomial):
            self.products[occurrence].pop(kind, None)
            if occurrence in self.noted:
                self._look(occurrence)

    def _look(self, occurrence: Occurrence) -> None:
        """Note which identities apply at an occurrence, and what each would save."""
        present = self.products[occurrence]
        owner, cofactor, (a, b) = occurrence
        terms = self.draft.terms[owner]
        for sign in (1, -1):
            for function, (first, second) in KINDS.items():
                saving = 0
                if a == b:
                    saving = _double_saving(terms, present, function, sign)
                elif first in present and second in present:
                    k, l = terms[present[first]], terms[present[second]]
                    if l == (-sign * k if function == "cos" else sign * k):
                        saving = len(cofactor) + 3 + (k not in (1, -1))
                self._note(((a, b), sign), occurrence, function, saving)

    def _note(self, identity: Identity, occurrence: Occurrence, function: str, saving: int) -> None:
        occurrences = self.occurrences[identity]
        before = occurrences.get((occurrence, function), 0)
        if before == saving:
            return
        self.saving[identity][function] += saving - before
        if not saving:
            del occurrences[occurrence, function]
            return
        self.noted.add(occurrence)
        occurrences[occurrence, function] = saving
        if self.running:
            heappush(self.heap, self._entry(identity))

    # --- applying -----------------------------------------------------------------------

    def _apply(self, identity: Identity) -> None:
        """Write every pair of products of an identity as one sine or cosine."""
        angle, sign = self._combined(identity)
        for occurrence, function in list(self.occurrences[identity]):
            if (occurrence, function) not in self.occurrences[identity]:
                continue
            owner, cofactor, (a, b) = occurrence
            terms, present = self.draft.terms[owner], self.products[occurrence]
            monomials = [present[kind] for kind in KINDS[function] if kind in present]
            k = terms[monomials[0]]
            if a == b and function == "sin":
                k = Fraction(k) / 2
            for monomial in monomials:
                self._leave(owner, monomial)
                del terms[monomial]
            new = self.angles.sine(angle) if function == "sin" else self.angles.cosine(angle)
            self._letter(new)
            product = tuple(sorted((*cofactor, new)))
            self._replace(owner, product, sign * k if function == "sin" else k)

    def _replace(self, owner: int, monomial: Monomial, k: Number) -> None:
        terms = self.draft.terms[owner]
        if monomial in terms:
            self._leave(owner, monomial)
        add_term(terms, monomial, k)
        if monomial in terms:
            self._enter(owner, monomial)


def _double_saving(terms: Terms, present: dict[str, Monomial], function: str, sign: int) -> int:
    """Return what cos 2a = c^2 - s^2 or sin 2a = 2 s c saves with one cofactor."""
    if sign < 0:
        return 0
    if function == "cos":
        if "cc" not in present or "ss" not in present:
            return 0
        k, l = terms[present["cc"]], terms[present["ss"]]
        return len(present["cc"]) + 1 + (k not in (1, -1)) if k == -l else 0
    if "sc" not in present:
        return 0
    k = terms[present["sc"]]
    return 1 + (k not in (1, -1)) - (k not in (2, -2))
