"""Lyapunov exponents: the mean rates at which deviations from a motion grow.

symbol     meaning
Phi        transitions of deviations over the steps of a block, one after the other
Q, R       Phi Q = Q' R: directions that stay perpendicular, and how much each grew (Benettin)

The exponents are means of log(diag R) over time. Their sum is the mean divergence of the equations,
the trace of their derivatives, which is integrated on its own as a check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.periodic.motion_flow import MotionFlow, problem_of
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.analysis.variations.collocation import gauss
from chainform.analysis.variations.transitions import Transitions
from chainform.errors import RunError
from chainform.given import argument, listed
from chainform.mechanism import Mechanism
from chainform.simulation import ProblemOptions, Scenario

Array = NDArray[np.float64]
RTOL = 1e-9
LENGTH = 100.0
"""How long the motion is in s, where nothing else is given."""
SMALLEST = 1e-300
RESTING = 1e-9
"""Rates below this, in rad/s and m/s and their units, are none."""
SIDES = 2.0
"""An exponent has a sign where it is so many times its error."""


def lyapunov_exponents(
    mechanism: Mechanism | Scenario | str | PathLike[str],
    *,
    settle: float = 0.0,
    blocks: int = 50,
    progress: Progress | None = None,
    **options: Unpack[ProblemOptions],
) -> Result:
    """Return the Lyapunov exponents of a motion, from exact derivatives along it, largest first.

    The motion lasts over `t` (100 s by default), of which the first `settle` seconds do not count.
    The rest is divided into `blocks`, whose scatter gives the errors. The other options are those
    of `simulate`; rtol is 1e-9 by default.

    Arrays have a row for each block: t at its end, q, qd, `block_exponents` (1/s) of it, and
    `exponents`, the means up to there. `facts` has exponents and errors (1/s, one standard
    deviation), their sum, `divergence` (the mean trace of the derivatives, None under constraints
    and impacts), `dimension` (of Kaplan and Yorke), and `unsettled`: the numbers of exponents whose
    sign is open, or that still drift. Ctrl-C raises TaskInterrupted, with the blocks that are done.
    """
    whole: dict[str, Any] = {"rtol": RTOL, **options}
    span = whole.pop("t", LENGTH)
    problem = problem_of(mechanism, whole, span)
    first, last = problem.span
    rest = argument("settle", settle).number(least=0.0)
    if first + rest >= last:
        raise RunError(
            f"nothing is left of {last - first:g} s after settling for {rest:g} s",
            element="settle",
            remedy="give a longer t",
        )
    count = argument("blocks", blocks).whole(4, 100_000)
    flow, watch = MotionFlow.of(problem), Watch(progress)
    y = flow.after(rest) if rest else flow.start()
    chain = _Chain(flow, y, np.linspace(first + rest, last, count + 1))
    with watch.counting(count):
        for k in range(count):
            chain.go_on(k)
            watch.tell(k + 1)
    for each in (chain.growth, chain.traces, chain.states):
        del each[watch.done :]
    return watch.finished(_result(chain, watch.lines))


class _Chain:
    """Blocks of a motion one after the other, and how much directions grew in each."""

    def __init__(self, flow: MotionFlow, y: Array, times: Array) -> None:
        self.flow, self.y, self.times = flow, y, times
        self.growth: list[Array] = []
        self.traces: list[float] = []
        self.states: list[Array] = []
        self.has_trace = not flow.equations.graph.rows
        self.directions: Array | None = None
        self.rests = True

    def go_on(self, k: int) -> None:
        """Take the next block."""
        a, b = float(self.times[k]), float(self.times[k + 1])
        flow = self.flow.over((a, b))
        run, path = flow.path(self.y)
        if run.t[-1] < b - 1e-9 * (b - a):
            raise RunError(
                f"the motion ends by {run.about.ending} at t = {run.t[-1]:.9g} s",
                element="events",
                remedy="leave out what ends it, or give a shorter t",
            )
        if self.directions is None:
            basis = flow.tangent(a, flow.rows(run)[0], np.ones(len(path.names)))
            if not basis.shape[1]:
                raise RunError(
                    "loops, constraints and contacts leave no deviations",
                    file=self.flow.mechanism.file,
                    element="lyapunov_exponents",
                    remedy="let a coordinate go that motion prescribes",
                )
            self.directions = np.linalg.qr(basis)[0]
        self.rests = self.rests and bool(np.all(np.abs(flow.rates(run, 0)) < RESTING))
        self._grow(path, b - a)
        if self.has_trace:
            self.traces.append(self._trace(path) / (b - a))
        self.y = flow.states.along(run)[-1]
        self.states.append(self.y)

    def _grow(self, path: Transitions, length: float) -> None:
        directions = self.directions
        assert directions is not None
        total = np.zeros(directions.shape[1])
        for Phi in path.transitions:
            directions, R = np.linalg.qr(Phi @ directions)
            total += np.log(np.maximum(np.abs(np.diag(R)), SMALLEST))
        self.directions = directions
        self.growth.append(total / length)

    def _trace(self, path: Transitions) -> float:
        """Return the integral of the divergence over a block."""
        flow, steps = self.flow, np.diff(path.times)
        moving = np.append(True, steps > 0)
        edges = path.times[moving]
        nodes = edges[:-1, None] + np.diff(edges)[:, None] * gauss().c
        inner = flow.over((edges[0], edges[-1]), nodes.ravel())
        run = inner.run(path.states[0])
        rows, size = flow.rows(run), flow.equations.system.machine.equations.size
        F = flow.equations.slopes(run.t, rows, rows[:, size:])
        nv = flow.states.nv
        traces = np.trace(F[:, :, nv : nv + F.shape[1]], axis1=1, axis2=2)
        return float(np.sum(np.diff(edges) * (traces.reshape(nodes.shape) @ gauss().b)))


# --- means and their errors -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Means:
    """Exponents of all blocks, sorted, their errors, and which of them are not settled."""

    values: Array
    errors: Array
    unsettled: tuple[int, ...]


def _means(growth: Array) -> _Means:
    """Return the means of blocks (m, n), largest first.

    The error is the scatter of means of 1, 2, 4 ... blocks, whichever is largest: neighbouring
    blocks are not independent.
    """
    order = np.argsort(-growth.mean(axis=0), kind="stable")
    growth = growth[:, order]
    errors, size = np.zeros(growth.shape[1]), 1
    while len(growth) // size >= 4:
        parts = growth[: len(growth) // size * size]
        parts = parts.reshape(-1, size, growth.shape[1]).mean(axis=1)
        errors = np.maximum(errors, parts.std(axis=0, ddof=1) / np.sqrt(len(parts)))
        size *= 2
    values = growth.mean(axis=0)
    halves = [part.mean(axis=0) for part in np.array_split(growth, 2)]
    floor = 1e-9 * np.abs(values).max(initial=0.0)
    drifts = np.abs(halves[1] - halves[0]) > 6 * np.maximum(errors, floor)
    is_open = np.abs(values) < SIDES * errors
    return _Means(values, errors, tuple(np.flatnonzero(drifts | is_open).tolist()))


def kaplan_yorke(exponents: Sequence[float]) -> float:
    """Return the dimension of Kaplan and Yorke, given exponents, largest first."""
    sums = np.cumsum(exponents)
    above = np.flatnonzero(sums >= 0)
    if not len(above):
        return 0.0
    k = int(above[-1])
    return float(k + 1) if k + 1 == len(sums) else k + 1 + float(sums[k] / -exponents[k + 1])


def _result(chain: _Chain, lines: Sequence[str]) -> Result:
    growth, flow = np.array(chain.growth), chain.flow
    found = _means(growth) if len(growth) >= 4 else _Means(growth.mean(axis=0), growth[0] * 0, ())
    order = np.argsort(-growth.mean(axis=0), kind="stable")
    count, states = len(growth), np.array(chain.states)
    running = np.cumsum(growth[:, order], axis=0) / np.arange(1, count + 1)[:, None]
    nq, nv = flow.states.nq, flow.states.nv
    arrays = {
        "t": chain.times[1 : count + 1],
        "q": states[:, :nq],
        "qd": states[:, nq : nq + nv],
        "exponents": running,
        "block_exponents": growth[:, order],
    }
    divergence = float(np.mean(chain.traces)) if chain.has_trace else None
    total, dimension = float(found.values.sum()), kaplan_yorke(found.values.tolist())
    facts = {
        "exponents": found.values.tolist(),
        "errors": found.errors.tolist(),
        "sum": total,
        "divergence": divergence,
        "dimension": dimension,
        "unsettled": [k + 1 for k in found.unsettled],
    }
    report = _report(chain, found, facts)
    units = {"exponents": "1/s", "block_exponents": "1/s"}
    return Result(
        "lyapunov_exponents", flow.mechanism, "t", arrays, (*report, *lines), facts, units
    )


def _report(chain: _Chain, found: _Means, facts: dict[str, Any]) -> list[str]:
    span = chain.times[len(chain.growth)] - chain.times[0]
    lines = [f"{len(found.values)} exponents over {span:g} s in {len(chain.growth)} blocks"]
    for k, (value, error) in enumerate(zip(found.values, found.errors, strict=True), 1):
        lines.append(f"exponent {k}: {value:.6g} 1/s, standard error {error:.2g}")
    if facts["divergence"] is None:
        lines.append("their sum is not compared: loops, contacts or constraints bind the motion")
    else:
        apart = abs(facts["sum"] - facts["divergence"])
        lines.append(
            f"their sum is {facts['sum']:.9g} 1/s, the divergence {facts['divergence']:.9g} 1/s: "
            f"{apart:.1e} apart"
        )
    if found.unsettled:
        names = [str(k + 1) for k in found.unsettled]
        lines.append(
            f"not settled: {listed(names)}, within twice the error of zero or still drifting"
        )
    if not chain.flow.names_time and not chain.rests:
        lines.append(
            "one of them is 0 in the end, that along the motion, as nothing names the time"
        )
    return lines
