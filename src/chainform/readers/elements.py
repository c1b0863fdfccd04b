"""The part of a file that holds an element model: unknowns, definitions, elements, constraints."""

from __future__ import annotations

from collections.abc import Mapping

from chainform.mechanism import MechanismBuilder
from chainform.mechanism.tables import list_of, table_of
from chainform.readers.source import Source

ELEMENT_FIELDS = frozenset({"elements", "unknowns", "definitions", "constraints", "quasi"})
"""The fields of an element model, which every form of file understands."""


def add_elements(table: Mapping[str, object], builder: MechanismBuilder, source: Source) -> None:
    """Tell the builder everything that a file says about elements and constraints."""

    def entries(field: str) -> list[object]:
        value = table.get(field)
        return [] if value is None else list_of(value, source.file, field)

    builder.unknowns(*entries("unknowns"))
    if table.get("definitions") is not None:
        builder.define(table_of(table["definitions"], source.file, "definitions"))
    for element in entries("elements"):
        builder.element(element)
    for constraint in entries("constraints"):
        builder.constraint_table(constraint)
    for quasi in entries("quasi"):
        builder.quasi_table(quasi)
