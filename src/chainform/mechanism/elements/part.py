"""What of elements and constraints stays when only a part of a mechanism is taken."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from chainform.mechanism.elements.references import names_of_frames, renamed
from chainform.mechanism.elements.types import WORLD, Definition, Element, InertialElement
from chainform.mechanism.laws import Order, moved_law
from chainform.mechanism.numbering import GROUND_NAME
from chainform.mechanism.numbers import symbols_in, with_numbers
from chainform.mechanism.types import Number

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism

T = TypeVar("T")


class _LostError(Exception):
    """A law names a coordinate that the part does not have."""


def with_elements_of(whole: Mechanism, part: Mechanism, root: str | None) -> Mechanism:
    """Return the part with those elements and constraints of the whole that lie on it.

    An element stays if every frame and coordinate that it names is there; `root` is the segment
    that has become the ground, None for the ground itself. Quasi-velocities stay only if all
    constraints do.
    """
    work = _Part(whole, part)
    definitions = work.definitions()
    elements = work.elements(root)
    constraints = work.kept(whole.constraints)
    quasi = work.kept(whole.quasi)
    complete = len(constraints) == len(whole.constraints) and len(quasi) == len(whole.quasi)
    same_rates = len(part.rates) == len(whole.rates)
    used = symbols_in(elements)
    return replace(
        part,
        definitions=definitions,
        elements=elements,
        unknowns=tuple(name for name in whole.unknowns if name in used),
        constraints=constraints,
        quasi=quasi if complete and same_rates else (),
    )


class _Part:
    """Carries records over into the part, where that is possible."""

    def __init__(self, whole: Mechanism, part: Mechanism) -> None:
        self.whole = whole
        self.part = part
        self.old = Order(whole.coordinates, whole.rates)
        self.new = Order(part.coordinates, part.rates)
        self.gone: set[str] = set()

    def definitions(self) -> tuple[Definition, ...]:
        kept = self.kept(self.whole.definitions)
        while True:
            self.gone = {d.name for d in self.whole.definitions} - {d.name for d in kept}
            fewer = tuple(d for d in kept if not symbols_in(d) & self.gone)
            if len(fewer) == len(kept):
                return kept
            kept = fewer

    def elements(self, root: str | None) -> tuple[Element, ...]:
        elements = self.whole.elements
        if root is not None:
            elements = tuple(e for e in elements if GROUND_NAME not in names_of_frames(e))
            elements = tuple(renamed(e, {root: GROUND_NAME}) for e in elements)
        kept = self.kept(elements)
        places = (*self.part.segments, *self.part.frames)
        known = {GROUND_NAME, WORLD, *(place.name for place in places)}
        while True:
            own = {e.name for e in kept if isinstance(e, InertialElement)}
            fewer = tuple(e for e in kept if set(names_of_frames(e)) <= known | own)
            if len(fewer) == len(kept):
                return kept
            kept = fewer

    def kept(self, records: Collection[T]) -> tuple[T, ...]:
        """Return the records whose laws name coordinates of the part only."""
        kept: list[T] = []
        for record in records:
            if symbols_in(record) & self.gone:
                continue
            try:
                kept.append(with_numbers(record, self.moved))
            except _LostError:
                continue
        return tuple(kept)

    def moved(self, law: Number) -> Number:
        moved = moved_law(law, self.old, self.new)
        if moved is None:
            raise _LostError
        return moved
