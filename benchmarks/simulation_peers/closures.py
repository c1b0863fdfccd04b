"""Closed loops over a hundred thousand steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from chainform.simulation import Scenario, simulate
from chainform.simulation.equations.assembly import ConstraintResiduals
from simulation_peers.report import Section, seconds, small
from simulation_peers.timing import Inside

SCENARIOS = Path(__file__).parents[2] / "examples" / "scenarios"
STEPS = 100_000


def section() -> Section:
    """Move linkages for a hundred thousand steps, and see how well their loops are closed."""
    rows = [row("four_bar", 1e-3, "rk4"), row("squeezer", 1e-6, "rk4"), row("stewart", 1e-3, "rk4")]
    words = (
        f"{STEPS:,} fixed steps of the classical method of order 4, each ended on the constraints. "
        "The largest gap (m) of all loops at 1001 times, and the seconds in the compiled loop."
    )
    return Section(
        "Closed loops", words, ("linkage", "step", "largest gap", "seconds", "a step"), rows
    )


def row(name: str, step: float, method: str) -> list[str]:
    """Return the row of a scenario."""
    scenario = Scenario.read(SCENARIOS / f"{name}.toml")
    end = step * STEPS
    changed: dict[str, Any] = {
        "t": end,
        "t_eval": np.linspace(0, end, 1001),
        "method": method,
        "step": step,
        "energy_balance": False,
    }
    with Inside() as inside:
        run = inside.run(lambda: simulate(scenario, **changed))
    gaps = ConstraintResiduals(scenario.mechanism)
    largest = max(float(np.abs(gaps.at(q)[0]).max()) for q in run.q)
    assert run.statistics.steps == STEPS
    return [name, f"{step:g} s", small(largest), seconds(inside.best), seconds(inside.best / STEPS)]
