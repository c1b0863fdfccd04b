"""Sensitivities of motions: `python benchmarks/sensitivities.py`.

How long the exact derivatives of a motion take, against the motion itself at the same tolerance,
both from Python calls of compiled systems; differences of motions next to it, which have fewer
digits. And a gradient by the adjoint, by more and more parameters.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import chainform as cf
from chainform.analysis import MotionVariations, StartDeviations, VariationalEquations
from chainform.analysis.variations.adjoint import adjoint_gradient
from chainform.analysis.variations.refinement import Refinement
from chainform.mechanism import automatic_parameters

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from robots import example_robot  # noqa: E402

NAMES = ["m_2", "m_3", "m_4", "m_5", "g", "com_3_z", "com_4_z", "I_2_yy", "I_3_zz", "d_4_z"]
SWING: dict[str, Any] = {"q0": [0.3] * 6, "rtol": 1e-8}
REPEATS = 15


def seconds(work: Callable[[], object]) -> float:
    """Return the least time of the processor that a call takes, s."""
    work()
    found: list[float] = []
    for _ in range(REPEATS):
        began = process_time()
        work()
        found.append(process_time() - began)
    return min(found)


def derivatives(equations: VariationalEquations) -> np.ndarray[Any, Any]:
    """Return all deviations at the end of a motion."""
    motion = MotionVariations(equations)
    start = StartDeviations(motion, None).deviations
    return Refinement(motion, None, start).refined().forward(start)[-1]


def swings(robot: cf.Mechanism) -> None:
    """Print the table of swings: 12 initial values and 10 parameters."""
    print(
        "| swing, s | rtol | integration alone, ms | motion, ms | 22 derivatives, ms | ratio "
        "| against differences |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for length, rtol in ((2.0, 1e-6), (2.0, 1e-8), (2.0, 1e-10), (10.0, 1e-8)):
        options: dict[str, Any] = {**SWING, "rtol": rtol, "t": length, "t_eval": [length]}
        problem = cf.Problem.of(robot, energy_balance=False, **options)
        equations = VariationalEquations.of(problem.compile(), NAMES)
        system = equations.system
        motion, whole = seconds(system.run), seconds(lambda e=equations: derivatives(e))
        start, times = system.start(), np.array([length])
        alone = seconds(lambda s=system, b=start, t=times: s.motion(b, t))
        found, step = derivatives(equations)[:, 0], 1e-5
        ends = [system.run(q0=[0.3 + h, *[0.3] * 5]) for h in (step, -step)]
        states = [np.append(run.q[-1], run.qd[-1]) for run in ends]
        gap = np.abs((states[0] - states[1]) / (2 * step) - found).max() / np.abs(found).max()
        cells = [f"{length:g}", f"{rtol:g}", f"{1e3 * alone:.2f}", f"{1e3 * motion:.2f}"]
        cells += [f"{1e3 * whole:.1f}", f"{whole / motion:.1f}", f"{gap:.0e}"]
        print(f"| {' | '.join(cells)} |")


def gradients(robot: cf.Mechanism) -> None:
    """Print the table of gradients by the adjoint."""
    print("\n| parameters | motion, ms | gradient by the adjoint, ms | ratio |")
    print("|---:|---:|---:|---:|")
    every = [name for name in automatic_parameters(robot) if not name.startswith("d_")]
    for count in (1, 5, 10, len(every)):
        options: dict[str, Any] = {**SWING, "t": 2.0, "t_eval": [2.0]}
        problem = cf.Problem.of(robot, energy_balance=False, **options)
        goal = {"integral": "der(elbow_joint)^2"}
        equations = VariationalEquations.of(problem.compile(), every[:count], goal)

        def gradient(equations: VariationalEquations = equations) -> object:
            motion = MotionVariations(equations)
            return adjoint_gradient(motion, StartDeviations(motion, []).deviations)

        motion, whole = seconds(equations.system.run), seconds(gradient)
        cells = [str(count), f"{1e3 * motion:.2f}", f"{1e3 * whole:.1f}"]
        print(f"| {' | '.join(cells)} | {whole / motion:.1f} |")


if __name__ == "__main__":
    ur5 = cf.read(example_robot("ur5_robot.urdf"))
    swings(ur5)
    gradients(ur5)
