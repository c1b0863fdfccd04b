"""Mechanisms that a loop of any kind closes, and the same ones with a massless end body."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import chainform as cf
from chainform.mechanism import (
    LOOP_ROWS,
    Attachment,
    Axis,
    Loop,
    MechanismBuilder,
    Rotation,
    exact_axis,
    exact_rotation,
    plane_of,
)
from chainform.spatial import (
    add,
    apply,
    apply_transposed,
    product,
    rotation_of_quaternion,
    scale,
    subtract,
    transpose,
)

KINDS = tuple(LOOP_ROWS)
WITH_AXES = ("revolute", "prismatic", "cylindrical", "universal", "planar")

Pose = tuple[Rotation, Axis]
"""Rotation and origin of a body in the base, as fractions."""
AT_GROUND: Pose = (
    rotation_of_quaternion(Fraction(0), Fraction(0), Fraction(0), Fraction(1)),
    (Fraction(0), Fraction(0), Fraction(0)),
)
POINT: Axis = (Fraction(1, 5), Fraction(-1, 4), Fraction(1, 3))
AXIS: Axis = (Fraction(2, 7), Fraction(-3, 7), Fraction(6, 7))
LENGTH = Fraction(2, 5)


TURN = rotation_of_quaternion(*(Fraction(x, 5) for x in (1, -2, 2, 4)))
OTHER = rotation_of_quaternion(*(Fraction(x, 5) for x in (2, -4, 1, 2)))


def exact_pose(rotation: Any, position: Any) -> Pose:
    """Return a pose in fractions, from doubles or fractions."""
    rows = [[Fraction(entry) for entry in row] for row in rotation]
    x, y, z = (Fraction(entry) for entry in position)
    matrix = tuple(tuple(row) for row in rows)
    return exact_rotation(matrix)[0], (x, y, z)  # pyright: ignore[reportArgumentType]


def closed_loop(kind: str, segments: tuple[int, int], closing: Pose, target: Pose) -> Loop:
    """Return a loop that is closed where its two bodies have these poses."""
    (R, p), (Rt, pt) = closing, target
    a, frame = add(p, apply(R, POINT)), product(R, TURN)
    n, (u, v) = apply(frame, AXIS), (apply(frame, e) for e in plane_of(AXIS))
    away = {
        "prismatic": scale(Fraction(3, 10), n),
        "cylindrical": scale(Fraction(-3, 10), n),
        "planar": add(scale(Fraction(1, 5), u), scale(Fraction(3, 10), v)),
        "distance": scale(LENGTH, u),
    }
    b = subtract(a, away[kind]) if kind in away else a
    own = product(transpose(Rt), frame) if kind in ("frame", "prismatic") else OTHER
    pin = add(scale(Fraction(3, 5), u), scale(Fraction(4, 5), v)) if kind == "universal" else n
    axis = apply_transposed(own, apply_transposed(Rt, pin))
    has_axes = kind in WITH_AXES
    return Loop(
        "held",
        kind,
        Attachment(segments[0], POINT, TURN, AXIS if has_axes else None),
        Attachment(
            segments[1],
            apply_transposed(Rt, subtract(b, pt)),
            exact_rotation(own)[0],
            (AXIS if kind == "prismatic" else exact_axis(axis)[0]) if has_axes else None,
        ),
        length=LENGTH if kind == "distance" else None,
    )


# --- a chain that swings against a body that swings -------------------------------------------

AXES = ("z", "y", "x", "y", "z", "x", "y")
CLOSING: dict[str, Any] = {"segment": "c7", "point": ["0.1", "0.05", "-0.2"], "rpy": [0.4, 0.2, 1]}
TARGET: dict[str, Any] = {"segment": "swing", "point": ["0.2", "-0.1", "-0.3"], "rpy": [-1, 0.3, 0]}
"""The ends; their axes are the same in both frames, but for a universal joint."""
JOINTS: dict[str, dict[str, Any]] = {
    "revolute": {"joint": "revolute", "axis": "z"},
    "prismatic": {"joint": "prismatic", "axis": "z"},
    "cylindrical": {"joint": "cylindrical", "axis": "z"},
    "planar": {"joint": "planar", "axis": "z"},
    "universal": {"joint": "universal", "axes": ["z", "x"]},
    "point": {"joint": "spherical"},
    "frame": {"joint": "fixed"},
}
"""The joint of a tree that leaves the same motions free."""


def chain(name: str) -> MechanismBuilder:
    """Return the builder of a chain of seven hinges and, apart from it, a body on a hinge."""
    builder = cf.Mechanism.builder(name, gravity=(0, 0, "-9.81"))
    body: dict[str, Any] = {
        "mass": 1,
        "com": ["0.05", "0.1", "-0.1"],
        "inertia": ["0.02", "0.03", "0.025"],
    }
    for k, axis in enumerate(AXES, 1):
        parent = f"c{k - 1}" if k > 1 else "ground"
        builder.segment(f"c{k}", parent=parent, axis=axis, position=["0.1", "0.2", "-0.2"], **body)
    builder.segment("swing", parent="ground", axis="x", position=["0.3", "0.7", "-0.6"], **body)
    return builder


@cache
def closed_chain(kind: str) -> cf.Mechanism:
    """Return the chain, closed against the body by a loop of a kind."""
    builder = chain(kind)
    axes: tuple[dict[str, str], dict[str, str]] = ({}, {})
    if kind in WITH_AXES:
        axes = ({"axis": "x" if kind == "universal" else "z"}, {"axis": "z"})
    length = "0.4" if kind == "distance" else None
    return builder.loop("L", kind, CLOSING | axes[0], TARGET | axes[1], length=length).build()


@cache
def with_end_body(kind: str) -> cf.Mechanism:
    """Return the same with a massless body on a joint of the tree, held whole to the chain."""
    builder = chain(f"{kind} by a body")
    place: dict[str, Any] = {"parent": "swing", "position": TARGET["point"], "rpy": TARGET["rpy"]}
    if kind == "distance":
        builder.segment("end", joint="universal", axes=["x", "y"], **place)
        far = {"segment": "end", "point": [0, 0, "0.4"]}
        return builder.loop("L", "point", CLOSING, far).build()
    builder.segment("end", **JOINTS[kind], **place)
    return builder.loop("L", "frame", CLOSING, {"segment": "end"}).build()
