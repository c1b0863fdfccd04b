"""Bare machines under qemu: exported inverse dynamics is built for them, run, and measured.

`bare.c` compares results with what is expected, and tells by its exit code whether one is wrong;
clang and lld build it without any library. For measurements qemu writes down every instruction
with the registers, so that nothing is added to the program.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import chainform as cf

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Board:
    """A machine of qemu: how code for it is built, how it is started, how precise numbers are."""

    target: str
    flags: Sequence[str]
    start: str
    script: str
    emulator: Sequence[str]
    stack_pointer: str
    """Its value, as qemu writes it down."""
    precision: str = "float64"
    languages: Sequence[str] = ("c", "object")
    """Without C where that needs a library for far angles: they are reduced in double precision."""


def _cortex(processor: str, machine: str, precision: str) -> Board:
    return Board(
        "thumbv7em",
        ["--target=thumbv7em-none-eabihf", f"-mcpu={processor}", "-mfloat-abi=hard"],
        "cortex_m.c",
        "cortex_m.ld",
        ["qemu-system-arm", "-M", machine, "-semihosting-config", "enable=on,target=native"],
        r"R13=([0-9a-f]+)",
        precision,
        ["object"] if processor == "cortex-m4" else ["c", "object"],
    )


def _risc_v(precision: str) -> Board:
    return Board(
        "riscv64",
        [
            *("--target=riscv64-unknown-elf", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"),
            "-msmall-data-limit=0",
        ],
        "risc_v.c",
        "risc_v.ld",
        ["qemu-system-riscv64", "-M", "virt", "-bios", "none"],
        r"x2/sp +([0-9a-f]+)",
        precision,
    )


BOARDS = {
    "Cortex-M7": _cortex("cortex-m7", "mps2-an500", "float64"),
    "Cortex-M7, single precision": _cortex("cortex-m7", "mps2-an500", "float32"),
    "Cortex-M4, single precision": _cortex("cortex-m4", "mps2-an386", "float32"),
    "RISC-V": _risc_v("float64"),
    "RISC-V, single precision": _risc_v("float32"),
}


# --- building -------------------------------------------------------------------------------------


def object_of(board: Board, model: cf.Model, language: str, folder: Path) -> Path:
    """Return inverse dynamics as an object file: exported C, compiled, or exported machine code."""
    more = {"target": board.target} if language == "object" else {}
    source = model.export(language, folder / "arm", name="arm", precision=board.precision, **more)
    result = source / "arm.o"
    if language == "c":
        _run([*_clang(board), "-c", str(source / "arm.c"), "-o", str(result)])
    return result


def program_of(board: Board, code: Path, state: Any, expected: Any, folder: Path) -> Path:
    """Return a program that compares inverse dynamics at a state (q, qd, qdd) with expectations."""
    real = "float" if board.precision == "float32" else "double"
    rows = zip(("q", "qd", "qdd", "expected"), (*state, expected), strict=True)
    table = [f"const {real} {name}[{len(row)}] = {{{_numbers(row)}}};\n" for name, row in rows]
    tolerance = 1e-4 if real == "float" else 1e-12
    table.append(f"const {real} limits[2] = {{1, {tolerance!r}}};\n")
    folder.mkdir(exist_ok=True)
    (folder / "values.c").write_text("".join(table), encoding="utf-8")
    command = [*_clang(board), "-nostdlib", "-fuse-ld=lld", f"-Wl,-T,{HERE / board.script}"]
    command += ["-Wl,--gc-sections", f"-Wl,-Map={folder / 'program.map'}"]
    command += [f"-DSIZE={len(expected)}", f"-DREAL={real}"]
    command += ["-I", str(code.parent), str(HERE / board.start), str(HERE / "bare.c")]
    program = folder / "program.elf"
    _run([*command, str(folder / "values.c"), str(code), "-o", str(program)])
    return program


def _clang(board: Board) -> list[str]:
    # Without errno, fused products of single precision are instructions.
    options = ["-std=c99", "-O2", "-ffreestanding", "-fno-math-errno", "-ffunction-sections"]
    return ["clang", *board.flags, *options]


def _numbers(values: Any) -> str:
    return ", ".join(repr(float(x)) for x in np.ravel(values))


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- running --------------------------------------------------------------------------------------


def exit_code(board: Board, program: Path, *options: str) -> int:
    """Return what a program leaves on its board."""
    command = [*board.emulator, "-display", "none", "-monitor", "none", "-serial", "none"]
    command += [*options, "-kernel", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert not re.search("error|fault", done.stderr, re.IGNORECASE), done.stderr
    return done.returncode


@dataclass(frozen=True)
class Measurement:
    """One call on a board: instructions, and bytes of stack, code and constants."""

    instructions: int
    stack: int
    code: int
    constants: int


def measured(board: Board, program: Path) -> Measurement:
    """Run a program of which the results are right, and measure its call."""
    log = program.with_name("trace.log")
    traced = ("-singlestep", "-d", "exec,cpu,nochain", "-D", str(log))
    assert exit_code(board, program, *traced) == 0
    lines = _run(["llvm-nm", "--print-size", str(program)]).splitlines()
    places = {line.split()[-1]: line.split() for line in lines if len(line.split()) == 4}
    caller, size, *_ = (int(x, 16) for x in places["compare"][:2])
    entry = int(places["arm_inverse_dynamics"][0], 16)
    counts, pointers = 0, list[int]()
    for step in log.read_text().split("Trace ")[1:]:
        found = re.match(r"\d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", step)
        assert found is not None
        place = int(found[1], 16)
        if pointers or place == entry:
            if caller <= place < caller + size:
                break
            counts += 1
            pointers += [int(x, 16) for x in re.findall(board.stack_pointer, step)]
    assert counts > 100
    code, constants = _sizes(program.with_name("program.map").read_text())
    return Measurement(counts, pointers[0] - min(pointers), code, constants)


def _sizes(linked: str) -> tuple[int, int]:
    """Return the bytes of code and constants that come from arm.o, by the map of the linker.

    Constants that may be merged belong to the linker itself there; bare.c has none.
    """
    row = r"^ *\w+ +\w+ +(\w+) +\d+ +(\S*arm\.o|<internal>):\((\.\w+)\S*\)"
    found = re.findall(row, linked, re.MULTILINE)
    rows = [(int(size, 16), file, name) for size, file, name in found]
    own = [(size, name) for size, file, name in rows if file != "<internal>"]
    assert {name for _, name in own} <= {".text", ".rodata"}, own
    merged = [size for size, file, name in rows if file == "<internal>" and name == ".text"]
    code = sum(size for size, name in own if name == ".text")
    return code, sum(merged) + sum(size for size, name in own if name == ".rodata")
