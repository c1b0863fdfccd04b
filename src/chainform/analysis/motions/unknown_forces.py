"""Unknown forces along a prescribed motion: A X = B, solved state by state.

The equations are (3) and (6) of Andrieiev and Dziuba 2023.

symbol   meaning
X        unknown forces; A their columns, B all else that the motion needs
J, s     rows of loops and constraints, and their multipliers: forces that do no work in them
P        I - J^+ J, what of a generalised force the loops and constraints cannot take

    A X + J^T s = B,    multiplied by P:    P A X = P B

Where the forces are fewer than the equations, or the equations contradict each other, the least
squares of what is left over is taken, and where they are more than the equations determine, the
solution of least norm; the report names both. Rows that depend on others leave a choice of
multipliers, but not of forces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.analysis.motions.motion import motion_of
from chainform.display import Displayed
from chainform.errors import RunError
from chainform.given import Given, argument, counted, real_array
from chainform.mechanism import Mechanism, automatic_parameters, names_in, with_named_numbers
from chainform.model import Model, from_names
from chainform.pipeline import derive
from chainform.readers import read
from chainform.simulation import check_fixed

Array = NDArray[np.float64]

OUTPUTS = ("force_matrix", "force_right")
ALGORITHMS = {
    "sorting": OUTPUTS,
    "differentiation": ("derivative(inverse_dynamics,force)", "inverse_dynamics"),
}
"""Outputs that make A and B: while equations are built, eq. (8), or from finished ones, (5)."""

RANK = 1e-10
"""Singular values below this share of the largest count as zero."""

ROW_RANK = 1e-9
"""The same for rows of loops and constraints."""

CONSISTENT = 1e-9
"""Equations hold if what is left over is below this share of the largest term."""


@dataclass(frozen=True, slots=True, repr=False)
class UnknownForces(Displayed):
    """The unknown forces along a motion.

    `values` has the shape (..., m) in the order of `names`; `rank` (...) is how many of them the
    equations determine, `residual` (..., nv) is A X + J^T s - B, what no force accounts for (N,
    N m). `multipliers` (..., rows) are the forces of loops and constraints, in the order of `rows`
    and of those of a run; `row_rank` (...) is how many rows do not depend on others, and where
    some do the multipliers are those of least norm. `kind` is "exact" where all equations hold and
    leave no choice of the unknown forces, "least norm" where they leave one, and "least squares"
    where they cannot all hold; `report` says it in words.
    """

    names: tuple[str, ...]
    t: Array | None
    values: Array
    rank: NDArray[np.int64]
    residual: Array
    kind: str
    report: str
    rows: tuple[str, ...]
    multipliers: Array
    row_rank: NDArray[np.int64]

    def __getitem__(self, name: str) -> Array:
        """Return one force along the motion."""
        given = argument(str(name), name)
        return self.values[..., self.names.index(given.choice(self.names, "unknown force"))]


def unknown_forces(  # noqa: PLR0913, a front door
    model: Model | Mechanism | str | PathLike[str],
    t: Any = None,
    q: Any = None,
    qd: Any = None,
    qdd: Any = None,
    *,
    motion: Mapping[str, object] | None = None,
    values: Mapping[str, Any] | None = None,
    algorithm: str = "sorting",
) -> UnknownForces:
    """Return the forces that a mechanism leaves unknown, along a motion that is prescribed.

    The motion is given by arrays q (..., nq), qd and qdd (..., nv), or by laws of t in `motion`:
    {"theta1": "0.3*sin(t)"}, which are differentiated exactly, at the times t (...). `values` are
    numbers for parameters. A model must have the outputs force_matrix and force_right; of a
    mechanism, or the file that describes it, they are derived. The motion must fit the loops and
    constraints, whose forces are found with the unknown ones; `simulate` takes the result as
    `unknowns`. `algorithm` is "sorting", which makes A and B while the equations are built, or
    "differentiation" of the finished equations by the unknown forces; both give the same.
    """
    outputs = ALGORITHMS[argument("algorithm", algorithm).choice(tuple(ALGORITHMS), "algorithm")]
    given = model if isinstance(model, Model | Mechanism) else read(model)
    numbers = _checked(given, values)
    source = given if isinstance(given, Model) else _derived(given, outputs, numbers)
    mechanism = source.mechanism
    missing = [output for output in outputs if output not in source.outputs]
    if missing:
        raise RunError(
            f"the model has no output {missing[0]}",
            element=missing[0],
            remedy=f"derive it with the outputs {' and '.join(outputs)}",
        )
    if motion is not None:
        if any(part is not None for part in (q, qd, qdd)):
            raise RunError("the motion is given twice", element="motion", remedy="give one of both")
        t, q, qd, qdd = _by_laws(mechanism, motion, t, numbers)
    free = {name: v for name, v in numbers.items() if name in source.free_parameters}
    states: dict[str, Any] = {
        name: _array(mechanism, name, x) for name, x in {"q": q, "qd": qd, "qdd": qdd}.items()
    }
    rows = ClosureRows(with_named_numbers(mechanism, _automatic(mechanism, numbers)))
    if mechanism.loops:
        states["sigma"] = np.zeros(rows.loops)
    if algorithm == "differentiation":
        states["force"] = np.zeros(len(mechanism.unknowns))
    # Where a law of the mechanism has no value there is none, and `solved` refuses that.
    with np.errstate(all="ignore"):
        found = source.evaluate(**states, t=t, values=free, outputs=outputs)
    at = rows.at(t, states["q"], states["qd"], numbers) if rows.names or rows.barriers else None
    if at is not None:
        rows.check(at, t, states["qd"], states["qdd"])
    times = None if t is None else real_array("t", t)
    matrix, right = (found[output] for output in outputs)
    if algorithm == "differentiation":
        matrix = -matrix
    J = None if at is None else at.J
    return solved(mechanism.unknowns, times, matrix, right, rows.names, J)


def _by_laws(
    mechanism: Mechanism, motion: Mapping[str, object], t: Any, numbers: Mapping[str, Any]
) -> tuple[Any, Any, Any, Any]:
    """Return t, q, qd and qdd of a motion that is given by laws."""
    if t is None:
        remedy = "give times: t=np.linspace(0, 1, 101)"
        raise RunError("a motion by laws needs times", element="t", remedy=remedy)
    made = motion_of(mechanism, motion, t, numbers)
    return made.t, made.q, made.qd, made.qdd


def _array(mechanism: Mechanism, group: str, given: Any) -> Any:
    """Return a state as an array; it may be a table by names."""
    if not isinstance(given, Mapping):
        return given
    length = mechanism.nq if group == "q" else mechanism.nv
    return from_names(mechanism, group, cast("Mapping[str, Any]", given), length)


def _automatic(mechanism: Mechanism, values: Mapping[str, Any]) -> list[str]:
    """Return the names of numbers of the mechanism among those of parameters."""
    declared = {parameter.name for parameter in mechanism.parameters}
    known = automatic_parameters(mechanism) if values else {}
    return [name for name in values if name in known and name not in declared]


def _checked(model: Model | Mechanism, values: object) -> Mapping[str, Any]:
    """Return the values of parameters, after a check that each of them can have an effect."""
    if values is None:
        return {}
    table = argument("values", values).table(remedy='write values={"name": number}').value
    mechanism = model.mechanism if isinstance(model, Model) else model
    declared = {parameter.name for parameter in mechanism.parameters}
    in_equations = {*names_in(mechanism), *automatic_parameters(mechanism)}
    for name in table:
        if name not in declared | in_equations:
            raise Given(name, name).unknown("parameter", sorted(declared | in_equations))
        if isinstance(model, Model) and name in in_equations - model.free_parameters.keys():
            remedy = f"derive it with parameters=[{name!r}], or give the mechanism instead of it"
            raise RunError(
                f"the parameter {name} is a number in this model", element=name, remedy=remedy
            )
    check_fixed(mechanism, table)
    return table


def _derived(mechanism: Mechanism, outputs: tuple[str, ...], values: Mapping[str, Any]) -> Model:
    """Return the equations of the unknown forces; parameters that are given values stay free."""
    fixed = {parameter.name for parameter in mechanism.parameters if parameter.fixed_in}
    free = {*names_in(mechanism), *automatic_parameters(mechanism)} - fixed
    parameters = [name for name in values if name in free]
    return derive(mechanism, outputs, parameters=parameters or "numeric")


def solved(
    names: tuple[str, ...],
    t: Array | None,
    matrix: Array,
    right: Array,
    rows: tuple[str, ...] = (),
    columns: Array | None = None,
) -> UnknownForces:
    """Return X and s with A X + J^T s = B, in the sense of least squares and least norm.

    matrix (..., nv, m), right (..., nv); `columns` are those of J (..., rows, nv).
    """
    size = right.shape[-1]
    own = np.zeros((0, size)) if columns is None else columns
    shape = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-1], own.shape[:-2])
    matrix, J = (np.broadcast_to(x, (*shape, *x.shape[-2:])) for x in (matrix, own))
    right = np.broadcast_to(right, (*shape, size))
    _refuse_infinite(t, matrix, right, J)
    inverse, row_rank = _inverse(J, ROW_RANK)
    free = np.eye(size) - inverse @ J
    # Of forces that the rows take wholly only rounding is left, so A itself tells what is small.
    inner, rank = _inverse(free @ matrix, RANK, _largest(matrix))
    values = np.einsum("...ij,...j->...i", inner, np.einsum("...ij,...j->...i", free, right))
    product = np.einsum("...ij,...j->...i", matrix, values)
    multipliers = np.einsum("...ij,...i->...j", inverse, right - product)
    taken = np.einsum("...ij,...i->...j", J, multipliers)
    residual = product + taken - right
    _refuse_infinite(t, inner, residual, multipliers[..., np.newaxis, :])
    kind = _kind(len(names), rank, residual, np.abs(right) + np.abs(product) + np.abs(taken))
    report = _report(names, t, rank, residual, kind) + _of_rows(len(rows), row_rank)
    return UnknownForces(
        names, t, values, rank, residual, kind, report, rows, multipliers, row_rank
    )


def _inverse(
    matrix: Array, share: float, largest: Array | None = None
) -> tuple[Array, NDArray[np.int64]]:
    """Return the pseudoinverse, and the rank: singular values below a share count as zero."""
    u, sizes, vh = np.linalg.svd(matrix, full_matrices=False)
    bound = _largest(matrix) if largest is None else largest
    counts = sizes > share * bound[..., np.newaxis]
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=counts)
    found = np.einsum("...ki,...k,...jk->...ij", vh, inverse, u)
    return found, counts.sum(axis=-1)


def _largest(matrix: Array) -> Array:
    return np.linalg.svd(matrix, compute_uv=False).max(axis=-1, initial=0.0)


def _refuse_infinite(t: Array | None, matrix: Array, right: Array, J: Array) -> None:
    finite = np.isfinite(matrix).all(axis=(-2, -1)) & np.isfinite(right).all(axis=-1)
    finite = finite & np.isfinite(J).all(axis=(-2, -1))
    if not finite.all():
        state = f" in state {int(np.argmin(finite)) + 1}" if finite.ndim else ""
        where = (
            state if t is None else f" at t = {np.broadcast_to(t, finite.shape)[~finite][0]:.6g}"
        )
        raise RunError(
            f"the equations have no finite value{where}",
            element="force_matrix",
            remedy="it may be out of the range of the mechanism: check its laws there",
        )


def _of_rows(count: int, rank: NDArray[np.int64]) -> str:
    """Return the report on the multipliers of loops and constraints."""
    if not count:
        return ""
    least = int(rank.min(initial=count))
    if least == count:
        return f"; {counted(count, 'row')} of loops and constraints, all independent"
    return (
        f"; {counted(count, 'row')} of loops and constraints, {least} of them independent: "
        "the multipliers are those of least norm"
    )


def _kind(count: int, rank: NDArray[np.int64], residual: Array, terms: Array) -> str:
    size = np.maximum(terms.max(axis=-1, initial=0.0), np.finfo(float).tiny)
    if np.any(np.abs(residual).max(axis=-1, initial=0.0) > CONSISTENT * size):
        return "least squares"
    return "least norm" if np.any(rank < count) else "exact"


def _report(
    names: tuple[str, ...], t: Array | None, rank: NDArray[np.int64], residual: Array, kind: str
) -> str:
    states = "one state" if rank.ndim == 0 else counted(rank.size, "state")
    forces = counted(len(names), "unknown force")
    start = f"{forces} in {counted(residual.shape[-1], 'equation')}, {states}"
    least, most = (int(rank.min()), int(rank.max())) if rank.size else (0, 0)
    ranks = f"rank {least}" + (f" to {most}" if least != most else "")
    largest = np.abs(residual).max(axis=-1, initial=0.0)
    place = int(np.argmax(largest)) if largest.size else 0
    when = ""
    if t is not None and largest.size > 1:
        when = f" at t = {np.broadcast_to(t, largest.shape).ravel()[place]:.6g}"
    endings = {
        "exact": "every equation holds and no force is left to choose",
        "least norm": "the equations leave a choice; the forces of least norm are given",
        "least squares": "the equations cannot all hold: the sum of squares of what is left over "
        f"is least, and the most that is left over is {largest.max(initial=0.0):.6g}{when}",
    }
    return f"{start}, {ranks}: {endings[kind]}"
