"""How poses that hold frames at targets change with parameters.

symbol   meaning
T, J     twists of frames by coordinates, rows that a target binds; rows of loops and constraints
T_p, g_p what parameters alone change of frames and of loops

    T dq = - T_p dp,    J dq = - g_p dp,    dq = 0 of coordinates that are held
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.optimisation.graph_slopes import GraphSlopes
from chainform.analysis.optimisation.state_slopes import StateSlopes

Array = NDArray[np.float64]
RANK = 1e-10
OPEN = 1e-8
"""A coordinate is determined if a change of it that nothing binds is below this share."""


def pose_changes(
    equations: StateSlopes,
    columns: Mapping[str, Array],
    targets: Sequence[tuple[str, tuple[int, ...]]],
    held: Sequence[int],
    pose_of: Callable[[str], GraphSlopes],
) -> Array:
    """Return derivatives of q along the rates, (m, nv, n), NaN where targets leave them open.

    `targets` are frames with the rows of their twist that are bound.
    """
    m, nv = len(columns["q"]), equations.mechanism.nv
    unit = np.broadcast_to(np.eye(nv), (m, nv, nv))
    fixed = np.zeros((m, len(held), nv))
    fixed[:, range(len(held)), held] = 1.0
    by_rates = [fixed, equations.jacobian(columns)]
    by_parameters = [
        np.zeros((m, len(held), len(equations.names))),
        equations.positions.total(columns, {}, m),
    ]
    for frame, rows in targets:
        slopes = pose_of(f"pose({frame})")
        pose = slopes.values(columns, m).reshape(m, 4, 4)
        chosen = list(rows)
        by_rates.append(_twists(pose, slopes.along(columns, "q", unit, m))[:, chosen])
        by_parameters.append(_twists(pose, slopes.total(columns, {}, m))[:, chosen])
    A = np.concatenate(by_rates, axis=1)
    inverse = np.linalg.pinv(A, rcond=RANK)
    found = -inverse @ np.concatenate(by_parameters, axis=1)
    loose = np.abs(np.eye(nv) - inverse @ A).max(axis=2, initial=0.0)
    return np.where(loose[..., None] > OPEN, np.nan, found)


def _twists(pose: Array, changes: Array) -> Array:
    """Return linear and angular parts, in world axes, of changes (m, 16, k) of poses: (m, 6, k)."""
    by = changes.reshape(len(pose), 4, 4, -1)
    turn = np.einsum("mijk,mlj->milk", by[:, :3, :3], pose[:, :3, :3])
    angular = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=1)
    return np.concatenate([by[:, :3, 3], angular], axis=1)
