"""Vectors and numbers that papers index by bodies and joints: e_i, r_ij, p_ij."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chainform.mechanism.tables import is_table, list_of, table_of
from chainform.readers.source import Source

MAX_COUNT = 100_000
"""The greatest number of bodies in an indexed form."""


def by_number(value: object, count: int, source: Source, where: str) -> dict[int, object]:
    """Return entries by body number, from a list (1, 2, ...) or a table with keys "1", "2" ..."""
    if value is None:
        return {}
    if not is_table(value):
        entries = list_of(value, source.file, where)
        if len(entries) != count:
            message = f"expected {count} entries, one per body, got {len(entries)}"
            raise source.error(message, "give all, or a table with the numbers as keys", where)
        return dict(enumerate(entries, 1))
    result: dict[int, object] = {}
    for key, entry in table_of(value, source.file, where).items():
        number = int(key) if re.fullmatch(r"[1-9][0-9]{0,5}", key) else 0
        if not 1 <= number <= count:
            message = f"{key[:40]!r} is not the number of a body"
            raise source.error(message, f"use keys from 1 to {count}", where)
        result[number] = entry
    return result


def by_pair(value: object, source: Source, where: str) -> dict[tuple[int, int], object]:
    """Return entries by body and joint, from a table with keys such as "4,5"."""
    if value is None:
        return {}
    result: dict[tuple[int, int], object] = {}
    for key, entry in table_of(value, source.file, where).items():
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*", key)
        if match is None:
            message = f"{key[:40]!r} does not name a body and a joint"
            raise source.error(message, 'write the key as "4,5": body, comma, joint', where)
        pair = (int(match[1]), int(match[2]))
        if pair in result:
            raise source.error(f"{key[:40]!r} is given twice", "keep one of them", where)
        result[pair] = entry
    return result


def names_from(value: object, count: int, source: Source) -> list[object]:
    """Return one name per body: those given, else body1, body2, ..."""
    if value is None:
        return [f"body{number}" for number in range(1, count + 1)]
    names = list_of(value, source.file, "names")
    if len(names) != count:
        message = f"expected {count} names, one per body, got {len(names)}"
        raise source.error(message, "give each body a name", "names")
    return names


def kinds_from(value: object, count: int, source: Source) -> dict[int, str]:
    """Return the joint kind of each body from a list of 1 (translation) and 0 (rotation)."""
    kinds: dict[int, str] = {}
    for number, entry in by_number(value, count, source, "T").items():
        if isinstance(entry, bool) or entry not in (0, 1):
            message = f"T of body {number} must be 0 (rotation) or 1 (translation)"
            raise source.error(message, "correct the entry", "T")
        kinds[number] = "prismatic" if entry == 1 else "revolute"
    return {number: kinds.get(number, "revolute") for number in range(1, count + 1)}


def required(entries: Mapping[int, object], count: int, source: Source, where: str) -> None:
    """Raise ReadError when a body has no entry."""
    for number in range(1, count + 1):
        if entries.get(number) is None:
            raise source.error(f"nothing is given for body {number}", "add it", where)
