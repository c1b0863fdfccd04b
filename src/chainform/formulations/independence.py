"""Which rows of a matrix are independent of each other, at states taken at random.

A row that follows from others does so at every state. So it is told by a few states at which
nothing is special: the rank there is the greatest that the matrix ever has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import DeriveError
from chainform.formulations.constraint_laws import ConstraintLaws
from chainform.formulations.outputs import declare
from chainform.graph import Builder, Graph, Plan
from chainform.mechanism import Mechanism

STATES = 24
"""How many states are tried; laws may have no value, or be constant, at some of them."""

RANK = 1e-9
"""A row counts as a sum of others if what is left of it is below this share of it."""


def dependent_rows(graph: Graph, output: str) -> list[int]:
    """Return the rows of a matrix that follow from those before them, at every state."""
    matrices = _at_random(graph, output)
    found = [_dependent(matrix) for matrix in matrices if np.isfinite(matrix).all()]
    return min(found, key=len) if found else []


def _dependent(matrix: NDArray[np.float64]) -> list[int]:
    """Return the rows that have no part of their own beside those before them."""
    basis = np.zeros((0, matrix.shape[1]))
    dependent: list[int] = []
    for place, row in enumerate(matrix):
        largest = np.max(np.abs(row), initial=0.0)
        if not largest:
            dependent.append(place)
            continue
        left = row / largest
        size = np.linalg.norm(left)
        # Twice, so that rounding leaves nothing of a row that follows from the others.
        for _ in range(2):
            left = left - basis.T @ (basis @ left)
        own = np.linalg.norm(left)
        if own <= RANK * size:
            dependent.append(place)
        else:
            basis = np.vstack((basis, left / own))
    return dependent


def _at_random(graph: Graph, output: str) -> NDArray[np.float64]:
    """Return a matrix at states of small and large numbers, parameters at their values if any."""
    block, rng = graph.block(output), np.random.default_rng(1)
    variables = np.asarray(block.variables, dtype=np.int32)
    wanted = np.unique(variables)
    plan = Plan(graph, wanted)
    inputs: dict[int, Any] = {}
    for v in plan.inputs:
        given = graph.inputs[v]
        sizes = 10.0 ** rng.uniform(-1, 2, STATES)
        sizes[: STATES // 2] = rng.uniform(0.1, 1.2, STATES // 2)
        signs = 1 if given.group in ("t", "parameter") else rng.choice([-1, 1], STATES)
        inputs[v] = signs * sizes if given.default is None else float(given.default)
    with np.errstate(all="ignore"):
        results = plan.run(inputs, STATES)
    entries = results[np.searchsorted(wanted, variables)]
    return entries.T.reshape((STATES, *block.shape))


def refuse_dependent(mechanism: Mechanism, *, with_quasi: bool) -> None:
    """Refuse constraints that follow from others, and quasi-velocities that leave rates open."""
    builder = Builder()
    laws = ConstraintLaws(builder, mechanism)
    names = [c.name for c in mechanism.constraints if c.kind != "unilateral"]
    rows = [*laws.bilateral, *(laws.quasi if with_quasi else ())]
    entries = {(i, k): value for i, row in enumerate(rows) for k, value in row.J.items()}
    declare(builder, "rows", "rows", (len(rows), mechanism.nv), entries)
    dependent = dependent_rows(builder.finish(), "rows")
    if not dependent:
        return
    place = dependent[0]
    if place < len(names):
        raise DeriveError(
            "the constraint binds nothing, or follows from those before it or contradicts them, "
            "so that the forces of constraints are not determined",
            file=mechanism.file,
            element=f"constraint {names[place]!r}",
            remedy="leave it out",
        )
    raise DeriveError(
        "quasi-velocities and constraints do not determine the rates: this one follows from the "
        "constraints and those before it",
        file=mechanism.file,
        element=f"quasi-velocity {mechanism.quasi[place - len(names)].name!r}",
        remedy="choose quasi-velocities that are independent of each other and of the constraints",
    )
