"""The native form: a list of segments, each with its joint, pose and body; or elements.

A mechanism is written in it as JSON. A number with a short finite decimal is written as that
decimal, any other as a text: a quotient of integers, or the expression of parameters it is. So
nothing is rounded, and reading the text gives an equal mechanism.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from chainform.expressions import format_fraction
from chainform.mechanism import Mechanism, decimal_or_text, native_table, written
from chainform.readers.forms import builder_from
from chainform.readers.source import Source

NATIVE_FIELDS = frozenset({"bodies", "segments", "dof", "coordinates"})

LINE = 96
"""A table or list no longer than this stands on one line."""


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


def native_text(mechanism: Mechanism) -> str:
    """Return the JSON text of a mechanism; `read_text(text, "json")` gives an equal one."""
    return _json_of(written(native_table(mechanism), decimal_or_text)) + "\n"


def _json_of(value: object, indent: str = "") -> str:
    """Return a value as JSON: short tables and lists on one line, others entry by entry."""
    if isinstance(value, Fraction):
        return format_fraction(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        parts = [f"{json.dumps(key)}: {_json_of(v, indent + '  ')}" for key, v in table.items()]
        return _joined("{", parts, "}", indent)
    if isinstance(value, list):
        entries = [_json_of(entry, indent + "  ") for entry in cast("Sequence[object]", value)]
        return _joined("[", entries, "]", indent)
    return json.dumps(value)


def native_toml(mechanism: Mechanism) -> str:
    """Return the TOML text of a mechanism, which reads back as an equal one."""
    table = cast("Mapping[str, object]", written(native_table(mechanism), decimal_or_text))
    lists = {key: value for key, value in table.items() if _is_list_of_tables(value)}
    lines = [f"{_key(k)} = {_toml_of(v)}" for k, v in table.items() if k not in lists]
    for name, entries in lists.items():
        for entry in cast("Sequence[Mapping[str, object]]", entries):
            lines += ["", f"[[{_key(name)}]]"]
            lines += [f"{_key(k)} = {_toml_of(v)}" for k, v in entry.items() if v is not None]
    return "\n".join(lines) + "\n"


def _is_list_of_tables(value: object) -> bool:
    entries = cast("Sequence[object]", value) if isinstance(value, list) else ()
    return bool(entries) and all(isinstance(entry, Mapping) for entry in entries)


def _toml_of(value: object) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, Fraction):
        return format_fraction(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        pairs = [f"{_key(k)} = {_toml_of(v)}" for k, v in table.items() if v is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_of, cast('Sequence[object]', value)))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_of(name)


def _joined(start: str, parts: Sequence[str], end: str, indent: str) -> str:
    line = f"{start}{', '.join(parts)}{end}"
    if len(indent) + len(line) <= LINE and "\n" not in line:
        return line
    inner = indent + "  "
    return f"{start}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{end}"
