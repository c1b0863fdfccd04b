"""Six arms with limits, and random poses that each of them reaches."""

from __future__ import annotations

import importlib
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chainform as cf
import zoo
from chainform.mechanism import Limits, Segment
from chainform.readers import write_urdf
from robots import example_robot

Array = NDArray[np.float64]
pin: Any = importlib.import_module("pinocchio")

POSITION, ROTATION = 1e-6, 1e-6
"""A target counts as reached below these, in m and in rad."""


@dataclass(frozen=True)
class Arm:
    """An arm from the ground to its tip, and Pinocchio's reading of the same."""

    name: str
    mechanism: cf.Mechanism
    tip: str

    @cached_property
    def model(self) -> Any:
        """Pinocchio's model of the arm as a URDF file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "arm.urdf"
            write_urdf(self.mechanism, path)
            return pin.buildModelFromUrdf(str(path))

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """The bounds of the joints."""
        return np.array(self.model.lowerPositionLimit), np.array(self.model.upperPositionLimit)

    @property
    def frame(self) -> int:
        """The place of the tip among Pinocchio's frames."""
        return int(self.model.getFrameId(self.tip, pin.FrameType.BODY))

    def targets(self, count: int, seed: int = 1) -> Array:
        """Return poses (count, 4, 4) of the tip at random joint values within the limits."""
        lower, upper = self.limits
        q = np.random.default_rng(seed).uniform(lower, upper, (count, len(lower)))
        return self.poses(q)

    def poses(self, q: Array) -> Array:
        """Return poses (m, 4, 4) of the tip, by Pinocchio."""
        data, frame = self.model.createData(), self.frame
        found = np.empty((len(q), 4, 4))
        for k, row in enumerate(q):
            pin.framesForwardKinematics(self.model, data, row)
            found[k] = data.oMf[frame].homogeneous
        return found

    def is_reached(self, q: Array, targets: Array) -> NDArray[np.bool_]:
        """Tell for which targets a pose within the limits is there, by Pinocchio.

        Joints are turned back by whole turns into their limits where that is possible.
        """
        lower, upper = self.limits
        turns = np.array(["R" in str(joint.shortname())[10:] for joint in self.model.joints])[1:]
        whole = 2 * np.pi * turns
        q = np.where(q > upper, q - whole * np.ceil((q - upper) / (2 * np.pi)), q)
        q = np.where(q < lower, q + whole * np.ceil((lower - q) / (2 * np.pi)), q)
        known = np.isfinite(q).all(axis=1)
        found = self.poses(np.where(known[:, None], q, 0.0))
        away = np.linalg.norm(found[:, :3, 3] - targets[:, :3, 3], axis=1)
        turn = np.swapaxes(targets[:, :3, :3], 1, 2) @ found[:, :3, :3]
        angle = np.array([np.linalg.norm(pin.log3(R)) for R in turn])
        within = np.all((q >= lower - 1e-9) & (q <= upper + 1e-9), axis=1)
        return known & within & (away < POSITION) & (angle < ROTATION)


def _from_file(file: str, tip: str) -> Callable[[], tuple[cf.Mechanism, str]]:
    return lambda: (cf.read(example_robot(file)).subtree(tips=[tip]), tip)


def _reference(name: str) -> tuple[cf.Mechanism, str]:
    """Return an arm of the tests with limits of half a turn, or a metre."""
    mechanism = zoo.reference(name)
    segments = list[Segment]()
    for segment in mechanism.segments:
        bound = Fraction(str(math.pi)) if segment.joint.kind == "revolute" else Fraction(1)
        joint = replace(segment.joint, limits=Limits(-bound, bound))
        segments.append(replace(segment, joint=joint))
    return replace(mechanism, segments=tuple(segments), source=None), mechanism.segments[-1].name


ARMS: dict[str, Callable[[], tuple[cf.Mechanism, str]]] = {
    "UR5": _from_file("ur5_robot.urdf", "tool0"),
    "PUMA 560": lambda: _reference("puma560"),
    "Stanford arm": lambda: _reference("stanford_toolbox"),
    "Panda": _from_file("panda.urdf", "panda_link8"),
    "xArm7": _from_file("xarm7.urdf", "link7"),
    "Talos, left arm": _from_file("talos_left_arm.urdf", "arm_left_7_link"),
}
"""Two six-axis arms of industry, one with a sliding joint, three with seven axes."""


def arm(name: str) -> Arm:
    """Return an arm by name."""
    return Arm(name, *ARMS[name]())
