"""Write a mechanism as URDF, and what URDF has no words for as its side file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path

from chainform.errors import RunError
from chainform.mechanism import (
    GROUND,
    IDENTITY,
    ZERO_VECTOR,
    Joint,
    JointKind,
    Mechanism,
    Rotation,
    Segment,
    Vector3,
    refuse_moments,
)
from chainform.readers.urdf.robot import UNLIMITED
from chainform.readers.urdf.side_file import ENDING, UrdfNumbers, decimal, side_text

KINDS = {
    JointKind.REVOLUTE: "revolute",
    JointKind.PRISMATIC: "prismatic",
    JointKind.FIXED: "fixed",
    JointKind.FREE: "floating",
}
"""The joints that URDF has, by ours; a turn without a range is called continuous."""

ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\n": "&#10;",
        "\r": "&#13;",
        "\t": "&#9;",
    }
)
"""What may not stand in an attribute as it is. The same in Python's library opens a web client."""


@dataclass(frozen=True, slots=True)
class Export:
    """The text of a URDF file, that of its side file (None: not needed), and what they lack."""

    text: str
    side: str | None
    left_out: tuple[str, ...]


def quoted(text: str) -> str:
    """Return a text as an attribute of XML."""
    return f'"{text.translate(ESCAPES)}"'


def export_urdf(mechanism: Mechanism) -> Export:
    """Return a mechanism as URDF. Joints that URDF lacks, and free parameters, raise RunError."""
    if not mechanism.segments:
        raise RunError(
            "URDF has links and joints, and the mechanism is a model of elements",
            file=mechanism.file,
            element="elements",
            remedy="write it in the native form: chainform export FILE --to native",
        )
    refuse_moments(mechanism, "URDF", "give its mass and mass centre", RunError)
    numbers = UrdfNumbers(mechanism)
    side, in_side = side_text(mechanism, numbers)
    left_out = [f"{what}: in the side file only" for what in in_side]
    if mechanism.parameters:
        left_out.append("parameters: written as numbers")
    beyond = {"elements": mechanism.elements, "constraints": mechanism.constraints}
    left_out += [f"{what}: left out; URDF has no such" for what, there in beyond.items() if there]
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines += [f"<!-- {what.replace('--', '- -')} -->" for what in left_out]
    lines += [f"<robot name={quoted(mechanism.name)}>", *_Writer(mechanism, numbers).lines()]
    return Export("\n".join([*lines, "</robot>"]) + "\n", side, tuple(left_out))


def urdf_text(mechanism: Mechanism) -> str:
    """Return the text of the URDF file alone."""
    return export_urdf(mechanism).text


def write_urdf(
    mechanism: Mechanism, path: str | PathLike[str], *, force: bool = False
) -> tuple[str, ...]:
    """Write `path` and, where URDF does not suffice, the side file next to it.

    Returns what URDF itself cannot say. Files that exist are overwritten with `force` only.
    """
    export = export_urdf(mechanism)
    target = Path(path)
    for file, text in zip((target, side_path(target)), (export.text, export.side), strict=True):
        if file.exists() and not (force and text is not None):
            remedy = "force=True overwrites it" if text is not None else "remove it: it is stale"
            raise RunError("the file exists", file=str(file), remedy=remedy)
    try:
        target.write_text(export.text, encoding="utf-8", newline="\n")
        if export.side is not None:
            side_path(target).write_text(export.side, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise RunError(f"it cannot be written: {error}", file=str(target)) from error
    return export.left_out


def side_path(path: Path) -> Path:
    """Return where the side file of a URDF file lies."""
    return path.with_suffix(ENDING)


class _Writer:
    """Writes links and joints; every frame is a link of its own."""

    def __init__(self, mechanism: Mechanism, numbers: UrdfNumbers) -> None:
        self.mechanism = mechanism
        self.numbers = numbers
        self.root = self.root_name()

    def root_name(self) -> str:
        """Return the name of the ground: that of a frame which is its own, else world."""
        for frame in self.mechanism.frames:
            pose = (frame.segment, frame.point, frame.rotation)
            if pose == (GROUND, ZERO_VECTOR, IDENTITY):
                return frame.name
        taken = {item.name for item in (*self.mechanism.segments, *self.mechanism.frames)}
        name = "world"
        while name in taken:
            name += "_"
        return name

    def lines(self) -> Iterator[str]:
        yield f"  <link name={quoted(self.root)}/>"
        for index, segment in enumerate(self.mechanism.segments):
            yield from self.link(segment)
            yield from self.joint(index, segment)
        for frame in self.mechanism.frames:
            if frame.name == self.root:
                continue
            name = quoted(frame.name)
            yield f"  <link name={name}/>"
            yield f'  <joint name={quoted(frame.name + "_fixed")} type="fixed">'
            yield from self.ends(frame.segment, frame.name)
            yield self.origin(frame.point, frame.rotation)
            yield "  </joint>"

    def link(self, segment: Segment) -> Iterator[str]:
        body, name = segment.body, quoted(segment.name)
        if body.is_massless:
            yield f"  <link name={name}/>"
            return
        yield f"  <link name={name}>"
        yield "    <inertial>"
        yield f'      <origin xyz="{self.numbers.row(body.com)}" rpy="0 0 0"/>'
        yield f'      <mass value="{self.numbers.text(body.mass)}"/>'
        index = {"x": 0, "y": 1, "z": 2}
        entries = " ".join(
            f'i{a}{b}="{self.numbers.text(body.inertia[index[a]][index[b]])}"'
            for a, b in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        yield f"      <inertia {entries}/>"
        yield "    </inertial>"
        yield "  </link>"

    def joint(self, index: int, segment: Segment) -> Iterator[str]:
        joint = segment.joint
        yield f'  <joint name={quoted(joint.name)} type="{self.kind(segment)}">'
        yield from self.ends(segment.parent, segment.name)
        yield self.origin(segment.position, segment.rotation)
        if joint.kind.rates == 1:
            yield f'    <axis xyz="{self.numbers.row(joint.axis)}"/>'
            yield from self.limit(joint)
            yield from self.dynamics(joint)
            yield from self.mimic(index, segment)
        yield "  </joint>"

    def kind(self, segment: Segment) -> str:
        joint = segment.joint
        if joint.kind not in KINDS:
            raise RunError(
                f"URDF has no {joint.kind.value} joint",
                file=self.mechanism.file,
                element=f"segment {segment.name!r}",
                remedy='describe it with euler = "zyx", as a chain of turns',
            )
        return "continuous" if is_continuous(joint) else KINDS[joint.kind]

    def ends(self, parent: int, child: str) -> Iterator[str]:
        name = self.root if parent == GROUND else self.mechanism.segments[parent].name
        yield f"    <parent link={quoted(name)}/>"
        yield f"    <child link={quoted(child)}/>"

    def origin(self, position: Vector3, rotation: Rotation) -> str:
        rpy = " ".join(decimal(angle) for angle in angles_of(rotation))
        return f'    <origin xyz="{self.numbers.row(position)}" rpy="{rpy}"/>'

    def limit(self, joint: Joint) -> Iterator[str]:
        """Write all that readers of URDF insist on; what is not known is beyond all bounds."""
        limits = joint.limits
        if is_continuous(joint) and limits is None:
            return
        names = ("effort", "velocity") if is_continuous(joint) else ("lower", "upper")
        usual = {
            "lower": -UNLIMITED,
            "upper": UNLIMITED,
            "effort": UNLIMITED,
            "velocity": UNLIMITED,
        }
        words: list[str] = []
        for name in dict.fromkeys((*names, "effort", "velocity")):
            value = None if limits is None else getattr(limits, name)
            words.append(f'{name}="{decimal(usual[name] if value is None else value)}"')
        yield f"    <limit {' '.join(words)}/>"

    def dynamics(self, joint: Joint) -> Iterator[str]:
        if joint.friction is not None:
            viscous, coulomb = joint.friction.viscous, joint.friction.coulomb
            words = (
                f'damping="{self.numbers.text(viscous)}" friction="{self.numbers.text(coulomb)}"'
            )
            yield f"    <dynamics {words}/>"

    def mimic(self, index: int, segment: Segment) -> Iterator[str]:
        if segment.coordinate is None:
            return
        leader = self.mechanism.coordinate_records[segment.coordinate].segment
        if leader != index:
            name = quoted(self.mechanism.segments[leader].joint.name)
            ratio, offset = decimal(segment.ratio), self.numbers.text(segment.offset)
            yield f'    <mimic joint={name} multiplier="{ratio}" offset="{offset}"/>'


def is_continuous(joint: Joint) -> bool:
    """Tell whether a joint turns without a range."""
    limits = joint.limits
    has_range = limits is not None and (limits.lower is not None or limits.upper is not None)
    return joint.kind is JointKind.REVOLUTE and not has_range


def angles_of(rotation: Rotation) -> tuple[Fraction, Fraction, Fraction]:
    """Return roll, pitch, yaw (rad) with Rz(yaw) Ry(pitch) Rx(roll) equal to the rotation.

    The entries are exact, so each angle is good to the last digit of a double, near pitch = +-pi/2
    too. There, where only a combination of roll and yaw is known, yaw is zero.
    """
    (a, b, c), (d, e, f), (g, h, i) = rotation
    cosine = math.sqrt(a * a + d * d)
    pitch = math.atan2(-g, cosine)
    if a == 0 and d == 0:
        roll, yaw = math.atan2(b, e) if g < 0 else math.atan2(-b, e), 0.0
    else:
        roll, yaw = math.atan2(h, i), math.atan2(d, a)
    del c, f
    return (Fraction(repr(roll)), Fraction(repr(pitch)), Fraction(repr(yaw)))
