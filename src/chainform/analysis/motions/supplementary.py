"""Basic and supplementary coordinates of a closed mechanism.

The basic coordinates are chosen freely (Racković 1996, 1.4), the supplementary ones follow:

    r(q_b, q_s) = 0,    J_s qd_s = - J_b qd_b - dr/dt,    J_s qdd_s = gamma - J_b qdd_b

Along a motion each pose is found from the one before it, so that the linkage stays assembled the
same way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.analysis.motions.motion_sources import law_graph
from chainform.analysis.results.interruption import Watch
from chainform.display import Displayed
from chainform.errors import RunError
from chainform.formulations import coordinate_of
from chainform.given import counted, finite_array
from chainform.mechanism import Mechanism
from chainform.simulation import (
    CLOSED,
    ConstraintResiduals,
    Places,
    assemble,
    descend,
    free_rates,
    initial_state,
    values_along,
)

Array = NDArray[np.float64]
SUPPLEMENTARY_RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
LONGEST = 0.5
"""The longest step along the tangent, in rad and in parts of the size."""
STRAIGHT = 0.3
"""How far from its end, against its length, the pose may be that Newton steps find."""
NEAREST = 1e-6
"""Poses so near to each other are the same, in rad and in parts of the size."""
SHORTEST = 2.0**-12
"""The smallest part into which a step is divided."""


@dataclass(frozen=True, slots=True, repr=False)
class PrescribedMotion(Displayed):
    """A motion at times t (...): q (..., nq), qd and qdd (..., nv).

    `notes` say how numbers without rates were differentiated.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    notes: tuple[str, ...] = ()


def complete(
    mechanism: Mechanism,
    basic: Mapping[str, Any],
    rates: Mapping[str, Any] | None = None,
    accelerations: Mapping[str, Any] | None = None,
    *,
    t: Any = 0.0,
    start: Any = None,
    watch: Watch | None = None,
) -> PrescribedMotion:
    """Return q, qd and qdd of all coordinates, given those of the basic ones.

    `basic` has numbers or arrays (m,) by name, `rates` and `accelerations` the same for their
    derivatives, zero where they are left out; or `basic` has laws of t, {"crank": "2*t"}, which are
    differentiated. `t` are the times (s). `start` is a pose near the first one, q0 of a simulation:
    it decides in which of several ways the loops close. A `watch` learns how far it has come;
    where Ctrl-C ends it, the motion has the states up to then.
    """
    times = finite_array("t", t)
    by_law = any(isinstance(value, str) for value in basic.values())
    tables = (
        _by_laws(mechanism, basic, times) if by_law else [basic, rates or {}, accelerations or {}]
    )
    given = [{name: finite_array(name, x) for name, x in table.items()} for table in tables]
    shape = _common_shape([times, *(x for table in given for x in table.values())])
    count = int(np.prod(shape))
    moments = np.broadcast_to(times, shape).ravel()
    columns = [_columns(mechanism, table, count) for table in given]
    _refuse_others(mechanism, columns)
    q = _poses(mechanism, columns[0], moments, start, watch or Watch(takes_parts=False))
    if len(q) < count:
        shape, moments = (len(q),), moments[: len(q)]
        columns = [{rate: x[: len(q)] for rate, x in table.items()} for table in columns]
    with np.errstate(over="ignore", invalid="ignore"):
        qd, qdd = _rates(mechanism, q, columns[1], columns[2], list(basic), moments)
    refuse_infinite(moments, {"qd": qd, "qdd": qdd})
    q, qd, qdd = (x.reshape(*shape, x.shape[-1]) for x in (q, qd, qdd))
    return PrescribedMotion(moments.reshape(shape), q, qd, qdd)


def refuse_infinite(t: Array, arrays: Mapping[str, Array]) -> None:
    """Refuse results along a motion that have no finite value at some time."""
    for name, array in arrays.items():
        wrong = ~np.isfinite(array.reshape(len(t), -1)).all(axis=1)
        if wrong.any():
            raise RunError(
                f"{name} has no finite value at t = {t[np.argmax(wrong)]:.6g} s",
                element="motion",
                remedy="correct the motion: it is too large for numbers, or laws of the mechanism "
                "have no value there",
            )


def _common_shape(arrays: Sequence[Array]) -> tuple[int, ...]:
    """Return the shape of one row of states in time; RunError where there is none."""
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shape = (0, 0)
    if len(shape) > 1:
        raise RunError(
            "a motion is one row of states in time",
            element="basic",
            remedy="give a number, or as many numbers as there are times, for each coordinate",
        )
    return shape


def _columns(mechanism: Mechanism, table: Mapping[str, Array], count: int) -> dict[int, Array]:
    """Return values by rate, one for each moment."""
    return {mechanism.rate_index(n): np.broadcast_to(x, (count,)) for n, x in table.items()}


def _refuse_others(mechanism: Mechanism, columns: list[dict[int, Array]]) -> None:
    for rate in {*columns[1], *columns[2]} - columns[0].keys():
        raise RunError(
            f"{mechanism.rates[rate]} is no basic coordinate, so its rate is not free",
            element="rates",
            remedy="give rates and accelerations of basic coordinates only",
        )


def _by_laws(mechanism: Mechanism, laws: Mapping[str, Any], t: Array) -> list[dict[str, Array]]:
    """Return values, rates and accelerations of laws of t."""
    graph = law_graph(mechanism, laws, span=t)
    tables = [values_along(graph, name, {"t": t.ravel()}) for name in ("q", "qd", "qdd")]
    return [{name: table[:, i].reshape(t.shape) for i, name in enumerate(laws)} for table in tables]


def _poses(
    mechanism: Mechanism, basic: dict[int, Array], t: Array, start: Any, watch: Watch
) -> Array:
    """Return q (m, nq), each pose found from the one before; up to then where Ctrl-C came."""
    places = {rate: coordinate_of(mechanism, rate) for rate in basic}
    fixed = [mechanism.coordinates[place] for place in places.values()]
    free = free_rates(mechanism, fixed)
    q, gaps = np.zeros((len(t), mechanism.nq)), ConstraintResiduals(mechanism)
    with watch.counting(len(t)):
        for k, moment in enumerate(t):
            if k == 0:
                pose = initial_state(mechanism, start, None)[: mechanism.nq]
                pose[list(places.values())] = [x[0] for x in basic.values()]
                try:
                    q[0] = assemble(mechanism, pose, fixed, t=float(moment))
                except RunError as problem:
                    values = {rate: x[0] for rate, x in basic.items()}
                    raise _open(mechanism, float(moment), values, problem.message) from problem
            else:
                step = {rate: float(x[k] - x[k - 1]) for rate, x in basic.items()}
                gaps.t = float(moment)
                found = _next_pose(gaps, q[k - 1], step, float(t[k - 1]), free)
                if found is None:
                    raise _open(mechanism, float(moment), {r: x[k] for r, x in basic.items()})
                q[k] = found
            watch.tell(k + 1)
    return q[: watch.done] if watch.came else q


def _open(mechanism: Mechanism, t: float, basic: Mapping[int, float], why: str = "") -> RunError:
    """Return the error of loops that do not close."""
    values = ", ".join(f"{mechanism.rates[rate]} = {x:.6g}" for rate, x in basic.items())
    more = f": {why}" if why else ""
    return RunError(
        f"the loops cannot be closed at t = {t:.6g} s with {values}{more}",
        file=mechanism.file,
        element="motion",
        remedy="give a motion within the range of the linkage, of no more coordinates than it has "
        "freedoms; start decides in which of several ways it closes",
    )


def _next_pose(
    gaps: ConstraintResiduals, q: Array, step: Mapping[int, float], since: float, free: Places
) -> Array | None:
    """Return the pose after a step of the basic coordinates since a time; None if there is none.

    Newton steps from far away may end where the linkage is assembled the other way round. So a step
    counts only if the tangent leads near its end, and is divided otherwise.
    """
    until, done, share = gaps.t, 0.0, 1.0
    while done < 1:
        share = min(share, 1 - done)
        gaps.t = until if done + share >= 1 else since + (done + share) * (until - since)
        change, bound = _tangent_step(gaps, q, {rate: share * x for rate, x in step.items()}, free)
        ahead = gaps.moved(q, change)
        found, size = descend(gaps, ahead, free)
        length = float(np.max(np.abs(change / gaps.scales())[bound], initial=0.0))
        off = float(np.max(np.abs(found - ahead), initial=0.0))
        near = off <= max(NEAREST, STRAIGHT * length) * max(1.0, gaps.size)
        if size <= CLOSED and near and length <= LONGEST:
            q, done, share = found, done + share, 2 * share
        elif share > SHORTEST:
            share /= 2
        else:
            return None
    return q


def _tangent_step(
    gaps: ConstraintResiduals, q: Array, step: Mapping[int, float], free: Places
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the change with a step of basic coordinates, along the tangent, and what is bound."""
    J, change = gaps.position_slopes(q), np.zeros(gaps.mechanism.nv)
    for rate, amount in step.items():
        change[rate] = amount
    left = gaps.at(q) + J @ change
    change[free] -= np.linalg.lstsq(J[:, free], left, rcond=SUPPLEMENTARY_RANK)[0]
    return change, np.any(J != 0, axis=0)


def _rates(
    mechanism: Mechanism,
    q: Array,
    rates: dict[int, Array],
    accelerations: dict[int, Array],
    names: list[str],
    t: Array,
) -> tuple[Array, Array]:
    """Return qd and qdd (m, nv)."""
    chosen = [mechanism.rate_index(name) for name in names]
    free = [k for k in range(mechanism.nv) if k not in chosen]
    rows, qd, qdd = ClosureRows(mechanism), *(np.zeros((len(t), mechanism.nv)) for _ in range(2))
    for table, into in ((rates, qd), (accelerations, qdd)):
        for rate, values in table.items():
            into[:, rate] = values
    at = rows.at(t, q, qd)
    # With the supplementary rates at zero, the rates of the rows are J_b qd_b + dr/dt.
    _check(mechanism, at.J[:, :, free], [mechanism.rates[k] for k in free], t)
    inverse = np.linalg.pinv(at.J[:, :, free], rcond=SUPPLEMENTARY_RANK)
    qd[:, free] = -np.einsum("mij,mj->mi", inverse, at.rates)
    at = rows.at(t, q, qd)
    rest = at.gamma - np.einsum("mij,mj->mi", at.J, qdd)
    qdd[:, free] = np.einsum("mij,mj->mi", inverse, rest)
    return qd, qdd


def _check(mechanism: Mechanism, J: Array, names: list[str], t: Array) -> None:
    """Refuse basic coordinates that do not determine the others, and singular positions."""
    sizes = np.linalg.svd(J, compute_uv=False)
    ranks = np.sum(
        sizes > SUPPLEMENTARY_RANK * np.max(sizes, axis=-1, initial=0.0, keepdims=True), axis=-1
    )
    if np.all(ranks == len(names)):
        return
    best = int(np.max(ranks, initial=0))
    if best < len(names):
        raise RunError(
            f"the basic coordinates leave {counted(len(names) - best, 'freedom')} open",
            file=mechanism.file,
            element="motion",
            remedy=f"choose as many more among {', '.join(names)}",
        )
    raise RunError(
        f"singular position at t = {t[int(np.argmin(ranks))]:.6g} s: the basic coordinates do not "
        "determine the rates there",
        file=mechanism.file,
        element="motion",
        remedy="choose other basic coordinates",
    )
