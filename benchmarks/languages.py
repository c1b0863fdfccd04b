"""Exported functions: `python benchmarks/languages.py [--models UR5,Panda] [--write FILE.md]`.

Two tables. The first has every language that runs here, model by model: deviation from `evaluate`,
seconds of the compiler, time per call of one state. Compiled languages are called in one compiled
loop, scripts have loops of their own; beside them are our machine code and the C that CasADi
generates from Pinocchio's algorithms. Competitors take turns; times and ratios are medians over the
rounds, a ratio is followed by its range. The second has inverse dynamics on bare machines under
qemu: bytes, and instructions that a call executes.

CasADi's C is built once, into benchmarks/.cache or --cache; this needs g++.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from language_peers import embedded, in_python, interpreted, native  # noqa: E402
from language_peers.subjects import SUBJECTS, Subject  # noqa: E402
from operations import table  # noqa: E402
from speed_peers import casadi_c, machine  # noqa: E402
from speed_peers.build import DEFAULT_CACHE, Workshop  # noqa: E402
from speed_peers.measure import Timing, in_turn  # noqa: E402
from speed_peers.ours import TITLE  # noqa: E402

LARGEST_DEVIATION = 1e-11
HEADER = (
    *("model", "language", "deviation", "compile, s", "ns"),
    *(f"/ {TITLE}", f"/ {casadi_c.TITLE}"),
)
NOTE = """\
`chainform` is our machine code in memory. gcc, clang, g++ and gfortran have the options {flags}.
Deviations are from `evaluate`, at 16 states, relative to the largest entry: 2e-16 is a few units of
the last place, the rounding of both sides. One state of NumPy and JAX is a call from Python; a
batch has 1,000 states, and its time is divided by 1,000. The virtual machine of CasADi is called
through buffers. `compile` of JAX is its first call. CUDA C++ is a matter of the tests.

Times and ratios are medians over rounds in which all take turns; ranges are in brackets.
Nanoseconds of compiled languages are time of the processor; other times are of the clock, with all
that runs on the machine."""
ON_BOARDS = """\
Inverse dynamics of `examples/six_axis_arm.toml`, reduced: {count}. Built by clang -O2 and run by
qemu, which writes down every instruction and the stack pointer. The code has no branches but for
angles beyond 1e5 in size: the longest path is that of a state in which all sines are of the number
that is nearest to a multiple of a quarter turn. On a Cortex-M most constants lie in the code."""


def rows(workshop: Workshop, subjects: Sequence[Subject], rounds: int) -> Iterator[Sequence[str]]:
    """Check and time all languages, model by model."""
    for subject in subjects:
        found = [
            *native.entries(workshop, subject),
            *interpreted.entries(subject),
            *in_python.entries(subject),
        ]
        for entry in found:
            if not subject.deviation(entry.found) <= LARGEST_DEVIATION:
                deviation = subject.deviation(entry.found)
                raise SystemExit(f"{entry.title}, {subject.title}: deviates by {deviation:.0e}")
        taken = in_turn({(e.title, e.variant): e.timer for e in found}, rounds)
        for title, timing in taken.items():
            entry = next(e for e in found if (e.title, e.variant) == (title, timing.variant))
            seconds = "-" if entry.compiled is None else f"{entry.compiled:.2f}"
            others = [taken.get(other) for other in (TITLE, casadi_c.TITLE)]
            ratios = [_ratio(timing, other) if other else "-" for other in others]
            deviation = f"{subject.deviation(entry.found):.0e}"
            yield [
                subject.title,
                title,
                deviation,
                seconds,
                f"{median(timing.rounds):,.0f}",
                *ratios,
            ]


def _ratio(timing: Timing, other: Timing) -> str:
    """Return the median over the rounds, and the range.

    The clock of a processor may jump for one competitor and not for the next, so that the best
    times of two are not of the same clock; those of most rounds are.
    """
    each = [mine / theirs for mine, theirs in zip(timing.rounds, other.rounds, strict=True)]
    return f"{median(each):.2f} ({min(each):.2f}-{max(each):.2f})"


def main() -> None:
    """Print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(SUBJECTS), help="some of the default")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--embedded", action="store_true", help="bare machines only")
    parser.add_argument("--write", type=Path, help="write a page as well")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where peers are built")
    given = parser.parse_args()
    measured_on = machine.lines(["jax"])
    print("\n".join([*measured_on, ""]), flush=True)
    arm = embedded.model()
    on_boards = table(embedded.HEADER, embedded.rows(arm))
    if given.embedded:
        return
    subjects = [SUBJECTS[name]() for name in given.models.split(",")]
    lines = table(HEADER, rows(Workshop(given.cache.resolve()), subjects, given.rounds))
    if given.write:
        command = " ".join(["python benchmarks/languages.py", *sys.argv[1:]])
        page = ["# Languages", "", f"Made by `{command}`.", "", *measured_on, ""]
        page += ["## Models", "", NOTE.format(flags=f"`{' '.join(native.GNU)}`"), "", *lines]
        page += ["## Bare machines", "", ON_BOARDS.format(count=arm.count()), "", *on_boards]
        given.write.write_text("\n".join(page).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
