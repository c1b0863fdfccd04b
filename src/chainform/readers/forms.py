"""What forms of mechanism files share: the header, and lists indexed by bodies and joints.

The header has name, units, gravity, parameters, loops and so on. Papers index vectors by bodies and
joints: e_i, r_ij, p_ij. The topology of Racković 1996 has one row of joints per path from the base
to a tip (matrix MS).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from chainform.given import Given, shown
from chainform.mechanism import PARAMETER_FIELDS, MechanismBuilder, Reader
from chainform.readers.source import Source


def by_number(given: Given, count: int, kind: str = "body") -> dict[int, Given]:
    """Return entries by number, from a list (1, 2, ...) or a table with keys "1", "2" ...

    `kind` is what the numbers count: bodies, or rows.
    """
    if not given.is_given:
        return {}
    if not given.is_table:
        remedy = f"give one per {kind}, or a table with the numbers as keys"
        return dict(enumerate(given.entries(count, remedy), 1))
    result: dict[int, Given] = {}
    for key, entry in given.table().items():
        number = int(key) if re.fullmatch(r"[1-9][0-9]{0,5}", key) else 0
        if not 1 <= number <= count:
            message = f"{key[:40]!r} is not the number of a {kind}"
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


@dataclass(frozen=True, slots=True)
class JointRows:
    """The rows without padding, whether each is closed, and the joint before each joint."""

    rows: tuple[tuple[int, ...], ...]
    closed: tuple[bool, ...]
    parents: Mapping[int, int]

    @property
    def count(self) -> int:
        """The number of joints, which are numbered from 1."""
        return len(self.parents)

    @property
    def tips(self) -> frozenset[int]:
        """The last joints of the rows."""
        return frozenset(row[-1] for row in self.rows)


def rows_from(table: Given, reader: Reader) -> JointRows:
    """Return the rows of a table; without `rows` the joints form one chain in their order."""
    given = table["rows"]
    if given.is_given:
        rows = tuple(_row_from(row, k, reader) for k, row in enumerate(given.entries(), 1))
    else:
        rows = (tuple(range(1, _count_of(table) + 1)),)
    parents = _parents_of(rows, given)
    if table.has("n") and reader.whole(table["n"]) != len(parents):
        message = f"n does not fit the {len(parents)} joints"
        raise table["n"].error(message, "correct or remove it")
    closed = table["closed"]
    flags = closed.entries(len(rows), "write true or false for each row") if closed.is_given else ()
    return JointRows(rows, tuple(flag.flag() for flag in flags) or (False,) * len(rows), parents)


def _count_of(table: Given) -> int:
    axes = table.required("e", "give one axis per joint")
    entries = axes.table().value if axes.is_table else axes.entries()
    if not entries:
        raise axes.error("there are no joints", "give one axis per joint")
    return len(entries)


def _row_from(given: Given, number: int, reader: Reader) -> tuple[int, ...]:
    row = given.at(f"row {number}")
    joints = tuple(joint for entry in row.entries() if (joint := reader.whole(entry)) != 0)
    if not joints or min(joints) < 0 or len(set(joints)) < len(joints):
        message = "a row needs joints numbered from 1, each once"
        raise row.error(message, "correct the row; zeros are padding")
    return joints


def _parents_of(rows: tuple[tuple[int, ...], ...], given: Given) -> dict[int, int]:
    parents: dict[int, int] = {}
    for number, row in enumerate(rows, 1):
        for before, joint in pairwise((0, *row)):
            if parents.setdefault(joint, before) != before:
                message = f"joint {joint} follows {before} here and {parents[joint]} elsewhere"
                raise given.at(f"row {number}").error(message, "let the rows agree")
    count = len(parents)
    missing = [joint for joint in range(1, count + 1) if joint not in parents]
    if missing or not parents:
        message = f"joint {missing[0]} is in no row" if missing else "there are no rows"
        raise given.error(message, "number the joints 1, 2, ... without gaps")
    return parents


# --- header ---------------------------------------------------------------------------------


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
        words = {key: fields[key] for key in ("unit", "note", "symbol") if key in fields}
        builder.parameter(name, fields.get("value"), **words)
