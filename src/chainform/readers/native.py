"""The native form: a list of segments, each with its joint, place and body; or elements."""

from __future__ import annotations

from collections.abc import Mapping

from chainform.mechanism import Mechanism
from chainform.readers.header import builder_from
from chainform.readers.source import Source

NATIVE_FIELDS = frozenset({"bodies", "segments", "dof", "coordinates"})


def read_native(table: Mapping[str, object], source: Source) -> Mechanism:
    """Return the mechanism of a native table; docs/mechanism-files.md lists its fields."""
    given = source.given(table)
    lists = [field for field in ("bodies", "segments") if field in table]
    if not lists and not given.has("coordinates"):
        remedy = "list the segments under 'bodies' or 'segments', or declare 'coordinates'"
        raise source.error("the mechanism has no segments", remedy, "mechanism")
    if len(lists) > 1:
        raise source.error("both 'bodies' and 'segments' are given", "keep one list", "mechanism")
    builder = builder_from(table, NATIVE_FIELDS, source).freedoms(table.get("dof"))
    if given.has("coordinates"):
        builder.coordinates(*(entry.value for entry in given["coordinates"].entries()))
    for field in lists:
        for number, entry in enumerate(given[field].entries(), 1):
            builder.segment_table(entry.at(f"segment {number}").table().value)
    return builder.build()
