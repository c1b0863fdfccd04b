"""Read elements: tables of a file, or bodies in short form, into checked records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from chainform.mechanism.bodies import body_from
from chainform.mechanism.elements.chain import GEOMETRY, chain_from, check_moments, table_of_text
from chainform.mechanism.elements.fields import COMMON_FIELDS, FIELDS, PLACE_FIELDS
from chainform.mechanism.elements.types import (
    WORLD,
    DissipativeElement,
    EffortElement,
    ElasticElement,
    Element,
    ForceElement,
    InertiaElement,
    InertialElement,
    MomentElement,
    Place,
    Shift,
)
from chainform.mechanism.intake import Intake
from chainform.mechanism.laws import LawIntake
from chainform.mechanism.linearity import nonlinear_part
from chainform.mechanism.numbering import GROUND_NAME
from chainform.mechanism.tables import check_fields, is_list, is_table, table_of
from chainform.mechanism.types import ZERO_VECTOR, Number, Vector3

Table = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ElementReader:
    """Reads the elements of one mechanism.

    `laws` knows coordinates, parameters and definitions; `unknowns` are the names of unknown
    forces, which only the components of forces and moments may have.
    """

    laws: LawIntake
    unknowns: Sequence[str] = ()

    @property
    def intake(self) -> Intake:
        """The desk of all numbers."""
        return self.laws.intake

    def element(self, said: object, number: int) -> Element:
        """Return one element; without a name it is called by its kind and number."""
        where = f"element {number}"
        table = self._table(said, where)
        kind = table.get("kind")
        if not isinstance(kind, str) or kind not in FIELDS:
            close = get_close_matches(str(kind), FIELDS, n=1)
            start = f"did you mean {close[0]!r}? " if close else ""
            remedy = start + "kinds are " + ", ".join(FIELDS)
            raise self.intake.error(f"there is no element of the kind {kind!r}", where, remedy)
        name = f"{kind}{number}"
        if table.get("name") is not None:
            name = self.intake.text(table["name"], f"{where}, name")
        where = f"element {name!r}"
        check_fields(table, FIELDS[kind] | COMMON_FIELDS, self.intake.file, where)
        return _READERS[kind](self, table, name, where)

    def _table(self, said: object, where: str) -> dict[str, object]:
        """Return a table, made of the short form where the element is given in that."""
        if isinstance(said, str):
            return table_of_text(said, self.intake, where)
        table = table_of(said, self.intake.file, where)
        text = table.pop("text", None)
        if text is None:
            return table
        if not isinstance(text, str):
            remedy = 'write text = "P~K: Sz(a), Rx(phi); m, Jx, Jy, Jz"'
            raise self.intake.error("the short form is a text", f"{where}, text", remedy)
        made = table_of_text(text, self.intake, where)
        twice = [key for key in table if key in made and not (key == "kind" and table[key])]
        if twice:
            remedy = "keep one of the two"
            message = f"{twice[0]!r} is given both in the text and beside it"
            raise self.intake.error(message, where, remedy)
        if table.get("kind") is not None and table["kind"] != made["kind"]:
            message = f"the text is that of a {made['kind']}, the kind says {table['kind']!r}"
            remedy = "a body has mass or moments after a semicolon, a frame has none"
            raise self.intake.error(message, where, remedy)
        return made | table

    # --- inertial elements --------------------------------------------------------------

    def frame(self, table: Table, name: str, where: str) -> Element:
        """Return a frame without mass."""
        chain = chain_from(table.get("chain"), self.laws, f"{where}, chain")
        return InertialElement(name, "frame", self.name(table, "on", where), chain)

    def point(self, table: Table, name: str, where: str) -> Element:
        """Return a point mass; its axes are those of the frame it is placed in."""
        body = body_from(table.get("mass"), None, None, self.intake, where)
        position = self.vector(table.get("position"), f"{where}, position", self.geometry)
        chain = () if position == ZERO_VECTOR else (Shift(position),)
        return InertialElement(name, "point", self.name(table, "on", where), chain, body.mass)

    def body(self, table: Table, name: str, where: str) -> Element:
        """Return a body on a frame chain."""
        chain = chain_from(table.get("chain"), self.laws, f"{where}, chain")
        check_moments(table.get("inertia"), self.intake, f"{where}, inertia")
        fields = (table.get(field) for field in ("mass", "com", "inertia"))
        body = body_from(*fields, intake=self.intake, where=where)
        on = self.name(table, "on", where)
        return InertialElement(name, "body", on, chain, body.mass, body.com, body.inertia)

    def inertia(self, table: Table, name: str, where: str) -> Element:
        """Return an inertia along a law."""
        along = self.geometry(self.given(table, "along", where), f"{where}, along")
        return InertiaElement(name, self.amount(table, "inertia", where), along)

    # --- springs and dampers ------------------------------------------------------------

    def elastic(self, table: Table, name: str, where: str) -> Element:
        """Return a spring."""
        self.one_of(table, ("deformation", "ends"), where)
        rest = self.laws.law(table.get("rest", 0), f"{where}, rest", ("t",))
        deformation = self.optional(table, "deformation", where, self.geometry)
        stiffness = self.amount(table, "stiffness", where)
        return ElasticElement(name, stiffness, rest, deformation, self.ends(table, where))

    def dissipative(self, table: Table, name: str, where: str) -> Element:
        """Return a damper."""
        self.one_of(table, ("deformation", "rate", "ends"), where)
        return DissipativeElement(
            name,
            self.amount(table, "damping", where),
            self.amount(table, "coulomb", where),
            self.optional(table, "deformation", where, self.geometry),
            self.optional(table, "rate", where, self.laws.law),
            self.ends(table, where),
        )

    def ends(self, table: Table, where: str) -> tuple[Place, Place] | None:
        """Return the two places whose distance counts."""
        if table.get("ends") is None:
            return None
        places = self.intake.entries(table["ends"], 2, f"{where}, ends")
        first, second = (self.place(place, f"{where}, ends") for place in places)
        return first, second

    # --- forces and moments -------------------------------------------------------------

    def force(self, table: Table, name: str, where: str) -> Element:
        """Return a force at a place, or along a law."""
        if table.get("along") is not None:
            return self.effort(table, name, where, "force")
        self.components(table, "force", "at", where)
        force = self.vector(self.given(table, "force", where), f"{where}, force", self.load)
        to = None if table.get("to") is None else self.place(table["to"], f"{where}, to")
        at = self.place(self.given(table, "at", where), f"{where}, at")
        return ForceElement(name, force, at, self.name(table, "axes", where, WORLD), to)

    def moment(self, table: Table, name: str, where: str) -> Element:
        """Return a moment on a frame, or along a law."""
        if table.get("along") is not None:
            return self.effort(table, name, where, "moment")
        self.components(table, "moment", "on", where)
        moment = self.vector(self.given(table, "moment", where), f"{where}, moment", self.load)
        to = None if table.get("to") is None else self.name(table, "to", where)
        on, axes = self.name(table, "on", where), self.name(table, "axes", where, WORLD)
        return MomentElement(name, moment, on, axes, to)

    def components(self, table: Table, kind: str, place: str, where: str) -> None:
        """Refuse a force or moment without three components, or without a place for them."""
        value = self.given(table, kind, where)
        remedy = f"write three laws and {place!r}, where they act, or one law and 'along'"
        if not (is_list(value) or hasattr(value, "tolist")):
            raise self.intake.error("one law needs 'along'", f"{where}, {kind}", remedy)
        if table.get(place) is None:
            raise self.intake.error(f"{place!r} is missing", where, remedy)

    def effort(self, table: Table, name: str, where: str, kind: str) -> Element:
        """Return a force or moment that does its work along a law."""
        for field in ("at", "on", "axes", "to"):
            if table.get(field) is not None:
                message = f"{field!r} has no meaning beside 'along'"
                raise self.intake.error(message, where, "keep one of the two")
        effort = self.load(self.given(table, kind, where), f"{where}, {kind}")
        along = self.geometry(table["along"], f"{where}, along")
        return EffortElement(name, "force" if kind == "force" else "moment", effort, along)

    # --- places, laws, numbers ----------------------------------------------------------

    def place(self, said: object, where: str) -> Place:
        """Return a place: the name of a frame, three laws in ground axes, or {on, point}."""
        if isinstance(said, str):
            return Place(self.intake.text(said, where))
        if is_list(said):
            return Place(GROUND_NAME, self.vector(said, where, self.geometry))
        if not is_table(said):
            remedy = 'write "frame", [x, y, z] or { on = "frame", point = [x, y, z] }'
            raise self.intake.error("a place is expected", where, remedy)
        table = table_of(said, self.intake.file, where)
        check_fields(table, PLACE_FIELDS, self.intake.file, where)
        point = self.vector(table.get("point"), f"{where} point", self.geometry)
        return Place(self.name(table, "on", where), point)

    def name(self, table: Table, field: str, where: str, usual: str = GROUND_NAME) -> str:
        """Return the name of a frame; it is looked up when all elements are known."""
        value = table.get(field)
        return usual if value is None else self.intake.text(value, f"{where}, {field}")

    def geometry(self, value: object, where: str) -> Number:
        """Return a law of coordinates and time."""
        return self.laws.law(value, where, GEOMETRY)

    def load(self, value: object, where: str) -> Number:
        """Return a law of coordinates, rates, time and unknowns, linear in the unknowns."""
        further = (*self.laws.further, *self.unknowns)
        hint = "; a force that is to be found is listed under unknowns"
        reader = LawIntake(self.intake, self.laws.coordinates, self.laws.rates, further, hint)
        law = reader.law(value, where)
        part = nonlinear_part(law, lambda name: name in self.unknowns)
        if part is not None:
            message = f"{part} is not linear in the unknown forces"
            remedy = "an unknown may be multiplied by anything without unknowns, and added"
            raise self.intake.error(message, where, remedy)
        return law

    def vector(self, value: object, where: str, law: Callable[[object, str], Number]) -> Vector3:
        """Return three laws; nothing given means zero."""
        if value is None:
            return ZERO_VECTOR
        x, y, z = (
            law(entry, f"{where}[{index}]")
            for index, entry in enumerate(self.intake.entries(value, 3, where), 1)
        )
        return (x, y, z)

    def amount(self, table: Table, field: str, where: str) -> Number:
        """Return a number of parameters that is not negative; nothing given means zero."""
        number = self.intake.number(table.get(field, 0), f"{where}, {field}")
        known = self.intake.known(number, where)
        if known is not None and known < 0:
            remedy = "give a number of at least zero"
            raise self.intake.error("the number is negative", f"{where}, {field}", remedy)
        return number

    def optional(
        self, table: Table, field: str, where: str, law: Callable[[object, str], Number]
    ) -> Number | None:
        """Return a law, None where nothing is said."""
        value = table.get(field)
        return None if value is None else law(value, f"{where}, {field}")

    def given(self, table: Table, field: str, where: str) -> object:
        """Return a field that must be there."""
        if table.get(field) is None:
            raise self.intake.error(f"{field!r} is missing", where, "give it")
        return table[field]

    def one_of(self, table: Table, fields: Sequence[str], where: str) -> None:
        """Refuse a table that has none or several of some fields."""
        said = [field for field in fields if table.get(field) is not None]
        if len(said) != 1:
            found = " and ".join(said) or "none"
            remedy = "give one of " + ", ".join(fields)
            raise self.intake.error(
                f"it must be told what is resisted; found {found}", where, remedy
            )


_READERS: dict[str, Callable[[ElementReader, Table, str, str], Element]] = {
    "frame": ElementReader.frame,
    "point": ElementReader.point,
    "body": ElementReader.body,
    "inertia": ElementReader.inertia,
    "elastic": ElementReader.elastic,
    "dissipative": ElementReader.dissipative,
    "force": ElementReader.force,
    "moment": ElementReader.moment,
}
