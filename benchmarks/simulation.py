"""Motion: `python benchmarks/simulation.py [--quick] [--only swing,drift] [--write FILE.md]`.

How fast and how exactly motions are computed, beside scipy, Pinocchio and MuJoCo. Competitors take
turns in one run, seconds are those of one thread, and the best of several rounds counts; a ratio is
followed by its range over the rounds. What is compared in time is compared in its results first.

Peers are built once, into benchmarks/.cache or --cache: the loops over Pinocchio need g++, and
MuJoCo, which is not among the packages that chainform installs, is put there by pip.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from rich.console import Console  # noqa: E402
from simulation_peers import batches, closures, compiling, drift, papers, swing  # noqa: E402
from simulation_peers.mujoco_peer import PACKAGES  # noqa: E402
from simulation_peers.report import Section  # noqa: E402
from speed_peers import machine  # noqa: E402
from speed_peers.build import DEFAULT_CACHE, Workshop  # noqa: E402
from speed_peers.cases import case_of  # noqa: E402

EXAMPLES = HERE.parent / "examples"


def sections(workshop: Workshop, rounds: int) -> dict[str, Callable[[], Section]]:
    """Return what makes each table, by name."""
    case = case_of("UR5")
    files = {
        "UR5": case.path,
        "six_axis_arm": EXAMPLES / "six_axis_arm.toml",
        "four_bar": EXAMPLES / "four_bar.toml",
    }
    return {
        "swing": lambda: swing.section(case, rounds),
        "batches": lambda: batches.section(workshop, case, rounds),
        "drift": lambda: drift.section(case),
        "symplectic": lambda: drift.symplectic_section(case),
        "closures": closures.section,
        "paper": lambda: papers.section(rounds),
        "compiling": lambda: compiling.section(files),
    }


def main() -> None:
    """Print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="some of the tables, with commas between")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--write", type=Path, help="write a page as well")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where peers are built")
    given = parser.parse_args()
    made = sections(Workshop(given.cache.resolve()), 3 if given.quick else 15)
    names = given.only.split(",") if given.only else list(made)
    unknown = [name for name in names if name not in made]
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: not one of {', '.join(made)}")
    measured_on = [*machine.lines(("scipy",)), f"- {', '.join(PACKAGES).replace('==', ' ')}"]
    console = Console()
    console.print("\n".join(measured_on), highlight=False)
    found: list[Section] = []
    for name in names:
        found.append(made[name]())
        found[-1].show(console)
    if given.write:
        intro = [
            "# Simulation",
            "",
            "Made by `python benchmarks/simulation.py`.",
            "",
            *measured_on,
            "",
        ]
        lines = [line for section in found for line in section.lines()]
        given.write.write_text("\n".join([*intro, *lines]))


if __name__ == "__main__":
    main()
