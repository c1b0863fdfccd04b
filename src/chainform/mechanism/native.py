"""A mechanism as the table of a native file: the one written form of a mechanism.

The builder reads such tables, and `native_table` writes them. Numbers are fractions or expressions,
and a chain of steps is their tuple: whoever writes the table as text says how these look. Each
elementary joint is a segment of its own. Defaults, notes and the file name are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, cast

from chainform.mechanism.actuator_fields import actuator_fields
from chainform.mechanism.components import (
    WORLD,
    Actuator,
    Constraint,
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
    Step,
)
from chainform.mechanism.data import MechanismData
from chainform.mechanism.element_chain import chain_text
from chainform.mechanism.numbers import exact_text
from chainform.mechanism.records import (
    GROUND,
    IDENTITY,
    ONE,
    ZERO,
    ZERO_MATRIX,
    ZERO_VECTOR,
    Attachment,
    BaseMotion,
    Body,
    Coordinate,
    Force,
    ForcePiece,
    Frame,
    Joint,
    JointKind,
    Limits,
    Loop,
    Number,
    Parameter,
    Segment,
    Spring,
)

Table: TypeAlias = dict[str, object]


def native_table(mechanism: MechanismData) -> Table:
    """Return the mechanism as the table of a native file, its numbers and chains as they are."""
    return _Writer(mechanism).table()


def written(
    value: object, number: Callable[[Number], object], text: Callable[[Number], str] = exact_text
) -> object:
    """Return a part of the table as plain data: numbers by `number`, those in chains by `text`."""
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {key: written(entry, number, text) for key, entry in table.items()}
    if isinstance(value, list):
        return [written(entry, number, text) for entry in cast("Sequence[object]", value)]
    if isinstance(value, tuple):
        return chain_text(cast("tuple[Step, ...]", value), text)
    return value if value is None or isinstance(value, str | int) else number(cast("Number", value))


def table_numbers(value: object) -> Iterator[Number]:
    """Yield the numbers of a part of the table; those within chains are no entries of it."""
    if isinstance(value, Mapping):
        for entry in cast("Mapping[str, object]", value).values():
            yield from table_numbers(entry)
    elif isinstance(value, list):
        for entry in cast("Sequence[object]", value):
            yield from table_numbers(entry)
    elif value is not None and not isinstance(value, str | int | tuple):
        yield cast("Number", value)


class _Writer:
    """Writes the parts of one mechanism, calling segments and coordinates by their names."""

    def __init__(self, mechanism: MechanismData) -> None:
        self.mechanism = mechanism

    def table(self) -> Table:
        mechanism = self.mechanism
        table: Table = {
            "format": "native",
            "name": mechanism.name,
            "units": "SI",
            "gravity": list(mechanism.gravity),
            **({} if mechanism.coordinates else {"coordinates": []}),
        }
        if mechanism.parameters:
            table["parameters"] = {p.name: _parameter(p) for p in mechanism.parameters}
        if mechanism.base != BaseMotion():
            table["base"] = _base(mechanism.base)
        if mechanism.segments:
            table["segments"] = [self.segment(i, s) for i, s in enumerate(mechanism.segments)]
        lists = {
            "loops": [self.loop(loop) for loop in mechanism.loops],
            "frames": [self.frame(frame) for frame in mechanism.frames],
            "springs": [self.spring(spring) for spring in mechanism.springs],
            "forces": [self.force(force) for force in mechanism.forces],
            "actuators": [self.actuator(actuator) for actuator in mechanism.actuators],
        }
        lists |= _element_model(mechanism)
        return table | {name: entries for name, entries in lists.items() if entries}

    def name_of(self, segment: int) -> str:
        return "ground" if segment == GROUND else self.mechanism.segments[segment].name

    def segment(self, index: int, segment: Segment) -> Table:
        table: Table = {"name": segment.name, "parent": self.name_of(segment.parent)}
        table["joint"] = _joint(segment.joint) | self.motion(index, segment)
        if segment.position != ZERO_VECTOR:
            table["position"] = list(segment.position)
        if segment.rotation != IDENTITY:
            table["rotation"] = _matrix(segment.rotation)
        return table | _body(segment.body)

    def motion(self, index: int, segment: Segment) -> Table:
        """Return the index and names of a joint in q and qd, or the joint that it follows."""
        if segment.coordinate is None or segment.rate is None:
            return {}
        mechanism = self.mechanism
        leader = mechanism.coordinate_records[segment.coordinate].segment
        if leader != index:
            joint = mechanism.segments[leader].joint.name
            ratio, offset = segment.ratio, segment.offset
            return {"mimic": {"joint": joint, "ratio": ratio, "offset": offset}}
        kind = segment.joint.kind
        names = mechanism.coordinates[segment.coordinate :][: kind.coordinates]
        rates = mechanism.rates[segment.rate :][: kind.rates]
        table: Table = {"dof": segment.rate + 1}
        if kind.has_quaternion:
            table["coordinates"] = list(names)
        if names != rates:
            table["rates"] = list(rates)
        return table

    def loop(self, loop: Loop) -> Table:
        table: Table = {
            "name": loop.name,
            "kind": loop.kind,
            "closing": self.attachment(loop.closing),
            "target": self.attachment(loop.target),
        }
        if loop.basic is not None:
            table["basic"] = [self.mechanism.coordinates[index] for index in loop.basic]
        return table if loop.length is None else table | {"length": loop.length}

    def frame(self, frame: Frame) -> Table:
        end = Attachment(frame.segment, frame.point, frame.rotation)
        return {"name": frame.name, **self.attachment(end)}

    def spring(self, spring: Spring) -> Table:
        table: Table = {"name": spring.name}
        if spring.segment is not None:
            table["joint"] = self.mechanism.segments[spring.segment].joint.name
        else:
            table["ends"] = [self.attachment(end) for end in spring.ends or ()]
        numbers = {"stiffness": spring.stiffness, "rest": spring.rest, "damping": spring.damping}
        return table | numbers | ({"preload": spring.preload} if spring.preload != ZERO else {})

    def force(self, force: Force) -> Table:
        table: Table = {"name": force.name, "joint": self.mechanism.rates[force.rate]}
        if len(force.pieces) == 1:
            return table | _piece(force.pieces[0])
        return table | {"pieces": [_piece(piece) for piece in force.pieces]}

    def actuator(self, actuator: Actuator) -> Table:
        return dict(actuator_fields(actuator, self.mechanism.rates))

    def attachment(self, end: Attachment) -> Table:
        table: Table = {"segment": self.name_of(end.segment)}
        if end.point != ZERO_VECTOR:
            table["point"] = list(end.point)
        if end.rotation != IDENTITY:
            table["rotation"] = _matrix(end.rotation)
        return table if end.axis is None else table | {"axis": list(end.axis)}


# --- parts that name nothing else -----------------------------------------------------------


def _parameter(parameter: Parameter) -> Table:
    table: Table = {} if parameter.value is None else {"value": parameter.value}
    words = {"unit": parameter.unit, "note": parameter.note, "symbol": parameter.symbol}
    return table | {key: word for key, word in words.items() if word}


def _base(base: BaseMotion) -> Table:
    table: Table = {} if base.rotation == IDENTITY else {"rotation": _matrix(base.rotation)}
    for name, turn in (("rpy", base.rpy), ("quaternion", base.quaternion)):
        if turn is not None:
            table[name] = list(turn)
    vectors = {
        "position": base.position,
        "velocity": base.velocity,
        "angular_velocity": base.angular_velocity,
        "acceleration": base.acceleration,
        "angular_acceleration": base.angular_acceleration,
    }
    return table | {name: list(v) for name, v in vectors.items() if v != ZERO_VECTOR}


def _joint(joint: Joint) -> Table:
    table: Table = {"name": joint.name, "type": joint.kind.value}
    if joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        table["axis"] = list(joint.axis)
    if joint.limits is not None:
        table["limits"] = _limits(joint.limits)
    if joint.friction is not None:
        friction = joint.friction
        table["friction"] = {"viscous": friction.viscous, "coulomb": friction.coulomb}
    if joint.rotor_inertia != ZERO:
        table["rotor_inertia"] = joint.rotor_inertia
    if joint.gear_ratio != ONE:
        table["gear_ratio"] = joint.gear_ratio
    return table


def _piece(piece: ForcePiece) -> Table:
    times = {"from": piece.start, "until": piece.until}
    given: Table = {name: time for name, time in times.items() if time is not None}
    return given | {"law": piece.law}


def _limits(limits: Limits) -> Table:
    names = ("lower", "upper", "velocity", "effort")
    given = {name: cast("Fraction | None", getattr(limits, name)) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def _body(body: Body) -> Table:
    table: Table = {}
    if body.mass != ZERO:
        table["mass"] = body.mass
    if body.com != ZERO_VECTOR:
        table["com"] = list(body.com)
    if body.inertia != ZERO_MATRIX:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        moments = {"xx": xx, "xy": xy, "xz": xz, "yy": yy, "yz": yz, "zz": zz}
        table["inertia"] = {key: entry for key, entry in moments.items() if entry != ZERO}
    if body.moment != ZERO_VECTOR:
        table["moment"] = list(body.moment)
    return table


def _matrix(rows: Iterable[Sequence[Number]]) -> list[object]:
    return [list(row) for row in rows]


# --- models of elements --------------------------------------------------------------------


def _element_model(mechanism: MechanismData) -> Table:
    """Return the fields of an element model; those that are empty are to be left out."""
    records = zip(mechanism.coordinate_records, mechanism.rate_records, strict=False)
    own = [pair for pair in records if pair[0].segment == GROUND]
    return {
        "coordinates": [_coordinate(record, rate) for record, rate in own],
        "unknowns": list(mechanism.unknowns),
        "definitions": {d.name: d.law for d in mechanism.definitions},
        "elements": [_element(element) for element in mechanism.elements],
        "constraints": [_constraint(constraint) for constraint in mechanism.constraints],
        "quasi": [{"name": q.name, "law": q.law} for q in mechanism.quasi],
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
        "law": constraint.law,
        **{field: value for field, value in contact.items() if value != ZERO},
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
    given = {field: n for field, n in numbers.items() if n is not None}
    return {"name": element.name, "kind": kind, **given}


def _inertial(element: InertialElement) -> Table:
    table = _table(element, element.kind)
    if element.on != "ground":
        table["on"] = element.on
    if element.kind == "point":
        for step in element.chain:
            assert isinstance(step, ShiftStep)
            table["position"] = list(step.vector)
    elif element.chain:
        table["chain"] = element.chain
    if element.mass != ZERO:
        table["mass"] = element.mass
    if element.com != ZERO_VECTOR:
        table["com"] = list(element.com)
    if element.inertia != ZERO_MATRIX:
        table["inertia"] = _matrix(element.inertia)
    return table


def _force(element: ForceElement) -> Table:
    table = _table(element, "force")
    table |= {"force": list(element.force), "at": _point(element.at)}
    if element.axes != WORLD:
        table["axes"] = element.axes
    return table if element.to is None else table | {"to": _point(element.to)}


def _moment(element: MomentElement) -> Table:
    table = _table(element, "moment")
    table |= {"moment": list(element.moment), "on": element.on}
    if element.axes != WORLD:
        table["axes"] = element.axes
    return table if element.to is None else table | {"to": element.to}


def _ends(ends: Sequence[ElementPoint] | None) -> Table:
    return {} if ends is None else {"ends": [_point(end) for end in ends]}


def _point(point: ElementPoint) -> Table:
    table: Table = {"on": point.on}
    return table if point.point == ZERO_VECTOR else table | {"point": list(point.point)}
