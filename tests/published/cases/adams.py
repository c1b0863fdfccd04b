"""What ADAMS computed for a rod on each kind of joint, spring and drive: test data of Chrono."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.records import Array, Case, Result, Source, series

SOURCE = Source(
    name="ADAMS: joints, springs and drives, in the test data of Chrono",
    repository="github.com/projectchrono/chrono",
    commit="7689fbc02d12c5419fa6acad8791100fd89979dd",
    licence="BSD-3-Clause",
)
CLAIM = "rms over time, in Chrono's tests"
QUANTITIES = {
    "Pos": "position, m",
    "Vel": "velocity, m/s",
    "Vel Avel": "velocity and angular velocity, m/s and rad/s",
    "Acc": "acceleration, m/s²",
    "Acc Aacc": "acceleration and angular acceleration, m/s² and rad/s²",
    "Rforce": "force on the ground, N",
    "Rtorque": "moment on the ground, N m",
    "RforceP": "force of the slide on the ground, N",
    "RtorqueP": "moment of the slide on the ground, N m",
    "RforceA": "force of the drive, N",
    "Rforce_Body1": "force of the link on the ground, N",
    "Rtorque_Body1": "moment of the link on the ground, N m",
    "Rforce_Body2": "force of the link on the rod, N",
}
"""Names of the tables of one comparison, and what they hold in words."""

Vector = Sequence[float | str]
Tables = dict[str, Array]


def builder() -> MechanismBuilder:
    """Return a mechanism without bodies, with the weight of these models."""
    return cf.Mechanism.builder("rod", gravity=(0, 0, "-9.80665"))


def rod_on(
    joint: Mapping[str, Any], inertia: Vector, com: Vector = (0, 0, 0), **place: Any
) -> MechanismBuilder:
    """Return a rod of 1 kg on one joint with the ground, with a frame in its mass centre."""
    mechanism = builder().segment(
        "rod", parent="ground", joint=dict(joint), mass=1, com=com, inertia=inertia, **place
    )
    return mechanism.frame("center", "rod", com)


def motion_of(run: cf.Run) -> Tables:
    """Return place, velocities and accelerations of the mass centre and of the rod, world axes."""
    velocity, acceleration = run.output("velocity(center)"), run.output("acceleration(center)")
    return {
        "Pos": run.output("pose(center)")[:, :3, 3],
        "Vel": velocity[:, :3],
        "Avel": velocity[:, 3:],
        "Acc": acceleration[:, :3],
        "Aacc": acceleration[:, 3:],
    }


def with_reaction(run: cf.Run) -> Tables:
    """Return the motion, and force and moment on the ground at the place of the joint at first."""
    wrench = run.output("reaction(rod,world)")
    origin = run.output("pose(rod)")[:, :3, 3]
    moment = wrench[:, 3:] + np.cross(origin - origin[0], wrench[:, :3])
    return motion_of(run) | {"Rforce": -wrench[:, :3], "Rtorque": -moment}


def case(
    name: str,
    place: tuple[str, str],
    mechanism: Callable[[], MechanismBuilder],
    tolerances: Mapping[str, float],
    note: str,
    tables: Callable[[cf.Run], Tables] = with_reaction,
    is_drawn: bool = False,
    **options: Any,
) -> Case:
    """Return a case by its folder and stem in the data, and the tolerance of each comparison."""
    folder, stem = place
    file = f"adams/{name}.csv"

    @cache
    def run() -> cf.Run:
        times = series(file, "t")()[:, 0]
        made = mechanism().build()
        return cf.simulate(made, t=5, t_eval=times, rtol=1e-10, atol=1e-12, **options)

    @cache
    def ours() -> Tables:
        return tables(run())

    def draw(path: Path) -> None:
        cf.simulate(mechanism().build(), t=5, **options).picture(path, size=(400, 300))

    return Case(
        name=f"adams_{name}",
        title=f"Rod: {name.replace('_', ' ')}",
        source=SOURCE,
        path=f"data/testing/joints/{folder}/{stem}_ADAMS_*.txt",
        model=f"data/testing/joints/adams_models and src/tests/unit_tests/joints ({stem})",
        results=tuple(_result(file, names, ours, bound) for names, bound in tolerances.items()),
        note=note,
        picture="png" if is_drawn else "",
        draw=draw if is_drawn else None,
    )


def _result(file: str, names: str, ours: Callable[[], Tables], tolerance: float) -> Result:
    """Return the comparison of one table, or of two next to each other."""
    tables = names.split()
    return Result(
        quantity=QUANTITIES[names],
        published=series(file, *[f"{table}.{axis}" for table in tables for axis in "xyz"]),
        ours=lambda: np.hstack([ours()[table] for table in tables]),
        accuracy=tolerance,
        claim=CLAIM,
        is_absolute=True,
        is_rms=True,
    )
