"""Pinocchio itself, in two builds of pinocchio.cpp.

`native` compiles the algorithms from the headers for this machine. `wheel` takes what is compiled
in libpinocchio_default; the rest is compiled for the processor of the wheel, too, since wider
vectors would change how the library's data are aligned. The faster one counts.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np

from speed_peers.build import FAST, HERE, Workshop, linked, pinocchio_flags, pinocchio_prefix
from speed_peers.casadi_c import GRAPHS, Batch, model_file
from speed_peers.cases import Case, States
from speed_peers.measure import Competitor

TITLE = "Pinocchio C++"
THREADS = 2
# No warnings about others' headers. Symbols stay inside, since the process holds another build of
# the same templates: Python's `pinocchio`.
SEPARATE = ("-w", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-gnu-unique", "-Wl,-Bsymbolic")
BUILDS = {
    "native": (FAST, ()),
    "wheel": (("-O3", "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION"), ("pinocchio_default",)),
}


def library(
    workshop: Workshop, build: str, name: str = "pinocchio", source: Path = HERE / "pinocchio.cpp"
) -> ctypes.CDLL:
    """Return one build of a source, loaded."""
    flags, libraries = BUILDS[build]
    link = linked(pinocchio_prefix() / "lib", *libraries, "boost_serialization")
    command = ["g++", *flags, *SEPARATE, "-fopenmp", *pinocchio_flags(workshop)]
    command += ["-Wl,--no-as-needed", *link]
    included = [path.read_text() for path in (GRAPHS / "model.hpp", HERE / "prepared.hpp")]
    path = workshop.compile(f"{name}_{build}.so", source, command, *included)
    loaded = ctypes.CDLL(str(path))
    loaded.load.argtypes, loaded.load.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    loaded.choose.argtypes, loaded.choose.restype = [ctypes.c_void_p], None
    return loaded


def choose(workshop: Workshop, case: Case, loaded: ctypes.CDLL) -> ctypes.CDLL:
    """Let the functions of a build compute this robot until another one is chosen."""
    loaded.choose(loaded.load(bytes(model_file(workshop, case)), THREADS))
    return loaded


def competitors(workshop: Workshop, case: Case, quantity: str) -> list[Competitor]:
    """Return the functions of one state for a quantity: both builds, each convention."""
    order = replace(case.order, by_columns=True)
    found: list[Competitor] = []
    for build in BUILDS:
        loaded = choose(workshop, case, library(workshop, build))
        for convention in ("local", "world"):
            function = getattr(loaded, f"{quantity}_{convention}", None)
            address = ctypes.cast(function, ctypes.c_void_p).value if function else None
            if address:
                variant = f"{build}, {convention}"
                found.append(Competitor(TITLE, variant, address, order, keep=loaded))
    return found


def batch(workshop: Workshop, case: Case, states: States, build: str, threads: int = 1) -> Batch:
    """Return inverse dynamics of a whole batch by one build; `states` are in its order."""
    loaded = choose(workshop, case, library(workshop, build))
    pointers = [ctypes.c_void_p] * 4
    loaded.inverse_dynamics_batch.argtypes = [ctypes.c_long, ctypes.c_int, *pointers]
    loaded.inverse_dynamics_batch.restype = None
    out = np.zeros_like(states.qd)
    given = [array.ctypes.data for array in (states.q, states.qd, states.qdd, out)]
    return Batch(lambda: loaded.inverse_dynamics_batch(len(states), threads, *given), out)
