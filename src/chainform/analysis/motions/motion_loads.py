"""Inverse dynamics along a prescribed motion: drives, unknown forces, power, energy, loads.

    P = tau qd          the power of each drive, W
    W = integral of P   the work of all drives since the start, J: cubics through the samples

What the drives put in is what energy gains and friction loses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.drives import driven_rates, drives
from chainform.analysis.motions.known_states import one_row
from chainform.analysis.motions.motion import (
    MotionOptions,
    MotionSource,
    motion_of,
    with_values,
)
from chainform.analysis.motions.motion_kinematics import run_of
from chainform.analysis.motions.supplementary import PrescribedMotion, refuse_infinite
from chainform.analysis.motions.unknown_forces import ALGORITHMS, UnknownForces, unknown_forces
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import DeriveError, RunError
from chainform.formulations import is_bound
from chainform.given import argument
from chainform.mechanism import Mechanism
from chainform.pipeline import derive, names_in
from chainform.readers import native_text

Array = NDArray[np.float64]


class LoadOptions(MotionOptions, total=False):
    """How a motion is completed, and which further quantities are wanted along it."""

    outputs: Sequence[str]


def inverse_dynamics(
    mechanism: Mechanism | str | PathLike[str],
    motion: MotionSource,
    t: Any = None,
    driven: Sequence[str] | None = None,
    *,
    without: Sequence[str] = (),
    algorithm: str = "sorting",
    progress: Progress | None = None,
    **options: Unpack[LoadOptions],
) -> Result:
    """Return what a prescribed motion needs: drives of joints, or forces that are left unknown.

    `motion`, `t`, `start` and `smoothing` are those of `motion_of`, `values` those of parameters;
    `driven` names joints with drives, by default those with actuators, else the basic joints of
    loops, else in a closed mechanism those that `motion` names, else all. Arrays: tau (m, nv),
    power (m, nv), energy (m,), work (m,), sigma and multipliers of loops and constraints, residual
    (m, nv), what nothing accounts for. A mechanism with unknown forces gives each of them by its
    name in place of tau, and `power(NAME)` where no law names time. `algorithm` says how their
    equations are made: "sorting" while they are built, or "differentiation" of the finished ones
    (Andrieiev and Dziuba 2023); rank and row_rank tell how many of the forces and of the rows are
    determined, `facts["rows"]` names these.
    `outputs` are further quantities along the motion: "reactions", "reaction(arm,world)".
    `facts["loads"]` has peak, root mean square and largest power of each drive. `result.simulate()`
    is the direct problem with these forces, which gives the motion back.
    Where loops are closed on the way, `progress` is called with the number of times that are done,
    and of all; Ctrl-C then raises TaskInterrupted, with the motion up to there.
    """
    watch, mechanism = Watch(progress), with_values(mechanism, options.pop("values", None))
    argument("algorithm", algorithm).choice(tuple(ALGORITHMS), "algorithm")
    outputs = names_in("outputs", options.pop("outputs", ()))
    found = motion_of(mechanism, motion, t, watch=watch, **cast("MotionOptions", options))
    found = one_row(replace(found, notes=(*found.notes, *watch.lines)))
    if not np.all(np.diff(found.t) > 0):
        remedy = "order them, each once: work and mean loads are integrals over time"
        raise RunError("the times do not grow", element="t", remedy=remedy)
    if mechanism.unknowns:
        if driven is not None:
            remedy = "leave out driven, or the unknown forces of the file"
            raise RunError("forces are unknown already", element="driven", remedy=remedy)
        if without:
            remedy = "leave out without, or the unknown forces of the file"
            message = "all that acts counts where forces are unknown"
            raise RunError(message, element="without", remedy=remedy)
        result = _unknown(mechanism, found, algorithm)
    else:
        chosen = _chosen(mechanism, driven, motion)
        with np.errstate(over="ignore", invalid="ignore"):  # What is not finite is refused.
            result = _driven(mechanism, found, chosen, names_in("without", without))
    refuse_infinite(found.t, result.arrays)
    further = {name: result.run.output(name) for name in outputs}
    return watch.finished(replace(result, arrays={**result.arrays, **further}))


def _chosen(
    mechanism: Mechanism, driven: Sequence[str] | None, motion: MotionSource
) -> Sequence[str] | None:
    """Return the joints with drives; where nothing says so, those that move as prescribed."""
    has_own = mechanism.actuators or len(driven_rates(mechanism, None)) < mechanism.nv
    if driven is not None or has_own or not is_bound(mechanism) or not isinstance(motion, Mapping):
        return driven
    return list(motion)


def _driven(
    mechanism: Mechanism,
    motion: PrescribedMotion,
    driven: Sequence[str] | None,
    without: tuple[str, ...],
) -> Result:
    needed = drives(mechanism, motion.q, motion.qd, motion.qdd, driven, t=motion.t, without=without)
    arrays = {"t": motion.t, "tau": needed.tau, **_states(motion)}
    arrays["power"] = needed.tau * motion.qd
    arrays["work"] = integral(motion.t, arrays["power"].sum(axis=1))
    arrays |= _energy(mechanism, motion, without)
    arrays |= {"sigma": needed.sigma, "multipliers": needed.multipliers}
    arrays["residual"] = needed.residual
    places = {name: mechanism.rate_index(name) for name in needed.driven}
    power, qd = arrays["power"], motion.qd
    loads = {
        name: _load(needed.tau[:, k], power[:, k], motion.t, qd[:, k]) for name, k in places.items()
    }
    facts = {"kind": needed.kind, "loads": loads, **({"without": list(without)} if without else {})}
    return _result(mechanism, motion, arrays, (needed.report,), facts)


def _unknown(mechanism: Mechanism, motion: PrescribedMotion, algorithm: str) -> Result:
    states = (motion.t, motion.q, motion.qd, motion.qdd)
    # What has no finite value is refused with its time.
    with np.errstate(all="ignore"):
        found = unknown_forces(mechanism, *states, algorithm=algorithm)
    arrays = {"t": motion.t, **{name: found[name] for name in found.names}}
    power = {} if _names_time(mechanism) else _powers(mechanism, motion, found)
    arrays |= {"multipliers": found.multipliers, **_states(motion)}
    arrays |= {f"power({name})": values for name, values in power.items()}
    if power:
        arrays["work"] = integral(motion.t, sum(power.values(), np.zeros(len(motion.t))))
    arrays |= {**_energy(mechanism, motion), "residual": found.residual}
    arrays |= {"rank": found.rank.astype(np.float64), "row_rank": found.row_rank.astype(np.float64)}
    facts = {
        "kind": found.kind,
        "rows": list(found.rows),
        "loads": {name: _load(found[name], power.get(name), motion.t) for name in found.names},
    }
    return _result(mechanism, motion, arrays, (found.report,), facts)


def _powers(
    mechanism: Mechanism, motion: PrescribedMotion, found: UnknownForces
) -> dict[str, Array]:
    """Return the power of each unknown force, X_j times column j of A times qd, by name."""
    model = derive(mechanism, ["force_matrix"])
    states = {"q": motion.q, "qd": motion.qd, "t": motion.t}
    groups = {item.group for item in model.graph.inputs.values()}
    given: dict[str, Any] = {name: values for name, values in states.items() if name in groups}
    A = np.broadcast_to(
        model.evaluate(**given)["force_matrix"],
        (len(motion.t), mechanism.nv, len(found.names)),
    )
    rates = np.einsum("mij,mi->mj", A, motion.qd)
    return {name: found[name] * rates[:, k] for k, name in enumerate(found.names)}


def _names_time(mechanism: Mechanism) -> bool:
    """Tell whether time may move places of forces: A qd is not all of their rate then."""
    return mechanism.base.is_moving or TIME.search(native_text(mechanism)) is not None


TIME = re.compile(r'"[^"]*\bt\b[^"]*"(?!\s*:)')
"""A text of a written mechanism, no key, that names t."""


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
    units |= {name: "W" for name in arrays if name.startswith("power(")}
    text = (*report, *lines, *motion.notes)
    return Result("inverse_dynamics", mechanism, "t", shown, text, facts, units)


def _energy(
    mechanism: Mechanism, motion: PrescribedMotion, without: tuple[str, ...] = ()
) -> dict[str, Array]:
    """Return the energy where it can be derived: not for moving bases."""
    with suppress(DeriveError, RunError):
        run = run_of(mechanism, motion, without)
        return {"energy": run.kinetic_energy + run.potential_energy}
    return {}


UNEVEN = 4.0
"""How much longer than another a step may be for a cubic to go through both."""


def integral(t: Array, values: Array) -> Array:
    """Return the integral of samples from the first time on: (m,).

    It is exact for cubics where no step is more than four times as long as one next to it.

    Each step takes the cubic through its two ends and their neighbours.
    """
    if len(t) < 2:
        return np.zeros(len(t))
    cubics = _cubics(t, values)
    parts = cubics @ (1 / np.arange(1.0, cubics.shape[1] + 1))
    return np.concatenate([[0.0], np.cumsum(np.diff(t) * parts)])


def _root_mean_square(t: Array, values: Array) -> float:
    """Return the root of the mean of the squares of the same cubics."""
    largest = float(np.abs(values).max())
    if len(t) < 2 or not t[-1] > t[0] or not 0 < largest < np.inf:
        return abs(float(values[0]))
    values = values / largest  # Squares stay within the range of numbers.
    rule: tuple[Any, Any] = np.polynomial.legendre.leggauss(4)
    nodes, weights = (np.asarray(part, np.float64) for part in rule)
    cubics = _cubics(t, values)
    powers = np.stack([((1 + nodes) / 2) ** k for k in range(cubics.shape[1])])
    inside = cubics @ powers
    return largest * float(np.sqrt(np.diff(t) @ (inside**2 @ (weights / 2)) / (t[-1] - t[0])))


def _cubics(t: Array, values: Array) -> Array:
    """Return polynomials by the share of each step, (m - 1, 4).

    Straight lines for few times, and where steps side by side are so uneven that a cubic swings.
    """
    m, lines = len(t), np.stack([values[:-1], np.diff(values)], axis=1)
    if m < 4:
        return lines
    rows = np.clip(np.arange(m - 1) - 1, 0, m - 4)[:, None] + np.arange(4)
    steps = np.diff(t[rows], axis=1)
    x = (t[rows] - t[:-1, None]) / np.diff(t)[:, None]
    vandermonde = x[:, :, None] ** np.arange(4)
    cubics = np.linalg.solve(vandermonde, values[rows][..., None])[..., 0]
    is_even = steps.max(axis=1) <= UNEVEN * steps.min(axis=1)
    return np.where(is_even[:, None], cubics, np.pad(lines, ((0, 0), (0, 2))))


def _load(
    force: Array, power: Array | None, t: Array, rate: Array | None = None
) -> dict[str, float]:
    """Return the largest force with its time, the root of the mean square, the largest power."""
    if not len(t):
        return {}
    place = int(np.argmax(np.abs(force)))
    rms = _root_mean_square(t, force)
    load = {"peak": float(force[place]), "at": float(t[place]), "rms": rms}
    for name, values in (("peak_power", power), ("peak_rate", rate)):
        if values is not None:
            load[name] = float(values[np.argmax(np.abs(values))])
    return load


def _load_line(name: str, load: Mapping[str, float]) -> str:
    if not load:
        return f"{name}: no states"
    power = f", largest power {load['peak_power']:.6g} W" if "peak_power" in load else ""
    return (
        f"{name}: largest {load['peak']:.6g} at t = {load['at']:.6g} s, "
        f"root mean square {load['rms']:.6g}{power}"
    )
