"""The C that CasADi generates from graphs which Pinocchio's algorithms make on CasADi's symbols.

casadi_graphs/graphs.cpp makes the graphs; here its programs are compiled, and each gets a plain
function beside it. Where Pinocchio has two conventions, both are built and the faster one counts.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from casadi_graphs.count import random_state, text_of

from speed_peers.build import (
    Workshop,
    casadi_folder,
    linked,
    pinocchio_flags,
    pinocchio_prefix,
    shared_library,
)
from speed_peers.cases import Array, Case, Order, States
from speed_peers.measure import Competitor

GRAPHS = Path(__file__).parents[1] / "casadi_graphs"
BATCH, PARTS = 100_000, 2
TITLE = "CasADi C"

PLAIN = """\
/* {name} of CasADi with the signature that all competitors have. */

#include "{name}.c"

void plain(const double *q, const double *qd, const double *third, double *out)
{{
  const casadi_real *arg[{sz_arg} + 1] = {{q, qd, third}};
  casadi_real *res[{sz_res} + 1] = {{out}};
  casadi_int iw[{sz_iw} + 1];
  casadi_real w[{sz_w} + 1];
  {name}(arg, res, iw, w, 0);
}}
"""


def model_file(workshop: Workshop, case: Case) -> Path:
    """Return the file from which the C++ programs read a robot."""
    text = text_of(case.model, random_state(case.model)[1])
    return workshop.make(f"{case.name}.txt", [text], lambda path: _write(path, text))


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def generator(workshop: Workshop, name: str = "graphs") -> Path:
    """Return the compiled program of casadi_graphs that makes graphs."""
    flags = pinocchio_flags(workshop)
    command = ["g++", "-O0", *flags]
    libraries = linked(casadi_folder(workshop), "casadi")
    libraries += linked(pinocchio_prefix() / "lib", "boost_serialization")
    command += ["-Wl,--no-as-needed", *libraries]
    included = [(GRAPHS / header).read_text() for header in ("model.hpp", "graph.hpp")]
    return workshop.compile(name, GRAPHS / f"{name}.cpp", command, *included)


def programs(workshop: Workshop, case: Case) -> Path:
    """Return the folder with the C programs of a robot."""
    program, model = generator(workshop), model_file(workshop, case)

    def build(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        command = [program, model, folder, str(BATCH // PARTS)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        add_plain_functions(folder)

    return workshop.make(f"{case.name}_casadi", [program.name, model.name], build)


def add_plain_functions(folder: Path) -> None:
    """Write a plain function beside each program of a folder."""
    for path in list(folder.glob("*.c")):
        path.with_name(f"plain_{path.name}").write_text(_plain(path))


def _plain(program: Path) -> str:
    """Return the plain function beside a program; it has the working space CasADi asks for."""
    sizes = dict(re.findall(r"\*(sz_\w+) = (\d+);", program.read_text()))
    return PLAIN.format(name=program.stem, **sizes)


def compiled(workshop: Workshop, case: Case, source: Path, *flags: str) -> Path:
    """Return the library of one program."""
    plain = source.with_name(f"plain_{source.name}")
    name = f"{case.name}_{source.stem}"
    return shared_library(workshop, name, plain, source.parent.name, *flags)


def competitors(workshop: Workshop, case: Case, quantity: str) -> list[Competitor]:
    """Return the functions of one state for a quantity, one for each convention."""
    found: list[Competitor] = []
    for source in sources(workshop, case, quantity):
        convention = source.stem.removeprefix(f"{quantity}_")
        found.append(competitor(compiled(workshop, case, source), convention, case.order))
    return found


def competitor(path: Path, variant: str, order: Order) -> Competitor:
    """Return the plain function of a library."""
    library = ctypes.CDLL(str(path))
    address = ctypes.cast(library.plain, ctypes.c_void_p).value
    assert address
    return Competitor(TITLE, variant, address, order, keep=library)


def sources(workshop: Workshop, case: Case, quantity: str) -> list[Path]:
    """Return the C programs of a quantity: local convention first, where there are two."""
    folder = programs(workshop, case)
    named = (folder / f"{quantity}_{convention}.c" for convention in ("local", "world"))
    return [path for path in named if path.exists()]


@dataclass(frozen=True)
class Batch:
    """CasADi's `map` of inverse dynamics over a whole batch."""

    run: Callable[[], object]
    result: Array
    """Results in the order of Pinocchio's model."""


def batch(workshop: Workshop, case: Case, states: States, threads: int = 1) -> Batch:
    """Return the compiled map over the parts of a batch; `states` are in its order."""
    source = next(programs(workshop, case).glob("map*_inverse_dynamics_local.c"))
    library = ctypes.CDLL(str(compiled(workshop, case, source)))
    library.plain.argtypes, library.plain.restype = [ctypes.c_void_p] * 4, None
    out = np.zeros_like(states.qd)
    arrays = (states.q, states.qd, states.qdd, out)
    parts = [[part.ctypes.data for part in np.split(array, PARTS)] for array in arrays]
    if threads == 1:
        return Batch(lambda: deque(map(library.plain, *parts), 0), out)
    pool = ThreadPoolExecutor(threads)
    return Batch(lambda: deque(pool.map(library.plain, *parts), 0), out)


def called_map(workshop: Workshop, case: Case, states: States) -> Batch:
    """Return CasADi's own map over its compiled function, called as its users do, from Python.

    The C of one state is loaded by `external` and mapped over the batch; arrays are CasADi's own
    matrices, made beforehand.
    """
    folder = str(casadi_folder(workshop).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    casadi: Any = importlib.import_module("casadi")
    source = sources(workshop, case, "inverse_dynamics")[0]
    function = casadi.external(source.stem, str(compiled(workshop, case, source)))
    mapped = function.map(BATCH)
    given = [casadi.DM(array.T) for array in (states.q, states.qd, states.qdd)]
    out = np.zeros_like(states.qd)

    def run() -> None:
        result = mapped(*given)
        if not out.any():
            out[:] = result.full().ravel(order="F").reshape(out.shape)

    return Batch(run, out)


def build_seconds(workshop: Workshop, case: Case, quantity: str) -> tuple[float, float]:
    """Return the seconds to make the C of all quantities of a robot, and to compile one."""
    first = sources(workshop, case, quantity)[0]
    return workshop.seconds(first.parent), workshop.seconds(compiled(workshop, case, first))
