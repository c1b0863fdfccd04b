"""Inverse dynamics of a six-axis arm on bare machines: size, stack, instructions of a call."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import chainform as cf
from boards import BOARDS, Board, Measurement, measured, object_of, program_of

EXAMPLES = Path(__file__).parents[2] / "examples"
HEADER = (
    *("board", "language", "code, bytes", "constants, bytes", "stack, bytes"),
    *("instructions", "with far angles: instructions", "stack, bytes"),
)
NEAR = (0.5, -0.8, 1.3, -2.0, 2.9, 0.1)
HARDEST = {"float64": 6381956970095103 * 2.0**797, "float32": 16367173 * 2.0**72}
"""The numbers that are nearest to a multiple of a quarter turn: C looks longest for their first
digit."""


def model() -> cf.Model:
    """Return the arm of the examples, reduced."""
    return cf.derive(EXAMPLES / "six_axis_arm.toml", ["inverse_dynamics"]).reduce()


def rows(arm: cf.Model) -> Iterator[Sequence[str]]:
    """Measure a call on each board, of exported C and of exported machine code."""
    for name, board in BOARDS.items():
        for language in board.languages:
            folder = Path(tempfile.mkdtemp(prefix="chainform-embedded-"))
            code = object_of(board, arm, language, folder)
            far_angle = HARDEST[board.precision]
            near = _call(board, arm, code, NEAR)
            # All sines of the arm are then those of far angles, and sums of angles are exact.
            far = _call(board, arm, code, (far_angle, far_angle, 0, 0, far_angle, far_angle))
            sizes = (near.code, near.constants, near.stack, near.instructions)
            yield [name, language, *map(str, (*sizes, far.instructions, far.stack))]


def _call(board: Board, arm: cf.Model, code: Path, pose: Sequence[float]) -> Measurement:
    """Measure a call, which has the right result."""
    state = np.array([pose, [0.3] * 6, [-0.7] * 6]).astype(board.precision).astype(float)
    (expected,) = arm.evaluate(state[0], state[1], state[2]).values()
    folder = Path(tempfile.mkdtemp(prefix="chainform-embedded-"))
    return measured(board, program_of(board, code, state, expected, folder))
