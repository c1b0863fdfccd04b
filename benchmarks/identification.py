"""Regressors and base parameters: `python benchmarks/identification.py`.

Three tables: the published arms (base parameters, and inverse dynamics written in them), ten robots
(base parameters beside the numeric rank, regressors beside Pinocchio's), and what regressors cost.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import chainform as cf

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "agreement")]

from test_regressor import ROBOTS, collected, numeric_rank, pinocchio_regressor  # noqa: E402
from test_symbolic_counts import DIAGONAL, in_base, with_diagonal_inertias  # noqa: E402

from modified_dh import arm  # noqa: E402
from robots import UrdfOracle, example_robot  # noqa: E402


def text(model: cf.Model) -> str:
    """Return multiplications and additions, each time and, in brackets, once."""
    count, once = model.count(), model.count(once=True)
    return (
        f"{count.multiplications}/{count.additions} ({once.multiplications}/{once.additions} once)"
    )


def arms() -> None:
    """Print the table of the published arms."""
    print("| arm | base | in base parameters, fast | diagonal | fast | deep 60 s | published |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, published in DIAGONAL.items():
        model = in_base(name)
        diagonal = with_diagonal_inertias(model)
        cells = [str(len(arm(name).base_parameters())), text(model.reduce("fast")), text(diagonal)]
        cells += [text(diagonal.reduce("fast")), text(diagonal.reduce("deep", budget=60))]
        print(f"| {name} | {' | '.join(cells)} | {published[0]}/{published[1]} |")


def robots() -> None:
    """Print the table of robots."""
    print("\n| robot | base | parameters | base parameters | rank | seconds | against Pinocchio |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for file, base in ROBOTS:
        path = example_robot(file)
        mechanism = cf.read(path, base=base, snap=0, mimic="free")
        start = perf_counter()
        grouped = mechanism.base_parameters(without=["friction"])
        seconds = perf_counter() - start
        rank, worst = compared(mechanism, grouped, UrdfOracle(path, base))
        print(
            f"| {file} | {base} | {len(grouped.parameters)} | {len(grouped)} | {rank} "
            f"| {seconds:.2f} | {worst:.0e} |"
        )


def compared(mechanism: cf.Mechanism, grouped: Any, oracle: UrdfOracle) -> tuple[int, float]:
    """Return the numeric rank of all columns, and the deviation from Pinocchio's."""
    oracle.match(mechanism)
    model = cf.derive(mechanism, ["regressor"], without=["friction"])
    rng = np.random.default_rng(0)
    states = [oracle.state(rng) for _ in range(1 + 2 * len(grouped) // mechanism.nv + 20)]
    qd, qdd = rng.uniform(-1, 1, (2, len(states), mechanism.nv))
    found = model.evaluate(np.array([q for q, _ in states]), qd, qdd)["regressor"]
    theirs = pinocchio_regressor(oracle, states[0][1], qd[0], qdd[0])
    worst = 0.0
    for joint, columns in collected(mechanism, grouped.parameters, found[0]).items():
        first = 10 * (oracle.model.getJointId(joint) - 1)
        expected = theirs[:, first : first + 10]
        scale = max(1.0, float(np.abs(expected).max()))
        worst = max(worst, float(np.abs(columns - expected).max()) / scale)
    sizes = np.abs(found).max(axis=(0, 1))
    return numeric_rank(found[..., sizes > 1e-9 * sizes.max()]), worst


def costs() -> None:
    """Print what regressors take."""
    print("\n| robot | output | columns | derived | fast |\n|---|---|---:|---:|---:|")
    for file in ("ur5_robot.urdf", "panda.urdf"):
        mechanism = cf.read(example_robot(file))
        for output in ("regressor", "base_regressor"):
            model = cf.derive(mechanism, [output])
            counts = [m.count() for m in (model, model.reduce("fast"))]
            cells = [f"{c.multiplications}/{c.additions}" for c in counts]
            print(f"| {file} | {output} | {model[output].shape[1]} | {' | '.join(cells)} |")


if __name__ == "__main__":
    arms()
    robots()
    costs()
