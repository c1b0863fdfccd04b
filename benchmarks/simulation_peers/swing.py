"""A swing of the UR5 over 10 s: chainform beside scipy's DOP853 over Pinocchio.

Both have the same method and tolerances. Errors are those of q at 5 s against a motion computed at
rtol 1e-13, by scipy over Pinocchio.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from speed_peers.cases import Case

import chainform as cf
from chainform.simulation import simulate
from pinocchio_oracle import pin
from simulation_peers.report import Section, seconds, small
from simulation_peers.timing import Inside, in_turn, ratio

START = [0.0, -1.2, 0.8, 0.3, 0.4, 0.0]
END, LOOK, RTOL = 10.0, 5.0, 1e-8
SCIPY, SCIPY_OURS = "scipy DOP853 over pinocchio.aba", "scipy DOP853 over chainform's program"
OURS, INSIDE = "chainform, simulate()", "chainform, integration alone"
HEADER = ("who", "seconds", "evaluations", "error of q at 5 s", f"{SCIPY} / this")


def section(case: Case, rounds: int) -> Section:
    """Time all, after a look at their errors."""
    scipy, program = scipy_run(pinocchio_rate(case)), scipy_run(program_rate(case))
    runs: dict[str, Callable[[], Any]] = {
        SCIPY: lambda: scipy(RTOL),
        SCIPY_OURS: lambda: program(RTOL),
        OURS: lambda: own_run(case, RTOL),
    }
    exact = scipy(1e-13).y[:6, 0]
    results = {name: run() for name, run in runs.items()}
    errors = {
        SCIPY: np.abs(results[SCIPY].y[:6, 0] - exact).max(),
        SCIPY_OURS: np.abs(results[SCIPY_OURS].y[:6, 0] - exact).max(),
        OURS: np.abs(results[OURS].q[0] - exact).max(),
    }
    calls = {name: results[name].nfev for name in (SCIPY, SCIPY_OURS)}
    calls[OURS] = results[OURS].statistics.evaluations
    taken = in_turn(runs, rounds)
    with Inside() as inside:
        for _ in range(rounds):
            inside.run(runs[OURS])
    taken[INSIDE], errors[INSIDE], calls[INSIDE] = inside.taken, errors[OURS], calls[OURS]
    rows = [
        [
            name,
            seconds(min(times)),
            str(calls[name]),
            small(errors[name]),
            ratio(taken[SCIPY], times),
        ]
        for name, times in taken.items()
    ]
    words = (
        f"Order 8 with estimates of orders 5 and 3, rtol {RTOL:g}, atol {RTOL / 1000:g}, friction "
        f"left out, from {START}, states at 5 s and 10 s. `simulate()` is the whole call, its "
        "machine code kept from the call before."
    )
    return Section("UR5, a swing of 10 s", words, HEADER, rows)


def own_run(case: Case, rtol: float) -> Any:
    """Return the motion that chainform computes."""
    return simulate(
        case.mechanism,
        q0=START,
        t=END,
        t_eval=[LOOK, END],
        method="dopri853",
        rtol=rtol,
        without=("friction",),
        energy_balance=False,
    )


def pinocchio_rate(case: Case) -> Callable[[float, Any], Any]:
    """Return y' by Pinocchio's articulated-body algorithm."""
    model, data, none = case.model, case.model.createData(), np.zeros(6)

    def rate(_t: float, y: Any) -> Any:
        return np.concatenate([y[6:], pin.aba(model, data, y[:6], y[6:], none)])

    return rate


def program_rate(case: Case) -> Callable[[float, Any], Any]:
    """Return y' by chainform's compiled forward dynamics, called from Python."""
    model = cf.derive(case.mechanism, ["forward_dynamics"], without=("friction",))
    forward, none = model.reduce().compile().forward_dynamics, np.zeros(6)

    def rate(_t: float, y: Any) -> Any:
        return np.concatenate([y[6:], forward(y[:6], y[6:], none)])

    return rate


def scipy_run(rate: Callable[[float, Any], Any]) -> Callable[[float], Any]:
    """Return a function that runs scipy at a tolerance."""
    start = np.concatenate([START, np.zeros(6)])

    def run(rtol: float) -> Any:
        options = {"method": "DOP853", "rtol": rtol, "atol": rtol / 1000, "t_eval": [LOOK, END]}
        return solve_ivp(rate, (0, END), start, **options)

    return run
