"""Exported functions on bare machines under qemu: Cortex-M and RISC-V processors, no system."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chainform as cf
from boards import BOARDS, Measurement, exit_code, measured, object_of, program_of

EXAMPLES = Path(__file__).parents[3] / "examples"
TESTED = [
    *(("Cortex-M7", "c"), ("Cortex-M7", "object"), ("RISC-V", "c"), ("RISC-V", "object")),
    *(("Cortex-M7, single precision", "c"), ("Cortex-M4, single precision", "object")),
]


@pytest.mark.any_processor
@pytest.mark.parametrize(("name", "language"), TESTED)
def test_inverse_dynamics_on_a_bare_machine(name: str, language: str, tmp_path: Path) -> None:
    board, model = BOARDS[name], cf.derive(EXAMPLES / "six_axis_arm.toml", ["tau"])
    state = np.linspace(-0.8, 0.9, 3 * model.mechanism.nv).reshape(3, -1)
    (expected,) = model.evaluate(state[0], state[1], state[2]).values()
    code = object_of(board, model, language, tmp_path)
    right = program_of(board, code, state, expected, tmp_path / "right")
    assert exit_code(board, right) == 0
    off = 1e-9 if board.precision == "float64" else 1e-2
    wrong = program_of(board, code, state, expected * (1 + off), tmp_path / "wrong")
    assert exit_code(board, wrong) == 1


@pytest.mark.any_processor
def test_measurements_of_a_call(tmp_path: Path) -> None:
    """There are as many instructions as operations at least, and far angles take more of them."""
    board, model = BOARDS["RISC-V"], cf.derive(EXAMPLES / "six_axis_arm.toml", ["tau"])
    code = object_of(board, model, "object", tmp_path)
    found = list[Measurement]()
    for name, angle in (("near", 0.5), ("far", 1e6)):
        state = np.array([[angle] * 6, [0.1] * 6, [0.2] * 6])
        (expected,) = model.evaluate(state[0], state[1], state[2]).values()
        found.append(measured(board, program_of(board, code, state, expected, tmp_path / name)))
    near, far = found
    count = model.count()
    assert far.instructions > near.instructions > count.multiplications
    assert (near.code, near.constants) == (far.code, far.constants)
    # An instruction has two bytes at least; a frame holds what is saved for the caller.
    assert near.code >= 2 * count.multiplications
    assert 8 <= near.stack <= far.stack < 2000
