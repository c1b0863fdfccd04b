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
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from chainform.mechanism.intake import Intake
from chainform.mechanism.rational import apply, rotation_between
from chainform.mechanism.types import IDENTITY, Axis, JointKind

_QUATERNION = ("qx", "qy", "qz", "qw")
_TURN_RATES = ("wx", "wy", "wz")

SUFFIXES: dict[JointKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    JointKind.SPHERICAL: (_QUATERNION, _TURN_RATES),
    JointKind.FREE: (("x", "y", "z", *_QUATERNION), ("vx", "vy", "vz", *_TURN_RATES)),
}
"""The suffixes of the coordinates and of the rates of a joint with a quaternion."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """One elementary joint of a chain: its kind, its axis and the suffix of its names.

    A joint with a quaternion is a chain of one.
    """

    kind: JointKind
    axis: Axis
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class JointGeometry:
    """What was said about the directions of a joint, unchecked."""

    axis: object = None
    axes: object = None
    euler: object = None


def freedoms_of(
    kind: object, geometry: JointGeometry, intake: Intake, where: str
) -> tuple[Freedom, ...]:
    """Return the elementary freedoms of the joint named `kind`, in order from the parent."""
    name = intake.text(kind, f"{where}, joint type")
    if name not in JOINTS:
        close = get_close_matches(name, JOINTS, n=1)
        known = "the joints are " + ", ".join(JOINTS)
        remedy = f"did you mean {close[0]!r}? {known}" if close else known
        raise intake.error(f"there is no joint type {name!r}", f"{where}, joint type", remedy)
    make, wanted = JOINTS[name]
    _check_given(name, wanted, geometry, intake, where)
    return make(geometry, intake, where)


def _check_given(
    name: str, wanted: str | None, geometry: JointGeometry, intake: Intake, where: str
) -> None:
    """Refuse a direction that the joint does not have, and miss one that it needs."""
    for field in ("axis", "axes", "euler"):
        is_given = getattr(geometry, field) is not None
        if field == wanted and field != "euler" and not is_given:
            remedy = "write axis = [0, 0, 1]" if field == "axis" else "write axes = ['x', 'y']"
            raise intake.error(f"a {name} joint needs {field!r}", where, remedy)
        if is_given and field != wanted and name != "fixed":
            remedy = f"remove {field!r}" + (f"; it needs {wanted!r}" if wanted else "")
            raise intake.error(f"a {name} joint has no {field!r}", where, remedy)


def _turn(axis: Axis, suffix: str = "") -> Freedom:
    return Freedom(JointKind.REVOLUTE, axis, suffix)


def _slide(axis: Axis, suffix: str = "") -> Freedom:
    return Freedom(JointKind.PRISMATIC, axis, suffix)


def _revolute(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    return (_turn(intake.axis(geometry.axis, f"{where}, axis")),)


def _prismatic(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    return (_slide(intake.axis(geometry.axis, f"{where}, axis")),)


def _fixed(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    del geometry, intake, where
    return (Freedom(JointKind.FIXED, IDENTITY[2]),)


def _cylindrical(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    axis = intake.axis(geometry.axis, f"{where}, axis")
    return (_slide(axis, "t"), _turn(axis, "r"))


def _universal(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    first, second = _two_axes(geometry, intake, where)
    return (_turn(first, "r1"), _turn(second, "r2"))


def _two_axes(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Axis, Axis]:
    axes = intake.entries(geometry.axes, 2, f"{where}, axes")
    first, second = (intake.axis(axis, f"{where}, axes[{k}]") for k, axis in enumerate(axes, 1))
    return first, second


def _revolute_prismatic(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    first, second = _two_axes(geometry, intake, where)
    return (_turn(first, "r"), _slide(second, "t"))


def _planar(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    normal = intake.axis(geometry.axis, f"{where}, axis")
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


def _spherical(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    if geometry.euler is None:
        return (Freedom(JointKind.SPHERICAL, IDENTITY[2]),)
    return _turns(geometry.euler, intake, where)


def _turns(euler: object, intake: Intake, where: str) -> tuple[Freedom, ...]:
    """Return three turns about body axes; a letter that returns gets a number: rz1, rx, rz2."""
    sequence = intake.text(euler, f"{where}, euler")
    is_known = len(sequence) == 3 and set(sequence) <= set("xyz")
    if not is_known or sequence[0] == sequence[1] or sequence[1] == sequence[2]:
        remedy = 'use three of x, y, z, neighbours different, as in "zyx" or "zxz"'
        raise intake.error(f"{sequence!r} is no sequence of turns", f"{where}, euler", remedy)
    suffixes = ["r" + letter for letter in sequence]
    if sequence[0] == sequence[2]:
        suffixes[0], suffixes[2] = suffixes[0] + "1", suffixes[2] + "2"
    return tuple(
        _turn(IDENTITY["xyz".index(letter)], suffix)
        for letter, suffix in zip(sequence, suffixes, strict=True)
    )


def _free(geometry: JointGeometry, intake: Intake, where: str) -> tuple[Freedom, ...]:
    if geometry.euler is None:
        return (Freedom(JointKind.FREE, IDENTITY[2]),)
    slides = tuple(_slide(IDENTITY[k], "t" + letter) for k, letter in enumerate("xyz"))
    return slides + _turns(geometry.euler, intake, where)


_Maker = Callable[[JointGeometry, Intake, str], tuple[Freedom, ...]]

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
