"""From links and joints to segments: the tree of a URDF file, the part wanted, its segments.

link inertia in link axes   I = R I' R^T, R the rotation of the inertial frame, exactly
segment                     a link with the joint above it; the joint's origin places its frame
ground                      the root link of a robot whose base is fixed
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from chainform.errors import ReadError
from chainform.given import near
from chainform.mechanism import (
    IDENTITY,
    ZERO,
    ZERO_VECTOR,
    MechanismBuilder,
    Rotation,
    exact_axis,
    exact_rotation,
    rotation_of_angles,
)
from chainform.readers.source import Source, Table
from chainform.readers.urdf.options import UrdfOptions
from chainform.readers.urdf.robot import (
    JOINT_TYPES,
    MOVING,
    Inertial,
    Link,
    Mimic,
    Robot,
    UrdfJoint,
)
from chainform.readers.urdf.side_file import SideFile
from chainform.readers.urdf.snap import Snapper
from chainform.readers.urdf.write import angles_of
from chainform.readers.urdf.xml import AttributeReader
from chainform.spatial import add, apply, product, rodrigues, scale, transpose

_Item = TypeVar("_Item", Link, UrdfJoint)


@dataclass(frozen=True, slots=True)
class Tree:
    """A root link and the joints below it, in the order of the file; `links` by name.

    `path` leads from the root of the file to `root`; it is empty where these are the same.
    """

    root: Link
    joints: tuple[UrdfJoint, ...]
    links: dict[str, Link]
    path: tuple[UrdfJoint, ...] = ()


def tree_of(robot: Robot, root: str | None, tips: Sequence[str] | None, source: Source) -> Tree:
    """Return the tree below `root`, cut down to the paths to `tips` where these are given.

    Without `root` it is the one link that is nobody's child.
    """
    links = _distinct(robot.links, "link", source)
    _distinct(robot.joints, "joint", source)
    above = _joints_by_child(robot, links, source)
    start = _root(robot, above, source) if root is None else _named(root, links, source, "root")
    below = _paths(robot, above, start, source)
    if tips is not None:
        ends = [_named(tip, links, source, "tips") for tip in tips]
        below = _towards(ends, start, below, above, source)
    inside = tuple(joint for joint in robot.joints if joint.child in below)
    path: list[UrdfJoint] = []
    while (name := path[-1].parent if path else start) in above:
        path.append(above[name])
    return Tree(links[start], inside, links, tuple(reversed(path)))


def _distinct(items: Iterable[_Item], kind: str, source: Source) -> dict[str, _Item]:
    """Return the items by name; refuse a name that occurs twice."""
    seen: dict[str, _Item] = {}
    for item in items:
        if item.name in seen:
            raise source.error(
                f"the name is used twice, first in line {seen[item.name].line}",
                f"give each {kind} a name of its own",
                f"{kind} {item.name!r} (line {item.line})",
            )
        seen[item.name] = item
    return seen


def _joints_by_child(robot: Robot, links: dict[str, Link], source: Source) -> dict[str, UrdfJoint]:
    """Return for each link the joint above it."""
    above: dict[str, UrdfJoint] = {}
    for joint in robot.joints:
        where = f"joint {joint.name!r} (line {joint.line})"
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                remedy = near(name, links).strip() or "describe that link"
                raise source.error(f"its {end}, the link {name!r}, does not exist", remedy, where)
        if joint.child in above:
            other = above[joint.child].name
            raise source.error(
                f"the link {joint.child!r} is already the child of joint {other!r}",
                "a link hangs on one joint; close a chain by [[loops]] in the side file",
                where,
            )
        above[joint.child] = joint
    return above


def _root(robot: Robot, above: dict[str, UrdfJoint], source: Source) -> str:
    roots = [link for link in robot.links if link.name not in above]
    if not roots:
        raise _circle(robot.links[0].name, above, source)
    if len(roots) > 1:
        names = ", ".join(repr(link.name) for link in roots[:5])
        raise source.error(
            f"{len(roots)} links are the child of no joint: {names}",
            "connect them by joints, or choose one with root=... (--root)",
            f"link {roots[1].name!r} (line {roots[1].line})",
        )
    return roots[0].name


def _paths(robot: Robot, above: dict[str, UrdfJoint], root: str, source: Source) -> set[str]:
    """Return the names of all links below the root; a circle of joints is an error."""
    children: dict[str, list[str]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint.child)

    def reach(start: Iterable[str]) -> set[str]:
        ready = list(start)
        seen: set[str] = set()
        while ready:
            name = ready.pop()
            if name not in seen:
                seen.add(name)
                ready += children.get(name, ())
        return seen

    from_roots = reach(link.name for link in robot.links if link.name not in above)
    lost = next((link.name for link in robot.links if link.name not in from_roots), None)
    if lost is not None:
        raise _circle(lost, above, source)
    return reach([root]) - {root}


def _circle(start: str, above: dict[str, UrdfJoint], source: Source) -> ReadError:
    """Return the error for the circle that one meets going up from `start`."""
    path: dict[str, None] = {}
    name = start
    while name not in path:
        path[name] = None
        name = above[name].parent
    names = list(path)
    circle = [name, *reversed(names[names.index(name) :])]
    shown = " -> ".join(circle[:20])
    remedy = "let one link be the root; close a chain by [[loops]] in the side file"
    where = f"joint {above[name].name!r} (line {above[name].line})"
    return source.error(f"the joints form a circle: {shown}", remedy, where)


def _named(name: str, links: dict[str, Link], source: Source, option: str) -> str:
    return source.given(name, option).choice(tuple(links), "link")


def _towards(
    tips: Sequence[str], root: str, below: set[str], above: dict[str, UrdfJoint], source: Source
) -> set[str]:
    """Return the links on the ways from the root to the tips, without the root."""
    names: set[str] = set()
    for tip in tips:
        name = tip
        while name != root:
            if name not in below:
                remedy = f"name links that hang on {root!r}, or choose another root"
                raise source.error(f"the link {tip!r} is not below {root!r}", remedy, "tips")
            names.add(name)
            name = above[name].parent
    return names


def riders_of(tree: Tree, is_fixed: Callable[[UrdfJoint], bool]) -> dict[str, list[str]]:
    """Return for each moving link, and the root, the links that ride on it by fixed joints."""
    carrier: dict[str, str] = {tree.root.name: tree.root.name}
    riders: dict[str, list[str]] = {}
    waiting = {joint.child: joint for joint in tree.joints}
    for child in list(waiting):
        path = [child]
        while path[-1] not in carrier:
            joint = waiting[path[-1]]
            if not is_fixed(joint):
                carrier[path[-1]] = path[-1]
                break
            path.append(joint.parent)
        for name in reversed(path[:-1]):
            carrier[name] = carrier[waiting[name].parent]
            riders.setdefault(carrier[name], []).append(name)
    return riders


# --- segments -------------------------------------------------------------------------------


GROUND = "ground"
ROOT_JOINT = "root_joint"
"""The free joint of a floating base, called as in Pinocchio."""


@dataclass(frozen=True, slots=True)
class SegmentPlan:
    """What is to be built: the tree, how, what the side file adds, and which joints follow."""

    tree: Tree
    options: UrdfOptions
    side: SideFile
    couplings: Mapping[str, Table]

    @property
    def root_is_ground(self) -> bool:
        """Tell whether the root link is the ground; a link without joints is a fixed segment."""
        return self.options.base == "fixed" and bool(self.tree.joints)

    def segment_name(self, link: str) -> str:
        """Return the name of a link's segment, which cannot be that of the ground."""
        if self.root_is_ground and link == self.tree.root.name:
            return GROUND
        name = link
        while name == GROUND or (name != link and name in self.tree.links):
            name += "_link"
        return name

    @property
    def root_joint(self) -> str:
        """The name of the free joint of a floating base."""
        taken = {joint.name for joint in self.tree.joints}
        name = ROOT_JOINT
        while name in taken:
            name += "_"
        return name

    @property
    def length(self) -> Fraction:
        """The greatest length in the joints and mass centres of the tree (m)."""
        vectors = [joint.origin.xyz for joint in self.tree.joints]
        for name in (self.tree.root.name, *(joint.child for joint in self.tree.joints)):
            inertial = self.tree.links[name].inertial
            vectors += [inertial.origin.xyz] if inertial is not None else []
        return max((abs(entry) for vector in vectors for entry in vector), default=ZERO)


def add_segments(builder: MechanismBuilder, plan: SegmentPlan, snapper: Snapper) -> None:
    """Give the builder all segments, in the order of the joints in the file."""
    root = plan.tree.root
    if plan.tree.path and plan.options.base == "fixed" and "base" not in plan.side.table:
        builder.base(_place(plan.tree.path, snapper))
    if plan.root_is_ground:
        if root.name != GROUND:
            builder.frame(root.name, GROUND)
    else:
        name = plan.segment_name(root.name)
        joint = {"type": "fixed", "name": f"{name}_fixed"}
        if plan.options.base == "floating":
            joint = {"type": "free", "name": plan.root_joint}
        body = _body(root, snapper)
        builder.segment_table({"name": name, "parent": GROUND, "joint": joint, **body})
    for joint in plan.tree.joints:
        builder.segment_table(_segment(joint, plan, snapper))


def _place(path: tuple[UrdfJoint, ...], snapper: Snapper) -> Table:
    """Return where a link inside the tree stands in the world when nothing above it moves."""
    position, rotation = ZERO_VECTOR, IDENTITY
    for joint in path:
        where = f"joint {joint.name!r}, origin"
        position = add(position, apply(rotation, snapper.vector(joint.origin.xyz, where)))
        rotation = product(rotation, snapper.angles(joint.origin.rpy, where))
    return {"position": position, "rotation": rotation}


def _segment(joint: UrdfJoint, plan: SegmentPlan, snapper: Snapper) -> Table:
    where = f"joint {joint.name!r}, origin"
    table: Table = {
        "name": plan.segment_name(joint.child),
        "parent": plan.segment_name(joint.parent),
        "joint": {"type": JOINT_TYPES[joint.kind], "name": joint.name},
        "position": snapper.vector(joint.origin.xyz, where),
        "rotation": snapper.angles(joint.origin.rpy, where),
        **_body(plan.tree.links[joint.child], snapper),
    }
    if joint.kind in MOVING or joint.kind == "planar":
        table["axis"] = snapper.direction(joint.axis, f"joint {joint.name!r}, axis")
    given: Table = {"limits": joint.limits, "friction": joint.friction}
    drive = {**{key: value for key, value in given.items() if value}, **plan.side.drive(joint.name)}
    if joint.name in plan.couplings:
        drive["mimic"] = plan.couplings[joint.name]
    return {**table, **drive}


def _body(link: Link, snapper: Snapper) -> Table:
    if link.inertial is None:
        return {}
    where = f"link {link.name!r}, inertial"
    return {
        "mass": link.inertial.mass,
        "com": snapper.vector(link.inertial.origin.xyz, where),
        "inertia": _inertia(link.inertial, snapper, where),
    }


def _inertia(inertial: Inertial, snapper: Snapper, where: str) -> Rotation:
    """Return the inertia in link axes."""
    tensor = snapper.tensor(inertial.inertia, where)
    turn = snapper.angles(inertial.origin.rpy, where)
    return tensor if turn == IDENTITY else product(product(turn, tensor), transpose(turn))


def with_standing_joints(robot: Robot, reader: AttributeReader) -> Robot:
    """Return the robot with fixed joints in place of those that mimic with the multiplier zero.

    Such a joint stands at its offset whatever the other one does, and so do those that mimic it.
    """
    followers: dict[str, list[tuple[str, Mimic]]] = {}
    amounts: dict[str, Fraction] = {}
    for joint in robot.joints:
        if joint.mimic is not None and joint.mimic.multiplier == 0:
            amounts[joint.name] = joint.mimic.offset
        elif joint.mimic is not None:
            followers.setdefault(joint.mimic.joint, []).append((joint.name, joint.mimic))
    waiting = list(amounts)
    while waiting:
        leader = waiting.pop()
        for name, mimic in followers.pop(leader, ()):
            amounts[name] = mimic.multiplier * amounts[leader] + mimic.offset
            waiting.append(name)
    for name, amount in amounts.items():
        text = f"it mimics with the multiplier 0, so it stands fixed at {float(amount):.6g}"
        reader.note(f"joint {name!r}, mimic", text, "warning")
    joints = (_standing(j, amounts[j.name]) if j.name in amounts else j for j in robot.joints)
    return replace(robot, joints=tuple(joints))


def _standing(joint: UrdfJoint, amount: Fraction) -> UrdfJoint:
    """Return a fixed joint where a joint stands that has moved by an amount (rad or m)."""
    origin, (axis, _) = joint.origin, exact_axis(joint.axis)
    turn = rotation_of_angles(*origin.rpy)
    if joint.kind == "prismatic":
        origin = replace(origin, xyz=add(origin.xyz, apply(turn, scale(amount, axis))))
    elif amount:
        sine, cosine = Fraction(math.sin(amount)), Fraction(math.cos(amount))
        own, _ = exact_rotation(rodrigues(axis, cosine, sine))
        origin = replace(origin, rpy=angles_of(product(turn, own)))
    return replace(joint, kind="fixed", origin=origin, limits={}, friction={}, mimic=None)


def couplings_of(
    joints: tuple[UrdfJoint, ...], choice: str
) -> Iterator[tuple[UrdfJoint, str | Table]]:
    """Yield the joints that mimic others: with their coupling, or with why they have none.

    Where the followed joint is missing or left out, the first that follows it takes its place.
    """
    moving = {joint.name for joint in joints if joint.kind in MOVING}
    heirs: dict[str, UrdfJoint] = {}
    for joint in joints:
        mimic = joint.mimic
        if mimic is None:
            continue
        name, ratio, offset = mimic.joint, mimic.multiplier, mimic.offset
        if choice == "free":
            yield joint, f"it mimics {name!r} in the file, but moves freely, as the option says"
        elif name in moving:
            yield joint, {"joint": name, "ratio": ratio, "offset": offset}
        elif name not in heirs:
            heirs[name] = joint
            yield joint, f"it mimics {name!r}, but no such joint moves; it has a coordinate itself"
        elif (first := heirs[name].mimic) is not None:
            ratio /= first.multiplier
            offset -= first.offset * ratio
            yield joint, {"joint": heirs[name].name, "ratio": ratio, "offset": offset}
