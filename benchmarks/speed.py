"""How fast: `python benchmarks/speed.py [--quick] [--robots UR5,Panda] [--write FILE.md]`.

Four tables: one state at a time, in a compiled loop; batches of 100,000 states of inverse dynamics
on one core and on two; one state called from Python; seconds from a robot file, or from the store,
to the first result. Beside chainform stand the C that CasADi generates from the graphs of
Pinocchio's algorithms, and Pinocchio itself in C++. All see the same numbers, and every result is
compared with Pinocchio before it is timed. Competitors take turns; the best time of each counts; a
ratio is followed by its range over the rounds.

The peers are built once, into benchmarks/.cache or --cache; this takes many minutes and needs g++.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from operations import table  # noqa: E402
from speed_peers import batches, machine, single, startup  # noqa: E402
from speed_peers.build import DEFAULT_CACHE, Workshop  # noqa: E402
from speed_peers.cases import NAMES, QUANTITIES, Case, case_of  # noqa: E402

TABLES = ("single", "batch", "call", "startup")
BATCH_ROBOTS = ("UR5", "Panda")


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    robots: Sequence[str]
    quantities: Sequence[str]
    tables: Sequence[str]
    quick: bool

    @property
    def rounds(self) -> int:
        """Return how often competitors take turns."""
        return 3 if self.quick else 7

    @property
    def turn(self) -> int:
        """Return the milliseconds of a turn."""
        return 10 if self.quick else 200


def sections(workshop: Workshop, options: Options) -> Iterator[str]:
    """Return the lines of all tables that are asked for, each printed when it is there."""
    cases = [case_of(name) for name in options.robots]
    for name in options.tables:
        title, header, rows = section(name, workshop, cases, options)
        print(f"## {title}\n", flush=True)
        yield from [f"## {title}", "", *table(header, rows)]


def section(
    name: str, workshop: Workshop, cases: Sequence[Case], options: Options
) -> tuple[str, Sequence[str], Iterator[Sequence[str]]]:
    """Return title, header and rows of one table."""
    rounds, quantities = options.rounds, options.quantities
    match name:
        case "single":
            found = single.rows(workshop, cases, quantities, rounds, options.turn)
            return "One state, in a compiled loop", single.HEADER, found
        case "batch":
            arms = [case for case in cases if case.name in BATCH_ROBOTS]
            title = "Inverse dynamics of 100,000 states"
            return title, batches.HEADER, batches.rows(workshop, arms, rounds)
        case "call":
            found = single.call_rows(workshop, cases, quantities, rounds)
            return "One state, called from Python", single.CALL_HEADER, found
        case _:
            title = "From the file of a robot to the first result"
            return title, startup.HEADER, startup.rows(workshop, cases, rounds)


def chosen(text: str, known: Sequence[str]) -> Sequence[str]:
    """Return the words of a list with commas, if all are known; all that are known if empty."""
    words = text.split(",") if text else list(known)
    unknown = [word for word in words if word not in known]
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: not one of {', '.join(known)}")
    return words


def main() -> None:
    """Print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", default="", help=f"some of {','.join(NAMES)}")
    parser.add_argument("--quantities", default="", help=f"some of {','.join(QUANTITIES)}")
    parser.add_argument("--tables", default="", help=f"some of {','.join(TABLES)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--write", type=Path, help="write a page as well")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where peers are built")
    given = parser.parse_args()
    options = Options(
        chosen(given.robots, tuple(NAMES)),
        chosen(given.quantities, QUANTITIES),
        chosen(given.tables, TABLES),
        given.quick,
    )
    measured_on = machine.lines()
    print("\n".join([*measured_on, ""]), flush=True)
    lines = list(sections(Workshop(given.cache.resolve()), options))
    if given.write:
        intro = ["# Speed", "", "Made by `python benchmarks/speed.py`.", "", *measured_on, ""]
        given.write.write_text("\n".join([*intro, *lines]) + "\n")


if __name__ == "__main__":
    main()
