"""The six robots of the tables, from files that installed packages bring."""

from __future__ import annotations

import importlib.metadata
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import chainform as cf
from robots import robot_files

QUANTITIES = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "coriolis_matrix")


@dataclass(frozen=True)
class Robot:
    """A URDF file by its package and the end of its path; some joints may be locked at zero."""

    title: str
    package: str
    file: str
    base: str = "fixed"
    locked: tuple[str, ...] = ()


EXAMPLES = "example-robot-data"
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
ROBOTS = {
    "ur5": Robot("UR5", EXAMPLES, "ur5_robot.urdf"),
    "panda": Robot("Panda, fingers locked", EXAMPLES, "panda.urdf", locked=FINGERS),
    "iiwa14": Robot("iiwa 14", "frax", "iiwa/iiwa14.urdf"),
    "anymal": Robot(
        "ANYmal B", EXAMPLES, "anymal_b_simple_description/robots/anymal.urdf", "floating"
    ),
    "talos": Robot("Talos", EXAMPLES, "talos_reduced.urdf", "floating"),
    "g1": Robot("G1", EXAMPLES, "g1_29dof_rev_1_0.urdf", "floating"),
}


def find(robot: Robot) -> Path | None:
    """Return the file of a robot, if its package is installed."""
    try:
        files = robot_files(robot.package)
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [path for path in files.values() if str(path).endswith(f"/{robot.file}")]
    return _with_locked_joints(found[0], robot) if found else None


def _with_locked_joints(path: Path, robot: Robot) -> Path:
    """Return a copy of the file in which the locked joints are fixed ones."""
    if not robot.locked:
        return path
    tree = ElementTree.parse(path)
    for joint in tree.getroot().findall("joint"):
        if joint.get("name") in robot.locked:
            joint.set("type", "fixed")
    copy = Path(tempfile.mkdtemp(prefix="robot-")) / path.name
    tree.write(copy)
    return copy


def read(robot: Robot, path: Path, *, snap: bool = True) -> cf.Mechanism:
    """Return the mechanism of a robot; without snapping, exactly as in the file."""
    if snap:
        return cf.read(path, base=robot.base, mimic="free")
    return cf.read(path, base=robot.base, mimic="free", snap=0)
