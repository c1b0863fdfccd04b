"""Derivatives, how fast: `python benchmarks/derivatives.py [--quick] [--robots UR5,Panda]`.

Three tables: derivatives of inverse dynamics by q, qd and qdd; derivatives of forward dynamics by
q, qd and tau; all second derivatives of inverse dynamics, as the entries that are not zero and as
products with a vector. Derivatives by q are tangent. Peers are the C that CasADi generates
from Pinocchio's algorithms, and Pinocchio itself in C++. All see the same numbers, and every result
is compared with Pinocchio before it is timed. Competitors take turns; the best time of each counts;
a ratio is followed by its range over the rounds.

The peers are built once, into benchmarks/.cache or --cache; this takes an hour and needs g++.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from derivative_peers import casadi_c, pinocchio_cpp  # noqa: E402
from derivative_peers.ours import TITLE, Ours, ours  # noqa: E402
from derivative_peers.pinocchio_cpp import BUILDS  # noqa: E402
from derivative_peers.quantities import QUANTITIES, verify  # noqa: E402
from speed import chosen  # noqa: E402
from speed_peers import machine  # noqa: E402
from speed_peers.build import DEFAULT_CACHE, Workshop  # noqa: E402
from speed_peers.cases import NAMES, Case, case_of  # noqa: E402
from speed_peers.measure import Competitor, Loop, Timing, in_turn  # noqa: E402

STATES = 100
CHECKED = 4

MADE = ("derive, s", "reduce, s", "compile, s", "code, kB")
FIRST = (
    "robot",
    f"{TITLE}, mul / add",
    "CasADi, mul / add",
    f"{TITLE}, ns",
    "CasADi C, ns",
    "Pinocchio C++, ns",
    f"CasADi C / {TITLE}",
    f"Pinocchio C++ / {TITLE}",
    *MADE,
    "CasADi: make C + compile, s",
)
SECOND = (
    "robot",
    "as",
    "numbers",
    f"{TITLE}, mul / add",
    f"{TITLE}, ns",
    "Pinocchio C++, ns",
    f"Pinocchio C++ / {TITLE}",
    *MADE,
)
TITLES = {
    "inverse_dynamics": "Inverse dynamics by q, qd, qdd",
    "forward_dynamics": "Forward dynamics by q, qd, tau",
    "second_order": "Second derivatives of inverse dynamics",
}
TIMES = (
    "Nanoseconds are time of the processor; seconds are of the clock, with all that runs beside."
)
NOTE = """\
By q and q, qd and qd, q and qd, qdd and q, all four at once. `entries` are those that are not zero
for every state. `weights` and `direction` are the four matrices that remain when the results, or
the last index, are multiplied by a vector; Pinocchio has no such function, and its time is that of
the whole tensors, without the products."""


@dataclass(frozen=True)
class Bench:
    """How long is measured, and with what."""

    workshop: Workshop
    loop: Loop
    builds: Sequence[str]
    """Of Pinocchio."""
    rounds: int
    turn: int
    """Milliseconds of a turn."""

    def timings(
        self, case: Case, quantity: str, own: Ours, peers: Sequence[Competitor]
    ) -> dict[str, Timing]:
        """Check all competitors and let them take turns."""
        measures: dict[tuple[str, str], Callable[[], float]] = {}
        for each in (*peers, own.competitor):
            is_own = each is own.competitor
            name = quantity if is_own else _computed_by_peers(quantity)
            size = own.size if is_own else QUANTITIES[name].size(case.mechanism.nv)
            few = case.states(CHECKED, seed=1)
            found = self.loop.values(each, name, few, size)
            verify(case, f"{each.title} ({each.variant})", name, found, few)
            timer = self.loop.timer(each, name, case.states(STATES), size, self.turn)
            measures[each.title, each.variant] = timer
        return in_turn(measures, self.rounds)


def _computed_by_peers(quantity: str) -> str:
    """Return the quantity that the peers compute instead."""
    return "entries" if QUANTITIES[quantity].peer == "second_order" else quantity


def first_row(bench: Bench, case: Case, quantity: str) -> list[str]:
    """Return the row of one robot: first derivatives."""
    own = ours(case, quantity)
    casadi = casadi_c.peers(bench.workshop, case, quantity)
    pinocchio = pinocchio_cpp.competitors(bench.workshop, case, quantity, bench.builds)
    peers = [*(peer.competitor for peer in casadi.values()), *pinocchio]
    taken = bench.timings(case, quantity, own, peers)
    theirs = taken[casadi_c.TITLE]
    faster = casadi[theirs.variant]
    made, compiled = faster.seconds
    return [
        case.name,
        own.operations,
        faster.operations,
        *(_time(taken[title]) for title in (TITLE, casadi_c.TITLE, pinocchio_cpp.TITLE)),
        theirs.per(taken[TITLE]),
        taken[pinocchio_cpp.TITLE].per(taken[TITLE]),
        *_made(own),
        f"{made:.1f} + {compiled:.1f}",
    ]


def second_row(bench: Bench, case: Case, form: str) -> list[str]:
    """Return the row of one robot: second derivatives in one form."""
    own = ours(case, form)
    peers = pinocchio_cpp.competitors(bench.workshop, case, "second_order", bench.builds)
    taken = bench.timings(case, form, own, peers)
    return [
        case.name,
        form,
        str(own.size),
        own.operations,
        *(_time(taken[title]) for title in (TITLE, pinocchio_cpp.TITLE)),
        taken[pinocchio_cpp.TITLE].per(taken[TITLE]),
        *_made(own),
    ]


def _time(timing: Timing) -> str:
    return f"{timing.best:.0f} ({timing.variant})" if timing.variant else f"{timing.best:.0f}"


def _made(own: Ours) -> list[str]:
    return [*(f"{seconds:.1f}" for seconds in own.seconds), f"{own.code / 1000:.0f}"]


def rows(
    bench: Bench, robots: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Return table and row, robot by robot."""
    for case in map(case_of, robots):
        for quantity, each in QUANTITIES.items():
            if each.peer in names:
                make = second_row if each.peer == "second_order" else first_row
                yield each.peer, make(bench, case, quantity)


def page(measured_on: Sequence[str], found: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """Return the tables with the rows that there are."""
    command = " ".join(["python benchmarks/derivatives.py", *sys.argv[1:]])
    lines = ["# Speed of derivatives", "", f"Made by `{command}`.", "", *measured_on, "", TIMES]
    for name, table_rows in found.items():
        is_second = name == "second_order"
        header = SECOND if is_second else FIRST
        lines += ["", f"## {TITLES[name]}", "", *(NOTE.splitlines() if is_second else ()), ""]
        lines += [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *table_rows)]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def main() -> None:
    """Print the rows, and write the tables where asked, again with each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", default="", help=f"some of {','.join(NAMES)}")
    parser.add_argument("--tables", default="", help=f"some of {','.join(TITLES)}")
    parser.add_argument("--builds", default="", help=f"of Pinocchio, some of {','.join(BUILDS)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--write", type=Path, help="write a page as well")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where peers are built")
    given = parser.parse_args()
    robots, names = chosen(given.robots, tuple(NAMES)), chosen(given.tables, tuple(TITLES))
    workshop = Workshop(given.cache.resolve())
    rounds, turn = (3, 10) if given.quick else (7, 200)
    measured_on = machine.lines()
    print("\n".join([*measured_on, ""]), flush=True)
    bench = Bench(workshop, Loop(workshop), chosen(given.builds, BUILDS), rounds, turn)
    found: dict[str, list[list[str]]] = {name: [] for name in TITLES if name in names}
    for name, row in rows(bench, robots, names):
        found[name].append(row)
        print(f"| {TITLES[name]} | {' | '.join(row)} |", flush=True)
        if given.write:
            given.write.write_text(page(measured_on, found))


if __name__ == "__main__":
    main()
