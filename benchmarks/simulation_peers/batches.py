"""Thousands of short motions of the UR5: how many in a second, on one core.

One simulation is 1 s of motion from a random pose at rest, in 1000 steps of semi-implicit Euler of
1 ms. Every competitor starts from the same poses; the states at the end are compared first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from speed_peers import pinocchio_cpp
from speed_peers.build import Workshop, shared_library
from speed_peers.cases import Array, Case
from speed_peers.measure import Competitor
from speed_peers.ours import ours_of

from chainform.simulation import simulate_batch
from pinocchio_oracle import pin
from simulation_peers import SWINGS, mujoco_peer
from simulation_peers.report import Section
from simulation_peers.timing import in_turn, ratio

STEP, STEPS = 1e-3, 1000
LANES, PINOCCHIO, PYTHON = (
    "chainform, in lanes",
    "Pinocchio, aba in a C++ loop",
    "Pinocchio, aba in a Python loop",
)
SINGLE = "chainform, one state at a time in the same C loop"
COUNTS = {LANES: 4096, SINGLE: 256, PINOCCHIO: 64, mujoco_peer.TITLE: 32, PYTHON: 2}
"""How many motions each runs at a time, so that all take about as long."""
ALIKE = 1e-7


def section(workshop: Workshop, case: Case, rounds: int) -> Section:
    """Compare all, then let them take turns."""
    start = np.random.default_rng(0).uniform(-1, 1, (max(COUNTS.values()), 6))
    expected = own(case)(start)
    runs: dict[str, Callable[[], object]] = {}
    for (name, variant), run in runners(workshop, case).items():
        poses = start[: COUNTS[name]]
        apart = float(np.abs(run(poses) - expected[: len(poses)]).max())
        if not apart < ALIKE:
            raise SystemExit(f"{name}: the motions differ by {apart:.0e}")
        runs[f"{name}|{variant}"] = lambda run=run, poses=poses: run(poses)
    best = _best_variants(in_turn(runs, rounds))
    rows = [
        [
            name,
            f"{1 / min(times):,.0f}",
            f"{min(times) / STEPS * 1e9:.0f}",
            ratio(times, best[LANES]),
        ]
        for name, times in best.items()
    ]
    words = (
        "One simulation is 1 s of motion in 1000 steps of 1 ms, semi-implicit Euler, from a random "
        f"pose at rest; all end in the same states to {ALIKE:g}. Compiled peers in their faster "
        "build and convention. Only chainform computes several motions side by side; the row below "
        "it does not."
    )
    header = (
        "who",
        "simulations a second on one core",
        "ns for each step",
        "time / chainform in lanes",
    )
    return Section("UR5, thousands of simulations of 1 s", words, header, rows)


def _best_variants(taken: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the seconds of one motion for each competitor, in its fastest variant."""
    best: dict[str, list[float]] = {}
    for key, times in taken.items():
        name = key.split("|")[0]
        each = [time / COUNTS[name] for time in times]
        if name not in best or min(each) < min(best[name]):
            best[name] = each
    return best


def runners(workshop: Workshop, case: Case) -> dict[tuple[str, str], Callable[[Array], Array]]:
    """Return functions from initial poses to those at the end, by title and variant."""
    order = np.argsort(case.order.q)
    found = {(LANES, ""): own(case)}
    plain = ours_of(case).competitor("forward_dynamics")
    found[SINGLE, ""] = in_c(workshop, plain, np.arange(6))
    for peer in pinocchio_cpp.competitors(workshop, case, "forward_dynamics"):
        found[PINOCCHIO, peer.variant] = in_c(workshop, peer, order)
    inner = mujoco_peer.runner(workshop, case, STEP, STEPS)
    found[mujoco_peer.TITLE, ""] = lambda q0: inner(q0[:, order])[:, case.order.q]
    found[PYTHON, ""] = in_python(case, order)
    return found


def own(case: Case) -> Callable[[Array], Array]:
    """Return chainform's batch on one core."""

    def run(q0: Array) -> Array:
        batch = simulate_batch(
            case.mechanism,
            q0=q0,
            t=STEP * STEPS,
            method="semi_implicit",
            step=STEP,
            without=("friction",),
            threads=1,
        )
        return batch.q[:, -1]

    return run


def in_c(workshop: Workshop, peer: Competitor, order: Array) -> Callable[[Array], Array]:
    """Return the loop in C over a function of one state."""
    path = shared_library(workshop, "swings", SWINGS, "")
    library = ctypes.CDLL(str(path))
    address, whole = ctypes.c_void_p, ctypes.c_long
    library.swings.argtypes = [address, whole, whole, ctypes.c_double, whole, address, address]
    library.swings.restype = None
    back = np.argsort(order)

    def run(q0: Array) -> Array:
        q = np.ascontiguousarray(q0[:, order])
        v = np.zeros_like(q)
        library.swings(peer.address, len(q), STEPS, STEP, q.shape[1], q.ctypes.data, v.ctypes.data)
        return q[:, back]

    return run


def in_python(case: Case, order: Array) -> Callable[[Array], Array]:
    """Return the loop in Python over Pinocchio's function."""
    model, data, none = case.model, case.model.createData(), np.zeros(6)

    def run(q0: Array) -> Array:
        found = np.empty_like(q0)
        for i, start in enumerate(q0):
            q, v = start[order], np.zeros(6)
            for _ in range(STEPS):
                v = v + STEP * pin.aba(model, data, q, v, none)
                q = q + STEP * v
            found[i] = q[np.argsort(order)]
        return found

    return run
