"""Vectors and numbers that papers index by bodies and joints: e_i, r_ij, p_ij."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chainform.given import Given


def by_number(given: Given, count: int) -> dict[int, Given]:
    """Return entries by body number, from a list (1, 2, ...) or a table with keys "1", "2" ..."""
    if not given.is_given:
        return {}
    if not given.is_table:
        remedy = "give one per body, or a table with the numbers as keys"
        return dict(enumerate(given.entries(count, remedy), 1))
    result: dict[int, Given] = {}
    for key, entry in given.table().items():
        number = int(key) if re.fullmatch(r"[1-9][0-9]{0,5}", key) else 0
        if not 1 <= number <= count:
            message = f"{key[:40]!r} is not the number of a body"
            raise given.error(message, f"use keys from 1 to {count}")
        result[number] = entry
    return result


def by_pair(given: Given) -> dict[tuple[int, int], Given]:
    """Return entries by body and joint, from a table with keys such as "4,5"."""
    result: dict[tuple[int, int], Given] = {}
    for key, entry in given.table().items() if given.is_given else ():
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*", key)
        if match is None:
            message = f"{key[:40]!r} does not name a body and a joint"
            raise given.error(message, 'write the key as "4,5": body, comma, joint')
        pair = (int(match[1]), int(match[2]))
        if pair in result:
            raise given.error(f"{key[:40]!r} is given twice", "keep one of them")
        result[pair] = entry.at(f"{given.element} '{pair[0]},{pair[1]}'")
    return result


def names_from(given: Given, count: int) -> list[object]:
    """Return one name per body: those given, else body1, body2, ..."""
    if not given.is_given:
        return [f"body{number}" for number in range(1, count + 1)]
    return [entry.value for entry in given.entries(count, "give each body a name")]


def kinds_from(given: Given, count: int) -> dict[int, str]:
    """Return the joint kind of each body from a list of 1 (translation) and 0 (rotation)."""
    remedy = "write 0 (rotation) or 1 (translation)"
    numbers = {k: entry.whole(0, 1, remedy) for k, entry in by_number(given, count).items()}
    return {k: "prismatic" if numbers.get(k) else "revolute" for k in range(1, count + 1)}


def required(entries: Mapping[int, Given], count: int, given: Given) -> None:
    """Raise ReadError when a body has no entry."""
    for number in range(1, count + 1):
        if number not in entries or not entries[number].is_given:
            raise given.error(f"nothing is given for body {number}", "add it")
