"""What a user said about segments, loops and frames, before anything is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from chainform.errors import ReadError
from chainform.mechanism.tables import (
    JOINT_FIELDS,
    SEGMENT_FIELDS,
    check_fields,
    is_table,
    table_of,
    without_synonyms,
)


@dataclass(frozen=True, slots=True)
class SegmentSpecification:
    """The fields of a segment and of its joint; None where nothing was said."""

    name: object = None
    id: object = None
    parent: object = None
    joint_name: object = None
    joint_type: object = None
    axis: object = None
    axes: object = None
    euler: object = None
    position: object = None
    rotation: object = None
    rpy: object = None
    quaternion: object = None
    dof: object = None
    coordinates: object = None
    rates: object = None
    mimic: object = None
    limits: object = None
    friction: object = None
    rotor_inertia: object = None
    gear_ratio: object = None
    mass: object = None
    com: object = None
    inertia: object = None


@dataclass(frozen=True, slots=True)
class LoopSpecification:
    """The fields of a loop; None where nothing was said."""

    name: object = None
    kind: object = None
    closing: object = None
    target: object = None
    basic: object = None


@dataclass(frozen=True, slots=True)
class FrameSpecification:
    """The name of a frame and its place: a table {segment, point, rotation, rpy, quaternion}."""

    name: object = None
    place: object = None


def segment_from_table(
    table: Mapping[str, object], file: str | None, where: str
) -> SegmentSpecification:
    """Return the specification in a table of the native format.

    The fields of the joint may stand in a table `joint` of their own (with `type` and `name`), or
    beside the others, `joint` then being the type.
    """
    said = without_synonyms(table, file, where)
    check_fields(said, SEGMENT_FIELDS, file, where)
    merged = {key: said[key] for key in said if key != "joint"}
    for key, value in _joint_fields(said.get("joint"), file, where).items():
        if merged.get(key) is not None:
            raise ReadError(
                f"{key!r} is given both in the joint and beside it",
                file=file,
                element=where,
                remedy="keep one of the two",
            )
        merged[key] = value
    known = {field.name for field in fields(SegmentSpecification)}
    return SegmentSpecification(**{key: value for key, value in merged.items() if key in known})


def _joint_fields(joint: object, file: str | None, where: str) -> dict[str, object]:
    if not is_table(joint):
        return {"joint_type": joint}
    table = without_synonyms(table_of(joint, file, f"{where}, joint"), file, f"{where}, joint")
    check_fields(table, JOINT_FIELDS, file, f"{where}, joint")
    renamed = {"type": "joint_type", "name": "joint_name"}
    return {renamed.get(key, key): value for key, value in table.items()}
