"""The native form: a list of segments, each with its joint, place and body."""

from __future__ import annotations

from collections.abc import Mapping

from chainform.mechanism import Mechanism
from chainform.mechanism.tables import list_of, table_of
from chainform.readers.header import builder_from
from chainform.readers.source import Source

NATIVE_FIELDS = frozenset({"bodies", "segments", "dof"})


def read_native(table: Mapping[str, object], source: Source) -> Mechanism:
    """Return the mechanism of a native table; docs/mechanism-files.md lists its fields."""
    lists = [field for field in ("bodies", "segments") if field in table]
    if not lists:
        remedy = "list the segments under 'bodies' or 'segments'"
        raise source.error("the mechanism has no segments", remedy, "mechanism")
    if len(lists) > 1:
        raise source.error("both 'bodies' and 'segments' are given", "keep one list", "mechanism")
    builder = builder_from(table, NATIVE_FIELDS, source).freedoms(table.get("dof"))
    for number, said in enumerate(list_of(table[lists[0]], source.file, lists[0]), 1):
        segment = table_of(said, source.file, f"segment {number}")
        builder.segment_table(segment)
    return builder.build()
