"""Regressors and base parameters: `python benchmarks/identification.py`.

Three tables: the published arms (base parameters, and inverse dynamics written in them), ten robots
(base parameters beside the numeric rank, regressors beside Pinocchio's), and what regressors cost.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import chainform as cf

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "agreement")]

from test_regressor import ROBOTS, deviation, ranked  # noqa: E402
from test_symbolic_counts import DIAGONAL, in_base, with_diagonal_inertias  # noqa: E402

from modified_dh import arm  # noqa: E402
from robots import example_robot  # noqa: E402


def text(model: cf.Model) -> str:
    """Return multiplications and additions, each time and, in brackets, once."""
    count, once = model.count(), model.count(once=True)
    return (
        f"{count.multiplications}/{count.additions} ({once.multiplications}/{once.additions} once)"
    )


def arms() -> None:
    """Print the table of the published arms."""
    print(
        "| arm | base | in base parameters, fast | diagonal | fast | deep 60 s "
        "| bodies diagonal, fast | published |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, published in DIAGONAL.items():
        model = in_base(name)
        diagonal = with_diagonal_inertias(model)
        cells = [str(len(arm(name).base_parameters())), text(model.reduce("fast")), text(diagonal)]
        cells += [text(diagonal.reduce("fast")), text(diagonal.reduce("deep", budget=60))]
        cells.append(text(with_diagonal_inertias(model, "bodies").reduce("fast")))
        print(f"| {name} | {' | '.join(cells)} | {published[0]}/{published[1]} |")


def robots() -> None:
    """Print the table of robots; those of Pinocchio are read without rounding of any number."""
    print("\n| robot | base | parameters | base parameters | rank | seconds | against Pinocchio |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for file, base in ROBOTS:
        mechanism = cf.read(example_robot(file), base=base, mimic="free")
        start = perf_counter()
        every = len(mechanism.base_parameters().parameters)
        seconds = perf_counter() - start
        count, rank, _ = ranked(file, base)
        worst = deviation(file, base)
        print(f"| {file} | {base} | {every} | {count} | {rank} | {seconds:.2f} | {worst:.0e} |")


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
