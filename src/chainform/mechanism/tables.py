"""The words a mechanism description may use."""

from __future__ import annotations

from chainform.given import Given

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
"""The fields of a joint, in a table of its own or in that of the segment."""
BODY_FIELDS = frozenset({"mass", "com", "inertia", "moment", "distribution"})
SEGMENT_FIELDS = (JOINT_FIELDS - {"type"}) | {"id", "parent", "joint"} | BODY_FIELDS
"""The fields of a segment."""
SYNONYMS = {
    "position_in_parent": "position",
    "rotation_to_parent_at_zero": "rotation",
    "inertia_com": "inertia",
}
"""Longer names that say the frame, as the reference files use them."""
LOOP_FIELDS = frozenset({"name", "kind", "closing", "target", "basic", "length"})
SPRING_FIELDS = frozenset({"name", "joint", "ends", "stiffness", "rest", "damping", "preload"})
PIECE_FIELDS = frozenset({"law", "from", "until"})
FORCE_FIELDS = PIECE_FIELDS | {"name", "joint", "pieces"}
ACTUATOR_FIELDS = frozenset({"name", "joint", "joints", "type"})
GENERAL_ACTUATOR_FIELDS = frozenset(
    {"A", "b", "f", "e", "limit", "position", "velocity", "effort", "direct", "viscous"}
    | {"states", "signal"}
)
GEAR_FIELDS = frozenset(
    {"gear_ratio", "efficiency", "efficiency_width", "stiffness", "damping", "backlash"}
    | {"rotor_inertia"}
)
LAW_ACTUATOR_FIELDS = GEAR_FIELDS | {"states", "effort", "limit", "signal"}
ATTACHMENT_FIELDS = frozenset({"segment", "point", "rotation", "rpy", "quaternion"})
LOOP_END_FIELDS = ATTACHMENT_FIELDS | {"axis"}
FRAME_FIELDS = ATTACHMENT_FIELDS | {"name"}
MIMIC_FIELDS = frozenset({"joint", "ratio", "offset"})
PARAMETER_FIELDS = frozenset({"value", "unit", "note", "symbol"})
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
DISTRIBUTION_FIELDS = frozenset({"axis", "from", "to", "at", "density", "inertia"})
INERTIA_FIELDS = ("xx", "xy", "xz", "yy", "yz", "zz")


def segment_table(given: Given) -> Given:
    """Return the fields of a segment and of its joint in one table.

    The fields of the joint may stand in a table `joint` (with `type` and `name`), or next to the
    others, `joint` then being the type.
    """
    table = _without_synonyms(given.table()).table(SEGMENT_FIELDS)
    joint = table["joint"]
    own: dict[str, object] = {"joint type": joint.value}
    if joint.is_table:
        fields = _without_synonyms(joint.table()).table(JOINT_FIELDS)
        renamed = {"type": "joint type", "name": "joint name"}
        own = {renamed.get(key, key): entry.value for key, entry in fields.items()}
    for key in own:
        if table.has(key):
            message = f"{key!r} is given both in the joint and in the segment"
            raise table.error(message, "keep one of the two")
    return table.holding({**table.value, **own})


def _without_synonyms(given: Given) -> Given:
    """Return the table with every synonym replaced by the short name of the field."""
    result: dict[str, object] = {}
    for field, entry in given.items():
        name = SYNONYMS.get(field, field)
        if name in result:
            raise given.error(
                f"{name!r} is given twice", f"keep one of {name!r} and its longer form"
            )
        result[name] = entry.value
    return given.holding(result)


# --- elements -------------------------------------------------------------------------------


COMMON_FIELDS = frozenset({"kind", "name"})
FIELDS = {
    "frame": frozenset({"on", "chain", "text"}),
    "point": frozenset({"on", "position", "mass"}),
    "body": frozenset({"on", "chain", "mass", "com", "inertia", "distribution", "text"}),
    "inertia": frozenset({"inertia", "along"}),
    "elastic": frozenset({"stiffness", "rest", "deformation", "ends"}),
    "dissipative": frozenset({"damping", "coulomb", "deformation", "rate", "ends"}),
    "force": frozenset({"force", "at", "axes", "to", "along"}),
    "moment": frozenset({"moment", "on", "axes", "to", "along"}),
}
"""The fields of an element of each kind, besides kind and name."""
PLACE_FIELDS = frozenset({"on", "point"})
COORDINATE_FIELDS = frozenset({"name", "unit", "rate"})
