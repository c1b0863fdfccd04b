"""Drake's benchmarks, computed by MotionGenesis: Kane's babyboot and an arm with seven axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

import chainform as cf
from tests.published.records import Array, Case, Result, Source

SOURCE = Source(
    name="Drake: benchmarks and examples",
    repository="github.com/RobotLocomotion/drake",
    commit="be259df724b3b1e206dea95055f0537eae6ad8b9",
    licence="BSD-3-Clause",
)
BENCHMARKS = "multibody/benchmarks"
DEGREE = np.pi / 180
ANGLES = (-61.312983340691 * DEGREE, -929.47789677244 * DEGREE)
RATES = (-6.7440081040646, -2.7795690128833)
ACCELERATIONS = (41.137023263571, 19.483647096003)
"""Of the babyboot after 10 s."""
ROTATION = (
    (-0.5939002959880204, 0.8043869080239565, -0.015625),
    (-0.8043869080239565, -0.5932991120359317, 0.03094940802395521),
    (0.015625, 0.03094940802395527, 0.9993988160479114),
)
POSITION = (0.2970356451892219, 0.1727696964662288, 1.154681973689345)
"""Of the last link of the arm at 60° and 30° in turn."""
WEIGHTS = (9.81 * (0.0003 * 6.35 + 0.0001 * 3.5), 1, -9.81 * 0.0001 * 3.5)
"""Moments of the second, third and fourth motor, as the source writes them."""
ARM = (
    # roll, pitch, yaw of the joint; its place; mass, mass centre and moments of the link
    ((0, 0, 0), (0, 0, "0.1575"), "5.76", (0, "-0.03", "0.12"), ("0.033", "0.0333", "0.0123")),
    (
        ("pi/2", 0, "pi"),
        (0, 0, "0.2025"),
        "6.35",
        ("0.0003", "0.059", "0.042"),
        ("0.0305", "0.0304", "0.011"),
    ),
    (
        ("pi/2", 0, "pi"),
        (0, "0.2045", 0),
        "3.5",
        (0, "0.03", "0.13"),
        ("0.025", "0.0238", "0.0076"),
    ),
    (("pi/2", 0, 0), (0, 0, "0.2155"), "3.5", (0, "0.067", "0.034"), ("0.017", "0.0164", "0.006")),
    (
        ("-pi/2", "pi", 0),
        (0, "0.1845", 0),
        "3.5",
        ("0.0001", "0.021", "0.076"),
        ("0.01", "0.0087", "0.00449"),
    ),
    (
        ("pi/2", 0, 0),
        (0, 0, "0.2155"),
        "1.8",
        (0, "0.0006", "0.0004"),
        ("0.0049", "0.0047", "0.0036"),
    ),
    (("-pi/2", "pi", 0), (0, "0.081", 0), "1.2", (0, 0, "0.02"), ("0.001", "0.001", "0.001")),
)


@cache
def babyboot() -> cf.Run:
    """A plate that turns about a pendulum's rod, from 90° and 1°, up to 10 s."""
    builder = cf.Mechanism.builder("babyboot", gravity=(0, 0, "-9.81"))
    builder.segment(
        "pendulum",
        parent="ground",
        joint={"name": "qA", "type": "revolute", "axis": "x"},
        mass="0.01",
        com=[0, 0, "-0.075"],
        inertia=["5e-6", 0, 0],
    )
    builder.segment(
        "plate",
        parent="pendulum",
        joint={"name": "qB", "type": "revolute", "axis": "z"},
        position=[0, 0, "-0.2"],
        mass="0.1",
        inertia=["2.5e-4", "0.5e-4", "2e-4"],
    )
    return cf.simulate(
        builder.build(),
        q0=[90 * DEGREE, DEGREE],
        t=10,
        method="dopri853",
        rtol=1e-13,
        atol=1e-14,
    )


@cache
def arm() -> cf.Mechanism:
    """Return the arm iiwa with seven axes, z upward."""
    builder = cf.Mechanism.builder("iiwa", gravity=(0, 0, "-9.81"))
    for i, (rpy, position, mass, com, inertia) in enumerate(ARM):
        builder.segment(
            f"link{i + 1}",
            parent=f"link{i}" if i else "ground",
            joint={"name": f"joint{i + 1}", "type": "revolute", "axis": "z"},
            rpy=rpy,
            position=position,
            mass=mass,
            com=com,
            inertia=inertia,
        )
    return builder.build()


def pose() -> Array:
    """Return rotation and place of the last link at 60° and 30° in turn."""
    q = [np.pi / 3 if i % 2 == 0 else np.pi / 6 for i in range(7)]
    return cf.derive(arm(), ["pose(link7)"]).evaluate(q=q)["pose(link7)"][:3]


def torques() -> Array:
    """Return the moments of the motors, straight up, while the last one turns with 1000 rad/s²."""
    still = np.zeros(7)
    speeding = np.eye(7)[6] * 1000
    model = cf.derive(arm(), ["inverse_dynamics"])
    return model.evaluate(q=still, qd=still, qdd=speeding)["inverse_dynamics"]


def _end(
    quantity: str, values: tuple[float, float], ours: Callable[[], Array], digits: int
) -> Result:
    return Result(
        quantity,
        published=lambda: np.array(values),
        ours=ours,
        accuracy=10.0 ** (1 - digits),
        claim=f"{digits} digits, in which four integrations agree",
    )


BABYBOOT = Case(
    name="drake_babyboot",
    title="Kane's babyboot",
    source=SOURCE,
    path=f"{BENCHMARKS}/chaotic_babyboot/MG/test/MG_chaotic_babyboot_test.cc",
    model=f"{BENCHMARKS}/chaotic_babyboot/MG/MG_chaotic_babyboot_auto_generated.cc",
    note="A plate turns about the rod of a pendulum that falls from the level (Kane 1974); the "
    "motion is unstable. The source has its numbers from MotionGenesis.",
    results=(
        _end("angles after 10 s, rad", ANGLES, lambda: babyboot().q[-1], 7),
        _end("rates after 10 s, rad/s", RATES, lambda: babyboot().qd[-1], 6),
        _end("accelerations after 10 s, rad/s²", ACCELERATIONS, lambda: babyboot().qdd[-1], 7),
        Result(
            "energy, J",
            published=lambda: np.zeros(201),
            ours=lambda: babyboot().energy,
            accuracy=5e-13,
            claim="half of the absolute error asked for, in the test of the source",
            is_absolute=True,
        ),
    ),
    picture="svg",
    draw=lambda file: babyboot().plot("q", file),
)
IIWA = Case(
    name="drake_iiwa",
    title="Arm iiwa with seven axes",
    source=SOURCE,
    path=f"{BENCHMARKS}/kuka_iiwa_robot/MG/test/MG_kuka_iiwa_robot_test.cc",
    model=f"{BENCHMARKS}/kuka_iiwa_robot/kuka_iiwa_robot.urdf",
    note="The last link at 60° and 30° in turn, and the moments of the motors, straight up, while "
    "the last of them speeds up with 1000 rad/s².",
    results=(
        Result(
            "rotation and place of the last link",
            published=lambda: np.column_stack([ROTATION, POSITION]),
            ours=pose,
            accuracy=3.8e-15,
            claim="ten rounding errors of a rotation's norm, in the test of the source",
            is_absolute=True,
        ),
        Result(
            "moments of the motors, N m",
            published=lambda: np.array(
                [1, 9.81 * (0.0003 * 6.35 + 0.0001 * 3.5), 1, -9.81 * 0.0001 * 3.5, 1, 0, 1]
            ),
            ours=torques,
            accuracy=8.9e-15,
            claim="forty rounding errors, in the test of the source",
        ),
    ),
)
CASES = (BABYBOOT, IIWA)
