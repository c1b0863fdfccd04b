"""What all forms of mechanism files share: name, units, gravity, parameters, loops and so on."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from chainform.mechanism import MechanismBuilder
from chainform.mechanism.tables import (
    FRAME_FIELDS,
    LOOP_FIELDS,
    PARAMETER_FIELDS,
    check_fields,
    is_table,
    kind_of,
    list_of,
    table_of,
)
from chainform.readers.elements import ELEMENT_FIELDS, add_elements
from chainform.readers.source import Source

HEADER_FIELDS = frozenset(
    {"format", "name", "units", "gravity", "parameters", "base", "loops", "frames", "springs"}
    | {"forces", "actuators"}
)
"""The fields that every form understands."""


def builder_from(
    table: Mapping[str, object], fields: Collection[str], source: Source
) -> MechanismBuilder:
    """Return a builder with everything but the segments; `fields` are those of the form itself."""
    known = HEADER_FIELDS | ELEMENT_FIELDS | set(fields)
    check_fields(table, known, source.file, "mechanism")
    _check_units(table.get("units"), source)
    gravity = table.get("gravity")
    name = table.get("name")
    builder = MechanismBuilder(
        source.name if name is None else name,
        (0, 0, "-9.81") if gravity is None else gravity,
        file=source.file,
        source=source.data,
    )
    if gravity is None:
        builder.remark("gravity", "not given; (0, 0, -9.81) m/s^2 is used, z pointing up")
    _add_parameters(table.get("parameters"), builder, source)
    builder.base(table.get("base"))
    _add_loops(table.get("loops"), builder, source)
    _add_frames(table.get("frames"), builder, source)
    _add_springs(table.get("springs"), builder, source)
    _add_forces(table.get("forces"), builder, source)
    _add_actuators(table.get("actuators"), builder, source)
    add_elements(table, builder, source)
    return builder


def _check_units(units: object, source: Source) -> None:
    if units is None or (isinstance(units, str) and units.startswith("SI")):
        return
    shown = repr(units[:40]) if isinstance(units, str) else kind_of(units)
    message = f"units must begin with 'SI', got {shown}"
    raise source.error(message, "convert the numbers to m, kg, s, rad and write 'SI'", "units")


def _add_parameters(value: object, builder: MechanismBuilder, source: Source) -> None:
    if value is None:
        return
    for name, said in table_of(value, source.file, "parameters").items():
        if not is_table(said):
            builder.parameter(name, said)
            continue
        where = f"parameter {name[:60]!r}"
        fields = table_of(said, source.file, where)
        check_fields(fields, PARAMETER_FIELDS, source.file, where)
        unit, note = fields.get("unit", ""), fields.get("note", "")
        builder.parameter(name, fields.get("value"), unit, note)


def _add_loops(value: object, builder: MechanismBuilder, source: Source) -> None:
    if value is None:
        return
    for number, said in enumerate(list_of(value, source.file, "loops"), 1):
        loop = table_of(said, source.file, f"loop {number}")
        check_fields(loop, LOOP_FIELDS, source.file, f"loop {number}")
        builder.loop(
            loop.get("name"),
            loop.get("kind"),
            loop.get("closing"),
            loop.get("target"),
            loop.get("basic"),
        )


def _add_frames(value: object, builder: MechanismBuilder, source: Source) -> None:
    if value is None:
        return
    for number, said in enumerate(list_of(value, source.file, "frames"), 1):
        frame = table_of(said, source.file, f"frame {number}")
        check_fields(frame, FRAME_FIELDS, source.file, f"frame {number}")
        builder.frame_table(frame)


def _add_springs(value: object, builder: MechanismBuilder, source: Source) -> None:
    if value is None:
        return
    for number, said in enumerate(list_of(value, source.file, "springs"), 1):
        builder.spring_table(table_of(said, source.file, f"spring {number}"))


def _add_forces(value: object, builder: MechanismBuilder, source: Source) -> None:
    if value is None:
        return
    for number, said in enumerate(list_of(value, source.file, "forces"), 1):
        builder.force_table(table_of(said, source.file, f"force {number}"))


def _add_actuators(value: object, builder: MechanismBuilder, source: Source) -> None:
    if value is None:
        return
    for number, said in enumerate(list_of(value, source.file, "actuators"), 1):
        builder.actuator_table(table_of(said, source.file, f"actuator {number}"))
