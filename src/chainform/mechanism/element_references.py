"""Who stands on whom: the frames that elements name must exist and not go round in a circle.

When only a part of a mechanism is taken, the elements on it stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

from chainform.mechanism.components import (
    WORLD,
    Definition,
    DissipativeElement,
    ElasticElement,
    Element,
    ElementPoint,
    ForceElement,
    InertialElement,
    MomentElement,
)
from chainform.mechanism.data import MechanismData
from chainform.mechanism.laws import Order, moved_law
from chainform.mechanism.numbers import symbols_in, with_numbers
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import Number
from chainform.mechanism.segments import GROUND_NAME


def check_references(elements: Sequence[Element], mechanism: MechanismData, reader: Reader) -> None:
    """Raise ReadError for names used twice, for unknown frames and for frames in a circle."""
    reader.check_distinct([element.name for element in elements], "element")
    known = [GROUND_NAME, *(s.name for s in mechanism.segments)]
    known += [frame.name for frame in mechanism.frames]
    own = {e.name: e.on for e in elements if isinstance(e, InertialElement)}
    for name in own:
        if name in known or name == WORLD:
            remedy = "rename the element"
            raise reader.error("a segment, frame or the ground has this name", _where(name), remedy)
    known += own
    for element in elements:
        for field, name in _names(element):
            allowed = [*known, WORLD] if field == "axes" else known
            if name not in allowed:
                where = f"{_where(element.name)}, {field}"
                raise reader.given(name, where).unknown("frame named", allowed)
    _check_circles(own, reader)


def names_of_frames(element: Element) -> list[str]:
    """Return the names of the frames that an element names."""
    return [name for _, name in _names(element)]


def renamed(element: Element, names: Mapping[str, str]) -> Element:
    """Return the element with other names for the frames that it names."""

    def point(old: ElementPoint) -> ElementPoint:
        return replace(old, on=names.get(old.on, old.on))

    match element:
        case InertialElement():
            return replace(element, on=names.get(element.on, element.on))
        case ForceElement():
            to = element.to and point(element.to)
            axes = names.get(element.axes, element.axes)
            return replace(element, at=point(element.at), axes=axes, to=to)
        case MomentElement():
            to = element.to and names.get(element.to, element.to)
            on, axes = (names.get(name, name) for name in (element.on, element.axes))
            return replace(element, on=on, axes=axes, to=to)
        case ElasticElement() | DissipativeElement() if element.ends is not None:
            near, far = (point(end) for end in element.ends)
            return replace(element, ends=(near, far))
        case _:
            return element


def _names(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the fields of an element that name frames, and the names."""
    match element:
        case InertialElement():
            yield "on", element.on
        case ForceElement():
            yield from (("at", element.at.on), ("axes", element.axes))
            if element.to is not None:
                yield "to", element.to.on
        case MomentElement():
            yield from (("on", element.on), ("axes", element.axes))
            if element.to is not None:
                yield "to", element.to
        case ElasticElement() | DissipativeElement():
            yield from (("ends", end.on) for end in element.ends or ())
        case _:
            return


def _check_circles(own: dict[str, str], reader: Reader) -> None:
    try:
        TopologicalSorter({name: [on] for name, on in own.items()}).prepare()
    except CycleError as error:
        circle = " -> ".join(str(name) for name in error.args[1])
        remedy = "let one of them stand on the ground"
        message = f"frames stand on one another in a circle: {circle}"
        raise reader.error(message, "elements", remedy) from error


def _where(name: str) -> str:
    return f"element {name!r}"


# --- elements of a part ---------------------------------------------------------------------


T = TypeVar("T")


class _LostError(Exception):
    """A law names a coordinate that the part does not have."""


def with_elements_of(whole: MechanismData, part: MechanismData, root: str | None) -> MechanismData:
    """Return the part with those elements and constraints of the whole that lie on it.

    An element stays if every frame and coordinate that it names is there; `root` is the segment
    that has become the ground, None for the ground itself. Quasi-velocities stay only if all
    constraints do.
    """
    work = _Part(whole, part)
    definitions = work.definitions()
    elements = work.elements(root)
    constraints = work.carried(whole.constraints)
    quasi = work.carried(whole.quasi)
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

    def __init__(self, whole: MechanismData, part: MechanismData) -> None:
        self.whole = whole
        self.part = part
        self.old = Order(whole.coordinates, whole.rates)
        self.new = Order(part.coordinates, part.rates)
        self.gone: set[str] = set()

    def definitions(self) -> tuple[Definition, ...]:
        rest = self.carried(self.whole.definitions)
        while True:
            self.gone = {d.name for d in self.whole.definitions} - {d.name for d in rest}
            fewer = tuple(d for d in rest if not symbols_in(d) & self.gone)
            if len(fewer) == len(rest):
                return rest
            rest = fewer

    def elements(self, root: str | None) -> tuple[Element, ...]:
        elements = self.whole.elements
        if root is not None:
            elements = tuple(e for e in elements if GROUND_NAME not in names_of_frames(e))
            elements = tuple(renamed(e, {root: GROUND_NAME}) for e in elements)
        rest = self.carried(elements)
        frames = (*self.part.segments, *self.part.frames)
        known = {GROUND_NAME, WORLD, *(frame.name for frame in frames)}
        while True:
            own = {e.name for e in rest if isinstance(e, InertialElement)}
            fewer = tuple(e for e in rest if set(names_of_frames(e)) <= known | own)
            if len(fewer) == len(rest):
                return rest
            rest = fewer

    def carried(self, records: Collection[T]) -> tuple[T, ...]:
        """Return the records whose laws name coordinates of the part only."""
        rest: list[T] = []
        for record in records:
            if symbols_in(record) & self.gone:
                continue
            try:
                rest.append(with_numbers(record, self.in_part))
            except _LostError:
                continue
        return tuple(rest)

    def in_part(self, law: Number) -> Number:
        law_of_part = moved_law(law, self.old, self.new)
        if law_of_part is None:
            raise _LostError
        return law_of_part
