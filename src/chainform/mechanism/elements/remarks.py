"""Remarks on an element model: coordinates that move nothing, names that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chainform.mechanism.elements.types import InertiaElement, InertialElement
from chainform.mechanism.laws import meaning_of
from chainform.mechanism.numbers import symbols_in
from chainform.mechanism.types import ZERO, ZERO_MATRIX, Note

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism


def element_remarks(mechanism: Mechanism) -> Iterator[Note]:
    """Yield what the user should know about elements, unknown forces and definitions."""
    if not mechanism.segments:
        yield from _idle_coordinates(mechanism)
    used = symbols_in((mechanism.elements, mechanism.constraints, mechanism.quasi))
    used |= symbols_in(mechanism.definitions)
    named = [("unknown", name) for name in mechanism.unknowns]
    named += [("definition", definition.name) for definition in mechanism.definitions]
    for kind, name in named:
        if name not in used:
            yield Note("note", f"{kind} {name!r}", "it is declared but not used")


def _idle_coordinates(mechanism: Mechanism) -> Iterator[Note]:
    """Warn of coordinates that no mass depends on: their rows of the mass matrix are zero."""
    names = _with_definitions(mechanism, _names_of_masses(mechanism))
    found = [meaning_of(name, mechanism.coordinates, mechanism.rates) for name in names]
    moving = {meaning.index for meaning in found if meaning is not None and meaning.group == "q"}
    for place, name in enumerate(mechanism.coordinates):
        if place not in moving:
            text = "it moves neither mass nor inertia, so the mass matrix is singular"
            yield Note("warning", f"coordinate {name!r}", text)


def _names_of_masses(mechanism: Mechanism) -> frozenset[str]:
    """Return the names in the places of all masses, and in the laws along which inertia resists."""
    frames = {e.name: e for e in mechanism.elements if isinstance(e, InertialElement)}
    names = symbols_in(tuple(e.along for e in mechanism.elements if isinstance(e, InertiaElement)))
    heavy = (e for e in frames.values() if e.mass != ZERO or e.inertia != ZERO_MATRIX)
    waiting, seen = list(heavy), set[str]()
    while waiting:
        element = waiting.pop()
        if element.name not in seen:
            seen.add(element.name)
            names |= symbols_in(element.chain)
            waiting += [frames[element.on]] if element.on in frames else []
    return names


def _with_definitions(mechanism: Mechanism, names: frozenset[str]) -> frozenset[str]:
    """Return the names, and those in the definitions that they stand for."""
    laws = {definition.name: definition.law for definition in mechanism.definitions}
    waiting, found = list(names), set(names)
    while waiting:
        name = waiting.pop()
        new = symbols_in(laws[name]) - found if name in laws else frozenset[str]()
        found |= new
        waiting += new
    return frozenset(found)
