"""How few operations: `python benchmarks/operations.py [--deep] [--write FILE.md]`.

Four tables: the reference cases beside published counts and prototypes; the same cases beside FORM,
Symbolica, SymPy and CasADi, which get the outputs multiplied out; arms with symbolic parameters
beside OpenSYMORO; robots beside the CasADi graphs of Pinocchio's algorithms
(benchmarks/data/casadi_counts.json). Counts are multiplications/additions of the emitted Python
program, read from its text; sines, cosines, sums of angles and other calls are always shown beside
them. Every model is compared with Pinocchio before its row is printed, every result of a peer with
the polynomials that it was given. A peer that is not installed ends the program, which says how to
get it or to leave it out (`--without`).
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
from counting.polynomials import PEERS, peer_count  # noqa: E402
from counting.robot_files import QUANTITIES, ROBOTS, Robot, find, read  # noqa: E402
from counting.symbolic_arms import mechanism_of  # noqa: E402
from counting.sympy_baseline import FORMS, sympy_count  # noqa: E402

CASADI = HERE / "data" / "casadi_counts.json"
INTRO = """# Operations

Made by `python benchmarks/operations.py`. Counts are multiplications/additions; each model was
compared with Pinocchio first.

FORM, Symbolica and CasADi get the outputs multiplied out, and what they write is compared with
these polynomials. Seconds are wall-clock seconds; what `fast` takes in processor time is in
[decision 24](../docs/decisions/0024-windows.md), searches (`deep`) are in
[reductions](../docs/reduction.md).
"""


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    only: str
    deep: bool
    budget: str
    seed: int
    peer_seconds: float
    peers: tuple[str, ...]

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
    known = (case.published, case.greedy, case.searched, case.goal)
    given = {"parameters": case.parameters, "sine_cost": case.sine_cost}
    reduced = [
        text_of(count(mechanism, case.outputs, effort, **given, **options.of(effort)))
        for effort in options.efforts()
    ]
    return [case.title, *known, plain.text, *reduced]


# --- peers that get polynomials -------------------------------------------------------------


def peer_rows(options: Options) -> Iterator[Sequence[str]]:
    """Go through the reference cases again, for the peers that get polynomials."""
    for key, case in CASES.items():
        if options.takes(key):
            mechanism = cf.read(DATA / f"{case.file}.json")
            given = {"parameters": case.parameters, "sine_cost": case.sine_cost}
            plain = count(mechanism, case.outputs, "none", parameters=case.parameters)
            assert plain is not None
            graph, seconds = plain.model.graph, options.peer_seconds
            theirs = [peer_count(graph, peer, seconds) for peer in options.peers]
            theirs += [sympy_count(graph, form, seconds) for form in FORMS]
            yield [case.title, *theirs, text_of(count(mechanism, case.outputs, "fast", **given))]


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
    """Return the lines of the four tables."""
    ours = [f"`{effort}`" for effort in ("none", *options.efforts())]
    known = ["published", "greedy prototype", "searching prototype", "goal"]
    peers = [PEERS[peer].title for peer in options.peers]
    peers += ["`sympy.cse`, multiplied out", "`sympy.cse`, on `none`"]
    symoro = ["OpenSYMORO, all", "OpenSYMORO, base"]
    casadi = ["CasADi, numbers of the file", "CasADi, our numbers"]
    return [
        *table(["case", *known, *ours], reference_rows(options)),
        *table(["case", *peers, "`fast`"], peer_rows(options)),
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
    parser.add_argument("--peer-seconds", type=float, default=120, help="limit of a peer (120)")
    parser.add_argument("--without", nargs="+", default=[], choices=PEERS, help="peers left out")
    parser.add_argument("--write", type=Path, help="write a page as well")
    given = parser.parse_args()
    peers = tuple(peer for peer in PEERS if peer not in given.without)
    for peer in peers:
        if not PEERS[peer].is_there():
            parser.error(f"{peer} is missing: {PEERS[peer].remedy}, or give --without {peer}")
    search = (given.only, given.deep, given.budget, given.seed)
    options = Options(*search, given.peer_seconds, peers)
    lines = tables(options)
    if given.write:
        given.write.write_text("\n".join([INTRO, *lines]) + "\n")


if __name__ == "__main__":
    main()
