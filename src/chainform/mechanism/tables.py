"""The words a mechanism description may use, and checks on tables of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from fractions import Fraction
from typing import cast

from chainform.errors import ReadError

FREE_TEXT = frozenset({"note", "description", "frame_rule", "source", "comment"})
"""Fields that may stand anywhere and are not read."""

JOINT_FIELDS = frozenset(
    {
        "type",
        "name",
        "axis",
        "axes",
        "position",
        "rotation",
        "rpy",
        "quaternion",
        "dof",
        "limits",
        "friction",
        "rotor_inertia",
        "gear_ratio",
        "euler",
        "coordinates",
        "rates",
        "mimic",
    }
)
"""What may be said about a joint, either in its own table or beside it in the segment."""

SEGMENT_FIELDS = (JOINT_FIELDS - {"type"}) | {"id", "parent", "joint", "mass", "com", "inertia"}
"""What may be said about a segment."""

SYNONYMS = {
    "position_in_parent": "position",
    "rotation_to_parent_at_zero": "rotation",
    "inertia_com": "inertia",
}
"""Longer names that say the frame, as the reference files use them."""

LOOP_FIELDS = frozenset({"name", "kind", "closing", "target", "basic"})
SPRING_FIELDS = frozenset({"name", "joint", "ends", "stiffness", "rest", "damping"})
PIECE_FIELDS = frozenset({"law", "from", "until"})
FORCE_FIELDS = PIECE_FIELDS | {"name", "joint", "pieces"}
ACTUATOR_FIELDS = frozenset({"name", "joint", "type"})
GENERAL_ACTUATOR_FIELDS = frozenset(
    {"A", "b", "f", "e", "limit", "position", "velocity", "effort", "direct", "viscous"}
    | {"states", "signal"}
)
ATTACHMENT_FIELDS = frozenset({"segment", "point", "rotation", "rpy", "quaternion"})
FRAME_FIELDS = ATTACHMENT_FIELDS | {"name"}
MIMIC_FIELDS = frozenset({"joint", "ratio", "offset"})
PARAMETER_FIELDS = frozenset({"value", "unit"})
LIMIT_FIELDS = ("lower", "upper", "velocity", "effort")
FRICTION_FIELDS = ("viscous", "coulomb")
BASE_FIELDS = frozenset(
    {
        "position",
        "rotation",
        "rpy",
        "quaternion",
        "velocity",
        "angular_velocity",
        "acceleration",
        "angular_acceleration",
    }
)
INERTIA_FIELDS = ("xx", "xy", "xz", "yy", "yz", "zz")


def is_table(value: object) -> bool:
    """Tell whether `value` is a table (a mapping)."""
    return isinstance(value, Mapping)


def is_list(value: object) -> bool:
    """Tell whether `value` is a list."""
    return isinstance(value, list | tuple)


def table_of(value: object, file: str | None, where: str) -> dict[str, object]:
    """Return `value` as a table whose keys are texts, or raise ReadError."""
    if not isinstance(value, Mapping):
        raise ReadError(
            f"expected a table, got {kind_of(value)}",
            file=file,
            element=where,
            remedy="write name = value pairs, in braces or under a heading",
        )
    table = cast(Mapping[object, object], value)
    return {str(key): entry for key, entry in table.items()}


def list_of(value: object, file: str | None, where: str) -> list[object]:
    """Return `value` as a list, or raise ReadError."""
    if isinstance(value, list | tuple):
        return list(cast(list[object], value))
    raise ReadError(
        f"expected a list, got {kind_of(value)}",
        file=file,
        element=where,
        remedy="write it in square brackets",
    )


def check_fields(
    table: Mapping[str, object], allowed: Collection[str], file: str | None, where: str
) -> None:
    """Raise ReadError for a field that is not in `allowed`, naming the closest one that is."""
    for field in table:
        if field in allowed or field in FREE_TEXT:
            continue
        close = get_close_matches(field, [*allowed, *SYNONYMS], n=1)
        known = "known fields: " + ", ".join(sorted(allowed))
        raise ReadError(
            f"unknown field {field[:60]!r}",
            file=file,
            element=where,
            remedy=f"did you mean {close[0]!r}? " + known if close else known,
        )


def without_synonyms(
    table: Mapping[str, object], file: str | None, where: str
) -> dict[str, object]:
    """Return the table with every synonym replaced by the short name of the field."""
    result: dict[str, object] = {}
    for field, value in table.items():
        name = SYNONYMS.get(field, field)
        if name in result:
            raise ReadError(
                f"{name!r} is given twice",
                file=file,
                element=where,
                remedy=f"keep one of {name!r} and its longer form",
            )
        result[name] = value
    return result


def kind_of(value: object) -> str:
    """Return what `value` is in the words of a file: a list, a text, nothing."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, int | float | Fraction):
        return "a number"
    return f"a {type(value).__name__}"
