"""Write the element model of a mechanism in the words of the native file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from chainform.mechanism import GROUND, ZERO, ZERO_MATRIX, ZERO_VECTOR, Mechanism, Number
from chainform.mechanism.constraints import Constraint
from chainform.mechanism.elements import (
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
from chainform.mechanism.elements.chain import chain_text
from chainform.mechanism.types import Coordinate
from chainform.readers.native_numbers import number_text, plain_text

Table: TypeAlias = dict[str, object]


def element_model(mechanism: Mechanism) -> Table:
    """Return the fields of an element model; those that are empty are to be left out."""
    records = zip(mechanism.coordinate_records, mechanism.rate_records, strict=False)
    own = [pair for pair in records if pair[0].segment == GROUND]
    return {
        "coordinates": [_coordinate(record, rate) for record, rate in own],
        "unknowns": list(mechanism.unknowns),
        "definitions": {d.name: number_text(d.law) for d in mechanism.definitions},
        "elements": [_element(element) for element in mechanism.elements],
        "constraints": [_constraint(constraint) for constraint in mechanism.constraints],
        "quasi": [{"name": q.name, "law": number_text(q.law)} for q in mechanism.quasi],
    }


def _coordinate(record: Coordinate, rate: Coordinate) -> str | Table:
    table: Table = {"name": record.name}
    if record.unit:
        table["unit"] = record.unit
    if rate.name != record.name:
        table["rate"] = rate.name
    return table if len(table) > 1 else record.name


def _constraint(constraint: Constraint) -> Table:
    contact = {"restitution": constraint.restitution, "friction": constraint.friction}
    return {
        "name": constraint.name,
        "kind": constraint.kind,
        "law": number_text(constraint.law),
        **{field: number_text(value) for field, value in contact.items() if value != ZERO},
    }


def _element(element: Element) -> Table:
    match element:
        case InertialElement():
            return _inertial(element)
        case InertiaElement():
            return _table(element, "inertia", inertia=element.inertia, along=element.along)
        case ElasticElement():
            numbers = {"stiffness": element.stiffness, "rest": element.rest}
            table = _table(element, "elastic", **numbers, deformation=element.deformation)
            return table | _ends(element.ends)
        case DissipativeElement():
            numbers = {"damping": element.damping, "coulomb": element.coulomb}
            motion = {"deformation": element.deformation, "rate": element.rate}
            return _table(element, "dissipative", **numbers, **motion) | _ends(element.ends)
        case ForceElement():
            return _force(element)
        case MomentElement():
            return _moment(element)
        case EffortElement():
            numbers = {element.kind: element.effort, "along": element.along}
            return _table(element, element.kind, **numbers)


def _table(element: Element, kind: str, **numbers: Number | None) -> Table:
    given = {field: number_text(n) for field, n in numbers.items() if n is not None}
    return {"name": element.name, "kind": kind, **given}


def _inertial(element: InertialElement) -> Table:
    table = _table(element, element.kind)
    if element.on != "ground":
        table["on"] = element.on
    if element.kind == "point":
        for step in element.chain:
            assert isinstance(step, Shift)
            table["position"] = _vector(step.vector)
    elif element.chain:
        table["chain"] = chain_text(element.chain, plain_text)
    if element.mass != ZERO:
        table["mass"] = number_text(element.mass)
    if element.com != ZERO_VECTOR:
        table["com"] = _vector(element.com)
    if element.inertia != ZERO_MATRIX:
        table["inertia"] = [_vector(row) for row in element.inertia]
    return table


def _force(element: ForceElement) -> Table:
    table = _table(element, "force")
    table |= {"force": _vector(element.force), "at": _place(element.at)}
    if element.axes != WORLD:
        table["axes"] = element.axes
    return table if element.to is None else table | {"to": _place(element.to)}


def _moment(element: MomentElement) -> Table:
    table = _table(element, "moment")
    table |= {"moment": _vector(element.moment), "on": element.on}
    if element.axes != WORLD:
        table["axes"] = element.axes
    return table if element.to is None else table | {"to": element.to}


def _ends(ends: Sequence[Place] | None) -> Table:
    return {} if ends is None else {"ends": [_place(end) for end in ends]}


def _place(place: Place) -> Table:
    table: Table = {"on": place.on}
    return table if place.point == ZERO_VECTOR else table | {"point": _vector(place.point)}


def _vector(vector: Iterable[Number]) -> list[object]:
    return [number_text(entry) for entry in vector]
