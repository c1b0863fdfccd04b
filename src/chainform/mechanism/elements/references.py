"""Who stands on whom: the frames that elements name must exist and not go round in a circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from chainform.mechanism.elements.types import (
    WORLD,
    DissipativeElement,
    ElasticElement,
    Element,
    ForceElement,
    InertialElement,
    MomentElement,
    Place,
)
from chainform.mechanism.numbering import GROUND_NAME
from chainform.mechanism.reader import Reader

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism


def check_references(elements: Sequence[Element], mechanism: Mechanism, reader: Reader) -> None:
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

    def place(old: Place) -> Place:
        return replace(old, on=names.get(old.on, old.on))

    match element:
        case InertialElement():
            return replace(element, on=names.get(element.on, element.on))
        case ForceElement():
            to = element.to and place(element.to)
            axes = names.get(element.axes, element.axes)
            return replace(element, at=place(element.at), axes=axes, to=to)
        case MomentElement():
            to = element.to and names.get(element.to, element.to)
            on, axes = (names.get(name, name) for name in (element.on, element.axes))
            return replace(element, on=on, axes=axes, to=to)
        case ElasticElement() | DissipativeElement() if element.ends is not None:
            near, far = (place(end) for end in element.ends)
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
