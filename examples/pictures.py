"""Make the pictures of docs/examples.md: one motion after another, as figures and stills.

    python examples/pictures.py            # all scenarios, the arm that writes, and designs
    python examples/pictures.py pendulum   # one of them

Pictures come out the same each time, so only those change whose scenario has changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from chainform.analysis import DesignResult, Result, Task, analyse, kinematics
from chainform.simulation import BatchRun, Run, Scenario, simulate, simulate_batch

ROOT = Path(__file__).parents[1]
WRITING = ROOT / "examples" / "tasks" / "stanford_writing.toml"
BOARD = 1.095
"""Where the tip of the writing arm touches its board: y, m."""
SCENARIOS = ROOT / "examples" / "scenarios"
TARGET = ROOT / "docs" / "pictures"

PLOTS = {
    "bouncing_ball": ["q", "qd"],
    "cart_pole": ["q", "tau"],
    "crane_loads": ["q"],
    "driven_arm": ["q", "drives"],
    "four_bar_drive": ["q", "motion_forces"],
    "hydraulic_lift": ["q", "u", "x"],
    "manipulator": ["q", "tau"],
    "pendulum": ["q", "energy"],
    "pneumatic_slide": ["q", "qd", "x"],
    "sliding_links": ["l1", "l2", "l3"],
    "squeezer": ["q"],
    "stanford_tracking": ["q", "tau"],
    "stick_slip": ["q", "qd"],
}
"""Motions that say more as curves over time; of all others a still is made."""
DESIGNS = {
    "balanced_flap": ("tau.flap", "q.flap"),
    "path_generator": ("position(pen)[2]", "position(pen)[1]"),
    "slide_gains": ("q.x", "t"),
}
"""Tasks of designs, what is drawn of them, and over which column."""


def main(names: list[str]) -> None:
    """Simulate the scenarios and write a picture of each."""
    TARGET.mkdir(exist_ok=True)
    for path in sorted(SCENARIOS.glob("*.toml")):
        if not names or path.stem in names:
            print(write_picture(path.stem, run_of(path)).relative_to(ROOT))
    if not names or WRITING.stem in names:
        print(write_writing(analyse(WRITING)).relative_to(ROOT))
    for name in DESIGNS:
        if not names or name in names:
            print(write_design(name).relative_to(ROOT))


def run_of(path: Path) -> Run | BatchRun:
    """Return the motion of a scenario, or all of them."""
    scenario = Scenario.read(path)
    return simulate(scenario) if scenario.batch is None else simulate_batch(scenario)


def write_picture(name: str, run: Run | BatchRun, folder: Path = TARGET) -> Path:
    """Write the picture of a motion and return where it is."""
    if isinstance(run, BatchRun) or name in PLOTS:
        file = folder / f"{name}.svg"
        run.plot(PLOTS[name], file=file, width=7, height=1.6)
    else:
        file = folder / f"{name}.png"
        run.picture(file=file, size=(640, 420))
    return file


def strokes_of(path: Result) -> list[tuple[float, float]]:
    """Return the times between which the tip of the writing arm is on the board."""
    down = path.run.output("pose(C)")[:, 1, 3] > BOARD
    changes = np.flatnonzero(np.diff(np.concatenate([[False], down, [False]]).astype(int)))
    return [(path["t"][a], path["t"][b - 1]) for a, b in changes.reshape(-1, 2)]


def write_writing(path: Result, folder: Path = TARGET) -> Path:
    """Write the picture of the writing arm and of its strokes, and return where it is."""
    file = folder / f"{WRITING.stem}.png"
    strokes = strokes_of(path)
    path.picture(file=file, size=(640, 420), ghosts=0, view=(-75, 12), stretches=strokes)
    return file


def write_design(name: str, folder: Path = TARGET) -> Path:
    """Write the picture of a design, before and after, and return where it is."""
    file, task = folder / f"{name}.svg", ROOT / "examples" / "tasks" / f"{name}.toml"
    found = analyse(task)
    assert isinstance(found, DesignResult)
    what, over = DESIGNS[name]
    if name == "path_generator":
        t = np.linspace(0, 2 * np.pi, 181)
        sides = [
            kinematics(mechanism, {"crank": "t"}, t, ["pen"], start=[0, 0.5, 1.2])
            for mechanism in (Task.read(task).mechanism, found.mechanism)
        ]
        sides[1].plot(what, file, over=over, before=sides[0], width=5, height=3)
    else:
        found.plot(what, file, over=over, width=7, height=1.8)
    return file


if __name__ == "__main__":
    main(sys.argv[1:])
