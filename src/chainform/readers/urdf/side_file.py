"""The side file of a URDF file, read and written: what URDF has no words for.

`robot.chainform.toml` next to `robot.urdf` is found by its name. It speaks the language of native
files: loops, frames, springs, gravity, parameters, the motion of the base, and under `joints` what
belongs to the drive of a joint. It is written from the native table, with the values
of the parameters put in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import cast

from chainform.errors import ReadError, RunError
from chainform.expressions import (
    RATE,
    Expression,
    Identifier,
    format_expression,
    format_fraction,
    substitute,
    symbols_of,
    value_of,
)
from chainform.given import Given
from chainform.mechanism import (
    DEFAULT_GRAVITY,
    ONE,
    ZERO,
    Mechanism,
    MechanismBuilder,
    Number,
    frame_coordinate_of,
    meaning_of,
    native_table,
)
from chainform.readers.forms import builder_from
from chainform.readers.source import Source, Table, bytes_of, table_from_text, text_of

ENDING = ".chainform.toml"
SIDE_FIELDS = frozenset({"joints"})
ATTACHED = ("loops", "frames", "springs")
"""What names segments."""
DRIVE_FIELDS = frozenset({"rotor_inertia", "gear_ratio", "friction", "limits"})
"""The fields of a joint."""


@dataclass(frozen=True, slots=True)
class SideFile:
    """What the side file says, and where it lies; empty when there is none."""

    source: Source
    table: Table = field(default_factory=dict[str, object])
    joints: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])

    @property
    def exists(self) -> bool:
        """Tell whether there is a side file."""
        return self.source.data is not None

    def drive(self, joint: str) -> dict[str, object]:
        """Return the fields of the drive of a joint."""
        return self.joints.get(joint, {})


def side_file_of(choice: str | bool | None, source: Source) -> SideFile:
    """Return the side file that was chosen, or the one next to the URDF file, or an empty one."""
    path = choice if isinstance(choice, str) else None
    if choice is None and source.file is not None:
        usual = Path(source.file).with_suffix(ENDING)
        path = str(usual) if usual.is_file() else None
    if path is None:
        return SideFile(Source(source.file))
    data = bytes_of(path)
    side = Source(path, data)
    table = table_from_text(text_of(data, side), "toml", side)
    return SideFile(side, table, _drives(side.given(table.get("joints"), "joints")))


def _drives(given: Given) -> dict[str, dict[str, object]]:
    drives: dict[str, dict[str, object]] = {}
    for name, entry in given.table().items() if given.is_given else ():
        drive = entry.at(f"joints.{name[:60]}").table(DRIVE_FIELDS).value
        drives[name] = {key: drive[key] for key in DRIVE_FIELDS if key in drive}
    return drives


def builder_with(side: SideFile, name: str, renamed: Mapping[str, str]) -> MechanismBuilder:
    """Return a builder that knows all of the side file but the drives of the joints.

    `renamed` holds the links whose segments have other names: the root, which is the ground.
    """
    attached = {key: _renamed(side.table[key], renamed) for key in ATTACHED if key in side.table}
    table: Mapping[str, object] = {"name": name, **side.table, **attached}
    return builder_from(table, SIDE_FIELDS, side.source)


def _renamed(value: object, names: Mapping[str, str]) -> object:
    """Return a table with the new names of segments, wherever it calls one."""
    if isinstance(value, list | tuple):
        return [_renamed(entry, names) for entry in cast(Sequence[object], value)]
    if not isinstance(value, dict):
        return value
    table = cast(Table, value)
    result = {key: _renamed(entry, names) for key, entry in table.items()}
    segment = result.get("segment")
    if isinstance(segment, str):
        result["segment"] = names.get(segment, segment)
    return result


def check_joints(side: SideFile, joints: Mapping[str, str], left_out: frozenset[str]) -> None:
    """Refuse a drive of a joint that does not exist or cannot have one; `joints` are name: kind."""
    for name in side.joints:
        given = side.source.given(name, f"joints.{name[:60]}")
        if name in left_out:
            continue
        if name not in joints:
            raise given.unknown("joint", joints, "name a joint of the URDF file")
        if joints[name] not in ("revolute", "continuous", "prismatic"):
            message = f"a {joints[name]} joint has no drive"
            raise given.error(message, "remove this table")


def error_of_file(
    error: ReadError, side: SideFile, source: Source, joints: Mapping[str, str]
) -> ReadError:
    """Return the error with the file it belongs to; `joints` leads from a link to its joint.

    The builder calls the parts of both files by its own words: a segment is a link here, and what
    it says about a drive may come from the side file.
    """
    element = error.element or ""
    kind, _, rest = element.partition(" ")
    if kind == "segment":
        error.element = f"link {rest}"
        name = rest.split("'")[1] if rest.count("'") > 1 else ""
        drive = side.drive(joints.get(name, ""))
        if any(f", {key}" in rest for key in drive):
            error.file, error.element = side.source.file, f"joints.{joints[name]}"
            return error
    if kind in ("segment", "coordinate", "rate", "joint", "name", "name,"):
        error.file = source.file
    return error


# --- numbers of URDF and side files ---------------------------------------------------------


MAX_DIGITS = 24
"""Longer decimals are rounded to 17 digits, which give the same double."""


def decimal(value: Fraction) -> str:
    """Return a number as an exact decimal where that is short, else to 17 digits."""
    text = format_fraction(value)
    return text if "/" not in text and len(text) <= MAX_DIGITS else f"{float(value):.17g}"


class UrdfNumbers:
    """Writes the numbers of a mechanism, with the values of its parameters put in."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.parameters = {parameter.name for parameter in mechanism.parameters}
        self.values = {p.name: p.value for p in mechanism.parameters if p.value is not None}

    def value(self, number: Number) -> Fraction:
        """Return the value of a number; one that names a free parameter raises RunError."""
        if isinstance(number, Fraction):
            return number
        free = sorted(symbols_of(number) - set(self.values))
        if free:
            raise RunError(
                f"the parameter {free[0]!r} has no value, and URDF knows numbers only",
                file=self.mechanism.file,
                element=f"parameter {free[0]!r}",
                remedy="give it a value in the mechanism",
            )
        return value_of(number, self.values)

    def law(self, law: Number, where: str) -> str:
        """Return the text of a law, with names for indices such as q3: the order may change."""
        if isinstance(law, Fraction):
            return format_fraction(law)
        mechanism, put = self.mechanism, dict[str, Fraction | Expression]()
        for symbol in sorted(symbols_of(law)):
            meaning = meaning_of(symbol, mechanism.coordinates, mechanism.rates)
            if frame_coordinate_of(symbol) is not None:
                continue
            if meaning is None and symbol in self.parameters:
                put[symbol] = self.value(Identifier(symbol))
            elif meaning is not None and meaning.group != "t":
                names = mechanism.coordinates if meaning.group == "q" else mechanism.rates
                put[symbol] = self._symbol(names[meaning.index], meaning.group, where)
        return format_expression(substitute(law, put))

    def _symbol(self, name: str, group: str, where: str) -> Identifier:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise RunError(
                f"a law in a side file cannot name the coordinate {name[:80]!r}",
                file=self.mechanism.file,
                element=where,
                remedy="rename it, with letters, digits and underscores only",
            )
        return Identifier(name if group == "q" else f"{RATE}({name})")

    def text(self, number: Number) -> str:
        """Return one number."""
        return decimal(self.value(number))

    def row(self, numbers: Iterable[Number]) -> str:
        """Return numbers with blanks between them."""
        return " ".join(self.text(number) for number in numbers)


# --- side file, written ---------------------------------------------------------------------


LISTS = ("loops", "springs", "forces", "actuators")
"""The lists of a native file that a side file has as well."""
LAWS = {"forces": "force", "actuators": "actuator"}
"""The lists whose numbers may be laws of the motion, with the word for one entry."""


def side_text(mechanism: Mechanism, numbers: UrdfNumbers) -> tuple[str | None, list[str]]:
    """Return the text of the side file, None where nothing needs one, and what it holds."""
    writer, table = _Writer(mechanism, numbers), native_table(mechanism)
    is_usual = mechanism.gravity == DEFAULT_GRAVITY
    parts = {
        "gravity": [] if is_usual else [f"gravity = {writer.value(table['gravity'])}"],
        "base": list(writer.tables("[base]", [table["base"]], "base")) if "base" in table else [],
        "rotor inertia and gears": list(writer.drives()),
    }
    for name in LISTS:
        entries = cast("Sequence[Mapping[str, object]]", table.get(name, ()))
        parts[name] = list(writer.tables(f"[[{name}]]", entries, LAWS.get(name, "")))
    held = {what: lines for what, lines in parts.items() if lines}
    if not held:
        return None, []
    text = "\n".join("\n".join(lines) for lines in held.values())
    return text.strip() + "\n", list(held)


class _Writer:
    """Writes TOML; numbers are exact, as decimals or as quotients in quotation marks."""

    def __init__(self, mechanism: Mechanism, numbers: UrdfNumbers) -> None:
        self.mechanism = mechanism
        self.numbers = numbers

    def drives(self) -> Iterator[str]:
        for joint in (segment.joint for segment in self.mechanism.segments):
            if joint.rotor_inertia == ZERO and joint.gear_ratio == ONE:
                continue
            yield f"\n[joints.{_quoted(joint.name)}]"
            yield f"rotor_inertia = {self.value(joint.rotor_inertia)}"
            yield f"gear_ratio = {self.value(joint.gear_ratio)}"

    def tables(self, title: str, entries: Sequence[object], kind: str) -> Iterator[str]:
        """Yield the lines of tables; `kind` names what may have laws, and is empty elsewhere."""
        for entry in cast("Sequence[Mapping[str, object]]", entries):
            where = f"{kind} {entry['name']!r}" if kind and "name" in entry else kind
            yield f"\n{title}"
            for name, value in entry.items():
                yield f"{name} = {self.value(value, where)}"

    def value(self, value: object, where: str = "") -> str:
        """Return an entry of the native table as TOML; laws only where an element is given."""
        if isinstance(value, str):
            return _quoted(value)
        if isinstance(value, Mapping):
            table = cast("Mapping[str, object]", value)
            words = (f"{name} = {self.value(entry, where)}" for name, entry in table.items())
            return "{ " + ", ".join(words) + " }"
        if isinstance(value, list):
            entries = cast("Sequence[object]", value)
            return f"[{', '.join(self.value(entry, where) for entry in entries)}]"
        number = cast("Number", value)
        if where and self.is_law(number):
            return _quoted(self.numbers.law(number, where))
        text = format_fraction(self.numbers.value(number))
        return _quoted(text) if "/" in text else text

    def is_law(self, number: Number) -> bool:
        """Tell whether a number names more than parameters, so that it has no value."""
        return (
            not isinstance(number, Fraction) and not symbols_of(number) <= self.numbers.parameters
        )


def _quoted(text: str) -> str:
    """Return a text in quotation marks; what JSON escapes, TOML escapes alike."""
    return json.dumps(text, ensure_ascii=False)
