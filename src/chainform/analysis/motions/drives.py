"""Inverse dynamics of closed loops: which drives a motion needs, also where there are many.

symbol   meaning
W        inverse dynamics of the open mechanism, H qdd + c + hG + other forces
J        rows of loops and constraints, J qd = 0
N        I - J^+ J, what of a generalised force the loops cannot take
S        columns of the joints that are driven
sigma    forces of the loops, on the closing bodies (N, N m)

    W = S tau + J^T sigma

Multiplied by N this has no sigma: N S tau = N W. As many drives as freedoms are determined by it,
of more the least norm is taken, and fewer cannot bring about any motion but some.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.analysis.motions.unknown_forces import solved
from chainform.display import Displayed
from chainform.errors import RunError
from chainform.formulations import basic_rates
from chainform.given import argument, counted, finite_array
from chainform.mechanism import Mechanism
from chainform.pipeline import derive

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class DriveForces(Displayed):
    """Drives along a motion of a closed mechanism.

    `tau` (..., nv) is zero for joints that are not driven. `sigma` (..., rows) are the forces of
    the loops, as `run.sigma`, and `multipliers` those of all loops and constraints; of rows that
    depend on each other they have the least norm. `rank` (...) is how many drives are determined,
    `residual` (..., nv) what no drive accounts for. `kind` is "exact", "least norm" or "least
    squares", and `report` says it in words.
    """

    driven: tuple[str, ...]
    tau: Array
    sigma: Array
    multipliers: Array
    rank: NDArray[np.int64]
    residual: Array
    kind: str
    report: str


def drives(
    mechanism: Mechanism,
    q: Any,
    qd: Any,
    qdd: Any,
    driven: Sequence[str] | None = None,
    *,
    t: Any = 0.0,
    without: Sequence[str] = (),
) -> DriveForces:
    """Return the drives that a motion needs, which must fit the loops and constraints.

    q (..., nq), qd and qdd (..., nv) are arrays; `analysis.complete` gives them for basic
    coordinates. `driven` names the joints with drives: by default those with actuators, else the
    basic joints of the loops if the file gives them, else all.
    """
    motion = {"q": q, "qd": qd, "qdd": qdd, "t": t}
    arrays = [finite_array(name, value) for name, value in motion.items()]
    _check_shapes(mechanism, arrays)
    shape = np.broadcast_shapes(*(x.shape[:-1] for x in arrays[:3]), arrays[3].shape)
    flat = [np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1]) for x in arrays[:3]]
    times = np.broadcast_to(arrays[3], shape).ravel()
    chosen = driven_rates(mechanism, driven)
    rows = ClosureRows(mechanism)
    at = rows.at(times, flat[0], flat[1])
    rows.check(at, times, flat[1], flat[2])
    W = _open_efforts(mechanism, flat, times, without, rows.loops)
    names = tuple(mechanism.rates[k] for k in chosen)
    found = solved(names, None, np.eye(mechanism.nv)[:, chosen], W, rows.names, at.J)
    tau = np.zeros_like(W)
    tau[:, chosen] = found.values
    forces = found.multipliers
    return DriveForces(
        names,
        tau.reshape(*shape, -1),
        forces[:, : rows.loops].reshape(*shape, rows.loops),
        forces.reshape(*shape, rows.count),
        found.rank.reshape(shape),
        found.residual.reshape(*shape, -1),
        found.kind,
        _report(len(chosen), mechanism.nv - found.row_rank, found.kind, found.residual),
    )


def _check_shapes(mechanism: Mechanism, arrays: Sequence[Array]) -> None:
    """Refuse arrays of other lengths than the mechanism has, and batches that do not fit."""
    lengths = {"q": mechanism.nq, "qd": mechanism.nv, "qdd": mechanism.nv}
    for (name, length), array in zip(lengths.items(), arrays, strict=False):
        if array.ndim == 0 or array.shape[-1] != length:
            raise RunError(
                f"{name} has the shape {array.shape}, its last dimension must be {length}",
                element=name,
                remedy="the order is " + ", ".join(mechanism.rates),
            )
    try:
        np.broadcast_shapes(*(x.shape[:-1] for x in arrays[:3]), arrays[3].shape)
    except ValueError:
        raise RunError(
            "the numbers of states in q, qd, qdd and t do not fit together",
            element="q",
            remedy="give each of them the same number of states, or one for all of them",
        ) from None


def driven_rates(mechanism: Mechanism, names: Sequence[str] | None) -> list[int]:
    """Return the rates that are driven."""
    if names is not None:
        chosen = argument("driven", names).texts()
        return list(dict.fromkeys(mechanism.rate_index(name) for name in chosen))
    if mechanism.actuators:
        shares = (share for actuator in mechanism.actuators for share in actuator.shares)
        return list(dict.fromkeys(rate for rate, _ in shares))
    if mechanism.loops and all(loop.basic is not None for loop in mechanism.loops):
        return sorted({k for loop in mechanism.loops for k in basic_rates(mechanism, loop)})
    return list(range(mechanism.nv))


def _open_efforts(
    mechanism: Mechanism, states: Sequence[Array], t: Array, without: Sequence[str], loops: int
) -> Array:
    """Return inverse dynamics without the forces of loops, which have so many rows."""
    model = derive(mechanism, ["inverse_dynamics"], without=without)
    q, qd, qdd = states
    groups = {item.group for item in model.graph.inputs.values()}
    more: dict[str, Any] = {"t": t} if "t" in groups else {}
    if mechanism.loops:
        more["sigma"] = np.zeros(loops)
    return model.evaluate(q=q, qd=qd, qdd=qdd, **more)["inverse_dynamics"]


def _report(count: int, left: NDArray[np.int64], kind: str, residual: Array) -> str:
    least, most = (int(left.min()), int(left.max())) if left.size else (0, 0)
    freedoms = counted(least, "freedom") if least == most else f"{least} to {most} freedoms"
    endings = {
        "exact": "the drives are determined",
        "least norm": "there are more drives than needed, and those of least norm are given",
        "least squares": "the drives cannot bring this motion about: "
        f"{np.max(np.abs(residual), initial=0.0):.3g} is left over",
    }
    return f"{counted(count, 'drive')} for {freedoms}: {endings[kind]}"
