"""The options with which a URDF file is read, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import cast

from chainform.given import Given
from chainform.mechanism import Reader
from chainform.readers.source import Source
from chainform.readers.urdf.snap import Tolerances

OPTIONS = ("base", "mimic", "snap", "root", "tips", "side_file")


@dataclass(frozen=True, slots=True)
class UrdfOptions:
    """How a URDF file is read.

    `base` is fixed or floating; `mimic` is couple (a mimicking joint shares the coordinate of
    another) or free (it has its own). `root` and `tips` choose a part of the tree. `side_file` is
    a path, None for the file that lies next to the URDF, or False for none.
    """

    base: str = "fixed"
    mimic: str = "couple"
    tolerances: Tolerances = Tolerances()
    root: str | None = None
    tips: tuple[str, ...] | None = None
    side_file: str | bool | None = None


def options_of(options: Mapping[str, object], source: Source) -> UrdfOptions:
    """Return the options; an unknown one, or one with a wrong value, is an error."""
    for name in options:
        if name not in OPTIONS:
            raise source.given(name, "options").unknown("option", OPTIONS)
    given = source.given(options)
    return UrdfOptions(
        given["base"].choice(("fixed", "floating")) if "base" in options else "fixed",
        given["mimic"].choice(("couple", "free")) if "mimic" in options else "couple",
        _tolerances(given["snap"]),
        given["root"].text("name a link") if given.has("root") else None,
        _tips(given["tips"]),
        _side_file(given["side_file"]),
    )


def _tolerances(given: Given) -> Tolerances:
    """Return the tolerances of snapping: True means the usual ones, 0 or False none."""
    if given.value is True or given.value is None:
        return Tolerances()
    if given.value is False or given.value == 0:
        return Tolerances(Fraction(0), Fraction(0))
    remedy = "use True, 0, or a table such as {'angle': 1e-5, 'entry': 1e-9}"
    table, reader, usual = given.table(("angle", "entry"), remedy), Reader(given.file), Tolerances()
    angle, entry = (
        reader.fraction(table[name]) if table.has(name) else getattr(usual, name)
        for name in ("angle", "entry")
    )
    for tolerance in (angle, entry):
        given.within(tolerance, 0, 0.1, remedy=remedy)
    return Tolerances(angle, entry)


def _tips(given: Given) -> tuple[str, ...] | None:
    if not given.is_given:
        return None
    entries = [given] if isinstance(given.value, str) else given.entries()
    if not entries:
        raise given.error("the list is empty", "name the links to keep, or leave it out")
    return tuple(entry.text("name a link") for entry in entries)


def _side_file(given: Given) -> str | bool | None:
    if given.value is None or given.value is False:
        return given.value
    value: object = given.value
    if isinstance(value, str | PathLike):
        return str(cast("str", value))
    remedy = "give a path, None for the file next to the URDF, or False for none"
    raise given.expected("a path", remedy)
