"""How many operations a graph takes, by the house's counting rule.

A constant factor other than +-1 costs a multiplication, x^n costs n - 1, 2x one addition
(2xy a multiplication and an addition), a sign nothing. Calls have columns of their own, and
so have additions that only form the argument of a sine or cosine. What no output needs does
not count. What depends on parameters alone is computed once, when the parameters are set, and is
counted apart, unless there are no other inputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.graph.requests import entry_names
from chainform.graph.types import CALL_NUMBER, Graph, Integers, Kind


@dataclass(frozen=True, slots=True, repr=False)
class Cost(Displayed):
    """Operations needed for one evaluation."""

    multiplications: int = 0
    additions: int = 0
    sin: int = 0
    cos: int = 0
    angle_sums: int = 0
    calls: int = 0
    """Calls other than sine and cosine: reciprocals, square roots, ..."""

    def __str__(self) -> str:
        return (
            f"{self.multiplications} multiplications, {self.additions} additions, "
            f"{self.sin} sin, {self.cos} cos, {self.angle_sums} angle sums, "
            f"{self.calls} other calls"
        )

    def __repr__(self) -> str:
        return f"<Cost: {self}>"

    def as_dict(self) -> dict[str, int]:
        """Return the columns by name."""
        return asdict(self)


def cost(graph: Graph, outputs: Iterable[str] | None = None) -> Cost:
    """Count what one evaluation of the outputs (all, or those named) takes."""
    wanted = graph.output_variables(outputs)
    return cost_of(graph, graph.cone(wanted) & ~parameter_only(graph), wanted)


def cost_once(graph: Graph, outputs: Iterable[str] | None = None) -> Cost:
    """Count what is computed once, from the parameters alone."""
    wanted = graph.output_variables(outputs)
    return cost_of(graph, graph.cone(wanted) & parameter_only(graph), wanted)


def cost_by_entry(graph: Graph, outputs: Iterable[str] | None = None) -> dict[str, Cost]:
    """Count each entry of the outputs (all, or those named) by itself, as if it were the only one.

    Entries that share a variable, as those of a symmetric matrix do, have one count. An entry has
    its label for a name or, where an earlier output has that, its place: velocity(tool)[1].
    """
    fixed = parameter_only(graph)
    blocks = [graph.block(name) for name in (graph.outputs if outputs is None else outputs)]
    variables = dict.fromkeys(v for block in blocks for v in block.variables)
    counts: dict[int, Cost] = {}
    for v in variables:
        wanted = np.asarray([v], dtype=np.int32)
        counts[v] = cost_of(graph, graph.cone(wanted) & ~fixed, wanted)
    return {name: counts[v] for name, v in entry_names(blocks)}


def parameter_only(graph: Graph) -> NDArray[np.bool_]:
    """Return a mask of the variables in which no coordinate, rate or force occurs.

    Where a graph has no inputs but parameters, these are what changes, and the mask is empty.
    """
    given = (graph.kind == Kind.COORDINATE) | (graph.kind == Kind.FORCE)
    if not given.any():
        return np.zeros(len(graph), dtype=np.bool_)
    moving = bytearray(given.tobytes())
    first = graph.factor_start[graph.term_start].tolist()
    factor, argument = graph.factor.tolist(), graph.argument.tolist()
    for v in range(len(graph)):
        if argument[v] >= 0:
            moving[v] = moving[argument[v]]
        elif first[v] < first[v + 1]:
            moving[v] = any(map(moving.__getitem__, factor[first[v] : first[v + 1]]))
    return ~np.frombuffer(moving, dtype=np.bool_)


def cost_of(graph: Graph, needed: NDArray[np.bool_], wanted: Integers | None = None) -> Cost:
    """Count the operations of the variables in a mask; `wanted` are results (else all outputs).

    A result is no mere angle, even where nothing but a sine uses it.
    """
    products, doublings = term_costs(graph)
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.term_start))
    multiplications = np.bincount(owner, weights=products, minlength=len(graph))
    additions = np.bincount(owner, weights=doublings, minlength=len(graph))
    additions += np.maximum(np.diff(graph.term_start) - 1, 0)
    results = graph.output_variables() if wanted is None else wanted
    angles = angle_variables(graph, needed, results)
    plain = needed & ~angles
    called = graph.call[needed]
    sines = int(np.count_nonzero(called == CALL_NUMBER["sin"]))
    cosines = int(np.count_nonzero(called == CALL_NUMBER["cos"]))
    return Cost(
        multiplications=int(multiplications[needed].sum()),
        additions=int(additions[plain].sum()),
        sin=sines,
        cos=cosines,
        angle_sums=int(additions[angles].sum()),
        calls=int(np.count_nonzero(called)) - sines - cosines,
    )


def term_costs(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the multiplications and the doubling additions of each term."""
    sizes = np.asarray([_coefficient_class(abs(k)) for k in graph.coefficients], dtype=np.int64)
    size = sizes[graph.coefficient] if len(sizes) else np.zeros(0, dtype=np.int64)
    term_of_factor = np.repeat(np.arange(len(graph.coefficient)), np.diff(graph.factor_start))
    degree = np.bincount(term_of_factor, weights=graph.power, minlength=len(graph.coefficient))
    degree = degree.astype(np.int64)
    has_factor = degree > 0
    products = np.where(has_factor, degree - 1 + (size == _OTHER), 0)
    doublings = np.where(has_factor & (size == _TWO), 1, 0)
    return products, doublings


_UNIT, _TWO, _OTHER = 0, 1, 2


def _coefficient_class(magnitude: object) -> int:
    if magnitude == 1:
        return _UNIT
    return _TWO if magnitude == 2 else _OTHER


def angle_variables(graph: Graph, needed: NDArray[np.bool_], wanted: Integers) -> NDArray[np.bool_]:
    """Return a mask of the needed sums that serve only to form arguments of sines and cosines."""
    trigonometric = np.isin(graph.call, [CALL_NUMBER["sin"], CALL_NUMBER["cos"]])
    in_angles = graph.cone(graph.argument[needed & trigonometric])
    candidates = np.flatnonzero(needed & in_angles & (graph.kind == Kind.COMPUTED))
    angles = np.zeros(len(graph), dtype=np.bool_)
    if not len(candidates):
        return angles
    offsets, rows = graph.users()
    outputs = np.zeros(len(graph), dtype=np.bool_)
    outputs[wanted] = True
    for v in candidates[::-1]:
        users = rows[offsets[v] : offsets[v + 1]]
        users = users[needed[users]]
        serves = trigonometric[users] | angles[users]
        angles[v] = len(users) > 0 and not outputs[v] and bool(serves.all())
    return angles
