"""Who stands on whom: the frames that elements name must exist and not go round in a circle.

When only a part of a mechanism is taken, the elements on it stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

from chainform.mechanism.checks import names_behind
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
from chainform.mechanism.laws import Order, frames_in, moved_law
from chainform.mechanism.numbers import symbols_in, with_numbers
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import Number
from chainform.mechanism.segments import GROUND_NAME

MOST_NESTED = 40
"""How often the chain of a frame may name a frame whose chain names another one, and so on."""


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
    remedy = "let one of them stand on the ground"
    _check_circles({name: [on] for name, on in own.items()}, "stand on", remedy, reader)
    if frames_in(symbols_in((elements, mechanism.definitions))):
        _check_chains(elements, mechanism, reader)


def _check_chains(elements: Sequence[Element], mechanism: MechanismData, reader: Reader) -> None:
    """Refuse frames whose chains name one another in a circle, or too deep; none stands so."""
    own = {e.name: e for e in elements if isinstance(e, InertialElement)}
    laws = {e.name: names_behind(mechanism, elements, symbols_in(e.chain)) for e in own.values()}
    needs = {name: [own[name].on, *frames_in(symbols)] for name, symbols in laws.items()}
    remedy = "let the chain of one of them name coordinates only"
    depth: dict[str, int] = {}
    for name in _check_circles(needs, "depend on", remedy, reader):
        inner = [depth[frame] + 1 for frame in frames_in(laws.get(name, ()))]
        depth[name] = max([*inner, depth[own[name].on] if name in own else 0])
        if depth[name] > MOST_NESTED:
            message = f"its chain names frames whose chains name frames, {MOST_NESTED} times over"
            raise reader.error(message, _where(name), remedy)


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


def _check_circles(
    needs: Mapping[str, Sequence[str]], relation: str, remedy: str, reader: Reader
) -> list[str]:
    """Return the frames in an order in which each comes after those that it needs."""
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = " -> ".join(str(name) for name in error.args[1])
        message = f"frames {relation} one another in a circle: {circle}"
        raise reader.error(message, "elements", remedy) from error


def _where(name: str) -> str:
    return f"element {name!r}"


# --- elements of a part ---------------------------------------------------------------------


T = TypeVar("T")


class _LostError(Exception):
    """A law names a coordinate or a frame that the part does not have."""


def with_elements_of(whole: MechanismData, part: MechanismData, root: str | None) -> MechanismData:
    """Return the part with those elements and constraints of the whole that lie on it.

    An element stays if every frame and coordinate that it names is there; `root` is the segment
    that has become the ground, None for the ground itself. Quasi-velocities stay only if all
    constraints do.
    """
    work = _Part(whole, part, root)
    definitions, elements = work.definitions(), work.elements()
    while not work.has_frames_of(elements):
        definitions, elements = work.definitions(), work.elements()
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


def order_of(part: MechanismData, root: str | None) -> Order:
    """Return the names of a part; where a segment `root` is its ground, the old one is none."""
    frames = (name for name in part.frame_names if root is None or name != GROUND_NAME)
    return Order(part.coordinates, part.rates, tuple(frames))


class _Part:
    """Carries records over into the part, where that is possible."""

    def __init__(self, whole: MechanismData, part: MechanismData, root: str | None) -> None:
        self.whole = whole
        self.part = part
        self.root = root
        self.old = Order(whole.coordinates, whole.rates)
        self.gone: set[str] = set()
        self.new = self._order(whole.elements)

    def _order(self, elements: Collection[Element]) -> Order:
        return order_of(replace(self.part, elements=tuple(elements)), self.root)

    def has_frames_of(self, elements: Collection[Element]) -> bool:
        """Tell whether laws named frames of these elements only; from now on they may not else."""
        before, self.new = self.new, self._order(elements)
        return before == self.new

    def definitions(self) -> tuple[Definition, ...]:
        rest = self.carried(self.whole.definitions)
        while True:
            self.gone = {d.name for d in self.whole.definitions} - {d.name for d in rest}
            fewer = tuple(d for d in rest if not symbols_in(d) & self.gone)
            if len(fewer) == len(rest):
                return rest
            rest = fewer

    def elements(self) -> tuple[Element, ...]:
        elements, root = self.whole.elements, self.root
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
        """Return the records whose laws name coordinates and frames of the part only."""
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
