"""From a robot file to the first result: seconds in a fresh interpreter, imports included.

Beside them stands the time from the call of `load` on, when everything is imported and the store is
open. Bytecode is kept, as it is for packages that are installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

from speed_peers import casadi_c
from speed_peers.build import Workshop
from speed_peers.cases import Case
from speed_peers.measure import Timing, in_turn
from speed_peers.ours import ours_of

PINOCCHIO = """
import pinocchio as pin
free = [pin.JointModelFreeFlyer()] if {floating} else []
model = pin.buildModelFromUrdf({path!r}, *free)
v = pin.utils.zero(model.nv)
pin.rnea(model, model.createData(), pin.neutral(model), v, v)
"""
COLD, STORED, NOTHING = "chainform, cold", "chainform, from the store", "interpreter alone"
LOADED = "chainform, load to result"
TITLES = (NOTHING, "pinocchio", COLD, STORED, LOADED)
HEADER = ("robot", *(f"{title}, s" for title in TITLES), "CasADi: make C + compile, s")


def rows(workshop: Workshop, cases: Sequence[Case], rounds: int) -> Iterator[Sequence[str]]:
    """Go through robots."""
    for case in cases:
        bytecode = workshop.folder / "bytecode"
        measures = {(title, ""): _timer(text, bytecode) for title, text in scripts(case).items()}
        taken = in_turn(measures, rounds)
        made, compiled = casadi_c.build_seconds(workshop, case, "inverse_dynamics")
        seconds = [_seconds(taken.get(title), title) for title in TITLES]
        yield [case.name, *seconds, f"{made:.1f} + {compiled:.1f}"]


def scripts(case: Case) -> dict[str, str]:
    """Return the programs to time."""
    floating = case.robot.base == "floating"
    found = {NOTHING: "", "pinocchio": PINOCCHIO.format(path=str(case.path), floating=floating)}
    for title in (COLD, STORED):
        found[title] = ours_of(case).start_script(stored=title == STORED)
    found[LOADED] = ours_of(case).load_script()
    return found


def _timer(text: str, bytecode: Path) -> Callable[[], float]:
    """Return a function that runs a program; one that prints a time has measured itself."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", text]

    def measure() -> float:
        start = perf_counter()
        ran = subprocess.run(
            command, check=True, env=environment, stdout=subprocess.PIPE, text=True
        )
        return float(ran.stdout or perf_counter() - start)

    return measure


def _seconds(timing: Timing | None, title: str) -> str:
    if timing is None:
        return "-"
    return f"{timing.best:.3f}" if title == LOADED else f"{timing.best:.2f}"
