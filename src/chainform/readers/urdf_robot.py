"""A URDF file as records: links and joints with exact numbers, as written and in its order.

link      a body and its frame; becomes a segment, or the ground
joint     places the frame of the child link in that of the parent link and lets it move
inertial  mass, mass centre and inertia in a frame of their own on the link
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from chainform.mechanism import ONE, ZERO, ZERO_VECTOR, Axis, Rotation
from chainform.readers.urdf_limits import friction_of, limits_of
from chainform.readers.urdf_values import Desk
from chainform.readers.urdf_xml import Document, Element

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
class Origin:
    """A place in another frame: `xyz` in m, `rpy` in rad about fixed axes x, y, z."""

    xyz: Axis = ZERO_VECTOR
    rpy: Axis = ZERO_VECTOR


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass in kg; inertia in kg m^2 about the mass centre, in the axes of `origin`."""

    mass: Fraction
    origin: Origin
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
class Joint:
    """A joint between two links, `kind` in the words of URDF; `axis` in the joint frame."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    origin: Origin
    axis: Axis
    limits: dict[str, Fraction]
    friction: dict[str, Fraction]
    mimic: Mimic | None


@dataclass(frozen=True, slots=True)
class Robot:
    """Everything that was read."""

    name: str | None
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]


def robot_of(document: Document, desk: Desk) -> Robot:
    """Return the links and joints of a document; what is odd but clear is noted."""
    root = document.root
    if root.tag != "robot":
        message = f"the root element is <{root.tag[:40]}>, not <robot>"
        raise desk.error(message, root, "file", "give a URDF file")
    for remark in document.remarks:
        desk.note("file", remark)
    for remark, counted in (
        ("elements that are not part of URDF or not read", document.unread),
        ("attributes that are not read", document.attributes),
    ):
        if counted:
            is_loss = counted is document.attributes
            desk.note("file", f"{remark}: {_listed(counted)}", "warning" if is_loss else "note")
    for tag in ("link", "joint"):
        if len(root.all(tag)) > MAX_LINKS:
            message = f"the robot has more than {MAX_LINKS} {tag}s"
            raise desk.error(message, root, "robot", "leave out what does not matter")
    links = tuple(_link(element, desk) for element in root.all("link"))
    joints = tuple(_joint(element, desk) for element in root.all("joint"))
    if not links:
        where = "no links" if not joints else "joints but no links"
        has_deformable = document.unread["robot", "deformable"]
        what = "only a deformable body" if has_deformable else where
        raise desk.error(f"the robot has {what}", root, "robot", "describe at least one link")
    name = root.attributes.get("name", "").strip()
    return Robot(name if name.isprintable() and 0 < len(name) <= 200 else None, links, joints)


def _listed(counted: Counter[tuple[str, str]]) -> str:
    return ", ".join(f"{owner}/{name} ({n})" for (owner, name), n in sorted(counted.items())[:20])


def _link(element: Element, desk: Desk) -> Link:
    name = desk.name(element, "name", "link")
    where = f"link {name!r}"
    inertial = desk.one(element, "inertial", where)
    return Link(name, element.line, None if inertial is None else _inertial(inertial, desk, where))


def _inertial(element: Element, desk: Desk, where: str) -> Inertial:
    mass = desk.one(element, "mass", where)
    if mass is None:
        remedy = 'write <mass value="..."/> in it, or remove <inertial> from a link without mass'
        raise desk.error("<inertial> has no <mass>", element, where, remedy)
    value = desk.number(mass, "value", f"{where}, mass")
    if value < 0:
        remedy = "give a mass of at least zero"
        raise desk.error("the mass is negative", mass, f"{where}, mass", remedy)
    origin = _origin(desk.one(element, "origin", where), desk, f"{where}, inertial origin")
    return Inertial(value, origin, _inertia(element, desk, where))


def _inertia(inertial: Element, desk: Desk, where: str) -> Rotation:
    element = desk.one(inertial, "inertia", where)
    if element is None:
        desk.note(where, "<inertial> has no <inertia>; the mass is taken as a point")
        return (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR)
    where = f"{where}, inertia"
    xx, yy, zz = (desk.number(element, name, where) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (
        desk.number_or_none(element, name, where) or ZERO for name in ("ixy", "ixz", "iyz")
    )
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _origin(element: Element | None, desk: Desk, where: str) -> Origin:
    if element is not None and "quat_xyzw" in element.attributes:
        remedy = "write the angles: rpy, the roll, pitch and yaw of the quaternion"
        raise desk.error("quaternions are not read", element, where, remedy)
    return Origin(desk.vector(element, "xyz", where), desk.angles(element, where))


def _joint(element: Element, desk: Desk) -> Joint:
    name = desk.name(element, "name", "joint")
    where = f"joint {name!r}"
    kind = desk.text(element, "type", where).strip()
    if kind not in JOINT_TYPES:
        remedy = "the joints of URDF are revolute, continuous, prismatic, fixed, floating, planar"
        raise desk.error(f"there is no joint type {kind[:40]!r}", element, where, remedy)
    if kind == "spherical":
        desk.note(where, "spherical joints are an extension of Bullet")
    return Joint(
        name,
        element.line,
        kind,
        _end(element, "parent", desk, where),
        _end(element, "child", desk, where),
        _origin(desk.one(element, "origin", where), desk, f"{where}, origin"),
        _axis(element, kind, desk, where),
        limits_of(element, kind, desk, where),
        friction_of(element, kind, desk, where),
        _mimic(element, kind, desk, where),
    )


def _end(joint: Element, tag: str, desk: Desk, where: str) -> str:
    element = desk.one(joint, tag, where)
    if element is None:
        remedy = f'write <{tag} link="..."/> in it'
        raise desk.error(f"the joint has no <{tag}>", joint, where, remedy)
    return desk.name(element, "link", f"{where}, {tag}")


def _axis(joint: Element, kind: str, desk: Desk, where: str) -> Axis:
    """Return the axis, which is x by default; the length does not matter."""
    along_x = (ONE, ZERO, ZERO)
    if kind not in MOVING and kind != "planar":
        return along_x
    element = desk.one(joint, "axis", where)
    if element is None or "xyz" not in element.attributes:
        desk.note(where, "no axis is given; URDF then means x")
        return along_x
    axis = desk.vector(element, "xyz", f"{where}, axis")
    if axis == ZERO_VECTOR:
        remedy = "give the direction, for instance 0 0 1"
        raise desk.error("the axis has no length", element, f"{where}, axis", remedy)
    return axis


def _mimic(joint: Element, kind: str, desk: Desk, where: str) -> Mimic | None:
    element = desk.one(joint, "mimic", where)
    if element is None:
        return None
    where = f"{where}, mimic"
    leader = desk.name(element, "joint", where)
    if kind not in MOVING:
        desk.note(where, f"a {kind} joint cannot follow {leader!r}; this was left out")
        return None
    multiplier = desk.number_or_none(element, "multiplier", where)
    offset = desk.number_or_none(element, "offset", where)
    return Mimic(leader, ONE if multiplier is None else multiplier, offset or ZERO)
