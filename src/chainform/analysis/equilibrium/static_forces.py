"""Equilibrating forces: what holds a mechanism at rest in given poses.

symbol   meaning
W        inverse dynamics at rest without what is to be found: weight, springs, known forces
X        what is to be found: drives, unknown forces of elements, wrenches on frames; C its columns
J, s     rows of loops and constraints, and their multipliers

    C X + J^T s = W

It is solved as for motions (unknown_forces.py): determined, of least norm, or in the least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.linear_variables import WRENCH
from chainform.analysis.motions.constraint_values import ClosureRows, RowValues
from chainform.analysis.motions.drives import driven_rates
from chainform.analysis.motions.motion import with_values
from chainform.analysis.motions.unknown_forces import UnknownForces, solved
from chainform.analysis.results.interruption import Progress, Watch
from chainform.analysis.results.result import Result
from chainform.errors import RunError
from chainform.given import argument, counted, finite_array
from chainform.mechanism import Mechanism
from chainform.pipeline import derive, names_in
from chainform.simulation import assemble

Array = NDArray[np.float64]

MOST_POSES = 1_000_000
KINDS = {
    "exact": "they are determined",
    "least norm": "there are more than needed, and those of least norm are given",
    "least squares": "they cannot hold all poses",
}


def statics(  # noqa: PLR0913, a front door
    mechanism: Mechanism | str | PathLike[str],
    q: Any = None,
    driven: Sequence[str] | None = None,
    *,
    wrenches: Sequence[str] = (),
    forces: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
    time: float = 0.0,
    progress: Progress | None = None,
) -> Result:
    """Return the forces that hold a mechanism at rest.

    `q` is a pose (nq,), several of them (m, nq), or a table by names, from which loops are closed;
    lists of numbers in a table are several poses, each closed from the one before.
    `driven` names the joints whose drives are to be found; `wrenches` names frames on which a force
    and a moment are to be found (world axes, at the frame). What an element model leaves unknown is
    always found. Without any of these the drives are those of actuators, else of the basic joints
    of loops, else of all joints. `forces` are known ones by laws, `values` those of parameters,
    `without` leaves out "springs" or "forces" of the file. Laws of time are taken at `time` (s).

    Arrays have a row for each pose: q, tau, forces, wrench, sigma (forces of loops), multipliers,
    residual (what no force accounts for), rank. `facts` has the kind: exact, least norm or least
    squares. `result.run` has reactions in the joints and all other quantities.
    `progress` is called with the number of poses of a table that are closed, and of all; Ctrl-C
    raises TaskInterrupted, with these.
    """
    watch = Watch(progress)
    source = with_values(mechanism, values or {})
    given = argument("forces", {} if forces is None else forces)
    if given.table().value:
        with given.translate_errors():
            source = source.with_forces(given.value)
    t = argument("time", time).number()
    poses = _poses(source, q, t, watch)
    frames = names_in("wrenches", wrenches)
    found_by_name = driven is None and bool(source.unknowns or frames)
    chosen = [] if found_by_name else driven_rates(source, driven)
    left = names_in("without", without)
    balance = _Balance(source, frames, left, t)
    # Where a law of the mechanism has no value there is none, and `solved` refuses that.
    with np.errstate(all="ignore"):
        found = _result(source, poses, chosen, left, balance)
    return watch.finished(replace(found, report=(*found.report, *watch.lines)))


def _poses(mechanism: Mechanism, q: Any, t: float, watch: Watch) -> Array:
    """Return the poses (m, nq); loops are closed for a table, and must be for arrays."""
    if q is None or isinstance(q, Mapping):
        table = cast("Mapping[str, Any]", q or {})
        if any(np.ndim(value) for value in table.values()):
            return _sequence(mechanism, table, t, watch)
        return assemble(mechanism, q, list(table), t=t)[None]
    array = finite_array("q", q)
    if array.ndim not in (1, 2) or array.shape[-1] != mechanism.nq:
        raise RunError(
            f"q has the shape {array.shape}, and a pose has {mechanism.nq} numbers",
            element="q",
            remedy="the order is " + ", ".join(mechanism.coordinates),
        )
    poses = np.atleast_2d(array)
    _check_count(len(poses))
    return poses


def _sequence(mechanism: Mechanism, table: Mapping[str, Any], t: float, watch: Watch) -> Array:
    """Return the poses of lists of coordinates by name, each closed from the one before.

    Where Ctrl-C ends it, there are the poses up to then.
    """
    columns = {name: finite_array(f"q, {name}", value) for name, value in table.items()}
    try:
        (count,) = np.broadcast_shapes(*(column.shape for column in columns.values()))
    except ValueError:
        message = "the lists of coordinates have different lengths"
        raise RunError(
            message, element="q", remedy="give one number for each pose, or one for all"
        ) from None
    _check_count(count)
    poses, pose = np.zeros((count, mechanism.nq)), mechanism.neutral()
    with watch.counting(count):
        for k in range(count):
            chosen = {name: float(np.broadcast_to(x, count)[k]) for name, x in columns.items()}
            for name, value in chosen.items():
                pose[mechanism.coordinate_index(name)] = value
            try:
                poses[k] = pose = assemble(mechanism, pose, list(chosen), t=t)
            except RunError as problem:
                message = f"pose {k + 1}: {problem.message}"
                raise RunError(message, element="q", remedy=problem.remedy) from problem
            watch.tell(k + 1)
    return poses[: watch.done]


def _check_count(count: int) -> None:
    if not 0 < count <= MOST_POSES:
        remedy = f"give at least one, and at most {MOST_POSES}"
        raise RunError(f"q has {count} poses", element="q", remedy=remedy)


class _Balance:
    """The parts of the equations at rest: W, the columns of forces and of wrenches, the rows."""

    def __init__(
        self, mechanism: Mechanism, frames: tuple[str, ...], without: tuple[str, ...], t: float
    ) -> None:
        self.mechanism, self.frames, self.t = mechanism, frames, t
        self.unknowns = mechanism.unknowns
        self.columns = ["force_matrix"] * bool(self.unknowns)
        self.columns += [f"jacobian({frame})" for frame in frames]
        self.model = derive(mechanism, ["inverse_dynamics", *self.columns], without=without)
        self.groups = {item.group for item in self.model.graph.inputs.values()}
        self.rows = ClosureRows(mechanism)

    def at(self, q: Array) -> tuple[Array, Array]:
        """Return W (m, nv), and the columns (m, nv, n) of unknown forces, then of wrenches."""
        nv, model = self.mechanism.nv, self.model
        still = np.zeros(nv)
        state: dict[str, Any] = {"q": q, "qd": still, "qdd": still}
        if "t" in self.groups:
            state["t"] = self.t
        if "force" in self.groups:
            state["force"] = np.zeros(len(self.unknowns))
        if self.mechanism.loops:
            state["sigma"] = np.zeros(self.rows.loops)
        found = model.evaluate(**state)
        parts = [np.broadcast_to(found[n], (len(q), *found[n].shape[-2:])) for n in self.columns]
        parts = [
            part if name == "force_matrix" else np.swapaxes(part, 1, 2)
            for name, part in zip(self.columns, parts, strict=True)
        ]
        W = np.broadcast_to(found["inverse_dynamics"], (len(q), nv))
        return W, np.concatenate([np.zeros((len(q), nv, 0)), *parts], axis=2)


def _result(
    mechanism: Mechanism,
    q: Array,
    chosen: Sequence[int],
    without: tuple[str, ...],
    balance: _Balance,
) -> Result:
    rows, nv, still = balance.rows, mechanism.nv, np.zeros((len(q), mechanism.nv))
    times = np.full(len(q), balance.t)
    at = rows.at(times, q, still)
    _check(rows, at, times, still)
    W, columns = balance.at(q)
    drives = np.broadcast_to(np.eye(nv)[:, chosen], (len(q), nv, len(chosen)))
    names = (
        *(mechanism.rates[k] for k in chosen),
        *balance.unknowns,
        *(f"{frame}.{c}" for frame in balance.frames for c in WRENCH),
    )
    found = solved(names, None, np.concatenate([drives, columns], axis=2), W, rows.names, at.J)
    tau = still.copy()
    tau[:, chosen] = found.values[:, : len(chosen)]
    forces, wrench = np.split(found.values[:, len(chosen) :], [len(balance.unknowns)], axis=1)
    arrays = {
        "pose": np.arange(1.0, len(q) + 1),
        "q": q,
        "tau": tau,
        "forces": forces,
        "wrench": wrench,
        "sigma": found.multipliers[:, : rows.loops],
        "multipliers": found.multipliers,
        "residual": found.residual,
        "rank": found.rank.astype(np.float64),
    }
    arrays = {name: array for name, array in arrays.items() if array.size}
    facts = {"kind": found.kind, "names": list(names), "rows": list(rows.names)}
    left = {"wrenches": list(balance.frames), "without": list(without)}
    facts |= {name: entries for name, entries in left.items() if entries}
    report = [_report(found, nv), found.report]
    if "t" in balance.groups:
        report.append(f"laws of time are taken at t = {balance.t:g} s, as if they stood still then")
    return Result("statics", mechanism, "pose", arrays, tuple(report), facts)


def _check(rows: ClosureRows, at: RowValues, times: Array, still: Array) -> None:
    """Refuse poses that do not fit loops and constraints."""
    try:
        rows.check(at, times, still, still)
    except RunError as error:
        message = error.message.replace("the positions of the motion do", "the pose does")
        remedy = 'give a table, as q={"crank": 0.4}: the loops are closed from there'
        if "touches" in message:
            remedy = error.remedy or remedy
        for level in ("rates", "accelerations"):
            if message.startswith(f"the {level} of the motion do"):
                message = message.replace(f"the {level} of the motion do", "rest does")
                remedy = "a law of time moves it: find its drives along a motion, inverse_dynamics"
        raise RunError(message, file=error.file, element="q", remedy=remedy) from None


def _report(found: UnknownForces, nv: int) -> str:
    freedoms = nv - found.row_rank
    least, most = int(freedoms.min()), int(freedoms.max())
    many = counted(most, "freedom") if least == most else f"{least} to {most} freedoms"
    left = float(np.max(np.abs(found.residual), initial=0.0))
    more = f": {left:.3g} is left over" if found.kind == "least squares" else ""
    what = ", ".join(found.names) or "nothing"
    return f"{what} for {many}: {KINDS[found.kind]}{more}"
