"""How states, and the forces that hold or drive them, change with parameters p.

symbol    meaning
r, f, a   what loops and constraints leave open: positions, rates f, accelerations a = J qdd - gamma
b, s      coordinates that are given, and those that follow: derivatives by p below
B         the balance of forces, C its derivative by the forces F that are found

    J_s dq_s   = - (r_p + J_b dq_b)
    J_s dqd_s  = - (f_p + f_q dq + J_b dqd_b)
    J_s dqdd_s = - (a_p + a_q dq + a_qd dqd + J_b dqdd_b)
    C dF       = - (B_p + B_q dq + B_qd dqd + B_qdd dqdd)

Poses that hold frames at targets, with T, J twists of frames by coordinates (rows that a target
binds) and rows of loops and constraints, and what parameters alone change of both, T_p and g_p:

    T dq = - T_p dp,    J dq = - g_p dp,    dq = 0 of coordinates that are held

That is the implicit function theorem; rows that depend on others are solved with the inverse of
least norm. What is not determined by these equations is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations, implicit_equations
from chainform.analysis.motions.constraint_values import ClosureRows
from chainform.analysis.optimisation.graph_slopes import GraphSlopes, with_parameters
from chainform.errors import RunError
from chainform.formulations import coordinate_of
from chainform.mechanism import Mechanism

Array = NDArray[np.float64]
RANK = 1e-9
"""Singular values below this share of the largest count as zero."""
POSE_RANK = 1e-10
"""The same where targets bind poses."""
FORCES = ("tau", "force", "wrench", "sigma")
OPEN = 1e-8
"""A coordinate is determined if a change of it that nothing binds is below this share."""


@dataclass(frozen=True, eq=False)
class StateChanges:
    """Derivatives of q (along the rates), qd and qdd by parameters, (m, nv, n) each."""

    q: Array
    qd: Array
    qdd: Array

    @property
    def groups(self) -> dict[str, Array]:
        """The same by groups of inputs."""
        return {"q": self.q, "qd": self.qd, "qdd": self.qdd}


class StateSlopes:
    """Derivatives of states and forces of a mechanism some of whose parameters have no value."""

    def __init__(
        self, mechanism: Mechanism, names: Sequence[str], wrenches: Sequence[str] = ()
    ) -> None:
        self.mechanism, self.names = mechanism, tuple(names)
        self.equations: ImplicitEquations = implicit_equations(mechanism, wrenches)
        if not self.equations.holonomic.all():
            raise no_derivative(
                "a nonholonomic constraint leaves open how positions change", mechanism.file
            )
        self.slopes = GraphSlopes(self.equations.graph, "equations", mechanism, names)

    @cached_property
    def positions(self) -> GraphSlopes:
        """What loops and holonomic constraints leave open."""
        return GraphSlopes(ClosureRows(self.mechanism).graph, "values", self.mechanism, self.names)

    def columns(self, point: Mapping[str, Array], values: Array) -> dict[str, Array]:
        """Return all inputs of the equations: those of a point, zeros for others."""
        m = len(point["q"])
        zeros = {group: np.zeros((m, size)) for group, size in self.equations.sizes.items()}
        return with_parameters({**zeros, **point}, self.names, values)

    # --- states ---------------------------------------------------------------------------

    def states(self, columns: Mapping[str, Array], given: StateChanges, held: Sequence[int]):
        """Return the changes of all coordinates, given those of some: rates that are `held`."""
        m, nv = len(columns["q"]), self.mechanism.nv
        rest = [k for k in range(nv) if k not in held]
        parts, bound = self.equations.parts, self.equations.held
        if not rest or not bound:
            return given
        J = self.jacobian(columns)[:, :, rest]
        inverse = self._inverse(J, rest)
        changes = {name: array.copy() for name, array in given.groups.items()}
        left = self.positions.total(columns, {"q": changes["q"]}, m)
        changes["q"][:, rest] = -inverse @ left
        for level in ("qd", "qdd"):
            if level == "qdd" or "qd" in self.slopes.groups:
                left = self.slopes.total(columns, changes, m)
                rows = (
                    left[:, parts["rates"]] if level == "qd" else left[:, parts["rows"]][:, :bound]
                )
                changes[level][:, rest] = -inverse @ rows
        return StateChanges(**changes)

    def jacobian(self, columns: Mapping[str, Array]) -> Array:
        """Return J of loops and constraints, (m, rows, nv)."""
        m, nv = len(columns["q"]), self.mechanism.nv
        unit = np.broadcast_to(np.eye(nv), (m, nv, nv))
        return self.positions.along(columns, "q", unit, m)

    def _inverse(self, J: Array, rest: Sequence[int]) -> Array:
        """Return J^+ of what follows; where it does not follow from the rows, that is refused."""
        moved = np.abs(J).max(axis=(0, 1)) > 0
        sizes = np.linalg.svd(J[:, :, moved], compute_uv=False)
        largest = sizes.max(axis=1, initial=0.0, keepdims=True)
        ranks = np.sum(sizes > RANK * largest, axis=1)
        if np.any(ranks < moved.sum()):
            names = [
                self.mechanism.rates[k] for k, is_moved in zip(rest, moved, strict=True) if is_moved
            ]
            raise no_derivative(
                f"loops and constraints do not determine {', '.join(names)}, which would depend on "
                "where their search starts",
                self.mechanism.file,
                "name as many coordinates as there are freedoms, away from singular positions",
            )
        return np.asarray(np.linalg.pinv(J, rcond=RANK), np.float64)

    # --- forces ---------------------------------------------------------------------------

    def forces(
        self,
        columns: Mapping[str, Array],
        changes: StateChanges,
        driven: Sequence[int],
    ) -> dict[str, tuple[Array, Array]]:
        """Return derivatives of forces by group, (m, size, n), and how far they are open (m, size).

        `driven` are the rates whose drives are found; of forces, wrenches and multipliers all are.
        """
        m, nv = len(columns["q"]), self.mechanism.nv
        balance = self.equations.parts["balance"]
        chosen: dict[str, list[int]] = {
            group: list(driven) if group == "tau" else list(range(self.equations.sizes[group]))
            for group in FORCES
        }
        matrices = [np.zeros((m, nv, 0))]
        for group, places in chosen.items():
            unit = np.zeros((m, self.equations.sizes[group], len(places)))
            unit[:, places, range(len(places))] = 1.0
            matrices.append(self.slopes.along(columns, group, unit, m)[:, balance])
        C = np.concatenate(matrices, axis=2)
        inverse = np.linalg.pinv(C, rcond=RANK)
        found = -inverse @ self.slopes.total(columns, changes.groups, m)[:, balance]
        open_by = np.abs(np.eye(C.shape[2]) - inverse @ C).max(axis=2, initial=0.0)
        result: dict[str, tuple[Array, Array]] = {}
        first = 0
        for group, places in chosen.items():
            whole = np.zeros((m, self.equations.sizes[group], len(self.names)))
            loose = np.zeros(whole.shape[:2])
            own = slice(first, first + len(places))
            whole[:, places], loose[:, places] = found[:, own], open_by[:, own]
            result[group], first = (whole, loose), own.stop
        return result


def no_derivative(message: str, file: str | None = None, remedy: str = "") -> RunError:
    """Return the error where a study has no exact derivative."""
    more = 'or give derivatives="differences", which are not exact'
    return RunError(
        f"{message}: there is no exact derivative",
        file=file,
        element="derivatives",
        remedy=f"{remedy}, {more}" if remedy else more.removeprefix("or "),
    )


def coordinate_changes(mechanism: Mechanism, along: Array) -> Array:
    """Return the changes of coordinates, (m, nq, n), given those along the rates."""
    if mechanism.quaternions:
        remedy = "take the position or the rotation of a frame"
        raise no_derivative("q has entries of a quaternion", mechanism.file, remedy)
    result = np.zeros_like(along)
    result[:, [coordinate_of(mechanism, rate) for rate in range(mechanism.nv)]] = along
    return result


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
    inverse = np.linalg.pinv(A, rcond=POSE_RANK)
    found = -inverse @ np.concatenate(by_parameters, axis=1)
    loose = np.abs(np.eye(nv) - inverse @ A).max(axis=2, initial=0.0)
    return np.where(loose[..., None] > OPEN, np.nan, found)


def _twists(pose: Array, changes: Array) -> Array:
    """Return linear and angular parts, in world axes, of changes (m, 16, k) of poses: (m, 6, k)."""
    by = changes.reshape(len(pose), 4, 4, -1)
    turn = np.einsum("mijk,mlj->milk", by[:, :3, :3], pose[:, :3, :3])
    angular = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=1)
    return np.concatenate([by[:, :3, 3], angular], axis=1)
