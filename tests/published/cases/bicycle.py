"""The bicycle of Whipple on two wheels with sharp edges that roll: its eigenvalues."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chainform as cf
from chainform.mechanism import MechanismBuilder
from tests.published.records import Array, Case, Result, Source

SOURCE = Source(
    name="SymPy: tutorial of mechanics, after the benchmark of Meijaard, Papadopoulos, Ruina, "
    "Schwab 2007",
    repository="github.com/sympy/sympy",
    commit="e950d313a932bc6cccbc95376b3821cd2f8b5af4",
    licence="BSD-3-Clause",
)
REAR, FRONT = 0.3, 0.35
"""Radii of the wheels, m."""
PUBLISHED = {
    1: (-7.11008014637441, -3.13423125066578, 3.52696170990069 + 0.807740275199311j),
    2: (-8.67387984831737, -3.07158645641514, 2.68234517512745 + 1.68066296590676j),
    3: (-10.3510146724592, -2.63366137253665, 1.70675605663973 + 2.31582447384324j),
    4: (-12.1586142657644, -1.42944427361326, 0.413253315211239 + 3.07910818603205j),
    5: (-14.0783896927982, -0.322866429004087, -0.775341882195845 + 4.46486771378823j),
}
"""By speed, m/s; the fourth is the conjugate of the third."""


SPEEDS = tuple(PUBLISHED)


def roll(builder: MechanismBuilder, wheel: str, radius: float) -> None:
    """Add what keeps the sharp edge of a wheel on the plane z = 0, z downward, without slip.

    The frames `wheel`_c, _x, _y, _z are the hub and the places 1 m from it along the axes of the
    body that carries it; _y is along the axle. p leads from the hub to the point that touches.
    """
    hub = f"{wheel}_c"
    along = {
        axis: [f"({c}({wheel}_{axis}) - {c}({hub}))" for c in "xyz"] for axis in ("x", "y", "z")
    }
    n = along["y"]
    root = f"sqrt(1 - {n[2]}^2)"
    parts = {axis: f"({radius}*{along[axis][2]}/{root})" for axis in ("x", "z")}
    p = [f"({radius}*({down} - {n[2]}*{n[i]})/{root})" for i, down in enumerate((0, 0, 1))]
    spin = (f"({n[1]}*{p[2]} - {n[2]}*{p[1]})", f"({n[2]}*{p[0]} - {n[0]}*{p[2]})")
    builder.constraint("holonomic", f"z({hub}) + {radius}*{root}", name=f"{wheel} touches")
    for c, turned in zip("xy", spin, strict=True):
        carried = [
            f"{part}*(der({c}({wheel}_{axis})) - der({c}({hub})))" for axis, part in parts.items()
        ]
        law = f"der({c}({hub})) + {' + '.join(carried)} + der({wheel})*{turned}"
        builder.constraint("nonholonomic", law, name=f"{wheel} rolls along {c}")


def hub(builder: MechanismBuilder, wheel: str, body: str, x: str, z: str) -> None:
    """Add the frames of a hub at (x, 0, z) of a body."""
    builder.frame(f"{wheel}_c", body, [x, 0, z]).frame(f"{wheel}_x", body, [f"{x} + 1", 0, z])
    builder.frame(f"{wheel}_y", body, [x, 1, z]).frame(f"{wheel}_z", body, [x, 0, f"{z} + 1"])


@cache
def bicycle() -> cf.Mechanism:
    """Return rear frame with rider, rear wheel, fork, front wheel; x forward, z downward."""
    builder = cf.Mechanism.builder("bicycle", gravity=(0, 0, "9.81"))
    builder.segment(
        "frame",
        parent="ground",
        joint={"type": "free", "euler": "zxy"},
        mass=85,
        com=["0.3", 0, "-0.9"],
        inertia={"xx": "9.2", "xz": "2.4", "yy": 11, "zz": "2.8"},
    )
    builder.segment(
        "rear_wheel",
        parent="frame",
        joint={"name": "rear", "type": "revolute", "axis": "y"},
        position=[0, 0, -REAR],
        mass=2,
        inertia=["0.0603", "0.12", "0.0603"],
    )
    tilt = np.pi / 10
    builder.segment(
        "fork",
        parent="frame",
        joint={"name": "steer", "type": "revolute", "axis": [np.sin(tilt), 0, np.cos(tilt)]},
        position=["1.02 + 0.08", 0, 0],
        mass=4,
        com=["-0.2", 0, "-0.7"],
        inertia={"xx": "0.05892", "xz": "-0.00756", "yy": "0.06", "zz": "0.00708"},
    )
    builder.segment(
        "front_wheel",
        parent="fork",
        joint={"name": "front", "type": "revolute", "axis": "y"},
        position=["-0.08", 0, -FRONT],
        mass=3,
        inertia=["0.1405", "0.28", "0.1405"],
    )
    hub(builder, "rear", "frame", "0", "-0.3")
    hub(builder, "front", "fork", "-0.08", "-0.35")
    roll(builder, "rear", REAR)
    roll(builder, "front", FRONT)
    return builder.build()


@cache
def upright(speed: float) -> Any:
    """Return the equations of small motions about the upright one at a speed."""
    rates = {"frame_tx": speed, "rear": -speed / REAR, "front": -speed / FRONT}
    return cf.linearise(bicycle(), qd=rates)


def eigenvalues(speed: float) -> Array:
    """Return real and imaginary parts of the four that are not zero."""
    poles = upright(speed).poles
    return parts(poles[np.abs(poles) > 1e-3])


def accelerations(speed: float) -> Array:
    """Return how the accelerations of lean and steering follow from their angles and rates."""
    motion = upright(speed)
    names = ("frame_rx", "steer", "der(frame_rx)", "der(steer)")
    places = [motion.states.index(name) for name in names]
    return motion.A[np.ix_(places[2:], places)]


def published_accelerations(speed: float) -> Array:
    """Return the same as published, with numbers that go with the speed and its square."""
    return np.array(
        [
            [
                9.48977444677355,
                -0.891197738059089 * speed**2 - 0.571523173729245,
                -0.105522449805691 * speed,
                -0.330515398992311 * speed,
            ],
            [
                11.7194768719633,
                30.9087533932407 - 1.97171508499972 * speed**2,
                3.67680523332152 * speed,
                -3.08486552743311 * speed,
            ],
        ]
    )


def parts(values: NDArray[np.complex128]) -> Array:
    """Return real and imaginary parts of complex numbers in order."""
    ordered = np.sort_complex(values)
    return np.column_stack([ordered.real, ordered.imag])


def published() -> Array:
    """Return real and imaginary parts of the published ones, four for each speed."""
    rows = [[*row, np.conj(row[-1])] for row in PUBLISHED.values()]
    return np.vstack([parts(np.array(row, complex)) for row in rows])


def ride() -> cf.Run:
    """Return five seconds at 5 m/s after a push to the side: the bicycle steers into it."""
    start = {"frame_tx": 5, "rear": -5 / REAR, "front": -5 / FRONT, "frame_rx": 0.5}
    return cf.simulate(bicycle(), qd0=start, t=5)


CASES = (
    Case(
        name="bicycle",
        title="Whipple's bicycle",
        source=SOURCE,
        path="doc/src/tutorials/physics/mechanics/bicycle_example.rst",
        results=(
            Result(
                quantity="eigenvalues at 1, 2, 3, 4, 5 m/s, 1/s",
                published=published,
                ours=lambda: np.vstack([eigenvalues(speed) for speed in SPEEDS]),
                accuracy=1e-13,
                claim="15 digits printed",
            ),
            Result(
                quantity="entries of the state matrix for lean and steering at these speeds",
                published=lambda: np.vstack([published_accelerations(speed) for speed in SPEEDS]),
                ours=lambda: np.vstack([accelerations(speed) for speed in SPEEDS]),
                accuracy=1e-13,
                claim="15 digits printed",
            ),
        ),
        note="Four bodies on two wheels with sharp edges: two holonomic and four nonholonomic "
        "constraints of the whole motion. The eigenvalues are those of `cf.linearise` about the "
        "upright motion. The picture has lean and steering after a push to the side at 5 m/s, "
        "where the bicycle is stable.",
        picture="svg",
        draw=lambda file: ride().plot(["frame_rx", "steer"], file, title="Lean and steering"),
    ),
)
