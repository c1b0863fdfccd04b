"""Accelerations and velocities in the tests of RBDL, from other programs by its account."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

import chainform as cf
from tests.published.records import Array, Case, Result, Source

SOURCE = Source(
    name="RBDL: tests",
    repository="github.com/rbdl/rbdl",
    commit="d2ca037245722504b60c90c439cb5ed028c2b33a",
    licence="Zlib",
)
STATE = (0.1, 1.1, 1.2, 1.3, 1.5, 1.7)
"""Three slides along x, y, z and turns about z, y, x: coordinates, rates and accelerations."""
POSITION = (-6.357089363622626e-01, -6.831041744630977e-01, 2.968974805916970e00)
VELOCITY = (3.091226260907569e-01, 3.891012095550828e00, 4.100277995030419e00)
ACCELERATIONS = (
    (-5.302760158847160e00, 6.541369639625232e00, -4.795115077652286e00),
    (-4.993637532756404e00, 1.043238173517606e01, -6.948370826218673e-01),
)
"""Of the point, without and with accelerations of the coordinates."""
CHAIN = (-6.03692307692308, 3.77307692307692, 1.50923076923077)
TREE = (
    -1.60319066147860,
    -5.34396887159533e-01,
    4.10340466926070,
    2.67198443579767e-01,
    5.30579766536965,
)
BALL = (3.301932144386186, 0, 0)
"""Accelerations at rest, under weight along -y."""
Link = tuple[str, str, list[float]]


def link(axis: str, parent: str = "", position: Sequence[float] = (0, 0, 0)) -> Link:
    """Return a link of a tree: the axis of its hinge, the link it hangs on, and its place."""
    return axis, parent, list(position)


def accelerations(links: Sequence[Link]) -> Array:
    """Return the accelerations of a tree at rest.

    Mass centres of this source are 1 m from hinges about z, y, x along x, y, z in turn.
    """
    centers = {"z": [1, 0, 0], "y": [0, 1, 0], "x": [0, 0, 1]}
    builder = cf.Mechanism.builder("tree", gravity=(0, "-9.81", 0))
    for i, (axis, parent, position) in enumerate(links, 1):
        builder.segment(
            f"link{i}",
            parent=parent or "ground",
            joint={"name": f"hinge{i}", "type": "revolute", "axis": axis},
            position=position,
            mass=1,
            com=centers[axis],
            inertia=[1, 1, 1],
        )
    return at_rest(builder.build(), np.zeros(len(links)))


def ball() -> Array:
    """Return the accelerations of a body on turns about z, y and x, the first one at 1 rad."""
    builder = cf.Mechanism.builder("ball", gravity=(0, "-9.81", 0))
    joint = {"type": "spherical", "euler": "zyx"}
    body: dict[str, Any] = {"mass": 1, "com": [0, "0.5", 0], "inertia": [1, 1, 1]}
    return at_rest(
        builder.segment("body", parent="ground", joint=joint, **body).build(), np.array([1, 0, 0])
    )


def at_rest(mechanism: cf.Mechanism, q: Array) -> Array:
    """Return the accelerations from rest without drives."""
    still = np.zeros(mechanism.nv)
    model = cf.derive(mechanism, ["forward_dynamics"])
    return model.evaluate(q=q, qd=still, tau=still)["forward_dynamics"]


@cache
def point() -> dict[str, Array]:
    """Return place, velocity and the two accelerations of a point of a free body."""
    builder = cf.Mechanism.builder("free body", gravity=(0, "-9.81", 0))
    joint = {"type": "free", "euler": "zyx"}
    builder.segment("body", parent="ground", joint=joint, mass=1, inertia=[1, 1, 1])
    body = builder.frame("point", "body", ["-1.9", "-1.8", 0]).build()
    model = cf.derive(body, ["pose(point)", "velocity(point)", "acceleration(point)"])
    twice, qdd = [STATE, STATE], [np.zeros(6), STATE]
    found = model.evaluate(q=twice, qd=twice, qdd=qdd)
    return {
        "position": found["pose(point)"][0, :3, 3],
        "velocity": found["velocity(point)"][0, :3],
        "acceleration": found["acceleration(point)"][:, :3],
    }


def result(quantity: str, published: Any, ours: Callable[[], Array], accuracy: float) -> Result:
    """Return the comparison of numbers with 15 or 16 digits."""
    claim = f"{accuracy:.0e}, in the test of the source"
    return Result(quantity, lambda: np.array(published, float), ours, accuracy, claim)


CASES = (
    Case(
        name="rbdl_trees",
        title="Chain, tree and ball",
        source=SOURCE,
        path="tests/DynamicsTests.cc",
        note="A chain of three hinges, a tree with hinges about x, y and z, and a body on a ball; "
        "the source has the last from Featherstone's spatial_v1.",
        results=(
            result(
                "accelerations of the chain, rad/s²",
                CHAIN,
                lambda: accelerations(
                    [
                        link("z"),
                        link("z", "link1", (1, 0, 0)),
                        link("z", "link2", (1, 0, 0)),
                    ]
                ),
                1e-13,
            ),
            result(
                "accelerations of the tree, rad/s²",
                TREE,
                lambda: accelerations(
                    [
                        link("z"),
                        link("y", "link1", (1, 0, 0)),
                        link("x", "link2", (0, 1, 0)),
                        link("y", "link1", (-0.5, 0, 0)),
                        link("x", "link4", (0, -0.5, 0)),
                    ]
                ),
                1e-13,
            ),
            result("acceleration of the ball, rad/s²", BALL, ball, 1e-13),
        ),
    ),
    Case(
        name="rbdl_point",
        title="Point of a free body",
        source=SOURCE,
        path="tests/FloatingBaseTests.cc",
        note="A body with three slides and three turns; the source has the numbers from HuMAnS.",
        results=(
            result("position, m", POSITION, lambda: point()["position"], 1e-14),
            result("velocity, m/s", VELOCITY, lambda: point()["velocity"], 1e-14),
            result("acceleration, m/s²", ACCELERATIONS, lambda: point()["acceleration"], 1e-14),
        ),
    ),
)
