"""Build a mechanism piece by piece; every reader goes through here, so every check is made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

from chainform.given import Given
from chainform.mechanism.actuator_reader import actuators_from
from chainform.mechanism.base import base_from
from chainform.mechanism.checks import check_mechanism
from chainform.mechanism.coordinates import with_coordinates, with_couplings
from chainform.mechanism.data import MechanismData
from chainform.mechanism.element_model import ElementMethods, coordinates_from, with_elements
from chainform.mechanism.loop_closure import check_loops
from chainform.mechanism.loops import LoopMaker, forces_from, springs_from
from chainform.mechanism.numbers import NumberLike
from chainform.mechanism.reader import Reader, parameters_from
from chainform.mechanism.records import GROUND, Note, Parameter
from chainform.mechanism.segments import (
    Register,
    SegmentParts,
    names_of,
    parents_first,
    parents_of,
    pieces_from,
    register_of,
)
from chainform.mechanism.tables import segment_table


class BuilderMethods(ElementMethods):
    """Collects the parts of a mechanism, and checks all of them together."""

    def __init__(
        self,
        name: object = "mechanism",
        gravity: object = (0, 0, "-9.81"),
        file: str | None = None,
        source: bytes | None = None,
    ) -> None:
        super().__init__()
        self._name = name
        self._gravity = gravity
        self._file = file
        self._source = source
        self._parameters: list[Mapping[str, object]] = []
        self._segments: list[Given] = []
        self._loops: list[Mapping[str, object]] = []
        self._frames: list[Mapping[str, object]] = []
        self._springs: list[Mapping[str, object]] = []
        self._forces: list[Mapping[str, object]] = []
        self._actuators: list[Mapping[str, object]] = []
        self._base: object = None
        self._dof: object = None
        self._notes: list[Note] = []
        self._fixed: dict[str, str] = {}

    @property
    def file(self) -> str | None:
        """The file that errors name, None for a mechanism built in a program."""
        return self._file

    def parameter(
        self,
        name: object,
        value: object = None,
        unit: object = "",
        note: object = "",
        symbol: object = "",
    ) -> Self:
        r"""Declare a parameter: a number, an expression of other parameters, or free (None).

        Formulas write it by its `symbol`: m_{crank}, \theta_0.
        """
        table = {"name": name, "value": value, "unit": unit, "note": note, "symbol": symbol}
        self._parameters.append(table)
        return self

    def segment(  # noqa: PLR0913, a front door
        self,
        name: str | None = None,
        *,
        parent: str | int | None = None,
        joint: str | Mapping[str, object] = "revolute",
        axis: str | Sequence[NumberLike] | None = None,
        position: Sequence[NumberLike] | None = None,
        rotation: Sequence[Sequence[NumberLike]] | None = None,
        mass: NumberLike | None = None,
        com: Sequence[NumberLike] | None = None,
        inertia: Sequence[object] | Mapping[str, NumberLike] | None = None,
        dof: int | Sequence[int] | None = None,
        mimic: Mapping[str, object] | None = None,
        **further: object,
    ) -> Self:
        """Add a segment: a joint on `parent` and the body it carries.

        `axis`, `com` and `inertia` (about the mass centre) are in the body frame, `position` and
        `rotation` place that frame in the parent frame at zero. `mimic` is a table {joint, ratio,
        offset}: the joint then follows the other one. Further fields are those of the native file:
        axes, euler, rpy, quaternion, coordinates, rates, limits, friction, rotor_inertia,
        gear_ratio, id, and distribution in place of mass, com and inertia. One segment without a
        parent is taken to stand on the ground.
        """
        fields: dict[str, object] = {
            "name": name,
            "parent": parent,
            "joint": joint,
            "axis": axis,
            "position": position,
            "rotation": rotation,
            "mass": mass,
            "com": com,
            "inertia": inertia,
            "dof": dof,
            "mimic": mimic,
        }
        given = {key: value for key, value in fields.items() if value is not None}
        return self.segment_table({**given, **further})

    def segment_table(self, table: Mapping[str, object]) -> Self:
        """Add a segment given as a table of the native file."""
        name = table.get("name")
        label = repr(name) if isinstance(name, str) else str(len(self._segments) + 1)
        self._segments.append(segment_table(Given(table, f"segment {label}", self._file)))
        return self

    def loop(
        self,
        name: object,
        kind: object,
        closing: object,
        target: object = None,
        basic: object = None,
        length: object = None,
    ) -> Self:
        """Add a loop: `closing` and `target` are tables {segment, point, rotation, axis}.

        `kind` is the joint that closes it: point (or spherical), frame, revolute, prismatic,
        cylindrical, universal, planar, or distance with a `length` (m). Without a target the loop
        closes on the ground's origin; `basic` lists the coordinates chosen as independent.
        """
        fields = {"name": name, "kind": kind, "closing": closing, "target": target, "basic": basic}
        return self.loop_table({**fields, "length": length})

    def loop_table(self, table: Mapping[str, object]) -> Self:
        """Add a loop given as a table of the native file."""
        return self._add(self._loops, table, "loop")

    def frame(
        self,
        name: str,
        segment: str | int,
        point: Sequence[NumberLike] | None = None,
        rotation: Sequence[Sequence[NumberLike]] | None = None,
        *,
        rpy: Sequence[NumberLike] | None = None,
        quaternion: Sequence[NumberLike] | None = None,
    ) -> Self:
        """Add a named frame on a segment or the ground: its origin (m) and axes in body axes."""
        forms = {"rotation": rotation, "rpy": rpy, "quaternion": quaternion}
        return self.frame_table({"name": name, "segment": segment, "point": point, **forms})

    def frame_table(self, table: Mapping[str, object]) -> Self:
        """Add a frame given as a table of the native file."""
        return self._add(self._frames, table, "frame")

    def spring(self, **fields: object) -> Self:
        """Add a spring: name, joint or ends (two {segment, point}), stiffness and so on.

        spring(joint="elbow", stiffness=20, rest=0.5, damping=1)
        """
        return self.spring_table(fields)

    def spring_table(self, table: Mapping[str, object]) -> Self:
        """Add a spring: {name, joint or ends, stiffness, rest, damping, preload}."""
        return self._add(self._springs, table, "spring")

    def force(
        self,
        joint: str,
        law: NumberLike | None = None,
        *,
        pieces: Sequence[Mapping[str, object]] | None = None,
        name: str | None = None,
        **bounds: object,
    ) -> Self:
        """Add a generalised force on a coordinate: a law of coordinates, rates, t and parameters.

        `pieces` are tables {until, law} in the order of time instead; `from` and `until` (s) may
        bound a single law: force("elbow", "5*t", until=2).
        """
        table = {"name": name, "joint": joint, "law": law, "pieces": pieces, **bounds}
        return self.force_table({key: value for key, value in table.items() if value is not None})

    def force_table(self, table: Mapping[str, object]) -> Self:
        """Add a force: {name, joint, law, from, until} or {name, joint, pieces}."""
        return self._add(self._forces, table, "force")

    def actuator(
        self, name: str | None, joint: str | Mapping[str, object], **fields: object
    ) -> Self:
        """Add the actuator of a joint: a type of the library, laws, or A, b, f and so on.

        actuator("motor", "elbow", type="dc_motor", resistance=0.3, torque_constant=0.03);
        actuator("motor", {"elbow": 1, "wrist": -1}, effort="3*u - 0.1*der(q)") drives two joints;
        see `Actuator` for the general form. States and signals have the order of the calls.
        """
        table = {"name": name, "joint" if isinstance(joint, str) else "joints": joint, **fields}
        return self.actuator_table({k: value for k, value in table.items() if value is not None})

    def actuator_table(self, table: Mapping[str, object]) -> Self:
        """Add an actuator given as a table of the native file."""
        return self._add(self._actuators, table, "actuator")

    def _add(self, tables: list[Mapping[str, object]], table: object, kind: str) -> Self:
        given = Given(table, f"{kind} {len(tables) + 1}", self._file)
        tables.append(given.table().value)
        return self

    def base(self, table: object = None, **fields: object) -> Self:
        """State the motion of the base, world axes: position, rotation, velocity and so on."""
        self._base = fields if table is None else table
        return self

    def freedoms(self, count: object) -> Self:
        """State the number of freedoms, to be compared with that of the joints."""
        self._dof = count
        return self

    def remark(self, element: str, text: str) -> Self:
        """Keep a note of a reader for the report."""
        self._notes.append(Note("note", element, text))
        return self

    def reader(self) -> Reader:
        """Return what reads the numbers of a file: it knows the parameters declared so far.

        Its remarks become notes of the mechanism.
        """
        parameters, _ = parameters_from(tuple(self._parameters), self._file)
        values = {parameter.name: parameter.value for parameter in parameters}
        return Reader(self._file, values, self._notes, self._fixed)

    def data(self) -> MechanismData:
        """Return the checked parts, segments numbered parents first."""
        parameters, remarks = parameters_from(tuple(self._parameters), self._file)
        values = {parameter.name: parameter.value for parameter in parameters}
        # A list of its own, so that building twice does not say everything twice.
        reader = Reader(self._file, values, [*self._notes, *remarks], dict(self._fixed))
        names = names_of(self._segments, reader)
        register = register_of(self._segments, names, reader)
        pieces, last_segment = self._pieces(names, register, reader)
        mechanism = self._tree(pieces, parameters, reader)
        maker = LoopMaker(mechanism, register, last_segment, reader)
        loops, frames = maker.loops(self._loops), maker.frames(self._frames)
        springs = springs_from(self._springs, maker)
        actuators = actuators_from(self._actuators, mechanism, reader)
        mechanism = replace(mechanism, loops=loops, frames=frames, springs=springs)
        mechanism = replace(mechanism, actuators=actuators)
        mechanism = with_elements(mechanism, self._model, reader)
        # Laws of forces name frames, those of elements as well.
        mechanism = replace(mechanism, forces=forces_from(self._forces, mechanism, reader))
        notes = (*reader.notes, *check_mechanism(mechanism), *check_loops(mechanism))
        known = (
            replace(
                p, fixed_in=reader.fixed.get(p.name, ""), limit_in=reader.limited.get(p.name, "")
            )
            for p in parameters
        )
        return replace(mechanism, notes=notes, parameters=tuple(known))

    def _pieces(
        self, names: Sequence[str], register: Register, reader: Reader
    ) -> tuple[list[SegmentParts], list[int]]:
        """Return all segments, and for each specification the index of its last one."""
        has_none = not self._segments and not self._model.coordinates
        if has_none and (self._model.elements or not self._model.is_declared):
            remedy = "describe at least one segment, under 'bodies' or 'segments'"
            if self._model.elements:
                remedy = 'name the coordinates of the elements: coordinates = ["phi"]'
                raise reader.error("the elements have no coordinates", "coordinates", remedy)
            raise reader.error("the mechanism has no segments", "segments", remedy)
        parents = parents_of(self._segments, names, register)
        pieces: list[SegmentParts] = []
        last_segment = [GROUND] * len(names)
        for index in parents_first(parents, names, reader):
            parent = GROUND if parents[index] == GROUND else last_segment[parents[index]]
            table = self._segments[index]
            pieces += pieces_from(table, names[index], parent, len(pieces), reader)
            last_segment[index] = len(pieces) - 1
        return pieces, last_segment

    def _tree(
        self, pieces: Sequence[SegmentParts], parameters: tuple[Parameter, ...], reader: Reader
    ) -> MechanismData:
        bare, entries = [piece.segment for piece in pieces], [piece.entries for piece in pieces]
        segments, coordinates, rates = with_coordinates(bare, entries, reader)
        segments = with_couplings(segments, [piece.coupling for piece in pieces], reader)
        if self._model.coordinates:
            coordinates, rates = coordinates_from(self._model.coordinates, segments, reader)
        if self._dof is not None and reader.whole(reader.given(self._dof, "dof")) != len(rates):
            remedy = f"the joints have {len(rates)}; correct the number or remove it"
            raise reader.error("the number of freedoms does not fit the joints", "dof", remedy)
        return MechanismData(
            reader.given(self._name, "name").name(),
            segments,
            coordinates,
            rates,
            parameters,
            reader.vector(reader.given(self._gravity, "gravity")),
            base_from(self._base, reader),
            file=self._file,
            source=self._source,
        )
