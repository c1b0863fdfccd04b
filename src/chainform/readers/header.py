"""What all forms of mechanism files share: name, units, gravity, parameters, loops and so on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from chainform.given import Given, shown
from chainform.mechanism import PARAMETER_FIELDS, MechanismBuilder
from chainform.readers.source import Source

ELEMENT_FIELDS = frozenset({"elements", "unknowns", "definitions", "constraints", "quasi"})
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
    given = source.given(table, "mechanism").table(known).at("")
    _check_units(given["units"])
    builder = MechanismBuilder(
        given["name"].value if given.has("name") else source.name,
        given["gravity"].value if given.has("gravity") else (0, 0, "-9.81"),
        file=source.file,
        source=source.data,
    )
    if not given.has("gravity"):
        builder.remark("gravity", "not given; (0, 0, -9.81) m/s^2 is used, z pointing up")
    _add_parameters(given["parameters"], builder)
    builder.base(given["base"].value)
    builder.unknowns(*(entry.value for entry in _entries(given["unknowns"])))
    if given.has("definitions"):
        builder.define(given["definitions"].table().value)
    lists: dict[str, Callable[[Any], object]] = {
        "loops": builder.loop_table,
        "frames": builder.frame_table,
        "springs": builder.spring_table,
        "forces": builder.force_table,
        "actuators": builder.actuator_table,
        "elements": builder.element,
        "constraints": builder.constraint_table,
        "quasi": builder.quasi_table,
    }
    for field, add in lists.items():
        for entry in _entries(given[field]):
            add(entry.value)
    return builder


def _entries(given: Given) -> list[Given]:
    return given.entries() if given.is_given else []


def _check_units(given: Given) -> None:
    if given.is_given and not str(given.value).startswith("SI"):
        message = f"units must begin with 'SI', got {shown(given.value)}"
        raise given.error(message, "convert the numbers to m, kg, s, rad and write 'SI'")


def _add_parameters(given: Given, builder: MechanismBuilder) -> None:
    for name, entry in given.table().items() if given.is_given else ():
        if not entry.is_table:
            builder.parameter(name, entry.value)
            continue
        fields = entry.at(f"parameter {name[:60]!r}").table(PARAMETER_FIELDS).value
        unit, note = fields.get("unit", ""), fields.get("note", "")
        builder.parameter(name, fields.get("value"), unit, note)
