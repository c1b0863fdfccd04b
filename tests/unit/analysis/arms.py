"""Arms for the tests of inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chainform as cf

Array = NDArray[np.float64]
R, P = "revolute", "prismatic"
X, Y, Z = [1, 0, 0], [0, 1, 0], [0, 0, 1]
TILTED, INCLINED = ["0.6", 0, "0.8"], [0, "0.28", "0.96"]
WRIST = [(R, X, ["0.4", 0, "0.1"]), (R, ["0.8", "0.6", 0], [0, 0, 0]), (R, Y, [0, 0, 0])]
SHOULDERS: dict[str, list[tuple[str, Any, Any]]] = {
    "puma": [(R, Z, [0, 0, "0.6"]), (R, Y, [0, "0.2", 0]), (R, Y, ["0.43", "-0.09", "0.02"])],
    "stanford": [(R, Z, [0, 0, "0.6"]), (R, Y, [0, "0.15", 0]), (P, Z, [0, 0, "0.1"])],
    "offset": [(R, Z, [0, 0, "0.6"]), (R, Y, ["0.15", 0, 0]), (R, Y, ["0.43", 0, "0.02"])],
    "general": [
        (R, Z, [0, 0, "0.6"]),
        (R, TILTED, ["0.15", "0.1", 0]),
        (R, INCLINED, ["0.43", 0, 0]),
    ],
    "general slide": [
        (R, Z, [0, 0, 0]),
        (R, TILTED, ["0.15", "0.1", 0]),
        (P, INCLINED, ["0.43", 0, 0]),
    ],
    "slide first": [
        (P, Z, [0, 0, 0]),
        (R, TILTED, ["0.15", "0.1", 0]),
        (R, INCLINED, ["0.43", 0, 0]),
    ],
    "column": [(P, Z, [0, 0, 0]), (R, Z, ["0.15", 0, 0]), (R, Z, ["0.43", 0, 0])],
    "boom": [(P, Z, [0, 0, 0]), (R, X, ["0.15", "0.1", 0]), (R, Y, ["0.43", 0, "0.02"])],
    "slide second": [
        (R, Z, [0, 0, 0]),
        (P, TILTED, ["0.15", "0.1", 0]),
        (R, INCLINED, ["0.43", 0, 0]),
    ],
    "cylinder": [(R, Z, [0, 0, 0]), (P, X, ["0.15", "0.1", 0]), (R, Y, ["0.43", 0, "0.02"])],
    "two slides": [
        (P, Z, [0, 0, 0]),
        (P, TILTED, ["0.15", "0.1", 0]),
        (R, INCLINED, ["0.43", 0, 0]),
    ],
    "gantry": [(P, Z, [0, 0, 0]), (P, X, ["0.15", "0.1", 0]), (P, Y, ["0.43", 0, "0.02"])],
}
"""First three joints: kind, axis, position."""
PARALLEL = [
    (R, Z, ["0.1", 0, "0.1"]),
    (R, Y, [0, "0.13", 0]),
    (R, Y, ["0.4", "-0.1", 0]),
    (R, Y, ["0.35", 0, 0]),
    (R, Z, [0, "0.1", 0]),
    (R, Y, [0, 0, "-0.1"]),
]
"""Axes 2, 3 and 4 are parallel, 5 and 6 meet."""


def chain(
    joints: Sequence[tuple[str, Any, Any]], tip: Any = ("0.1", "0.05", "0.2"), **options: Any
) -> cf.Mechanism:
    """Return an arm of joints j1, j2 ... with a frame `tip` at its end."""
    builder = cf.Mechanism.builder("arm")
    for k, (kind, axis, position) in enumerate(joints, 1):
        carried = {"parent": f"j{k - 1}"} if k > 1 else {}
        builder.segment(
            f"j{k}", joint=kind, axis=axis, position=position, mass=1, **carried, **options
        )
    builder.frame("tip", f"j{len(joints)}", point=list(tip))
    return builder.build()


@cache
def planar(count: int, lower: str | None = None, upper: str | None = None) -> cf.Mechanism:
    """Return a planar arm in the plane of x and y: links of 1 m, the last one of 0.8 m."""
    limits = {} if lower is None else {"limits": {"lower": lower, "upper": upper}}
    joints = [(R, Z, [0 if k == 0 else 1, 0, 0]) for k in range(count)]
    return chain(joints, ["0.8", 0, 0], **limits)


def poses(mechanism: cf.Mechanism, frame: str, q: Any) -> Array:
    """Return poses (..., 4, 4) of a frame, evaluated without machine code."""
    name = f"pose({frame})"
    return cf.derive(mechanism, [name]).evaluate(q=q)[name]


def differences(values: Array, h: float) -> Array:
    """Return derivatives of order six at all times but three at both ends."""
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * h)
    parts = [w * values[k : len(values) - 6 + k] for k, w in enumerate(weights)]
    return np.sum(parts, axis=0)
