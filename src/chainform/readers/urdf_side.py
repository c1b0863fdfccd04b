"""The side file of a URDF file: what URDF has no words for.

`robot.chainform.toml` beside `robot.urdf` is found by its name. It speaks the language of native
files: loops, frames, springs, gravity, parameters, the motion of the base, and under `joints` what
belongs to the drive of a joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from chainform.errors import ReadError
from chainform.given import Given
from chainform.mechanism import MechanismBuilder
from chainform.readers.header import builder_from
from chainform.readers.source import Source, Table, bytes_of, table_from_text, text_of

ENDING = ".chainform.toml"
SIDE_FIELDS = frozenset({"joints"})
PLACES = ("loops", "frames", "springs")
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
    """Return the side file that was chosen, or the one beside the URDF file, or an empty one."""
    path = choice if isinstance(choice, str) else None
    if choice is None and source.file is not None:
        beside = Path(source.file).with_suffix(ENDING)
        path = str(beside) if beside.is_file() else None
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
    places = {key: _renamed(side.table[key], renamed) for key in PLACES if key in side.table}
    table: Mapping[str, object] = {"name": name, **side.table, **places}
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


def blamed(
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
