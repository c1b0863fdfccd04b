"""Who carries whom, and in which order segments are numbered."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction

from chainform.mechanism.intake import Intake
from chainform.mechanism.specification import SegmentSpecification
from chainform.mechanism.tables import kind_of
from chainform.mechanism.types import GROUND

GROUND_NAME = "ground"


@dataclass(frozen=True, slots=True)
class Register:
    """The names and ids by which specifications are called; both lead to a place in the list."""

    by_name: dict[str, int]
    by_id: dict[int, int]

    def find(self, reference: object, intake: Intake, where: str) -> int:
        """Return the place of the segment called by name or id, GROUND for 0 and `ground`."""
        if isinstance(reference, str):
            return self._find_name(reference, intake, where)
        if isinstance(reference, bool) or not isinstance(reference, int | float | Fraction):
            remedy = "give its name, its id, or 0 for the ground"
            raise intake.error(f"expected a segment, got {kind_of(reference)}", where, remedy)
        number = intake.integer(reference, where)
        if number == 0:
            return GROUND
        if number not in self.by_id:
            known = sorted(self.by_id)
            remedy = f"the ids run from {known[0]} to {known[-1]}; 0 is the ground"
            raise intake.error(f"there is no segment with the id {number}", where, remedy)
        return self.by_id[number]

    def _find_name(self, name: str, intake: Intake, where: str) -> int:
        if name == GROUND_NAME:
            return GROUND
        if name in self.by_name:
            return self.by_name[name]
        close = get_close_matches(name, [*self.by_name, GROUND_NAME], n=1)
        known = "the segments are " + ", ".join([GROUND_NAME, *self.by_name][:20])
        remedy = f"did you mean {close[0]!r}?" if close else known
        raise intake.error(f"there is no segment named {name[:80]!r}", where, remedy)


def names_of(said: Sequence[SegmentSpecification], intake: Intake) -> list[str]:
    """Return the names of the segments; one without a name is called `body` and its number."""
    names: list[str] = []
    for number, specification in enumerate(said, 1):
        where = f"segment {number}"
        name = specification.name
        names.append(f"body{number}" if name is None else intake.text(name, f"{where}, name"))
    if GROUND_NAME in names:
        raise intake.error("a segment cannot have this name", "segment 'ground'", "rename it")
    check_distinct(names, "segment", intake)
    return names


def check_distinct(names: Sequence[str], kind: str, intake: Intake) -> None:
    """Raise ReadError for a name that occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            remedy = f"give each {kind} a name of its own"
            raise intake.error("the name is used twice", f"{kind} {name!r}", remedy)
        seen.add(name)


def register_of(
    said: Sequence[SegmentSpecification], names: Sequence[str], intake: Intake
) -> Register:
    """Return the register of all segments; where no ids are given they are 1, 2, 3 ..."""
    has_ids = any(specification.id is not None for specification in said)
    by_id: dict[int, int] = {}
    for place, specification in enumerate(said):
        if has_ids and specification.id is None:
            continue
        where = f"segment {names[place]!r}, id"
        number = intake.integer(specification.id, where) if has_ids else place + 1
        if number < 1 or number in by_id:
            remedy = "give each segment a positive id of its own"
            raise intake.error(f"the id {number} cannot be used here", where, remedy)
        by_id[number] = place
    return Register({name: place for place, name in enumerate(names)}, by_id)


def parents_of(
    said: Sequence[SegmentSpecification], names: Sequence[str], register: Register, intake: Intake
) -> list[int]:
    """Return the place of each segment's parent.

    A segment without a parent is the root, so there can be one such segment; several segments on
    the ground are named so.
    """
    roots = [place for place, specification in enumerate(said) if specification.parent is None]
    if len(roots) > 1:
        some = ", ".join(names[place] for place in roots[:5])
        raise intake.error(
            f"several roots: no parent is given for {some}",
            f"segment {names[roots[1]]!r}, parent",
            "give their parents; a segment that stands on the ground has parent = 'ground'",
        )
    return [
        GROUND
        if specification.parent is None
        else register.find(specification.parent, intake, f"segment {names[place]!r}, parent")
        for place, specification in enumerate(said)
    ]


def parents_first(parents: Sequence[int], names: Sequence[str], intake: Intake) -> list[int]:
    """Return the places in an order in which parents precede children, otherwise as given."""
    children: list[list[int]] = [[] for _ in parents]
    ready: list[int] = []
    for place, parent in enumerate(parents):
        (ready if parent == GROUND else children[parent]).append(place)
    order: list[int] = []
    while ready:
        place = heapq.heappop(ready)
        order.append(place)
        for child in children[place]:
            heapq.heappush(ready, child)
    if len(order) < len(parents):
        circle = [names[place] for place in _circle(parents, set(order))]
        raise intake.error(
            f"the parents form a circle: {' -> '.join(circle[:20])}",
            f"segment {circle[0]!r}, parent",
            "attach one of them to the ground; describe a closed chain by a loop",
        )
    if order != sorted(order):
        intake.note("segments", "renumbered, so that parents come before children")
    return order


def _circle(parents: Sequence[int], placed: set[int]) -> list[int]:
    """Return one circle of parents among the places that could not be numbered."""
    place = next(place for place in range(len(parents)) if place not in placed)
    seen: dict[int, None] = {}
    while place not in seen:
        seen[place] = None
        place = parents[place]
    path = list(seen)
    return [*path[path.index(place) :], place]
