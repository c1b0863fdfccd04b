"""Exported functions on bare machines under qemu: a Cortex-M and a RISC-V processor, no system.

The program of `bare.c` compares results with those of `evaluate`, and tells by its exit code
which entry is wrong; clang and lld build it without any library.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf

EXAMPLES = Path(__file__).parents[3] / "examples"
HERE = Path(__file__).parent / "embedded"


@dataclass(frozen=True)
class Board:
    """A machine of qemu: how code for it is built, and how it is started."""

    target: str
    flags: Sequence[str]
    start: str
    script: str
    emulator: Sequence[str]


BOARDS = {
    "Cortex-M7": Board(
        "thumbv7em",
        ["--target=thumbv7em-none-eabihf", "-mcpu=cortex-m7", "-mfloat-abi=hard"],
        "cortex_m.c",
        "cortex_m.ld",
        ["qemu-system-arm", "-M", "mps2-an500", "-semihosting-config", "enable=on,target=native"],
    ),
    "RISC-V": Board(
        "riscv64",
        ["--target=riscv64-unknown-elf", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"],
        "risc_v.c",
        "risc_v.ld",
        ["qemu-system-riscv64", "-M", "virt", "-bios", "none"],
    ),
}


def numbers(values: Any) -> str:
    """Return numbers as entries of an array in C."""
    return ", ".join(repr(float(x)) for x in np.ravel(values))


def built(board: Board, model: cf.Model, language: str, folder: Path, expected: Any) -> Path:
    """Return the program for a board, with exported C or with exported machine code."""
    more = {"target": board.target} if language == "object" else {}
    model.export(language, folder / "arm", name="arm", **more)
    nv = model.mechanism.nv
    state = np.linspace(-0.8, 0.9, 3 * nv).reshape(3, nv)
    table = "".join(
        f"const double {name}[{nv}] = {{{numbers(row)}}};\n"
        for name, row in zip(("q", "qd", "qdd", "expected"), (*state, expected), strict=True)
    )
    (folder / "values.c").write_text(table, encoding="utf-8")
    ending = "o" if language == "object" else "c"
    command = ["clang", *board.flags, "-std=c99", "-O2", "-ffreestanding", "-nostdlib"]
    command += ["-fuse-ld=lld", f"-Wl,-T,{HERE / board.script}", f"-DSIZE={nv}", "-I", str(HERE)]
    command += ["-I", str(folder / "arm"), str(HERE / board.start), str(HERE / "bare.c")]
    command += [str(folder / "values.c"), str(folder / "arm" / f"arm.{ending}")]
    program = folder / "program.elf"
    done = subprocess.run(
        [*command, "-o", str(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return program


def exit_code(board: Board, program: Path) -> int:
    """Return what a program leaves on its board."""
    command = [*board.emulator, "-display", "none", "-monitor", "none", "-serial", "none"]
    done = subprocess.run(
        [*command, "-kernel", str(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert not re.search("error|fault", done.stderr, re.IGNORECASE), done.stderr
    return done.returncode


@pytest.mark.any_processor
@pytest.mark.parametrize("language", ["c", "object"])
@pytest.mark.parametrize("name", BOARDS)
def test_inverse_dynamics_on_a_bare_machine(name: str, language: str, tmp_path: Path) -> None:
    board, model = BOARDS[name], cf.derive(EXAMPLES / "six_axis_arm.toml", ["tau"])
    state = np.linspace(-0.8, 0.9, 3 * model.mechanism.nv).reshape(3, -1)
    (expected,) = model.evaluate(state[0], state[1], state[2]).values()
    right = tmp_path / "right"
    right.mkdir()
    assert exit_code(board, built(board, model, language, right, expected)) == 0
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    assert exit_code(board, built(board, model, language, wrong, expected * (1 + 1e-9))) == 1
