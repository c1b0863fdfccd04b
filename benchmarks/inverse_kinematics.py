"""Inverse kinematics: `python benchmarks/inverse_kinematics.py [--write FILE.md] [--count 1000]`.

Random reachable poses of six arms, each by chainform, by Pinocchio's damped least squares (the loop
of its documentation, in Python and in C++, and a C++ loop with whole steps and random starts) and
by the Robotics Toolbox (ik_LM, compiled). All in one run; every answer is checked by Pinocchio's
forward kinematics and by the limits. The toolbox is put into benchmarks/.cache by pip.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

from kinematics_peers import peers  # noqa: E402
from kinematics_peers.cases import ARMS, POSITION, ROTATION, Arm, arm  # noqa: E402
from rich.console import Console  # noqa: E402
from simulation_peers.report import Section, seconds  # noqa: E402
from speed_peers import machine  # noqa: E402
from speed_peers.build import DEFAULT_CACHE, Workshop  # noqa: E402

import chainform as cf  # noqa: E402

SLOW = 100
"""Targets of what takes long for each, of as many as wanted."""


def competitors(
    workshop: Workshop, robot: Arm
) -> dict[str, tuple[Callable[[], peers.Solve], bool]]:
    """Return what makes each competitor, and whether it takes long for each target."""
    return {
        "chainform, all in one call": (lambda: peers.ours(robot), False),
        "chainform, closed form": (lambda: peers.ours(robot, method="closed_form"), False),
        "chainform, a call for each": (lambda: peers.ours_one_by_one(robot), True),
        "Pinocchio's example, Python": (lambda: peers.pinocchio_example(robot), True),
        "Pinocchio's example, C++": (
            lambda: peers.pinocchio_cpp(workshop, robot, adaptive=False),
            False,
        ),
        "Pinocchio in C++, many starts": (
            lambda: peers.pinocchio_cpp(workshop, robot, adaptive=True),
            False,
        ),
        "Robotics Toolbox, ik_LM": (lambda: peers.toolbox(workshop, robot), False),
    }


def section(workshop: Workshop, name: str, count: int) -> Section:
    """Return the table of an arm."""
    robot = arm(name)
    targets, rows = robot.targets(count), list[list[str]]()
    for title, (make, is_slow) in competitors(workshop, robot).items():
        try:
            solve = make()
        except cf.Error as refusal:
            rows.append([title, "", "", "", str(refusal.message)])
            continue
        some = targets[: min(count, SLOW)] if is_slow else targets
        solve(some[:2])
        start = perf_counter()
        q = solve(some)
        spent = perf_counter() - start
        good = robot.is_reached(q, some)
        each = seconds(spent / len(some))
        rows.append([title, str(len(some)), f"{100 * good.mean():.1f} %", each, ""])
    words = f"{robot.mechanism.nv} joints, {count} random reachable poses of `{robot.tip}`."
    header = ["who", "targets", "reached", "time for each", "remark"]
    return Section(name, words, header, rows)


def main() -> None:
    """Print the tables, and write them where wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="targets of each arm")
    parser.add_argument("--only", default="", help="some of the arms, with commas between")
    parser.add_argument("--write", type=Path, help="write a page as well")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where peers are built")
    given = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    workshop = Workshop(given.cache.resolve())
    toolbox = peers.TOOLBOX.replace("==", " ")
    measured_on = [*machine.lines(), f"- {toolbox}", "- on one core"]
    console = Console(width=120)
    found: list[Section] = []
    for name in given.only.split(",") if given.only else ARMS:
        found.append(section(workshop, name, given.count))
        found[-1].show(console)
    if given.write:
        words = (
            f"Reached: within {POSITION:g} m and {ROTATION:g} rad, and within the limits, by "
            "Pinocchio's forward kinematics. The example of its documentation has one start, steps "
            "of a tenth and no limits; it ends at 1e-7. All others may begin again "
            f"{peers.STARTS} times."
        )
        intro = [
            "# Inverse kinematics",
            "",
            "Made by `python benchmarks/inverse_kinematics.py`.",
            "",
        ]
        lines = [line for part in found for line in part.lines()]
        given.write.write_text("\n".join([*intro, *measured_on, "", words, "", *lines]))


if __name__ == "__main__":
    main()
