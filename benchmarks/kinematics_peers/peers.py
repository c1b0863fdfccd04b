"""The competitors: each takes an arm and targets, and returns poses (m, nq)."""

from __future__ import annotations

import ctypes
import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from casadi_graphs.count import random_state, text_of
from speed_peers.build import Workshop, linked, pinocchio_flags, pinocchio_prefix
from speed_peers.casadi_c import GRAPHS
from speed_peers.pinocchio_cpp import BUILDS, SEPARATE

import chainform as cf
from kinematics_peers.cases import Arm, Array, pin

TOOLBOX = "roboticstoolbox-python==1.5.0"
STARTS = 100
Solve = Callable[[Array], Array]


def ours(arm: Arm, *, method: str = "newton") -> Solve:
    """Return chainform, all targets in one call."""

    def solve(targets: Array) -> Array:
        found = cf.inverse_kinematics(
            arm.mechanism,
            {arm.tip: targets},
            method=method,
            redundancy="any",
            starts=STARTS,
            tolerance=1e-8,
        )
        return found["q"]

    solve(arm.targets(3, seed=0))  # compiled before anything is measured
    return solve


def ours_one_by_one(arm: Arm) -> Solve:
    """Return chainform, a call for each target."""
    whole = ours(arm)
    return lambda targets: np.concatenate([whole(target[None]) for target in targets])


def pinocchio_example(arm: Arm) -> Solve:
    """Return the loop of Pinocchio's documentation in Python: one start, a thousand short steps."""
    model, data = arm.model, arm.model.createData()
    frame = arm.frame

    def one(target: Array) -> Array:
        goal, q = pin.SE3(target), np.clip(pin.neutral(model), *arm.limits)
        for _ in range(1000):
            pin.framesForwardKinematics(model, data, q)
            gap = data.oMf[frame].actInv(goal)
            error = pin.log(gap).vector
            if np.linalg.norm(error) < 1e-7:
                break
            J = pin.computeFrameJacobian(model, data, q, frame)
            J = -np.dot(pin.Jlog6(gap.inverse()), J)
            v = -J.T.dot(np.linalg.solve(J.dot(J.T) + 1e-12 * np.eye(6), error))
            q = pin.integrate(model, q, v * 1e-1)
        return q

    return lambda targets: np.array([one(target) for target in targets])


def pinocchio_cpp(workshop: Workshop, arm: Arm, *, adaptive: bool) -> Solve:
    """Return the same steps in compiled code: as documented, or whole steps from many starts."""
    loaded = _library(workshop)
    frame = arm.model.frames[arm.frame]
    text = text_of(arm.model, random_state(arm.model)[1])
    file = workshop.make(f"{arm.name.replace(' ', '_')}_arm.txt", [text], lambda p: _write(p, text))
    placement = np.ascontiguousarray(frame.placement.homogeneous)
    lower, upper = arm.limits
    start = np.clip(pin.neutral(arm.model), lower, upper)

    def solve(targets: Array) -> Array:
        loaded.load(bytes(file), int(frame.parentJoint), placement.ctypes)
        q, reached = np.tile(start, (len(targets), 1)), np.zeros(len(targets))
        goals = np.ascontiguousarray(targets)
        options = (STARTS, 30, 1e-8, 0.05, 1.0, 1) if adaptive else (1, 1000, 1e-7, 1e-12, 0.1, 0)
        loaded.solve(
            len(targets),
            goals.ctypes,
            lower.ctypes,
            upper.ctypes,
            *options,
            q.ctypes,
            reached.ctypes,
        )
        return np.where(reached[:, None] == 1, q, np.nan)

    return solve


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _library(workshop: Workshop) -> Any:
    flags, libraries = BUILDS["native"]
    link = linked(pinocchio_prefix() / "lib", *libraries, "boost_serialization")
    command = ["g++", *flags, *SEPARATE, *pinocchio_flags(workshop), "-Wl,--no-as-needed", *link]
    source = Path(__file__).parent / "pinocchio.cpp"
    path = workshop.compile(
        "pinocchio_kinematics.so", source, command, (GRAPHS / "model.hpp").read_text()
    )
    loaded = ctypes.CDLL(str(path))
    pointer, number, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
    loaded.load.argtypes, loaded.load.restype = [ctypes.c_char_p, number, pointer], None
    loaded.solve.argtypes = [
        ctypes.c_long,
        pointer,
        pointer,
        pointer,
        number,
        number,
        real,
        real,
        real,
        number,
        pointer,
        pointer,
    ]
    loaded.solve.restype = ctypes.c_long
    return loaded


def toolbox(workshop: Workshop, arm: Arm) -> Solve:
    """Return the Robotics Toolbox: ik_LM, which is compiled, with its own random starts."""
    rtb = _toolbox(workshop)
    chain = _elementary(rtb, arm)
    np.random.seed(0)  # noqa: NPY002, the toolbox draws from numpy's global numbers

    def one(target: Array) -> Array:
        found = chain.ik_LM(target, slimit=STARTS, tol=1e-14, joint_limits=True, method="chan")
        return np.ravel(found.q) if found.success else np.full(chain.n, np.nan)

    return lambda targets: np.array([one(target) for target in targets])


def _elementary(rtb: Any, arm: Arm) -> Any:
    """Return the arm as a product of elementary transforms of the toolbox."""
    model, parts = arm.model, list[Any]()
    for i in range(1, model.njoints):
        kind, axis = str(model.joints[i].shortname()), np.eye(3)[2]
        axis = np.eye(3)["XYZ".index(kind[-1])] if kind[-1] in "XYZ" else _unaligned(model, i)
        turn = _onto_z(axis)
        qlim = [model.lowerPositionLimit[i - 1], model.upperPositionLimit[i - 1]]
        parts.append(rtb.ET.SE3(model.jointPlacements[i].homogeneous @ turn))
        slides = kind.startswith("JointModelP")
        parts.append((rtb.ET.tz if slides else rtb.ET.Rz)(jindex=i - 1, qlim=qlim))
        parts.append(rtb.ET.SE3(np.linalg.inv(turn)))
    frame = model.frames[arm.frame]
    return rtb.ETS([*parts, rtb.ET.SE3(frame.placement.homogeneous)])


def _unaligned(model: Any, joint: int) -> Array:
    return np.asarray(model.joints[joint].extract().axis)


def _onto_z(axis: Array) -> Array:
    """Return a rotation (4, 4) that turns z onto an axis."""
    found = np.eye(4)
    found[:3, :3] = pin.Quaternion.FromTwoVectors(np.eye(3)[2], axis).matrix()
    return found


def _toolbox(workshop: Workshop) -> Any:
    def install(target: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)]
        subprocess.run([*command, TOOLBOX], check=True)

    # What is installed already comes first; the folder has numpy once more.
    sys.path.append(str(workshop.make("toolbox", [TOOLBOX], install)))
    return importlib.import_module("roboticstoolbox")
