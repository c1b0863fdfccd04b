"""From links and joints to the segments of a mechanism.

link inertia in link axes   I = R I' R^T, R the rotation of the inertial frame, exactly
segment                     a link with the joint above it; the joint's origin places its frame
ground                      the root link of a robot whose base is fixed
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from chainform.mechanism import (
    IDENTITY,
    ZERO,
    ZERO_VECTOR,
    MechanismBuilder,
    Rotation,
    Snapper,
    exact_axis,
    exact_rotation,
    rotation_of_angles,
)
from chainform.readers.source import Table
from chainform.readers.urdf_export import angles_of
from chainform.readers.urdf_options import Options
from chainform.readers.urdf_robot import (
    JOINT_TYPES,
    MOVING,
    Inertial,
    Joint,
    Link,
    Mimic,
    Robot,
)
from chainform.readers.urdf_side import SideFile
from chainform.readers.urdf_tree import Tree
from chainform.readers.urdf_values import AttributeReader
from chainform.spatial import add, apply, product, rodrigues, scale, transpose

GROUND = "ground"
ROOT_JOINT = "root_joint"
"""The free joint of a floating base, called as in Pinocchio."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be built: the tree, how, what the side file adds, and which joints follow."""

    tree: Tree
    options: Options
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


def add_segments(builder: MechanismBuilder, plan: Plan, snapper: Snapper) -> None:
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


def _place(path: tuple[Joint, ...], snapper: Snapper) -> Table:
    """Return where a link inside the tree stands in the world when nothing above it moves."""
    position, rotation = ZERO_VECTOR, IDENTITY
    for joint in path:
        where = f"joint {joint.name!r}, origin"
        position = add(position, apply(rotation, snapper.vector(joint.origin.xyz, where)))
        rotation = product(rotation, snapper.angles(joint.origin.rpy, where))
    return {"position": position, "rotation": rotation}


def _segment(joint: Joint, plan: Plan, snapper: Snapper) -> Table:
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
    said: Table = {"limits": joint.limits, "friction": joint.friction}
    drive = {**{key: value for key, value in said.items() if value}, **plan.side.drive(joint.name)}
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


def _standing(joint: Joint, amount: Fraction) -> Joint:
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


def couplings_of(joints: tuple[Joint, ...], choice: str) -> Iterator[tuple[Joint, str | Table]]:
    """Yield the joints that mimic others: with their coupling, or with why they have none.

    Where the followed joint is missing or left out, the first that follows it takes its place.
    """
    moving = {joint.name for joint in joints if joint.kind in MOVING}
    heirs: dict[str, Joint] = {}
    for joint in joints:
        mimic = joint.mimic
        if mimic is None:
            continue
        name, ratio, offset = mimic.joint, mimic.multiplier, mimic.offset
        if choice == "free":
            yield joint, f"it mimics {name!r} in the file, but moves freely as asked"
        elif name in moving:
            yield joint, {"joint": name, "ratio": ratio, "offset": offset}
        elif name not in heirs:
            heirs[name] = joint
            yield joint, f"it mimics {name!r}, but no such joint moves; it has a coordinate itself"
        elif (first := heirs[name].mimic) is not None:
            ratio /= first.multiplier
            offset -= first.offset * ratio
            yield joint, {"joint": heirs[name].name, "ratio": ratio, "offset": offset}
