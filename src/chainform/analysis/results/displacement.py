"""Displacements along the rates, in which quaternions turn; the swing of a mode for pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.results.rotation_values import rotated, turned
from chainform.errors import RunError
from chainform.given import argument
from chainform.mechanism import GROUND, JointKind, Mechanism
from chainform.simulation import Run, assemble

Array = NDArray[np.float64]
CYCLE, CYCLES, FRAMES = 2.0, 2, 40
"""How long a cycle of a picture takes (s), how many there are, and poses of each."""
LARGEST = 3.0
"""The largest amplitude, rad or m times the largest entry of a shape."""


def mode_motion(
    mechanism: Mechanism, arrays: Mapping[str, Array], mode: object, amplitude: object
) -> Run:
    """Return the swing of a mode with an amplitude, rad or m of its largest entry.

    Whatever its frequency is, a cycle takes two seconds; decay and growth are not shown. Loops stay
    closed: the nearest poses are taken in which they are.
    """
    row = argument("mode", mode).whole(1, len(arrays["q"])) - 1
    size = argument("amplitude", amplitude).number(above=0, most=LARGEST)
    shape = arrays["shape_real"][row] + 1j * arrays["shape_imag"][row]
    t = np.linspace(0.0, CYCLE * CYCLES, FRAMES * CYCLES + 1)
    swing = -1j * np.exp(2j * np.pi * t / CYCLE)[:, None] * shape
    start = np.tile(arrays["q"][row], (len(t), 1))
    q = displaced(mechanism, start, size * swing.real)
    if mechanism.loops or mechanism.constraints:
        q = _closed(mechanism, q)
    qd = size * (2j * np.pi / CYCLE * swing).real
    return Run(mechanism, t, q, qd, np.zeros_like(qd), method="modes")


def _closed(mechanism: Mechanism, q: Array) -> Array:
    """Return poses in which loops and holonomic constraints hold."""
    try:
        return np.array([assemble(mechanism, pose) for pose in q])
    except RunError as error:
        raise RunError(
            f"with this amplitude the loops cannot be closed: {error.message}",
            element="amplitude",
            remedy="give a smaller amplitude",
        ) from None


def displaced(mechanism: Mechanism, q: Array, steps: Array) -> Array:
    """Return coordinates (m, nq) after steps (m, nv) along the rates; quaternions turn."""
    moved = q.copy()
    if not mechanism.quaternions:
        return moved + steps
    for segment in mechanism.segments:
        first, rate, kind = segment.coordinate, segment.rate, segment.joint.kind
        if first is None or rate is None:
            continue
        if not kind.has_quaternion:
            moved[:, first] = q[:, first] + steps[:, rate]
            continue
        end = first + kind.coordinates
        turn = q[:, end - 4 : end]
        if kind is JointKind.FREE:
            moved[:, first : first + 3] += rotated(turn, steps[:, rate : rate + 3])
            rate += 3
        moved[:, end - 4 : end] = turned(turn, steps[:, rate : rate + 3])
    return moved


def has_quaternion(mechanism: Mechanism, rate: int) -> bool:
    """Return whether a rate is one of a joint with a quaternion."""
    segment = mechanism.rate_records[rate].segment
    return segment != GROUND and mechanism.segments[segment].joint.kind.has_quaternion
