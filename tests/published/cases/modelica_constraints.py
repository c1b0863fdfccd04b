"""Bodies of Modelica's examples that constraints hold where joints could."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from tests.published.cases.modelica import (
    EXAMPLES,
    Y_UP,
    Fields,
    case,
    moved,
    result,
    turned,
    vector,
)
from tests.published.records import Array

PLACE = [0.2, -0.3, 0.2]
FRAME = np.linalg.multi_dot([turned(k, np.radians([a]))[0] for k, a in enumerate((10, 55, 68))])
"""Where the frame of the ground is, and how it is turned: about x, y and z, one after the other."""


@cache
def held(kind: str, file: str, axes: tuple[str, str] | None = None) -> cf.Run:
    """Return the motion of a free body on a spring that a loop of some kind holds to the ground.

    `axes` are those of the body and of the ground.
    """
    builder = cf.Mechanism.builder(f"{kind} constraint", gravity=Y_UP)
    rotation = FRAME.tolist()
    body: Fields = {"mass": 1, "com": [0.2, 0, 0], "inertia": [1, 1, 1]}
    builder.segment(
        "body", parent="ground", joint="free", position=PLACE, rotation=rotation, **body
    )
    tip = [0.5, 0.15, 0.2] if kind == "universal" else [0.4, 0, 0]
    ends = [{"segment": "ground", "point": [0.8, 0, 0.3]}, {"segment": "body", "point": tip}]
    builder.spring(ends=ends, stiffness=20)
    own, other = ({"axis": axis} for axis in axes) if axes else ({}, {})
    target = {"segment": "ground", "point": PLACE, "rotation": rotation, **other}
    builder.loop("joint", kind, {"segment": "body", **own}, target)
    return moved(builder.build(), file)


def angle(run: cf.Run, sine: tuple[int, int], cosine: tuple[int, int]) -> Array:
    """Return an angle of the rotation of the body in the turned frame, from two of its entries."""
    relative = FRAME.T @ run.output("pose(body)")[:, :3, :3]
    return np.arctan2(relative[:, *sine], relative[:, *cosine])[:, None]


def pin() -> cf.Run:
    return held("revolute", "pin_constraint", ("y", "y"))


def ball() -> cf.Run:
    return held("spherical", "ball_constraint")


def cross() -> cf.Run:
    return held("universal", "cross_constraint", ("x", "z"))


TURN = "angular velocity, body axes, rad/s"
OMEGA = vector("bodyOfConstraint.body.w_a")
CASES = (
    case(
        "pin_constraint",
        "Body on a pin",
        f"{EXAMPLES}/Constraints/RevoluteConstraint",
        "A free body with a spring, held by a loop of the kind revolute.",
        result(TURN, "pin_constraint", OMEGA, lambda: pin().qd[:, 3:], 4e-5),
        result(
            "angle of the joint, rad",
            "pin_constraint",
            ["joint.phi"],
            lambda: angle(pin(), (0, 2), (2, 2)),
            4e-5,
        ),
    ),
    case(
        "ball_constraint",
        "Body on a ball",
        f"{EXAMPLES}/Constraints/SphericalConstraint",
        "The same, held by a loop of the kind spherical.",
        result(TURN, "ball_constraint", OMEGA, lambda: ball().qd[:, 3:], 2e-4),
    ),
    case(
        "cross_constraint",
        "Body on a universal joint",
        f"{EXAMPLES}/Constraints/UniversalConstraint",
        "The same, held by a loop of the kind universal, the spring farther out.",
        result(TURN, "cross_constraint", OMEGA, lambda: cross().qd[:, 3:], 2e-4),
        result(
            "angles of the joint, rad",
            "cross_constraint",
            ["joint.phi_a", "joint.phi_b"],
            lambda: np.hstack([angle(cross(), (1, 0), (0, 0)), angle(cross(), (2, 1), (2, 2))]),
            2e-4,
        ),
        draw=lambda file: cross().picture(file=file, size=(480, 320), view=(-60, 20)),
    ),
)
