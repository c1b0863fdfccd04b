"""Exported functions: `python benchmarks/languages.py [--robots UR5,Panda] [--write FILE.md]`.

One state in a compiled loop: C as it is exported, built by gcc and by clang, beside our machine
code and the C that CasADi generates from Pinocchio's algorithms. All results are compared with
Pinocchio before they are timed. Competitors take turns; the best time of each counts.

CasADi's C is built once, into benchmarks/.cache or --cache; this needs g++.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from operations import table  # noqa: E402
from speed_peers import casadi_c, machine  # noqa: E402
from speed_peers.build import DEFAULT_CACHE, Workshop  # noqa: E402
from speed_peers.cases import NAMES, Case, case_of  # noqa: E402
from speed_peers.measure import STATES, Competitor, Loop, in_turn  # noqa: E402
from speed_peers.ours import ARGUMENTS, TITLE, ours_of  # noqa: E402

import chainform as cf  # noqa: E402

FLAGS = ("-std=c99", "-O3", "-march=native", "-ffp-contract=fast", "-fno-tree-slp-vectorize")
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
HEADER = (
    *("robot", "quantity", "competitor", "compile, s", "code, kB", "ns"),
    *(f"/ {TITLE}", f"/ {casadi_c.TITLE}"),
)


def exported(case: Case, quantity: str, compiler: str) -> tuple[Competitor, float, int]:
    """Return exported C as a competitor, the seconds of its compilation, and the bytes of code."""
    folder = Path(tempfile.mkdtemp(prefix="chainform-languages-"))
    model = cf.derive(case.mechanism, [quantity], without=("friction",)).reduce()
    model.export("c", folder / "c", name="robot")
    source, library = folder / "c" / "robot.c", folder / "robot.so"
    start = perf_counter()
    command = [compiler, *FLAGS, "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    seconds = perf_counter() - start
    loaded = ctypes.CDLL(str(library))
    address = ctypes.cast(loaded[f"robot_{quantity}"], ctypes.c_void_p).value or 0
    arguments = ARGUMENTS[quantity]
    title, order = f"C, {compiler}", case.own_order
    found = Competitor(title, "", address, order, arguments=arguments, keep=loaded)
    return found, seconds, library.stat().st_size


def rows(
    workshop: Workshop, cases: Sequence[Case], quantities: Sequence[str], rounds: int
) -> Iterator[Sequence[str]]:
    """Check and time all competitors of each robot and quantity."""
    loop = Loop(workshop)
    for case in cases:
        for quantity in quantities:
            size, states = case.size(quantity), case.states(STATES)
            facts = {TITLE: ("-", "-"), casadi_c.TITLE: ("-", "-")}
            all_of_them = [ours_of(case).competitor(quantity)]
            all_of_them += casadi_c.competitors(workshop, case, quantity)
            for compiler in ("gcc", "clang"):
                own, seconds, length = exported(case, quantity, compiler)
                all_of_them.append(own)
                facts[own.title] = (f"{seconds:.1f}", f"{length / 1000:.0f}")
            measures: dict[tuple[str, str], Callable[[], float]] = {}
            for each in all_of_them:
                found = loop.values(each, quantity, case.few, size)
                case.verify(f"{each.title} ({each.variant})", quantity, found)
                measures[each.title, each.variant] = loop.timer(each, quantity, states, size, 50)
            taken = in_turn(measures, rounds)
            for title, timing in taken.items():
                ratios = [timing.per(taken[other]) for other in (TITLE, casadi_c.TITLE)]
                time = f"{timing.best:.0f}"
                yield [case.name, quantity, title, *facts[title], time, *ratios]


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", default="UR5,Panda", help=f"some of {','.join(NAMES)}")
    parser.add_argument("--quantities", default=",".join(QUANTITIES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", type=Path, help="write a page as well")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where peers are built")
    given = parser.parse_args()
    cases = [case_of(name) for name in given.robots.split(",")]
    measured_on = machine.lines()
    print("\n".join([*measured_on, ""]), flush=True)
    workshop = Workshop(given.cache.resolve())
    lines = table(HEADER, rows(workshop, cases, given.quantities.split(","), given.rounds))
    if given.write:
        intro = ["# Exported C", "", "Made by `python benchmarks/languages.py`.", ""]
        given.write.write_text("\n".join([*intro, *measured_on, "", *lines]) + "\n")


if __name__ == "__main__":
    main()
