"""Rates that stay independent under loops and constraints, chosen once for all positions.

symbol   meaning
J, J_h   rows of loops and constraints; those that bind positions, not only rates
r        residuals of J_h

Positions in which loops and constraints hold are found from random ones by Gauss and Newton's
method, dq = - J_h^+ r, with the angles of turns in r. The rank of J there is that of nearly all
positions; rows may follow from others there that are independent elsewhere, as in an
overconstrained linkage. Independent are the basic joints of the file, then the first coordinates
that the others follow in all these positions. Of them nonholonomic constraints make some rates
dependent: those in which others show most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import DeriveError
from chainform.formulations.shared.closure_jacobian import basic_rates
from chainform.formulations.shared.constraints import ConstraintLaws
from chainform.formulations.shared.forces import world_closure
from chainform.formulations.shared.loop_rows import rows_of, turn_cosines
from chainform.formulations.shared.scope import refuse_massless
from chainform.graph import BatchPlan, Builder, Graph, Input, Scalar
from chainform.mechanism import Mechanism, lacks_inertia, with_unit_quaternions

Array = NDArray[np.float64]

STARTS = 24
"""Positions from which closed ones are looked for."""
STEPS = 80
LONGEST = 0.5
"""The longest step, in rad or m."""
FEWEST = 3
"""Closed positions that must be found."""
CLOSED = 1e-11
TRUNCATED = 1e-6
"""Singular values below this share of the largest are left out of a step."""
RANK = 1e-8
"""Singular values below this share of the largest count as zero, rows being equally long."""
LOOSE = 1e-12
"""The share of inertia that rounding may leave of nothing."""
ROUNDING = 1e-12
"""Rows that are shorter, against the longest, are zero."""


@dataclass(frozen=True)
class IndependentRates:
    """Places in qd of what is independent, and rows whose multipliers are not determined.

    `positions` of displacements, `rates` of rates, `accelerations` of those under all rows, with
    the joints whose acceleration is prescribed. `closed` are positions in which they were chosen.
    """

    positions: tuple[int, ...]
    rates: tuple[int, ...]
    accelerations: tuple[int, ...]
    undetermined: frozenset[int] = frozenset()
    closed: ClosedPositions | None = None


def is_bound(mechanism: Mechanism) -> bool:
    """Whether loops or bilateral constraints bind coordinates or rates."""
    return bool(mechanism.loops) or any(c.kind != "unilateral" for c in mechanism.constraints)


def independent_rates(mechanism: Mechanism, prescribed: Mapping[int, str]) -> IndependentRates:
    """Return what is independent in nearly all positions.

    `prescribed` names the actuators that prescribe the acceleration of a rate.
    """
    every = range(mechanism.nv)
    if not is_bound(mechanism):
        free = tuple(k for k in every if k not in prescribed)
        return IndependentRates(tuple(every), tuple(every), free)
    _refuse_without_basic(mechanism)
    found = ClosedPositions(mechanism)
    held, holonomic = found.J, found.J[:, found.holonomic]
    units = np.broadcast_to(
        np.eye(mechanism.nv)[list(prescribed)], (len(held), len(prescribed), mechanism.nv)
    )
    rows = np.concatenate([held, units], axis=1)
    basic = sorted({k for loop in mechanism.loops for k in basic_rates(mechanism, loop)})
    positions = _free(mechanism, holonomic, [*basic, *every])
    rates = _free(mechanism, held, _free_rates(held, holonomic, positions))
    accelerations = _free(mechanism, rows, [*rates, *every])
    if len(accelerations) != len(rates) - len(prescribed):
        raise _refuse_prescribed(mechanism, prescribed)
    undetermined = frozenset(k for J in rows for k in _undetermined(J))
    chosen = (tuple(positions), tuple(rates), tuple(accelerations))
    return IndependentRates(*chosen, undetermined, found)


# --- ranks ----------------------------------------------------------------------------------


def _even(J: Array) -> Array:
    """Return J with rows of length 1; those that are only rounding are zero."""
    sizes = np.linalg.norm(J, axis=-1, keepdims=True)
    smallest = ROUNDING * max(1.0, float(np.max(sizes, initial=0.0)))
    return np.divide(J, sizes, out=np.zeros_like(J), where=sizes > smallest)


def _rank(J: Array) -> int:
    if not J.size:
        return 0
    sizes = np.linalg.svd(J, compute_uv=False)
    return int(np.sum(sizes > RANK * max(1.0, float(sizes[0]))))


def _free(mechanism: Mechanism, J: Array, order: Sequence[int]) -> list[int]:
    """Return the first rates in an order that the others follow, in all positions."""
    matrices = [_even(matrix) for matrix in J]
    ranks = {_rank(matrix) for matrix in matrices}
    rank, count = max(ranks), J.shape[2]
    chosen: list[int] = []
    for place in dict.fromkeys(order):
        if len(chosen) == count - rank:
            break
        others = [k for k in range(count) if k not in (*chosen, place)]
        if all(_rank(matrix[:, others]) == rank for matrix in matrices):
            chosen.append(place)
    if len(ranks) > 1 or len(chosen) < count - rank:
        raise DeriveError(
            "loops and constraints leave other coordinates free in some positions than in others",
            file=mechanism.file,
            element="loops" if mechanism.loops else "constraints",
            remedy="call chainform.linearise at a state: it chooses independent coordinates there",
        )
    return sorted(chosen)


def _free_rates(J: Array, J_h: Array, places: Sequence[int]) -> list[int]:
    """Return those independent coordinates whose rates are independent under all rows."""
    left = np.stack([_even(a) @ _tangent(_even(b), places) for a, b in zip(J, J_h, strict=True)])
    count = max(_rank(matrix) for matrix in left)
    free = list(range(len(places)))
    for _ in range(count):
        sizes = np.min(np.linalg.norm(left, axis=1), axis=0)
        best = max(free, key=lambda k: sizes[k])
        free.remove(best)
        along = left[:, :, best]
        along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), RANK)
        left = left - along[:, :, None] * np.einsum("pi,pik->pk", along, left)[:, None]
    return [places[k] for k in free]


def _tangent(J: Array, places: Sequence[int]) -> Array:
    """Return T with J T = 0, and 1 in the rows at places."""
    T = np.zeros((J.shape[1], len(places)))
    T[places, range(len(places))] = 1.0
    others = [k for k in range(J.shape[1]) if k not in places]
    T[others] = -np.linalg.pinv(J[:, others], rcond=RANK) @ J[:, places]
    return T


def _undetermined(J: Array) -> list[int]:
    """Return the rows whose multipliers can change without any force on a joint."""
    u, sizes, _ = np.linalg.svd(_even(J))
    rank = int(np.sum(sizes > RANK * max(1.0, float(np.max(sizes, initial=0.0)))))
    return np.flatnonzero(np.max(np.abs(u[:, rank:]), axis=1, initial=0.0) > RANK).tolist()


# --- closed positions -----------------------------------------------------------------------


class ClosedPositions:
    """J in positions of a mechanism in which loops and constraints hold, (positions, rows, nv)."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.graph, self.holonomic = _graph(mechanism)
        self.random = np.random.default_rng(1)
        self.given: dict[str, Any] = {
            "t": self.random.uniform(0.1, 1.2, STARTS),
            "qd": self.random.uniform(0.1, 1.2, (STARTS, mechanism.nv)),
        }
        q = self._closed()
        found = self.values(("values", "J", "cosines"), q)
        is_closed = (
            np.isfinite(found["J"]).all(axis=1)
            & (np.max(np.abs(found["values"]), axis=1, initial=0.0) < CLOSED)
            & (np.min(found["cosines"], axis=1, initial=1.0) > 0)
        )
        if np.sum(is_closed) < FEWEST:
            raise DeriveError(
                "no position was found in which loops and constraints hold",
                file=mechanism.file,
                element="loops" if mechanism.loops else "constraints",
                remedy="give parameters values with which they can hold, or call "
                "chainform.linearise at a state",
            )
        self.q, self.is_closed = q, is_closed
        self.J = found["J"][is_closed].reshape(-1, len(self.holonomic), mechanism.nv)

    def values(
        self, outputs: Sequence[str], q: Array, qd: Array | None = None, graph: Graph | None = None
    ) -> dict[str, Array]:
        """Return outputs of the graph, or of another one, (positions, entries)."""
        graph = graph or self.graph
        blocks = {name: graph.block(name) for name in outputs}
        wanted = np.unique([v for block in blocks.values() for v in block.variables]).astype(int)
        plan = BatchPlan(graph, wanted.tolist())
        rates = self.given["qd"] if qd is None else qd
        inputs = {v: self._input(graph.inputs[v], q, rates) for v in plan.inputs}
        with np.errstate(all="ignore"):
            results = plan.run(inputs, STARTS)
        return {
            name: results[np.searchsorted(wanted, np.asarray(block.variables, int))].T
            for name, block in blocks.items()
        }

    def _input(self, item: Input, q: Array, qd: Array) -> Any:
        if item.group == "parameter" and item.default is not None:
            return float(item.default)
        if item.group in ("q", "qd"):
            return (q if item.group == "q" else qd)[:, item.index]
        if item.group == "t":
            return self.given["t"]
        return self.given.setdefault(item.name, float(self.random.uniform(0.5, 1.5)))

    def _closed(self) -> Array:
        """Return positions after the search; not all of them need be closed."""
        mechanism = self.mechanism
        reach = np.geomspace(0.05, 2.0, STARTS)[:, None]
        shifts = reach * self.random.uniform(-1, 1, (STARTS, mechanism.nq))
        q = _unit(mechanism, mechanism.neutral() + shifts)
        if not self.holonomic.any():
            return q
        for _ in range(STEPS):
            found = self.values(("values", "slopes", "cosines"), q)
            slopes = np.nan_to_num(found["slopes"], posinf=0.0, neginf=0.0)
            slopes = slopes.reshape(STARTS, -1, mechanism.nv)
            left = np.nan_to_num(self._left(found), posinf=0.0, neginf=0.0)
            step = -np.einsum("sij,sj->si", np.linalg.pinv(slopes, rcond=TRUNCATED), left)
            longest = np.max(np.abs(step), axis=1, keepdims=True)
            step *= np.minimum(1.0, LONGEST / np.maximum(longest, LONGEST))
            q = _unit(mechanism, q + self.values(("moved",), q, step)["moved"])
        return q

    def _left(self, found: Mapping[str, Array]) -> Array:
        """Return residuals in which turns between ends are angles, from 0 to pi, by axes.

        The rows of loops have the sine, which is zero at half a turn as well.
        """
        left, first, number = found["values"].copy(), 0, 0
        for loop in self.mechanism.loops:
            after = first + loop.equations
            if loop.rows.has_sense:
                turn = left[:, first + len(loop.rows.linear) : after]
                sine = np.linalg.norm(turn, axis=1)
                angle = np.arctan2(sine, found["cosines"][:, number])
                turn *= np.divide(angle, sine, out=np.ones(STARTS), where=sine > ROUNDING)[:, None]
                number += 1
            first = after
        return left


def _unit(mechanism: Mechanism, q: Array) -> Array:
    return np.stack([with_unit_quaternions(mechanism, each) for each in q])


def _graph(mechanism: Mechanism) -> tuple[Graph, NDArray[np.bool_]]:
    """Return a graph, and which rows bind positions.

    It has J of all rows, residuals of positions, their slopes with turns as angular velocities,
    dq/dt, and cosines of the turns in loops.
    """
    builder = Builder()
    for k in range(mechanism.nv):
        builder.input(f"qd{k + 1}", "qd", k)
    rows, zero = rows_of(builder, mechanism), builder.number(0)
    is_holonomic = [row.value is not row.rate for row in rows]
    rates = ConstraintLaws(builder, mechanism).coordinate_rates()
    slopes = _closure(builder, mechanism)
    first = len(slopes) // mechanism.nv
    slopes += [
        row.J.get(k, zero)
        for row, own in zip(rows[first:], is_holonomic[first:], strict=True)
        if own
        for k in range(mechanism.nv)
    ]
    parts: dict[str, list[Scalar]] = {
        "slopes": slopes,
        "values": [row.value for row, own in zip(rows, is_holonomic, strict=True) if own],
        "J": [row.J.get(k, zero) for row in rows for k in range(mechanism.nv)],
        "moved": [rates[k] for k in range(mechanism.nq)],
        "cosines": turn_cosines(builder, mechanism),
    }
    for name, values in parts.items():
        entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
        builder.output(name, (len(entries),), entries)
    return builder.finish(), np.array(is_holonomic, dtype=np.bool_)


def _closure(builder: Builder, mechanism: Mechanism) -> list[Scalar]:
    """Return the entries of the closure Jacobian, row by row."""
    if not mechanism.loops:
        return []
    world_closure(builder, mechanism).declare("closure_jacobian")
    return [builder.scalar(v) for v in builder.outputs["closure_jacobian"].variables]


# --- what is refused --------------------------------------------------------------------------


def _refuse_without_basic(mechanism: Mechanism) -> None:
    for loop in mechanism.loops:
        if not loop.basic:
            raise DeriveError(
                "the loop names no basic joints, and formulas need a choice of independent "
                "coordinates that holds in all positions",
                file=mechanism.file,
                element=f"loop {loop.name!r}",
                remedy='name them in the loop, basic = ["joint"]; or call chainform.linearise, '
                "which chooses at a state",
            )


def _refuse_prescribed(mechanism: Mechanism, prescribed: Mapping[int, str]) -> DeriveError:
    return DeriveError(
        f"signals prescribe motions ({', '.join(prescribed.values())}), of which loops, "
        "constraints or others bind some already",
        file=mechanism.file,
        element="actuators",
        remedy="take actuators that their load acts back on, or leave one out",
    )


def refuse_loose(
    mechanism: Mechanism, free: IndependentRates, mass_matrix: Callable[[], Graph]
) -> None:
    """Refuse a freedom that loops and constraints leave, and that no inertia resists."""
    found, nv = free.closed, mechanism.nv
    if found is None or not lacks_inertia(mechanism):
        return
    felt = np.zeros(nv)
    felt[[a.rate for a in mechanism.actuators if a.holds_motion]] = 1.0
    H = found.values(["mass_matrix"], found.q, graph=mass_matrix())["mass_matrix"]
    matrices = H[found.is_closed].reshape(-1, nv, nv) + np.diag(felt)
    loose = [_loose_rate(J, M) for J, M in zip(found.J, matrices, strict=True)]
    if None not in loose:
        raise refuse_massless(min(place for place in loose if place is not None))


def _loose_rate(J: Array, M: Array) -> int | None:
    """Return the rate that inertia resists least, of those that rows leave free, if not at all."""
    _, sizes, vh = np.linalg.svd(_even(J))
    free = vh[int(np.sum(sizes > RANK)) :].T
    if not free.size:
        return None
    shares, directions = np.linalg.eigh(free.T @ M @ free)
    is_loose = shares[0] <= LOOSE * shares[-1]
    return int(np.argmax(np.abs(free @ directions[:, 0]))) if is_loose else None
