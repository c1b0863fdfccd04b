"""The options with which a URDF file is read, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from os import PathLike

from chainform.mechanism.intake import Intake
from chainform.mechanism.snap import Tolerances
from chainform.mechanism.tables import check_fields, kind_of, list_of, table_of
from chainform.readers.source import Source

OPTIONS = ("base", "mimic", "snap", "root", "tips", "side_file")


@dataclass(frozen=True, slots=True)
class Options:
    """How a URDF file is read.

    `base` is fixed or floating; `mimic` is couple (a mimicking joint shares the coordinate of
    another) or free (it has its own). `root` and `tips` choose a part of the tree. `side_file` is
    a path, None for the file that lies beside the URDF, or False for none.
    """

    base: str = "fixed"
    mimic: str = "couple"
    tolerances: Tolerances = Tolerances()
    root: str | None = None
    tips: tuple[str, ...] | None = None
    side_file: str | bool | None = None


def options_of(given: Mapping[str, object], source: Source) -> Options:
    """Return the options; an unknown one, or one with a wrong value, is an error."""
    for name in given:
        if name not in OPTIONS:
            close = get_close_matches(name, OPTIONS, n=1)
            start = f"did you mean {close[0]!r}? " if close else ""
            remedy = start + "the options of URDF files are " + ", ".join(OPTIONS)
            raise source.error(f"there is no option {name!r}", remedy, "options")
    return Options(
        _choice(given.get("base", "fixed"), ("fixed", "floating"), "base", source),
        _choice(given.get("mimic", "couple"), ("couple", "free"), "mimic", source),
        _tolerances(given.get("snap", True), source),
        _name(given.get("root"), "root", source),
        _names(given.get("tips"), source),
        _side_file(given.get("side_file"), source),
    )


def _choice(value: object, choices: tuple[str, ...], option: str, source: Source) -> str:
    if isinstance(value, str) and value in choices:
        return value
    shown = repr(value[:40]) if isinstance(value, str) else kind_of(value)
    raise source.error(f"{shown} is not a choice", f"use {' or '.join(choices)}", option)


def _tolerances(value: object, source: Source) -> Tolerances:
    """Return the tolerances of snapping: True means the usual ones, 0 or False none."""
    if value is True or value is None:
        return Tolerances()
    if value is False or value == 0:
        return Tolerances(Fraction(0), Fraction(0))
    remedy = "use True, 0, or a table such as {'angle': 1e-5, 'entry': 1e-9}"
    if not isinstance(value, Mapping):
        raise source.error(f"expected a table, got {kind_of(value)}", remedy, "snap")
    table = table_of(value, source.file, "snap")  # pyright: ignore[reportUnknownArgumentType]
    check_fields(table, ("angle", "entry"), source.file, "snap")
    usual = Tolerances()
    intake = Intake(source.file)
    angle, entry = (
        intake.fraction(table.get(name, getattr(usual, name)), f"snap, {name}")
        for name in ("angle", "entry")
    )
    if not 0 <= angle <= Fraction(1, 10) or not 0 <= entry <= Fraction(1, 10):
        raise source.error("a tolerance lies between 0 and 0.1", remedy, "snap")
    return Tolerances(angle, entry)


def _name(value: object, option: str, source: Source) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise source.error(f"expected a name, got {kind_of(value)}", "name a link", option)


def _names(value: object, source: Source) -> tuple[str, ...] | None:
    if value is None:
        return None
    entries = [value] if isinstance(value, str) else list_of(value, source.file, "tips")
    names = tuple(_name(entry, "tips", source) or "" for entry in entries)
    if not names:
        raise source.error("the list is empty", "name the links to keep, or leave it out", "tips")
    return names


def _side_file(value: object, source: Source) -> str | bool | None:
    if value is None or value is False:
        return value
    if isinstance(value, str | PathLike):
        return str(value)  # pyright: ignore[reportUnknownArgumentType]
    remedy = "give a path, None for the file beside the URDF, or False for none"
    raise source.error(f"expected a path, got {kind_of(value)}", remedy, "side_file")
