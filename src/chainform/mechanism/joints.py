"""The joints a file may name, each as a chain of elementary freedoms.

| joint              | freedoms in order                                      | suffixes           |
|--------------------|--------------------------------------------------------|--------------------|
| revolute           | turn about the axis                                    | none               |
| prismatic          | slide along the axis                                   | none               |
| fixed              | none                                                   | none               |
| cylindrical        | slide along the axis, turn about it                    | t r                |
| universal          | turn about the first axis, then the second             | r1 r2              |
| revolute_prismatic | turn about the first axis, slide along the second      | r t                |
| planar             | two slides normal to the axis, turn about it           | t1 t2 r            |
| spherical          | turns about body axes in the order of `euler`          | rz ry rx           |
| free               | slides along x, y, z, then turns in order of `euler`   | tx ty tz rz ry rx  |

A suffix makes the name of a coordinate: `hip_rz`. All axes are in the body frame at zero.

Without `euler` the last two are not chains but single joints with a quaternion:

| joint       | suffixes in q     | suffixes in qd, qdd, tau (body axes) |
|-------------|-------------------|--------------------------------------|
| spherical   | qx qy qz qw       | wx wy wz                             |
| free        | x y z qx qy qz qw | vx vy vz wx wy wz                    |

The fields of the drive of a joint are limits, friction, rotor inertia and gear ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chainform.given import Given
from chainform.mechanism.exact import rotation_between
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import (
    IDENTITY,
    ONE,
    ZERO,
    Axis,
    Friction,
    Joint,
    JointKind,
    Limits,
    Number,
)
from chainform.mechanism.tables import FRICTION_FIELDS, LIMIT_FIELDS
from chainform.spatial import apply

_QUATERNION = ("qx", "qy", "qz", "qw")
_TURN_RATES = ("wx", "wy", "wz")
SUFFIXES: dict[JointKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    JointKind.SPHERICAL: (_QUATERNION, _TURN_RATES),
    JointKind.FREE: (("x", "y", "z", *_QUATERNION), ("vx", "vy", "vz", *_TURN_RATES)),
}
"""The suffixes of the coordinates and of the rates of a joint with a quaternion."""


@dataclass(frozen=True, slots=True)
class JointFreedom:
    """One elementary joint of a chain: its kind, its axis and the suffix of its names.

    A joint with a quaternion is a chain of one.
    """

    kind: JointKind
    axis: Axis
    suffix: str = ""


def freedoms_of(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    """Return the elementary freedoms of the joint of a segment, in order from the parent."""
    kind = segment["joint type"].name()
    make, wanted = JOINTS[segment["joint type"].choice(tuple(JOINTS), "joint type")]
    for field in ("axis", "axes", "euler"):
        if field == wanted and field != "euler" and not segment.has(field):
            remedy = "write axis = [0, 0, 1]" if field == "axis" else "write axes = ['x', 'y']"
            raise segment.error(f"a {kind} joint needs {field!r}", remedy)
        if segment.has(field) and field != wanted and kind != "fixed":
            remedy = f"remove {field!r}" + (f"; it needs {wanted!r}" if wanted else "")
            raise segment.error(f"a {kind} joint has no {field!r}", remedy)
    return make(segment, reader)


def _turn(axis: Axis, suffix: str = "") -> JointFreedom:
    return JointFreedom(JointKind.REVOLUTE, axis, suffix)


def _slide(axis: Axis, suffix: str = "") -> JointFreedom:
    return JointFreedom(JointKind.PRISMATIC, axis, suffix)


def _revolute(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    return (_turn(reader.axis(segment["axis"])),)


def _prismatic(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    return (_slide(reader.axis(segment["axis"])),)


def _fixed(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    del segment, reader
    return (JointFreedom(JointKind.FIXED, IDENTITY[2]),)


def _cylindrical(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    axis = reader.axis(segment["axis"])
    return (_slide(axis, "t"), _turn(axis, "r"))


def _universal(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    first, second = map(reader.axis, segment["axes"].entries(2))
    return (_turn(first, "r1"), _turn(second, "r2"))


def _revolute_prismatic(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    first, second = map(reader.axis, segment["axes"].entries(2))
    return (_turn(first, "r"), _slide(second, "t"))


def _planar(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    normal = reader.axis(segment["axis"])
    first, second = plane_of(normal)
    return (_slide(first, "t1"), _slide(second, "t2"), _turn(normal, "r"))


def plane_of(normal: Axis) -> tuple[Axis, Axis]:
    """Return two unit vectors that make a right-handed triad with the unit vector `normal`.

    For the normals x, y, z they are (y, z), (z, x), (x, y); for another normal these are carried
    along by the smallest rotation from the nearest coordinate axis. Both are rational.
    """
    nearest = max(range(3), key=lambda index: abs(normal[index]))
    sign = 1 if normal[nearest] > 0 else -1
    row = IDENTITY[nearest]
    turn = rotation_between((sign * row[0], sign * row[1], sign * row[2]), normal)
    first = apply(turn, IDENTITY[(nearest + 1) % 3])
    second = apply(turn, IDENTITY[(nearest + 2) % 3])
    return first, (sign * second[0], sign * second[1], sign * second[2])


def _spherical(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    del reader
    if not segment.has("euler"):
        return (JointFreedom(JointKind.SPHERICAL, IDENTITY[2]),)
    return _turns(segment["euler"])


def _turns(euler: Given) -> tuple[JointFreedom, ...]:
    """Return three turns about body axes; a letter that returns gets a number: rz1, rx, rz2."""
    sequence = euler.name()
    is_known = len(sequence) == 3 and set(sequence) <= set("xyz")
    if not is_known or sequence[0] == sequence[1] or sequence[1] == sequence[2]:
        remedy = 'use three of x, y, z, neighbours different, as in "zyx" or "zxz"'
        raise euler.error(f"{sequence!r} is no sequence of turns", remedy)
    suffixes = ["r" + letter for letter in sequence]
    if sequence[0] == sequence[2]:
        suffixes[0], suffixes[2] = suffixes[0] + "1", suffixes[2] + "2"
    return tuple(
        _turn(IDENTITY["xyz".index(letter)], suffix)
        for letter, suffix in zip(sequence, suffixes, strict=True)
    )


def _free(segment: Given, reader: Reader) -> tuple[JointFreedom, ...]:
    del reader
    if not segment.has("euler"):
        return (JointFreedom(JointKind.FREE, IDENTITY[2]),)
    slides = tuple(_slide(IDENTITY[k], "t" + letter) for k, letter in enumerate("xyz"))
    return slides + _turns(segment["euler"])


_Maker = Callable[[Given, Reader], tuple[JointFreedom, ...]]
JOINTS: dict[str, tuple[_Maker, str | None]] = {
    "revolute": (_revolute, "axis"),
    "prismatic": (_prismatic, "axis"),
    "fixed": (_fixed, None),
    "cylindrical": (_cylindrical, "axis"),
    "universal": (_universal, "axes"),
    "revolute_prismatic": (_revolute_prismatic, "axes"),
    "planar": (_planar, "axis"),
    "spherical": (_spherical, "euler"),
    "free": (_free, "euler"),
}
"""The joints by name: how their freedoms are made and which direction they are given by."""
# --- drive of a joint -----------------------------------------------------------------------


_FIELDS = ("limits", "friction", "rotor_inertia", "gear_ratio")


def joints_from(
    segment: Given, freedoms: Sequence[JointFreedom], names: Sequence[str], reader: Reader
) -> list[Joint]:
    """Return the elementary joints of a segment, one for each freedom and name."""
    for field in _FIELDS:
        if segment.has(field) and freedoms[0].kind.has_quaternion:
            # A quaternion has no range and no motor.
            message = f"a {freedoms[0].kind.value} joint with a quaternion has no {field!r}"
            remedy = 'remove it, or write euler = "zyx" to have one coordinate for each turn'
            raise segment[field].error(message, remedy)
    limits, frictions, rotors, ratios = (_spread(segment[f], len(freedoms)) for f in _FIELDS)
    return [
        Joint(
            name,
            freedom.kind,
            freedom.axis,
            _limits_from(limits[k], reader),
            _friction_from(frictions[k], reader),
            reader.number(rotors[k], ZERO, least=0),
            gear_ratio_from(ratios[k], ONE, reader),
        )
        for k, (freedom, name) in enumerate(zip(freedoms, names, strict=True))
    ]


def _spread(given: Given, count: int) -> list[Given]:
    """Return one value per freedom: a single freedom has it as it is, several have a list."""
    return given.entries(count) if given.is_given and count > 1 else [given] * count


def _limits_from(given: Given, reader: Reader) -> Limits | None:
    if not given.is_given:
        return None
    table = given.table(LIMIT_FIELDS)
    lower, upper, velocity, effort = (
        reader.fraction(table[field], is_limit=True) if table.has(field) else None
        for field in LIMIT_FIELDS
    )
    if lower is not None and upper is not None and lower > upper:
        raise given.error("lower exceeds upper", "exchange them")
    for greatest in (velocity, effort):
        if greatest is not None and greatest < 0:
            remedy = "give the greatest size, which holds in both senses"
            raise given.error("velocity and effort limits cannot be negative", remedy)
    return Limits(lower, upper, velocity, effort)


def _friction_from(given: Given, reader: Reader) -> Friction | None:
    if not given.is_given:
        return None
    table = given.table(FRICTION_FIELDS)
    return Friction(*(reader.number(table[field], ZERO, least=0) for field in FRICTION_FIELDS))


def gear_ratio_from(given: Given, default: Number, reader: Reader) -> Number:
    """Return motion of the drive over motion of the joint, which is not zero."""
    number = reader.number(given, default)
    if reader.known(number, given) == 0:
        raise given.error("the gear ratio is zero", "give motor rate over joint rate")
    return number
