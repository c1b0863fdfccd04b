"""The three sliding links of Korayem and Shafei over 1.5 s, through their stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from chainform.simulation import Scenario, simulate
from simulation_peers.report import Section, seconds, small
from simulation_peers.timing import Inside, in_turn

FILE = Path(__file__).parents[2] / "examples" / "scenarios" / "sliding_links.toml"
PAPER = 38.23
"""Seconds that the integration took in the paper."""
FIRST_STOP = 0.244380415735792


def section(rounds: int) -> Section:
    """Run the scenario, whole and within the loop alone."""
    scenario = Scenario.read(FILE)

    def whole() -> Any:
        return simulate(scenario, t_eval=[1.5])

    run = whole()
    taken = in_turn({"whole": whole}, rounds)["whole"]
    with Inside() as inside:
        for _ in range(rounds):
            inside.run(whole)
    first = min(event.t for event in run.events)
    rows = [
        [
            name,
            seconds(best),
            f"{PAPER / best:,.0f}",
            str(len(run.events)),
            small(abs(first - FIRST_STOP)),
        ]
        for name, best in (("simulate()", min(taken)), ("integration alone", inside.best))
    ]
    words = (
        "From rest through all stops to 1.5 s at rtol 1e-10, energy booked on the way, beside the "
        f"{PAPER} s of the paper. The first stop is compared with the reference."
    )
    header = (
        "who",
        "seconds",
        "times faster than the paper",
        "events",
        "error of the first stop (s)",
    )
    assert np.isfinite(run.q).all()
    return Section("Korayem and Shafei: three sliding links, 1.5 s", words, header, rows)
