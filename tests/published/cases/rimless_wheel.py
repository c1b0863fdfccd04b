"""The wheel without rim that rolls down a slope from spoke to spoke: Drake's example."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from chainform.simulation import Impact
from tests.published.cases.drake import SOURCE
from tests.published.records import Array, Case, Result

SPOKES, SLOPE, LAST = 8, 0.08, 10
ALPHA = np.pi / SPOKES
STEADY = np.sqrt(4 * 9.81 * np.sin(ALPHA) * np.sin(SLOPE)) / np.tan(2 * ALPHA)
"""Speed after each impact of steady rolling, rad/s, by the formula of the source."""
STEP = 2 * np.sin(ALPHA)
"""How far apart the feet stand, m."""


@cache
def rolling() -> cf.Run:
    """Return 40 s of rolling, which begins too fast.

    The wheel has its mass in the hub; no coordinate may be without mass, so it has 1e-6 kg m².
    """
    builder = cf.Mechanism.builder("rimless wheel", gravity=(0, 0, "-9.81"))
    joint = {"type": "planar", "axis": "y", "coordinates": ["z", "x", "theta"]}
    builder.segment("wheel", parent="ground", joint=joint, mass=1, inertia=[0, "1e-6", 0])
    spokes = 2 * ALPHA * np.arange(SPOKES)
    feet = {f"foot{i}": [np.sin(turn), 0, -np.cos(turn)] for i, turn in enumerate(spokes)}
    ground = {"points": feet, "friction": 5, "normal": [np.sin(SLOPE), 0, np.cos(SLOPE)]}
    theta, rate = SLOPE - ALPHA, 1.2 * STEADY
    return cf.simulate(
        builder.build(),
        q0=[np.cos(theta), np.sin(theta), theta],
        qd0=[-rate * np.sin(theta), rate * np.cos(theta), rate],
        t=40,
        contacts={"wheel": ground},
        rtol=1e-11,
    )


def impacts() -> list[Impact]:
    """Return the last impacts, which are those of steady rolling."""
    return [event for event in rolling().events if isinstance(event, Impact)][-LAST - 1 :]


def speeds() -> Array:
    """Return the rates after impacts, rad/s."""
    return np.array([event.qd_after[2] for event in impacts()])


def steps() -> Array:
    """Return how far the hub has come from impact to impact, m."""
    hubs = np.array([[event.q[1], event.q[0]] for event in impacts()])
    return np.linalg.norm(np.diff(hubs, axis=0), axis=1)


CASES = (
    Case(
        name="drake_rimless_wheel",
        title="Wheel without rim",
        source=SOURCE,
        path="examples/rimless_wheel/test/rimless_wheel_test.cc (StepTest)",
        model="examples/rimless_wheel/rimless_wheel_params.h",
        note="Eight spokes on rough ground that slopes: every impact brings the next foot down and "
        "frees the last one. Too fast at first, the wheel comes to the speed at which an impact "
        "takes what the slope gives.",
        results=(
            Result(
                quantity="rates after eleven impacts, rad/s",
                published=lambda: np.full(LAST + 1, STEADY),
                ours=speeds,
                accuracy=7e-7,
                claim="1e-5 J of energy, in the test of the source",
            ),
            Result(
                quantity="length of ten steps, m",
                published=lambda: np.full(LAST, STEP),
                ours=steps,
                accuracy=1e-8,
                claim="1e-8 m, in the test of the source",
                is_absolute=True,
            ),
        ),
    ),
)
