"""How few operations: `python benchmarks/operations.py [--deep] [--write FILE.md]`.

Three tables: the reference cases beside published counts, prototypes and `sympy.cse`; arms with
symbolic parameters beside OpenSYMORO; robots beside the CasADi graphs of Pinocchio's algorithms
(benchmarks/data/casadi_counts.json). Counts are multiplications/additions of the emitted Python
program, read from its text; sines, cosines, sums of angles and other calls are always shown beside
them. Every model is compared with Pinocchio before its row is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import chainform as cf

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from counting.cases import CASES, DATA, SYMBOLIC, Case, SymbolicCase  # noqa: E402
from counting.efforts import count, text_of  # noqa: E402
from counting.robot_files import QUANTITIES, ROBOTS, Robot, find, read  # noqa: E402
from counting.symbolic_arms import mechanism_of  # noqa: E402
from counting.sympy_baseline import FORMS, sympy_count  # noqa: E402

CASADI = HERE / "data" / "casadi_counts.json"


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    only: str
    deep: bool
    budget: str
    seed: int
    sympy_seconds: float

    def takes(self, key: str) -> bool:
        """Whether a row is wanted."""
        return self.only in ("", key)

    def efforts(self) -> tuple[str, ...]:
        """Return the efforts of reduction that are counted beside `none`."""
        return ("fast", "deep") if self.deep else ("fast",)

    def of(self, effort: str) -> dict[str, object]:
        """Return the options of a reduction by an effort."""
        return {"budget": self.budget, "seed": self.seed} if effort == "deep" else {}


def table(header: Sequence[str], rows: Iterator[Sequence[str]]) -> list[str]:
    """Return the lines of a table, none where it has no rows; each is printed when it is there."""
    lines: list[str] = []
    for row in rows:
        new = [f"| {' | '.join(row)} |"]
        if not lines:
            new = [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *new]
        print("\n".join(new), flush=True)
        lines += new
    if lines:
        print()
    return [*lines, ""]


# --- reference cases ------------------------------------------------------------------------


def reference_rows(options: Options) -> Iterator[Sequence[str]]:
    """Go through the reference cases."""
    for key, case in CASES.items():
        if options.takes(key):
            yield reference_row(case, options)


def reference_row(case: Case, options: Options) -> Sequence[str]:
    """Derive, verify and count one case."""
    mechanism = cf.read(DATA / f"{case.file}.json")
    plain = count(mechanism, case.outputs, "none", parameters=case.parameters)
    assert plain is not None
    baselines = [sympy_count(plain.model.graph, form, options.sympy_seconds) for form in FORMS]
    known = (case.published, case.greedy, case.searched, case.goal, *baselines)
    given = {"parameters": case.parameters, "sine_cost": case.sine_cost}
    reduced = [
        text_of(count(mechanism, case.outputs, effort, **given, **options.of(effort)))
        for effort in options.efforts()
    ]
    return [case.title, *known, plain.text, *reduced]


# --- symbolic parameters --------------------------------------------------------------------


def symbolic_rows(options: Options) -> Iterator[Sequence[str]]:
    """Go through the arms with symbolic parameters."""
    for key, case in SYMBOLIC.items():
        if options.takes(key):
            yield symbolic_row(case, options)


def symbolic_row(case: SymbolicCase, options: Options) -> Sequence[str]:
    """Derive, verify and count one arm."""
    mechanism = mechanism_of(case)
    counted = [
        text_of(count(mechanism, case.outputs, effort, parameters="symbolic", **options.of(effort)))
        for effort in ("none", *options.efforts())
    ]
    inertias = "diagonal" if case.diagonal else "full"
    return [case.title, ", ".join(case.outputs), inertias, case.everything, case.base, *counted]


# --- robots ---------------------------------------------------------------------------------


def robot_rows(options: Options) -> Iterator[Sequence[str]]:
    """Go through robots and quantities."""
    for key, robot in ROBOTS.items():
        if options.takes(key):
            yield from rows_of(key, robot, options)


def rows_of(key: str, robot: Robot, options: Options) -> Iterator[Sequence[str]]:
    """Derive, verify and count the quantities of one robot."""
    casadi = json.loads(CASADI.read_text())["counts"].get(key, {})
    path = find(robot)
    if path is None:
        yield [robot.title, f"needs the package {robot.package}", *[""] * (4 + options.deep)]
        return
    mechanism = read(robot, path)
    for quantity in QUANTITIES:
        counts = [casadi.get(numbers, {}).get(quantity) for numbers in ("file", "snapped")]
        theirs = [f"{c['multiplications']}/{c['additions']}" if c else "" for c in counts]
        ours = [
            text_of(count(mechanism, [quantity], effort, **options.of(effort)))
            for effort in ("none", *options.efforts())
        ]
        yield [robot.title, quantity, *theirs, *ours]


# --- the command ----------------------------------------------------------------------------


def tables(options: Options) -> list[str]:
    """Return the lines of the three tables."""
    ours = [f"`{effort}`" for effort in ("none", *options.efforts())]
    known = ["published", "greedy prototype", "searching prototype", "goal"]
    known += ["`sympy.cse`, multiplied out", "`sympy.cse`, on `none`"]
    symoro = ["OpenSYMORO, all", "OpenSYMORO, base"]
    casadi = ["CasADi, numbers of the file", "CasADi, our numbers"]
    return [
        *table(["case", *known, *ours], reference_rows(options)),
        *table(["arm", "output", "inertias", *symoro, *ours], symbolic_rows(options)),
        *table(["robot", "output", *casadi, *ours], robot_rows(options)),
    ]


def main() -> None:
    """Print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    keys = [*CASES, *SYMBOLIC, *ROBOTS]
    parser.add_argument("--only", default="", choices=keys, metavar="ROW", help=", ".join(keys))
    parser.add_argument("--deep", action="store_true", help="search, too")
    parser.add_argument("--budget", default="5m", help="time for each search (5m)")
    parser.add_argument("--seed", type=int, default=0, help="of the search (0)")
    parser.add_argument("--sympy-seconds", type=float, default=60, help="limit of sympy.cse (60)")
    parser.add_argument("--write", type=Path, help="write a page as well")
    given = parser.parse_args()
    options = Options(given.only, given.deep, given.budget, given.seed, given.sympy_seconds)
    lines = tables(options)
    if given.write:
        intro = "# Operations\n\nMade by `python benchmarks/operations.py`. Counts are "
        intro += "multiplications/additions; each model was compared with Pinocchio first.\n\n"
        given.write.write_text(intro + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
