"""Unknown forces along a prescribed motion: A X = B, solved state by state (paper 004, eq. 3, 6).

Where the forces are fewer than the equations, or the equations contradict each other, the least
squares of what is left over is taken, and where they are more than the equations determine, the
solution of least norm; both are said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motion import motion_of
from chainform.errors import ReadError, RunError
from chainform.given import real_array
from chainform.mechanism import Mechanism
from chainform.mechanism.checks import names_in
from chainform.mechanism.parametrise import automatic_parameters
from chainform.model import Model
from chainform.pipeline import derive
from chainform.readers import read

Array = NDArray[np.float64]

OUTPUTS = ("force_matrix", "force_right")

RANK = 1e-10
"""Singular values below this share of the largest count as zero."""

CONSISTENT = 1e-9
"""Equations hold if what is left over is below this share of the largest term."""


@dataclass(frozen=True, slots=True)
class Forces:
    """The unknown forces along a motion.

    `values` has the shape (..., m) in the order of `names`; `rank` (...) is how many of them the
    equations determine, `residual` (..., nv) is A X - B, what no force accounts for (N, N m).
    `kind` is "exact" where all equations hold and leave no choice, "least norm" where they leave
    one, and "least squares" where they cannot all hold; `report` says it in words.
    """

    names: tuple[str, ...]
    t: Array | None
    values: Array
    rank: NDArray[np.int64]
    residual: Array
    kind: str
    report: str

    def __getitem__(self, name: str) -> Array:
        """Return one force along the motion."""
        if name in self.names:
            return self.values[..., self.names.index(name)]
        raise RunError(
            f"there is no unknown force {name}",
            element=name,
            remedy=f"unknown are {', '.join(self.names)}",
        )


def unknown_forces(
    model: Model | Mechanism | str | PathLike[str],
    t: Any = None,
    q: Any = None,
    qd: Any = None,
    qdd: Any = None,
    *,
    motion: Mapping[str, object] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Forces:
    """Return the forces that a mechanism leaves unknown, along a motion that is prescribed.

    The motion is given by arrays q (..., nq), qd and qdd (..., nv), or by laws of t in `motion`:
    {"theta1": "0.3*sin(t)"}, which are differentiated exactly, at the times t (...). `values` are
    numbers for parameters. A model must have the outputs force_matrix and force_right; of a
    mechanism, or the file that describes it, they are derived.
    """
    given = model if isinstance(model, Model | Mechanism) else read(model)
    numbers = _checked(given, values)
    source = given if isinstance(given, Model) else _derived(given, numbers)
    mechanism = source.mechanism
    missing = [output for output in OUTPUTS if output not in source.outputs]
    if missing:
        raise RunError(
            f"the model has no output {missing[0]}",
            element=missing[0],
            remedy=f"derive it with the outputs {' and '.join(OUTPUTS)}",
        )
    if motion is not None:
        if any(part is not None for part in (q, qd, qdd)):
            raise RunError("the motion is given twice", element="motion", remedy="give one of both")
        if t is None:
            remedy = "give times: t=np.linspace(0, 1, 101)"
            raise RunError("a motion by laws needs times", element="t", remedy=remedy)
        made = motion_of(mechanism, motion, t, numbers)
        t, q, qd, qdd = made.t, made.q, made.qd, made.qdd
    free = {name: v for name, v in numbers.items() if name in source.free_parameters}
    found = source.evaluate(q=q, qd=qd, qdd=qdd, t=t, values=free, outputs=OUTPUTS)
    times = None if t is None else real_array("t", t)
    return solved(mechanism.unknowns, times, found["force_matrix"], found["force_right"])


def _checked(model: Model | Mechanism, said: object) -> Mapping[str, Any]:
    """Return the values of parameters, after a check that each of them can have an effect."""
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        remedy = 'write values={"name": number}'
        raise RunError("values are a table by parameters", element="values", remedy=remedy)
    values = cast("Mapping[str, Any]", said)
    mechanism = model.mechanism if isinstance(model, Model) else model
    declared = {parameter.name for parameter in mechanism.parameters}
    in_equations = {*names_in(mechanism), *automatic_parameters(mechanism)}
    for name in values:
        if name not in declared | in_equations:
            names = ", ".join(sorted(declared | in_equations)) or "none"
            remedy = f"parameters are {names}"
            raise ReadError(f"there is no parameter {name}", element=str(name), remedy=remedy)
        if isinstance(model, Model) and name in in_equations - model.free_parameters.keys():
            remedy = f"derive it with parameters=[{name!r}], or give the mechanism instead of it"
            message = f"the parameter {name} is a number in this model"
            raise RunError(message, element=name, remedy=remedy)
    return values


def _derived(mechanism: Mechanism, values: Mapping[str, Any]) -> Model:
    """Return the equations of the unknown forces; parameters that are given values stay free."""
    in_equations = {*names_in(mechanism), *automatic_parameters(mechanism)}
    kept = [name for name in values if name in in_equations]
    return derive(mechanism, OUTPUTS, parameters=kept or "numeric", reduce="none")


def solved(names: tuple[str, ...], t: Array | None, matrix: Array, right: Array) -> Forces:
    """Return X with A X = B, in the sense of least squares and least norm."""
    finite = np.isfinite(matrix).all(axis=(-2, -1)) & np.isfinite(right).all(axis=-1)
    if not finite.all():
        where = "" if t is None else f" at t = {np.broadcast_to(t, finite.shape)[~finite][0]:.6g}"
        raise RunError(
            f"the equations have no finite value{where}",
            element="force_matrix",
            remedy="the motion may leave the range of the mechanism: check its laws there",
        )
    u, sizes, vh = np.linalg.svd(matrix, full_matrices=False)
    largest = sizes.max(axis=-1, initial=0.0)
    counts = sizes > RANK * largest[..., np.newaxis]
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=counts)
    shares = np.einsum("...ij,...i->...j", u, right) * inverse
    values = np.einsum("...ij,...i->...j", vh, shares)
    product = np.einsum("...ij,...j->...i", matrix, values)
    residual = product - right
    rank = counts.sum(axis=-1)
    kind = _kind(len(names), rank, residual, np.abs(right) + np.abs(product))
    report = _report(names, t, rank, residual, kind)
    return Forces(names, t, values, rank, residual, kind, report)


def _kind(count: int, rank: NDArray[np.int64], residual: Array, terms: Array) -> str:
    size = np.maximum(terms.max(axis=-1, initial=0.0), np.finfo(float).tiny)
    if np.any(np.abs(residual).max(axis=-1, initial=0.0) > CONSISTENT * size):
        return "least squares"
    return "least norm" if np.any(rank < count) else "exact"


def _report(
    names: tuple[str, ...], t: Array | None, rank: NDArray[np.int64], residual: Array, kind: str
) -> str:
    states = "one state" if rank.ndim == 0 else f"{rank.size} states"
    forces = _counted(len(names), "unknown force")
    start = f"{forces} in {_counted(residual.shape[-1], 'equation')}, {states}"
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


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
