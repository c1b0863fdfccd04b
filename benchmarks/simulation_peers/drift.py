"""Energy of conservative motions: falling with the tolerance, and without drift if symplectic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from speed_peers.cases import Case

import chainform as cf
from chainform.simulation import Scenario, simulate
from simulation_peers.report import Section, seconds, small
from simulation_peers.timing import Inside

EXAMPLES = Path(__file__).parents[2] / "examples"
TOLERANCES = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12]
STEPS = 100_000


def arms(case: Case) -> dict[str, tuple[cf.Mechanism, list[float]]]:
    """Return six-axis arms and the poses from which they swing, at rest."""
    own = cf.read(EXAMPLES / "six_axis_arm.toml")
    return {
        "six_axis_arm": (own, [0.3, 0.5, -0.4, 0.6, 0.2, 0.1]),
        "UR5": (case.mechanism, [0.0, -1.2, 0.8, 0.3, 0.4, 0.0]),
    }


def relative_drift(run: Any) -> Any:
    """Return the error of the energy along a motion, against the largest kinetic energy."""
    return (run.energy - run.energy[0]) / run.kinetic_energy.max()


def section(case: Case) -> Section:
    """Swing six-axis arms for 10 s at many tolerances."""
    rows: list[list[str]] = []
    for name, (arm, q0) in arms(case).items():
        for method in ("dopri853", "verner65"):
            found = [_drift(arm, q0, method, rtol) for rtol in TOLERANCES]
            slope = np.polyfit(np.log10(TOLERANCES), np.log10(found), 1)[0]
            worst = max(drift / rtol for drift, rtol in zip(found, TOLERANCES, strict=True))
            rows.append(
                [f"{name}, {method}", *map(small, found), f"{slope:.2f}", f"{worst:.2g} rtol"]
            )
    words = (
        "The largest error of the energy over 10 s, against the largest kinetic energy, for each "
        "rtol; the slope of its logarithm over that of rtol (1: in proportion); the largest drift."
    )
    header = ["arm, method", *(f"{rtol:g}" for rtol in TOLERANCES), "slope", "at most"]
    return Section("Energy drift of a six-axis swing over 10 s", words, header, rows)


def _drift(arm: cf.Mechanism, q0: list[float], method: str, rtol: float) -> float:
    run = simulate(
        arm, q0=q0, t=10.0, method=method, rtol=rtol, without=("friction",), energy_balance=False
    )
    return float(np.abs(relative_drift(run)).max())


def symplectic_section(case: Case) -> Section:
    """Take a hundred thousand steps with symplectic methods, and others for comparison."""
    rows: list[list[str]] = []
    swings = {
        "double pendulum": (double_pendulum(), [2.0, 2.5], 2e-3),
        "six_axis_arm": (*arms(case)["six_axis_arm"], 1e-3),
    }
    for name, (mechanism, q0, step) in swings.items():
        rows += [
            [f"{name}, {method}", *_long_run(mechanism, q0, method, step)]
            for method in ("midpoint", "gauss4", "gauss6", "rk4", "verner65")
        ]
    words = (
        f"{STEPS:,} steps. Errors of the energy against the largest kinetic energy: the largest, "
        "and the mean over each quarter of the time, which stays where there is no drift."
    )
    header = [
        "motion, method",
        "step",
        "seconds",
        "largest",
        *(f"mean, quarter {i}" for i in range(1, 5)),
    ]
    return Section("Energy over a hundred thousand steps", words, header, rows)


def _long_run(mechanism: cf.Mechanism, q0: list[float], method: str, step: float) -> list[str]:
    end = step * STEPS
    with Inside() as inside:
        run = inside.run(
            lambda: simulate(
                mechanism,
                q0=q0,
                t=end,
                t_eval=np.linspace(0, end, 4001),
                method=method,
                step=step,
                without=("friction",),
                energy_balance=False,
            )
        )
    errors = relative_drift(run)
    means = [errors[1000 * i : 1000 * (i + 1)].mean() for i in range(4)]
    largest = float(np.abs(errors).max())
    return [f"{step:g} s", seconds(inside.best), small(largest), *map(small, means)]


def double_pendulum() -> cf.Mechanism:
    """Return two rods of 0.5 m and 1 kg, one below the other."""
    return Scenario.read(EXAMPLES / "scenarios" / "double_pendulum.toml").mechanism
