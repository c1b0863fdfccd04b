"""Read elements: tables of a file, or bodies in short form, into checked records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chainform.given import Given
from chainform.mechanism.bodies import body_from
from chainform.mechanism.components import (
    WORLD,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    Element,
    ElementPoint,
    ForceElement,
    InertiaElement,
    InertialElement,
    MomentElement,
    ShiftStep,
)
from chainform.mechanism.element_chain import GEOMETRY, chain_from, check_moments, table_of_text
from chainform.mechanism.laws import LawReader, nonlinear_part
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import ZERO, ZERO_VECTOR, Number, Vector3
from chainform.mechanism.segments import GROUND_NAME
from chainform.mechanism.tables import COMMON_FIELDS, FIELDS, PLACE_FIELDS

FRAME_KINDS = ("frame", "point", "body")
"""The kinds of elements that have a frame of their own."""


@dataclass(frozen=True, slots=True)
class ElementReader:
    """Reads the elements of one mechanism.

    `laws` knows coordinates, parameters and definitions; `unknowns` are the names of unknown
    forces, which only the components of forces and moments may have.
    """

    laws: LawReader
    unknowns: Sequence[str] = ()

    @property
    def reader(self) -> Reader:
        """What reads all numbers."""
        return self.laws.reader

    def element(self, value: object, number: int) -> Element:
        """Return one element; without a name it is called by its kind and number."""
        kind, name, table = self._named(value, number)
        return _READERS[kind](self, table, name)

    def frame_name(self, value: object, number: int) -> str | None:
        """Return the name of an element that is a frame, None for one of another kind."""
        kind, name, _ = self._named(value, number)
        return name if kind in FRAME_KINDS else None

    def _named(self, value: object, number: int) -> tuple[str, str, Given]:
        """Return kind, name and table of an element."""
        given = self._table(self.reader.given(value, f"element {number}"))
        kind = given["kind"].choice(tuple(FIELDS), "element of the kind")
        name = given["name"].name() if given.has("name") else f"{kind}{number}"
        return kind, name, given.at(f"element {name!r}").table(FIELDS[kind] | COMMON_FIELDS)

    def _table(self, given: Given) -> Given:
        """Return a table, made of the short form where the element is given in that."""
        if isinstance(given.value, str):
            return given.holding(table_of_text(given))
        table = given.table()
        if not table.has("text"):
            return table
        text = table["text"]
        text.text('write text = "P~K: Sz(a), Rx(phi); m, Jx, Jy, Jz"')
        made = table_of_text(given.holding(text.value))
        own = {key: entry for key, entry in table.value.items() if key != "text"}
        for key, entry in own.items():
            if key in made and not (key == "kind" and entry):
                message = f"{key!r} is given both in the text and as a field"
                raise given.error(message, "keep one of the two")
        if table.has("kind") and own["kind"] != made["kind"]:
            message = f"the text is that of a {made['kind']}, the kind says {own['kind']!r}"
            remedy = "a body has mass or moments after a semicolon, a frame has none"
            raise given.error(message, remedy)
        return given.holding(made | own)

    # --- inertial elements --------------------------------------------------------------

    def frame(self, table: Given, name: str) -> Element:
        """Return a frame without mass."""
        chain = chain_from(table["chain"], self.laws)
        return InertialElement(name, "frame", _name(table["on"]), chain)

    def point(self, table: Given, name: str) -> Element:
        """Return a point mass; its axes are those of the frame it is placed in."""
        body = body_from(table, self.reader)
        position = self.vector(table["position"], self.geometry)
        chain = () if position == ZERO_VECTOR else (ShiftStep(position),)
        return InertialElement(name, "point", _name(table["on"]), chain, body.mass)

    def body(self, table: Given, name: str) -> Element:
        """Return a body on a frame chain."""
        chain = chain_from(table["chain"], self.laws)
        check_moments(table["inertia"])
        body = body_from(table, self.reader)
        on = _name(table["on"])
        return InertialElement(name, "body", on, chain, body.mass, body.com, body.inertia)

    def inertia(self, table: Given, name: str) -> Element:
        """Return an inertia along a law."""
        along = self.geometry(table.required("along"))
        return InertiaElement(name, self.amount(table["inertia"]), along)

    # --- springs and dampers ------------------------------------------------------------

    def elastic(self, table: Given, name: str) -> Element:
        """Return a spring."""
        table.one_of("deformation", "ends")
        rest = self.laws.law(table["rest"], ("t",)) if table.has("rest") else ZERO
        deformation = self.optional(table["deformation"], self.geometry)
        stiffness = self.amount(table["stiffness"])
        return ElasticElement(name, stiffness, rest, deformation, self.ends(table["ends"]))

    def dissipative(self, table: Given, name: str) -> Element:
        """Return a damper."""
        table.one_of("deformation", "rate", "ends")
        return DissipativeElement(
            name,
            self.amount(table["damping"]),
            self.amount(table["coulomb"]),
            self.optional(table["deformation"], self.geometry),
            self.optional(table["rate"], self.laws.law),
            self.ends(table["ends"]),
        )

    def ends(self, given: Given) -> tuple[ElementPoint, ElementPoint] | None:
        """Return the two points whose distance counts."""
        if not given.is_given:
            return None
        first, second = map(self.position, given.entries(2))
        return first, second

    # --- forces and moments -------------------------------------------------------------

    def force(self, table: Given, name: str) -> Element:
        """Return a force at a point, or along a law."""
        if table.has("along"):
            return self.effort(table, name, "force")
        force = self.components(table, "force", "at")
        at, axes = self.position(table["at"]), _name(table["axes"], WORLD)
        to = self.position(table["to"]) if table.has("to") else None
        return ForceElement(name, force, at, axes, to)

    def moment(self, table: Given, name: str) -> Element:
        """Return a moment on a frame, or along a law."""
        if table.has("along"):
            return self.effort(table, name, "moment")
        moment = self.components(table, "moment", "on")
        to = _name(table["to"]) if table.has("to") else None
        return MomentElement(name, moment, _name(table["on"]), _name(table["axes"], WORLD), to)

    def components(self, table: Given, kind: str, position: str) -> Vector3:
        """Return the components of a force or moment; the field `position` must say where."""
        given = table.required(kind)
        remedy = f"write three laws and {position!r}, where they act, or one law and 'along'"
        if not given.is_list:
            raise given.error("one law needs 'along'", remedy)
        table.required(position, remedy)
        return self.vector(given, self.load)

    def effort(self, table: Given, name: str, kind: Literal["force", "moment"]) -> Element:
        """Return a force or moment that does its work along a law."""
        for field in ("at", "on", "axes", "to"):
            if table.has(field):
                message = f"{field!r} has no meaning together with 'along'"
                raise table.error(message, "keep one of the two")
        return EffortElement(
            name, kind, self.load(table.required(kind)), self.geometry(table["along"])
        )

    # --- points, laws, numbers ----------------------------------------------------------

    def position(self, given: Given) -> ElementPoint:
        """Return a point: the name of a frame, three laws in ground axes, or {on, point}."""
        if isinstance(given.value, str):
            return ElementPoint(given.name())
        if given.is_list:
            return ElementPoint(GROUND_NAME, self.vector(given, self.geometry))
        remedy = 'write "frame", [x, y, z] or { on = "frame", point = [x, y, z] }'
        table = given.table(PLACE_FIELDS, remedy)
        return ElementPoint(_name(table["on"]), self.vector(table["point"], self.geometry))

    def geometry(self, given: Given) -> Number:
        """Return a law of coordinates and time."""
        return self.laws.law(given, GEOMETRY)

    def load(self, given: Given) -> Number:
        """Return a law of coordinates, rates, time and unknowns, linear in the unknowns."""
        further = (*self.laws.further, *self.unknowns)
        hint = "; a force that is to be found is listed under unknowns"
        law = replace(self.laws, further=further, hint=hint).law(given)
        part = nonlinear_part(law, lambda name: name in self.unknowns)
        if part is not None:
            message = f"{part} is not linear in the unknown forces"
            remedy = "an unknown may be multiplied by anything without unknowns, and added"
            raise given.error(message, remedy)
        return law

    def vector(self, given: Given, law: Callable[[Given], Number]) -> Vector3:
        """Return three laws; nothing given means zero."""
        if not given.is_given:
            return ZERO_VECTOR
        x, y, z = map(law, given.entries(3))
        return (x, y, z)

    def amount(self, given: Given) -> Number:
        """Return a number of parameters that is not negative; nothing given means zero."""
        return self.reader.number(given, ZERO, least=0)

    def optional(self, given: Given, law: Callable[[Given], Number]) -> Number | None:
        """Return a law, None where nothing is given."""
        return law(given) if given.is_given else None


def _name(given: Given, usual: str = GROUND_NAME) -> str:
    """Return the name of a frame; it is looked up when all elements are known."""
    return given.name() if given.is_given else usual


_READERS: dict[str, Callable[[ElementReader, Given, str], Element]] = {
    "frame": ElementReader.frame,
    "point": ElementReader.point,
    "body": ElementReader.body,
    "inertia": ElementReader.inertia,
    "elastic": ElementReader.elastic,
    "dissipative": ElementReader.dissipative,
    "force": ElementReader.force,
    "moment": ElementReader.moment,
}
