"""Prescribed motions: laws of time for all coordinates, or values of the basic ones.

The rates and accelerations of laws are found by exact differentiation. The basic coordinates of a
closed mechanism are chosen freely (Racković 1996, 1.4), the supplementary ones follow:

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

from chainform.analysis.constraint_values import ClosureRows
from chainform.errors import RunError
from chainform.formulations import Kinematics, Laws, coordinate_of
from chainform.given import Given, finite_array, real_array
from chainform.graph import Builder, Graph, Tangents
from chainform.mechanism import LawReader, Mechanism, reader_of
from chainform.model import evaluate_states
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


@dataclass(frozen=True, slots=True)
class PrescribedMotion:
    """A motion at times t (...): q (..., nq), qd and qdd (..., nv)."""

    t: Array
    q: Array
    qd: Array
    qdd: Array


# --- a law of time for every coordinate -------------------------------------------------------


def motion_of(
    mechanism: Mechanism,
    laws: Mapping[str, object],
    t: Any,
    values: Mapping[str, Any] | None = None,
) -> PrescribedMotion:
    """Return the motion at times t (s) of which a law of t is given for every coordinate.

    Laws are those of files, as in {"theta1": "0.3*sin(t)"}, and may name parameters that have
    values. Rates and accelerations are their derivatives, found exactly and not by differences.
    """
    graph = motion_graph(mechanism, laws)
    known = {p.name: float(p.value) for p in mechanism.parameters if p.value is not None}
    free = {item.name for item in graph.inputs.values() if item.group == "parameter"}
    given = {name: value for name, value in {**known, **(values or {})}.items() if name in free}
    found = evaluate_states(graph, mechanism, {"t": t}, given, None)
    times = real_array("t", t)
    shape = np.broadcast_shapes(times.shape, *(np.shape(value) for value in given.values()))
    times = np.broadcast_to(times, shape)
    q, qd, qdd = (
        np.broadcast_to(found[name], (*shape, mechanism.nv)) for name in ("q", "qd", "qdd")
    )
    _refuse_infinite(mechanism, times, q + qd + qdd)
    return PrescribedMotion(times, q, qd, qdd)


def _refuse_infinite(mechanism: Mechanism, t: Array, total: Array) -> None:
    """Refuse a motion that is not finite at some time; `total` has the shape of q."""
    wrong = ~np.isfinite(total + t[..., np.newaxis])
    if not wrong.any():
        return
    first = tuple(map(int, np.argwhere(wrong)[0]))
    name, when = mechanism.coordinates[first[-1]], t[first[:-1]]
    raise RunError(
        f"the motion of {name} has no finite value, rate or acceleration at t = {when:.6g}",
        element=f"motion of {name!r}",
        remedy="correct its law, or leave out that time",
    )


def motion_graph(mechanism: Mechanism, laws: object) -> Graph:
    """Return q, qd and qdd as functions of time and parameters; laws are a table by coordinates."""
    if mechanism.nq != mechanism.nv:
        raise RunError(
            "a motion is given for coordinates whose rates are qd, and a joint has a quaternion",
            element="motion",
            remedy="give q, qd and qdd as arrays",
        )
    given = _by_place(mechanism, laws)
    return law_graph(mechanism, {name: given[k] for k, name in _named(mechanism)})


def law_graph(mechanism: Mechanism, laws: Mapping[str, object], what: str = "motion") -> Graph:
    """Return the values q of laws of t, and their first and second derivatives qd and qdd.

    `what` they are stands before their names in errors: motion of 'elbow'.
    """
    reader, builder = LawReader(reader_of(mechanism), (), ()), Builder()
    scalars = Laws(Kinematics(mechanism, builder))
    clock = Tangents(builder, {builder.variable_of(scalars.time()): builder.number(1)})
    rows = [
        reader.law(reader.reader.given(law, f"{what} of {name!r}"), ("t",))
        for name, law in laws.items()
    ]
    q = [builder.keep(scalars.scalar(law)) for law in rows]
    qd = [builder.keep(clock.of(value)) for value in q]
    qdd = [builder.keep(clock.of(value)) for value in qd]
    for name, column in (("q", q), ("qd", qd), ("qdd", qdd)):
        entries = [(f"{name}_{k + 1}_of_t", value) for k, value in enumerate(column)]
        builder.output(name, (len(column),), entries)
    return builder.finish()


def _named(mechanism: Mechanism) -> list[tuple[int, str]]:
    return list(enumerate(mechanism.coordinates))


def _by_place(mechanism: Mechanism, laws: object) -> dict[int, object]:
    """Return the laws by coordinate; every coordinate must have one."""
    motion = Given(laws, "motion").table(remedy='write {"phi": "0.3*sin(t)"}')
    given: dict[int, object] = {}
    for name, law in motion.items():
        place = mechanism.coordinate_index(name)
        if place in given:
            message = f"the motion of {name} is given twice"
            raise motion.error(message, "give each coordinate one law")
        given[place] = law.value
    missing = [name for k, name in _named(mechanism) if k not in given]
    if missing:
        remedy = f'give each a law of t: {{"{missing[0]}": "0.3*sin(t)"}}, or "0" to hold it'
        raise motion.error(f"no motion is given for {', '.join(missing)}", remedy)
    return given


# --- basic and supplementary coordinates ------------------------------------------------------


def complete(
    mechanism: Mechanism,
    basic: Mapping[str, Any],
    rates: Mapping[str, Any] | None = None,
    accelerations: Mapping[str, Any] | None = None,
    *,
    t: Any = 0.0,
    start: Any = None,
) -> PrescribedMotion:
    """Return q, qd and qdd of all coordinates, given those of the basic ones.

    `basic` has numbers or arrays (m,) by name, `rates` and `accelerations` the same for their
    derivatives, zero where they are left out; or `basic` has laws of t, {"crank": "2*t"}, which are
    differentiated. `t` are the times (s). `start` is a pose near the first one, q0 of a simulation:
    it decides in which of several ways the loops close.
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
    q = _poses(mechanism, list(basic), columns[0], moments, start)
    qd, qdd = _rates(mechanism, q, columns[1], columns[2], list(basic), moments)
    return PrescribedMotion(
        moments.reshape(shape), *(x.reshape(*shape, x.shape[-1]) for x in (q, qd, qdd))
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
    graph = law_graph(mechanism, laws)
    tables = [values_along(graph, name, {"t": t.ravel()}) for name in ("q", "qd", "qdd")]
    return [{name: table[:, i].reshape(t.shape) for i, name in enumerate(laws)} for table in tables]


def _poses(
    mechanism: Mechanism, names: list[str], basic: dict[int, Array], t: Array, start: Any
) -> Array:
    """Return q (m, nq), each pose found from the one before."""
    places = {rate: coordinate_of(mechanism, rate) for rate in basic}
    fixed = [mechanism.coordinates[place] for place in places.values()]
    free = free_rates(mechanism, fixed)
    q = np.zeros((len(t), mechanism.nq))
    for k, moment in enumerate(t):
        gaps = ConstraintResiduals(mechanism, float(moment))
        if k == 0:
            pose = initial_state(mechanism, start, None)[: mechanism.nq]
            pose[list(places.values())] = [x[0] for x in basic.values()]
            q[0] = assemble(mechanism, pose, fixed, t=float(moment))
            continue
        step = {rate: float(x[k] - x[k - 1]) for rate, x in basic.items()}
        found, size = descend(gaps, _predicted(gaps, q[k - 1], step, free), free)
        if not size <= CLOSED:
            raise RunError(
                f"the loops cannot be closed at t = {moment:.6g} s with "
                + ", ".join(
                    f"{name} = {x[k]:.6g}" for name, x in zip(names, basic.values(), strict=True)
                ),
                file=mechanism.file,
                element="basic",
                remedy="the motion leaves the range of the linkage, or its times are too far apart",
            )
        q[k] = found
    return q


def _predicted(
    gaps: ConstraintResiduals, q: Array, step: Mapping[int, float], free: Places
) -> Array:
    """Return the pose after a step of the basic coordinates, the others along the tangent."""
    J, change = gaps.position_slopes(q), np.zeros(gaps.mechanism.nv)
    for rate, amount in step.items():
        change[rate] = amount
    change[free] = np.linalg.lstsq(J[:, free], -J @ change, rcond=SUPPLEMENTARY_RANK)[0]
    return gaps.moved(q, change)


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
            f"the basic coordinates leave {len(names) - best} freedoms open",
            file=mechanism.file,
            element="basic",
            remedy=f"choose as many more among {', '.join(names)}",
        )
    raise RunError(
        f"singular position at t = {t[int(np.argmin(ranks))]:.6g} s: the basic coordinates do not "
        "determine the rates there",
        file=mechanism.file,
        element="basic",
        remedy="choose other basic coordinates",
    )
