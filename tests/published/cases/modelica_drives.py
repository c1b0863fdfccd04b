"""Drives of Modelica's robot: motors with current loops, friction, gears, controllers; one axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.cases.modelica import (
    EXAMPLES,
    case,
    coordinates_of,
    curves,
    moved,
    rates_of,
    result,
)
from tests.published.records import Array, Result, series

RESISTANCE = 250
"""Of all motors, ohm."""
ANGLE_GAIN, RATE_GAIN, SUM_TIME = 5, 0.5, 0.05
"""The controllers: 1/s from angle to rate, A s/rad from rate to current, and the time (s) over
which they add up the error of the rate."""


@dataclass(frozen=True)
class Path:
    """A motion from one angle (rad) to another: even acceleration, even rate, and back to rest.

    `ramp` is the time (s) of acceleration and `cruise` the time at which the rate falls again.
    """

    start: float
    end: float
    ramp: float
    cruise: float

    def law(self) -> str:
        """Return the law of the angle."""
        rate = (self.end - self.start) / self.cruise
        last = f"max(0, min(t, {self.cruise + self.ramp}) - {self.cruise})"
        even = f"{rate}*max(0, min(t, {self.cruise + self.ramp}) - {self.ramp})"
        bends = f"{rate / self.ramp / 2}*(min(t, {self.ramp})^2 - {last}^2)"
        return f"({self.start} + {bends} + {even})"


@dataclass(frozen=True)
class Axis:
    """A drive: gear ratio, motor, friction in its bearing, and an elastic gear if there is one.

    The motor has a torque constant (N m/A), a rotor (kg m²), and a current loop with a corner
    (rad/s) and a damping; friction is (N m, N m s/rad), the gear (N m/rad, N m s/rad) on its side.
    `current` is that at the start (A), where all is at rest.
    """

    joint: str
    path: Path
    ratio: float
    torque_constant: float
    rotor: float
    corner: float
    damping: float
    friction: tuple[float, float]
    gear: tuple[float, float] | None = None
    current: float = 0

    @property
    def twist(self) -> float:
        """The twist of the gear at rest, rad."""
        return -self.torque_constant * self.current / self.gear[0] if self.gear else 0

    @property
    def motor(self) -> str:
        """The coordinate of the motor, or that of the joint behind a rigid gear."""
        return f"motor_{self.joint}" if self.gear else self.joint

    def attach(self, builder: MechanismBuilder) -> None:
        """Add the drive to a joint; circuits are masses.

        `charge` has flown through the coil, whose inductance is its mass; `lag` is the second
        integral of the error of the motor's angle.
        """
        charge, lag = f"charge_{self.joint}", f"lag_{self.joint}"
        inductance = RESISTANCE / (2 * self.damping * self.corner)
        for name, mass in ((charge, inductance), (lag, 1)):
            slide = {"name": name, "type": "prismatic", "axis": "x"}
            builder.segment(f"mass of {name}", parent="ground", joint=slide, mass=mass)
        angle, rate = self._motor(builder, charge)
        error, first = f"({self.ratio}*{self.path.law()} - {angle})", self.twist
        builder.force(lag, error)
        begin = self.current / RATE_GAIN - ANGLE_GAIN * first
        whole = f"{ANGLE_GAIN}*der({lag}) + {error} - {first}"
        sums = f"({ANGLE_GAIN}*{lag} + der({lag}) - {first}*t)/{SUM_TIME} + {begin}*t"
        wanted = f"{RATE_GAIN}*({whole} + {sums})"
        corner = 10 * 0.004 * self.damping / self.corner
        voltage = f"{RESISTANCE * self.current} + 5*({wanted} - {charge})/{corner}"
        losses = f"{RESISTANCE}*der({charge}) + {self.torque_constant}*{rate}"
        builder.force(charge, f"{voltage} - ({losses})")

    def _motor(self, builder: MechanismBuilder, charge: str) -> tuple[str, str]:
        """Add what turns, and return the laws of the angle and the rate of the motor."""
        if self.gear is None:
            builder.force(self.joint, f"{self.ratio * self.torque_constant}*der({charge})")
            return f"({self.ratio}*{self.joint})", f"({self.ratio}*der({self.joint}))"
        coulomb, viscous = self.friction
        friction = {"coulomb": coulomb, "viscous": viscous}
        shaft = {"name": self.motor, "type": "revolute", "axis": "z", "friction": friction}
        rotor = f"rotor of {self.joint}"
        builder.segment(rotor, parent="ground", joint=shaft, inertia=[0, 0, self.rotor])
        twist = f"({self.ratio}*{self.joint} - {self.motor})"
        slip = f"({self.ratio}*der({self.joint}) - der({self.motor}))"
        spring = f"({self.gear[0]}*{twist} + {self.gear[1]}*{slip})"
        builder.force(self.motor, f"{self.torque_constant}*der({charge}) + {spring}")
        builder.force(self.joint, f"-({self.ratio})*{spring}")
        return self.motor, f"der({self.motor})"

    def start(self) -> dict[str, float]:
        """Return the coordinates at rest."""
        joint = {self.joint: self.path.start}
        if self.gear is None:
            return joint
        return {**joint, self.motor: self.ratio * self.path.start - self.twist}


def twists(run: cf.Run, axes: tuple[Axis, ...]) -> Array:
    """Return the twists of elastic gears on the side of the motor, rad."""
    ratios = [axis.ratio for axis in axes]
    joints = coordinates_of(run, [axis.joint for axis in axes])
    return joints * ratios - coordinates_of(run, [axis.motor for axis in axes])


def directions(run: cf.Run, axes: tuple[Axis, ...]) -> Array:
    """Return which way the bearings slide: 1, -1, or 0 where they stick."""
    rates = rates_of(run, [axis.motor for axis in axes])
    return np.where(np.abs(rates) < 1e-9, 0.0, np.sign(rates))


def modes(
    run: Callable[[], cf.Run], file: str, names: list[str], axes: Callable[[], tuple[Axis, ...]]
) -> Result:
    """Return the comparison of what the bearings do; the names are those of the source."""
    columns = [f"{name}.gear.bearingFriction.mode" for name in names]
    return Result(
        "direction of sliding, 0 while a bearing sticks",
        series(f"modelica/{file}.csv", *columns),
        lambda: directions(run(), axes()),
        0.5,
        "whole numbers",
        is_absolute=True,
    )


RAMP = 0.3
ONE = Axis(
    joint="load",
    path=Path(0, 2 * np.pi / 3, RAMP, 2 * np.pi / 3 / 3),
    ratio=210,
    torque_constant=1.1616,
    rotor=0.0013,
    corner=5500,
    damping=0.6,
    friction=(0.5, 0.1 / 130),
    gear=(8, 0.01),
)
"""120 degrees: 10 rad/s² for 0.3 s, 3 rad/s, and back to rest."""


@cache
def drive() -> cf.Run:
    builder = cf.Mechanism.builder("drive of an axis", gravity=(0, 0, 0))
    arm = {"name": "load", "type": "revolute", "axis": "z"}
    builder.segment("arm", parent="ground", joint=arm, inertia=[0, 0, 1.3 * 15])
    ONE.attach(builder)
    return moved(builder.build(), "drive")


CASES = (
    case(
        "drive",
        "Drive of a robot axis",
        f"{EXAMPLES}/Systems/RobotR3/OneAxis",
        (
            "A controller of angle and rate, the current loop of a motor, dry friction that "
            "sticks three times, an elastic gear of 210 : 1 and a load. Coils are masses for us, "
            "and charges coordinates."
        ),
        result(
            "angle of the load, rad",
            "drive",
            ["axis.initializeFlange.phi_flange"],
            lambda: coordinates_of(drive(), ["load"]),
            1e-8,
        ),
        result(
            "rate of the load, rad/s",
            "drive",
            ["axis.initializeFlange.w_flange"],
            lambda: rates_of(drive(), ["load"]),
            1e-6,
        ),
        result(
            "twist of the gear, rad",
            "drive",
            ["axis.gear.spring.phi_rel"],
            lambda: twists(drive(), (ONE,)),
            5e-6,
        ),
        result(
            "current, A",
            "drive",
            ["axis.motor.La.i"],
            lambda: rates_of(drive(), ["charge_load"]),
            5e-6,
        ),
        modes(drive, "drive", ["axis"], lambda: (ONE,)),
        is_slow=True,
        draw=curves(drive, "drive", {"load": "axis.initializeFlange.phi_flange"}),
    ),
)
