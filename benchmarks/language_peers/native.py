"""Languages with a compiler: each behind a plain C function, called in the same compiled loop."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from speed_peers import casadi_c
from speed_peers.build import Workshop
from speed_peers.measure import Competitor, Loop
from speed_peers.ours import TITLE

from chainform.runtime import BINARIES
from language_peers.entry import Entry
from language_peers.subjects import FEW, NAME, Subject

FAST = ("-O3", "-march=native")
GNU = (*FAST, "-ffp-contract=fast", "-fno-tree-slp-vectorize", "-frename-registers")
SHARED = ("-shared", "-fPIC")
OUT = ("-o", "out.so")
TURN = 50
"""Milliseconds."""
CPP = """\
#include "robot.hpp"
extern "C" void plain({declared}, double *out) {{ robot::{function}({given}, out); }}
"""
FORTRAN = """\
subroutine plain({given}, out) bind(c)
    use robot, only: wp, {function}
    real(wp), intent(in) :: {declared}
    real(wp), intent(out) :: out({shape})
    call {function}({given}, out)
end subroutine plain
"""
RUST = """\
#[no_mangle]
pub unsafe extern "C" fn plain({declared}, out: &mut {array}) {{
    robot::{function}({given}, out)
}}
"""


def entries(workshop: Workshop, subject: Subject) -> Iterator[Entry]:
    """Yield machine code in memory, CasADi's C, then all compiled languages."""
    loop = Loop(workshop)
    start = perf_counter()
    program = subject.model.compile()
    address = program.address(subject.model.outputs[0])  # compiled when it is first needed
    seconds = perf_counter() - start
    yield _entry(loop, subject, _competitor(subject, TITLE, address, program), seconds)
    for peer in _casadi(workshop, subject):
        yield _entry(loop, subject, peer, None)
    for title, language, commands in _builds():
        exporting = perf_counter()
        folder = subject.export(language)
        if language in WRAPPERS:
            file, text = WRAPPERS[language]
            (folder / file).write_text(text(subject))
        # Of machine code, the export is the compilation.
        start = exporting if language in BINARIES else perf_counter()
        for command in commands:
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        seconds = perf_counter() - start
        library = ctypes.CDLL(str(folder / ("librobot.so" if language == "shared" else "out.so")))
        name = "plain" if language in WRAPPERS else f"{NAME}_{subject.function}"
        address = ctypes.cast(library[name], ctypes.c_void_p).value or 0
        made = _competitor(subject, title, address, library)
        if language == "fortran":
            made = replace(made, order=replace(made.order, by_columns=True))
        yield _entry(loop, subject, made, seconds)


def _builds() -> Iterator[tuple[str, str, Sequence[Sequence[str]]]]:
    """Yield title, language, and the commands that make out.so in the exported folder."""
    for compiler in ("gcc", "clang"):
        yield f"C, {compiler}", "c", [[compiler, "-std=c99", *GNU, *SHARED, "robot.c", *OUT]]
    yield "C++, g++", "cpp", [["g++", "-std=c++17", *GNU, *SHARED, "plain.cpp", *OUT]]
    sources = ("robot.f90", "plain.f90")
    yield "Fortran, gfortran", "fortran", [["gfortran", *GNU, *SHARED, *sources, *OUT]]
    rust = ["rustc", "--edition", "2021", "-C", "opt-level=3", "-C", "target-cpu=native"]
    crate = [*rust, "--crate-type", "rlib", "--crate-name", NAME, "robot.rs", "-o", "librobot.rlib"]
    plain = [*rust, "--crate-type", "cdylib", "--extern", "robot=librobot.rlib", "plain.rs", *OUT]
    yield "Rust, rustc", "rust", [crate, plain]
    yield "object, linked by gcc", "object", [["gcc", *SHARED, "robot.o", *OUT]]
    yield "shared", "shared", []


def _cpp(subject: Subject) -> str:
    declared = ", ".join(f"const double *{name}" for name in subject.arguments)
    given = ", ".join(subject.arguments)
    return CPP.format(declared=declared, function=subject.function, given=given)


def _fortran(subject: Subject) -> str:
    declared = ", ".join(f"{name}({length})" for name, length in subject.arguments.items())
    shape, given = ", ".join(map(str, subject.shape)), ", ".join(subject.arguments)
    return FORTRAN.format(declared=declared, function=subject.function, given=given, shape=shape)


def _rust(subject: Subject) -> str:
    declared = ", ".join(f"{name}: &[f64; {n}]" for name, n in subject.arguments.items())
    array, given = "f64", ", ".join(subject.arguments)
    for length in reversed(subject.shape):
        array = f"[{array}; {length}]"
    return RUST.format(declared=declared, function=subject.function, given=given, array=array)


WRAPPERS = {
    "cpp": ("plain.cpp", _cpp),
    "fortran": ("plain.f90", _fortran),
    "rust": ("plain.rs", _rust),
}
"""Files that make a plain C function of what other languages export."""


def _casadi(workshop: Workshop, subject: Subject) -> list[Competitor]:
    if subject.case is None:
        return []
    return casadi_c.competitors(workshop, subject.case, "inverse_dynamics")


def _competitor(subject: Subject, title: str, address: int, keep: Any) -> Competitor:
    arguments = tuple(subject.arguments)
    return Competitor(title, "", address, subject.order, arguments=arguments, keep=keep)


def _entry(loop: Loop, subject: Subject, made: Competitor, seconds: float | None) -> Entry:
    """Compute the results at the first states, and prepare the loop over all."""
    few = subject.states.part(slice(FEW))
    found = loop.values(made, subject.layout, few, subject.size)
    timer = loop.timer(made, subject.layout, subject.states, subject.size, TURN)
    return Entry(made.title, np.array(found), timer, seconds, made.variant)
