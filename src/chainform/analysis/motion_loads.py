"""Inverse dynamics along a prescribed motion: drives, unknown forces, power, energy, loads.

    P = tau qd          the power of each drive, W
    W = integral of P   the work of all drives since the start, J: a spline through the samples

What the drives put in is what energy gains and friction loses; the report compares both where
nothing else does work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.drives import drives
from chainform.analysis.forces import unknown_forces
from chainform.analysis.interruption import Progress, Watch
from chainform.analysis.motion import MotionOptions, MotionSource, motion_of, with_values
from chainform.analysis.motion_kinematics import run_of
from chainform.analysis.result import Result
from chainform.analysis.supplementary import PrescribedMotion
from chainform.errors import DeriveError, RunError
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]


def inverse_dynamics(
    mechanism: Mechanism | str | PathLike[str],
    motion: MotionSource,
    t: Any = None,
    driven: Sequence[str] | None = None,
    *,
    without: Sequence[str] = (),
    algorithm: str = "sorting",
    progress: Progress | None = None,
    **options: Unpack[MotionOptions],
) -> Result:
    """Return what a prescribed motion needs: drives of joints, or forces that are left unknown.

    `motion`, `t`, `start` and `smoothing` are those of `motion_of`, `values` those of parameters;
    `driven` names joints with drives, by default those with actuators, else the basic joints of
    loops, else all. Arrays: tau (m, nv), power (m, nv), energy (m,), work (m,), sigma and
    multipliers of loops and constraints, residual (m, nv), what nothing accounts for. A mechanism
    with unknown forces gives each of them by its name in place of tau, and `algorithm` says how
    their equations are made: "sorting" while they are built, or "differentiation" of the finished
    ones (Andrieiev and Dziuba 2023); rank and row_rank tell how many of the forces and of the rows
    are determined, `facts["rows"]` names these.
    `facts["loads"]` has peak, root mean square and largest power of each drive. `result.simulate()`
    is the direct problem with these forces, which gives the motion back.
    Where loops are closed on the way, `progress` is called with the number of times that are done,
    and of all; Ctrl-C then raises TaskInterrupted, with the motion up to there.
    """
    watch, mechanism = Watch(progress), with_values(mechanism, options.pop("values", None))
    found = motion_of(mechanism, motion, t, watch=watch, **options)
    found = replace(found, notes=(*found.notes, *watch.lines))
    if found.t.ndim != 1:
        raise RunError("the motion is no row of states in time", element="t", remedy="give (m,)")
    if not np.all(np.diff(found.t) > 0):
        remedy = "order them, each once: work and mean loads are integrals over time"
        raise RunError("the times do not grow", element="t", remedy=remedy)
    if mechanism.unknowns:
        if driven is not None:
            remedy = "leave out driven, or the unknown forces of the file"
            raise RunError("forces are unknown already", element="driven", remedy=remedy)
        return watch.finished(_unknown(mechanism, found, algorithm))
    return watch.finished(_driven(mechanism, found, driven, without))


def _driven(
    mechanism: Mechanism,
    motion: PrescribedMotion,
    driven: Sequence[str] | None,
    without: Sequence[str],
) -> Result:
    needed = drives(mechanism, motion.q, motion.qd, motion.qdd, driven, t=motion.t, without=without)
    arrays = {**_states(motion), "tau": needed.tau, "power": needed.tau * motion.qd}
    arrays["work"] = integral(motion.t, arrays["power"].sum(axis=1))
    arrays |= _energy(mechanism, motion, needed.tau)
    arrays |= {"sigma": needed.sigma, "multipliers": needed.multipliers}
    arrays["residual"] = needed.residual
    places = {name: mechanism.rate_index(name) for name in needed.driven}
    loads = {name: _load(needed.tau[:, k], motion.qd[:, k], motion.t) for name, k in places.items()}
    return _result(
        mechanism, motion, arrays, (needed.report,), {"kind": needed.kind, "loads": loads}
    )


def _unknown(mechanism: Mechanism, motion: PrescribedMotion, algorithm: str) -> Result:
    states = (motion.t, motion.q, motion.qd, motion.qdd)
    # What has no finite value is refused with its time.
    with np.errstate(all="ignore"):
        found = unknown_forces(mechanism, *states, algorithm=algorithm)
    arrays = {"t": motion.t, **{name: found[name] for name in found.names}}
    arrays |= {"multipliers": found.multipliers, **_states(motion), "residual": found.residual}
    arrays |= {"rank": found.rank.astype(np.float64), "row_rank": found.row_rank.astype(np.float64)}
    facts = {
        "kind": found.kind,
        "rows": list(found.rows),
        "loads": {name: _load(found[name], None, motion.t) for name in found.names},
    }
    return _result(mechanism, motion, arrays, (found.report,), facts)


def _states(motion: PrescribedMotion) -> dict[str, Array]:
    return {"t": motion.t, "q": motion.q, "qd": motion.qd, "qdd": motion.qdd}


def _result(
    mechanism: Mechanism,
    motion: PrescribedMotion,
    arrays: Mapping[str, Array],
    report: tuple[str, ...],
    facts: Mapping[str, Any],
) -> Result:
    shown = {name: array for name, array in arrays.items() if np.prod(array.shape[1:])}
    lines = [_load_line(name, load) for name, load in facts["loads"].items()]
    units = {"t": "s", "power": "W", "work": "J", "energy": "J"}
    text = (*report, *lines, *motion.notes)
    return Result("inverse_dynamics", mechanism, "t", shown, text, facts, units)


def _energy(mechanism: Mechanism, motion: PrescribedMotion, tau: Array) -> dict[str, Array]:
    """Return the energy where it can be derived: not for moving bases and elements."""
    with suppress(DeriveError, RunError):
        run = run_of(mechanism, motion, tau)
        return {"energy": run.kinetic_energy + run.potential_energy}
    return {}


def integral(t: Array, values: Array) -> Array:
    """Return the integral of samples from the first time on, exact for cubics: (m,).

    Each step takes the cubic through its two ends and their neighbours.
    """
    m = len(t)
    if m < 2:
        return np.zeros(m)
    if m < 4:
        return np.concatenate([[0.0], np.cumsum(np.diff(t) * (values[1:] + values[:-1]) / 2)])
    first = np.clip(np.arange(m - 1) - 1, 0, m - 4)
    rows = first[:, None] + np.arange(4)
    origin, scale = t[:-1], np.diff(t)
    x = (t[rows] - origin[:, None]) / scale[:, None]
    powers = np.arange(4)
    vandermonde = x[:, :, None] ** powers
    # Weights w with sum w x^k = 1 / (k + 1) integrate cubics over the step exactly.
    moments = np.broadcast_to(1 / (powers + 1.0), (m - 1, 4))[..., None]
    weights = np.linalg.solve(np.swapaxes(vandermonde, 1, 2), moments)[..., 0]
    return np.concatenate([[0.0], np.cumsum(scale * np.sum(weights * values[rows], axis=1))])


def _load(force: Array, rate: Array | None, t: Array) -> dict[str, float]:
    """Return the largest force with its time, the root of the mean square, the largest power."""
    if not len(t):
        return {}
    place = int(np.argmax(np.abs(force)))
    span = t[-1] - t[0]
    mean = integral(t, force**2)[-1] / span if span > 0 else force[0] ** 2
    load = {"peak": float(force[place]), "at": float(t[place]), "rms": float(np.sqrt(mean))}
    if rate is not None:
        power = force * rate
        load |= {"peak_power": float(power[np.argmax(np.abs(power))])}
        load |= {"peak_rate": float(rate[np.argmax(np.abs(rate))])}
    return load


def _load_line(name: str, load: Mapping[str, float]) -> str:
    if not load:
        return f"{name}: no states"
    power = f", largest power {load['peak_power']:.6g} W" if "peak_power" in load else ""
    return (
        f"{name}: largest {load['peak']:.6g} at t = {load['at']:.6g} s, "
        f"root mean square {load['rms']:.6g}{power}"
    )
