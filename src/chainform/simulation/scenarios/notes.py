"""Notes for people only: `note`, `description`, `comment`, `source`, in any section.

In a table by names such an entry is read where the mechanism has something that is really called
so. Sections and tables by names alternate: [stops] goes by joints, [stops.elbow] has fields.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from chainform.given import FREE_TEXT, Given
from chainform.mechanism import Mechanism


def names_of(mechanism: Mechanism) -> frozenset[str]:
    """Return the names of all that a table of a scenario may go by."""
    named = (*mechanism.segments, *mechanism.frames, *mechanism.loops, *mechanism.constraints)
    names = {part.name for part in (*named, *mechanism.actuators, *mechanism.parameters)}
    names |= {*mechanism.coordinates, *mechanism.rates, *mechanism.states, *mechanism.signals}
    return frozenset(names | {segment.joint.name for segment in mechanism.segments})


def without_notes(table: Given, names: Collection[str] = frozenset()) -> Given:
    """Return a table with what is to be read, where `names` are what its entries may be called."""
    read = {k: value for k, value in table.value.items() if k not in FREE_TEXT or k in names}
    return table.holding(read)


def without_texts(value: object, names: Collection[str], *, is_by_names: bool = True) -> Any:
    """Return nested tables and lists without notes that are texts.

    Others are kept: a controller, which is a table, may have any name.
    """
    if isinstance(value, list):
        entries = cast("list[object]", value)
        return [without_texts(entry, names, is_by_names=is_by_names) for entry in entries]
    if not isinstance(value, Mapping):
        return value
    kept: dict[str, Any] = {}
    for key, entry in cast("Mapping[str, object]", value).items():
        is_name = is_by_names and key in names
        if is_name or key not in FREE_TEXT or not isinstance(entry, str):
            kept[key] = without_texts(entry, names, is_by_names=not is_by_names)
    return kept
