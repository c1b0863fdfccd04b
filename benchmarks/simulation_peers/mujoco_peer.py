"""MuJoCo beside: the same numbers in its own format, stepped in its own compiled loop.

The package is not among those that chainform installs; it goes into the folder of the peers.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from casadi_graphs.count import joint_of
from speed_peers.build import Workshop
from speed_peers.cases import Array, Case

PACKAGES = ("mujoco==4.0.0", "mujoco-core==4.0.0", "absl-py")
TITLE = "MuJoCo, mj_step"


def library(workshop: Workshop) -> Any:
    """Return the module, installed beside the peers if it was not before."""

    def install(target: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*command, "--target", str(target), *PACKAGES], check=True)

    folder = workshop.make("mujoco", PACKAGES, install)
    sys.path.append(str(folder))
    import mujoco

    return mujoco


def text_of(case: Case, step: float) -> str:
    """Return the mechanism as MuJoCo reads it, without contacts, damping and limits."""
    model = case.model
    gravity = " ".join(map(repr, model.gravity.linear.tolist()))
    lines = [
        "<mujoco>",
        '<compiler angle="radian" autolimits="false" balanceinertia="false" boundmass="0"/>',
        f'<option timestep="{step!r}" gravity="{gravity}" integrator="Euler">',
        '<flag contact="disable" constraint="disable"/></option>',
        "<worldbody>",
        *_bodies(model, 0),
        "</worldbody>",
        "</mujoco>",
    ]
    return "\n".join(lines)


def _bodies(model: Any, parent: int) -> list[str]:
    lines: list[str] = []
    for joint in range(1, model.njoints):
        if model.parents[joint] == parent:
            lines += [*_body(model, joint), *_bodies(model, joint), "</body>"]
    return lines


def _body(model: Any, joint: int) -> list[str]:
    placement, inertia = model.jointPlacements[joint], model.inertias[joint]
    axes = placement.rotation
    frame = np.concatenate([axes[:, 0], axes[:, 1]])
    tensor = inertia.inertia
    full = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    kind, axis = joint_of(model.joints[joint])
    assert kind == "revolute"
    return [
        f'<body pos="{_numbers(placement.translation)}" xyaxes="{_numbers(frame)}">',
        f'<joint type="hinge" axis="{_numbers(axis)}"/>',
        (
            f'<inertial pos="{_numbers(inertia.lever)}" mass="{inertia.mass!r}" '
            f'fullinertia="{_numbers(full)}"/>'
        ),
    ]


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def runner(workshop: Workshop, case: Case, step: float, steps: int) -> Callable[[Array], Array]:
    """Return a function from initial q (b, n), in the order of Pinocchio, to q at the end."""
    mujoco = library(workshop)
    model = mujoco.MjModel.from_xml_string(text_of(case, step))
    data = mujoco.MjData(model)

    def run(q0: Array) -> Array:
        found = np.empty_like(q0)
        for i, q in enumerate(q0):
            mujoco.mj_resetData(model, data)
            data.qpos[:] = q
            mujoco.mj_step(model, data, nstep=steps)
            found[i] = data.qpos
        return found

    return run
