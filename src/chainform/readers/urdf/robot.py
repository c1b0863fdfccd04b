"""A URDF file as records: links and joints with exact numbers, as written and in its order.

link      a body and its frame; becomes a segment, or the ground
joint     places the frame of the child link in that of the parent link and lets it move
inertial  mass, mass centre and inertia in a frame of their own on the link

Ranges, limits and friction of joints are read first. None of them enters the equations of an ideal
joint, so a limit that is plainly no limit is left out with a note instead of stopping everything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from chainform.errors import ReadError
from chainform.mechanism import ONE, ZERO, ZERO_VECTOR, Axis, Rotation
from chainform.readers.urdf.xml import AttributeReader, Document, Element, is_infinite

ONE_COORDINATE = ("revolute", "continuous", "prismatic")
SIZES = ("velocity", "effort")
UNLIMITED = Fraction(10**9)
"""A limit of this size or beyond means that there is none (rad, m, per s, N m or N)."""


def limits_of(
    joint: Element, kind: str, reader: AttributeReader, where: str
) -> dict[str, Fraction]:
    """Return what is known of lower, upper (rad or m), velocity and effort."""
    element = reader.one(joint, "limit", where)
    if element is None:
        if kind in ("revolute", "prismatic"):
            reader.note(where, "no limits are given")
        return {}
    if kind not in ONE_COORDINATE:
        if kind != "fixed":
            reader.note(where, f"the limits of a {kind} joint are not read")
        return {}
    where = f"{where}, limit"
    names = ("velocity", "effort") if kind == "continuous" else ("lower", "upper", *SIZES)
    read = {name: _limit(element, name, reader, where) for name in names}
    limits = {name: value for name, value in read.items() if value is not None}
    for name in SIZES:
        if limits.get(name, 0) < 0:
            reader.note(where, f"{name} is negative; it was left out", "warning")
            del limits[name]
    _check_range(limits, kind, reader, where)
    return limits


def _limit(element: Element, name: str, reader: AttributeReader, where: str) -> Fraction | None:
    """Return one limit; None where it is missing, beyond all bounds or no number."""
    text = element.attributes.get(name, "").strip()
    if not text or is_infinite(text):
        return None
    try:
        value = reader.number(element, name, where)
        return value if abs(value) < UNLIMITED else None
    except ReadError as error:
        if "xacro" in error.message:
            raise
        reader.note(where, f"{name}: {error.message}; it was left out", "warning")
        return None


def _check_range(
    limits: dict[str, Fraction], kind: str, reader: AttributeReader, where: str
) -> None:
    """Drop a range that is none: a lower end above the upper one means free in some programs."""
    if kind == "continuous":
        return
    lower, upper = limits.get("lower"), limits.get("upper")
    if lower is None and upper is None:
        reader.note(where, "no range is given")
    elif lower is not None and upper is not None and lower > upper:
        reader.note(where, "lower exceeds upper; the range is left out", "warning")
        del limits["lower"], limits["upper"]
    elif lower == upper:
        reader.note(where, "lower equals upper: the joint has no room to move", "warning")


def friction_of(
    joint: Element, kind: str, reader: AttributeReader, where: str
) -> dict[str, Fraction]:
    """Return viscous (damping) and Coulomb friction, without zeros."""
    element = reader.one(joint, "dynamics", where)
    if element is None or kind not in ONE_COORDINATE:
        return {}
    result: dict[str, Fraction] = {}
    for attribute, name in (("damping", "viscous"), ("friction", "coulomb")):
        value = reader.number_or_none(element, attribute, f"{where}, dynamics")
        if value is not None and value < 0:
            reader.note(
                f"{where}, dynamics", f"{attribute} is negative; it was left out", "warning"
            )
        elif value:
            result[name] = value
    return result


# --- links and joints -----------------------------------------------------------------------


JOINT_TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "spherical",
}
"""The joints of URDF, and `spherical` of Bullet, in the words of a mechanism."""
MAX_LINKS = 5000
"""The greatest number of links: what is larger is no robot, and would take minutes."""
MOVING = frozenset({"revolute", "continuous", "prismatic"})
"""The joints of one coordinate, in the words of URDF."""


@dataclass(frozen=True, slots=True)
class UrdfOrigin:
    """A pose in another frame: `xyz` in m, `rpy` in rad about fixed axes x, y, z."""

    xyz: Axis = ZERO_VECTOR
    rpy: Axis = ZERO_VECTOR


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass in kg; inertia in kg m^2 about the mass centre, in the axes of `origin`."""

    mass: Fraction
    origin: UrdfOrigin
    inertia: Rotation


@dataclass(frozen=True, slots=True)
class Link:
    """A link; without `inertial` it is massless."""

    name: str
    line: int
    inertial: Inertial | None


@dataclass(frozen=True, slots=True)
class Mimic:
    """The joint follows another: `multiplier` times its motion plus `offset`."""

    joint: str
    multiplier: Fraction = ONE
    offset: Fraction = ZERO


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """A joint between two links, `kind` in the words of URDF; `axis` in the joint frame."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    origin: UrdfOrigin
    axis: Axis
    limits: dict[str, Fraction]
    friction: dict[str, Fraction]
    mimic: Mimic | None


@dataclass(frozen=True, slots=True)
class Robot:
    """Everything that was read."""

    name: str | None
    links: tuple[Link, ...]
    joints: tuple[UrdfJoint, ...]


def robot_of(document: Document, reader: AttributeReader) -> Robot:
    """Return the links and joints of a document; what is odd but clear is noted."""
    root = document.root
    if root.tag != "robot":
        message = f"the root element is <{root.tag[:40]}>, not <robot>"
        raise reader.error(message, root, "file", "give a URDF file")
    for remark in document.remarks:
        reader.note("file", remark)
    for remark, counted in (
        ("elements that are not part of URDF or not read", document.unread),
        ("attributes that are not read", document.attributes),
    ):
        if counted:
            is_loss = counted is document.attributes
            reader.note("file", f"{remark}: {_listed(counted)}", "warning" if is_loss else "note")
    for tag in ("link", "joint"):
        if len(root.all(tag)) > MAX_LINKS:
            message = f"the robot has more than {MAX_LINKS} {tag}s"
            raise reader.error(message, root, "robot", "leave out what does not matter")
    links = tuple(_link(element, reader) for element in root.all("link"))
    joints = tuple(_joint(element, reader) for element in root.all("joint"))
    if not links:
        where = "no links" if not joints else "joints but no links"
        has_deformable = document.unread["robot", "deformable"]
        what = "only a deformable body" if has_deformable else where
        raise reader.error(f"the robot has {what}", root, "robot", "describe at least one link")
    name = root.attributes.get("name", "").strip()
    return Robot(name if name.isprintable() and 0 < len(name) <= 200 else None, links, joints)


def _listed(counted: Counter[tuple[str, str]]) -> str:
    return ", ".join(f"{owner}/{name} ({n})" for (owner, name), n in sorted(counted.items())[:20])


def _link(element: Element, reader: AttributeReader) -> Link:
    name = reader.name(element, "name", "link")
    where = f"link {name!r}"
    inertial = reader.one(element, "inertial", where)
    return Link(
        name, element.line, None if inertial is None else _inertial(inertial, reader, where)
    )


def _inertial(element: Element, reader: AttributeReader, where: str) -> Inertial:
    mass = reader.one(element, "mass", where)
    if mass is None:
        remedy = 'write <mass value="..."/> in it, or remove <inertial> from a link without mass'
        raise reader.error("<inertial> has no <mass>", element, where, remedy)
    value = reader.number(mass, "value", f"{where}, mass")
    if value < 0:
        remedy = "give a mass of at least zero"
        raise reader.error("the mass is negative", mass, f"{where}, mass", remedy)
    origin = _origin(reader.one(element, "origin", where), reader, f"{where}, inertial origin")
    return Inertial(value, origin, _inertia(element, reader, where))


def _inertia(inertial: Element, reader: AttributeReader, where: str) -> Rotation:
    element = reader.one(inertial, "inertia", where)
    if element is None:
        reader.note(where, "<inertial> has no <inertia>; the mass is taken as a point")
        return (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR)
    where = f"{where}, inertia"
    xx, yy, zz = (reader.number(element, name, where) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (
        reader.number_or_none(element, name, where) or ZERO for name in ("ixy", "ixz", "iyz")
    )
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _origin(element: Element | None, reader: AttributeReader, where: str) -> UrdfOrigin:
    if element is not None and "quat_xyzw" in element.attributes:
        remedy = "write the angles: rpy, the roll, pitch and yaw of the quaternion"
        raise reader.error("quaternions are not read", element, where, remedy)
    return UrdfOrigin(reader.vector(element, "xyz", where), reader.angles(element, where))


def _joint(element: Element, reader: AttributeReader) -> UrdfJoint:
    name = reader.name(element, "name", "joint")
    where = f"joint {name!r}"
    kind = reader.text(element, "type", where).strip()
    if kind not in JOINT_TYPES:
        remedy = "the joints of URDF are revolute, continuous, prismatic, fixed, floating, planar"
        raise reader.error(f"there is no joint type {kind[:40]!r}", element, where, remedy)
    if kind == "spherical":
        reader.note(where, "spherical joints are an extension of Bullet")
    return UrdfJoint(
        name,
        element.line,
        kind,
        _end(element, "parent", reader, where),
        _end(element, "child", reader, where),
        _origin(reader.one(element, "origin", where), reader, f"{where}, origin"),
        _axis(element, kind, reader, where),
        limits_of(element, kind, reader, where),
        friction_of(element, kind, reader, where),
        _mimic(element, kind, reader, where),
    )


def _end(joint: Element, tag: str, reader: AttributeReader, where: str) -> str:
    element = reader.one(joint, tag, where)
    if element is None:
        remedy = f'write <{tag} link="..."/> in it'
        raise reader.error(f"the joint has no <{tag}>", joint, where, remedy)
    return reader.name(element, "link", f"{where}, {tag}")


def _axis(joint: Element, kind: str, reader: AttributeReader, where: str) -> Axis:
    """Return the axis, which is x by default; the length does not matter."""
    along_x = (ONE, ZERO, ZERO)
    if kind not in MOVING and kind != "planar":
        return along_x
    element = reader.one(joint, "axis", where)
    if element is None or "xyz" not in element.attributes:
        reader.note(where, "no axis is given; URDF then means x")
        return along_x
    axis = reader.vector(element, "xyz", f"{where}, axis")
    if axis == ZERO_VECTOR:
        remedy = "give the direction, for instance 0 0 1"
        raise reader.error("the axis has no length", element, f"{where}, axis", remedy)
    return axis


def _mimic(joint: Element, kind: str, reader: AttributeReader, where: str) -> Mimic | None:
    element = reader.one(joint, "mimic", where)
    if element is None:
        return None
    where = f"{where}, mimic"
    leader = reader.name(element, "joint", where)
    if kind not in MOVING:
        reader.note(where, f"a {kind} joint cannot follow {leader!r}; this was left out")
        return None
    multiplier = reader.number_or_none(element, "multiplier", where)
    offset = reader.number_or_none(element, "offset", where)
    return Mimic(leader, ONE if multiplier is None else multiplier, offset or ZERO)
