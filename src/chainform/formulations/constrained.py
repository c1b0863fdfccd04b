"""Constraints on coordinates and rates, and the motion and the forces under them.

symbol   meaning
J        derivatives of constraint rates by the rates, m x nv; J qdd = gamma
lambda   multipliers: the generalised forces J^T lambda act like drives
H, r     H qdd = r + J^T lambda; r is tau less all that is no inertia force of qdd
S, pi    quasi-velocities, pi = S qd + s
K        S above J; T its inverse, T_pi those columns of T that belong to pi
c        qdd at pi' = 0

    constrained motion   (J H^-1 J^T) lambda = gamma - J H^-1 r,    qdd = H^-1 (r + J^T lambda)
    quasi-coordinates    qdd = T_pi pi' + c,   T_pi^T H T_pi pi' = T_pi^T (r - H c)

Rows stand in the order of the file, holonomic and nonholonomic ones alike. K is inverted as
(K^T K)^-1 K^T, which needs no choice of pivots. Where H is singular, as for a coordinate that moves
no mass, H + J^T J and r + J^T gamma stand for H and r: with J qdd = gamma they say the same. A
constraint that follows from others would make J H^-1 J^T singular, and is refused.

H and r come from what a method gives. Inverse dynamics is linear in qdd, and its derivatives are H.
Forward dynamics is H^-1 r and linear in tau: its derivative in the direction of a row of J is
H^-1 J^T, by the elimination or recursion of the method itself, and h = - H qdd at tau = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from chainform.errors import DeriveError
from chainform.formulations.shared.constraints import (
    ConstraintLaws,
    ConstraintRow,
    dependent_rows,
    refuse_dependent,
)
from chainform.formulations.shared.options import AxisChoices, Method, Options
from chainform.formulations.shared.outputs import (
    Key,
    add_to,
    declare,
    declare_equation,
    solve,
)
from chainform.formulations.shared.scope import QUASI, UNILATERAL
from chainform.graph import Builder, Graph, Scalar, Tangents, include, is_zero
from chainform.mechanism import Mechanism

Column: TypeAlias = dict[int, Scalar]


def _refuse_without(mechanism: Mechanism, output: str) -> None:
    """Refuse an output of constraints that the mechanism does not have."""
    kinds = {"unilateral" if c.kind == "unilateral" else "" for c in mechanism.constraints}
    field, there = "constraints", "" in kinds
    if output in UNILATERAL:
        there = "unilateral" in kinds
    elif output in QUASI:
        field, there = "quasi", bool(mechanism.quasi)
    if not there:
        raise DeriveError(
            f"{output} is that of a mechanism with {field}, and this one has none such",
            file=mechanism.file,
            element=field,
            remedy="of loops there are closure_jacobian and closure"
            if mechanism.loops and field == "constraints"
            else f"describe them under {field} in the file",
        )


class ConstrainedEquations:
    """The outputs of constraints of one mechanism, from the equations that a method gives.

    `gives` names those: the mass matrix, and inverse or forward dynamics; one may be enough.
    """

    def __init__(
        self,
        builder: Builder,
        mechanism: Mechanism,
        options: Options,
        method: Method,
        gives: Sequence[str] = ("mass_matrix", "inverse_dynamics"),
    ) -> None:
        self.gives = gives
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.method = method
        self.choices: AxisChoices = {}
        self.laws = ConstraintLaws(builder, mechanism)

    def declare(self, output: str) -> None:
        """Declare one output."""
        _refuse_without(self.mechanism, output)
        n, quasi = self.mechanism.nv, len(self.mechanism.quasi)
        match output:
            case "constraint":
                self._vector(output, "f", [row.value for row in self.laws.bilateral])
            case "constraint_rate":
                self._vector(output, "fd", [row.rate for row in self.laws.bilateral])
            case "constraint_jacobian":
                self._rows(output, "Jc", self.laws.bilateral)
            case "constraint_right":
                self._vector(output, "gamma", [row.gamma for row in self.laws.bilateral])
            case "constrained_dynamics":
                self._vector(output, "qddc", _listed(self._motion[0], n))
            case "multipliers":
                self._vector(output, "lambda", _listed(self._motion[1], len(self.laws.bilateral)))
            case "unilateral":
                self._vector(output, "gap", [row.value for row in self.laws.unilateral])
            case "unilateral_jacobian":
                self._rows(output, "Jg", self.laws.unilateral)
            case "quasi_velocities":
                self._vector(output, "pi", [row.value for row in self.laws.quasi])
            case "quasi_matrix":
                values = {(i, k): v for k, t in enumerate(self._T) for i, v in t.items()}
                declare(self.builder, output, "Tq", (n, quasi), values)
            case "quasi_mass_matrix":
                declare(self.builder, output, "Hq", (quasi, quasi), self._quasi_mass)
            case "quasi_bias":
                self._vector(output, "hq", self._quasi_bias)
            case _:
                self._vector(output, "pid", _listed(self._quasi_motion(), quasi))

    def _vector(self, name: str, letter: str, values: Sequence[Scalar]) -> None:
        declare(self.builder, name, letter, (len(values),), values)

    def _rows(self, name: str, letter: str, rows: Sequence[ConstraintRow]) -> None:
        entries = {(j, k): entry for j, row in enumerate(rows) for k, entry in row.J.items()}
        declare(self.builder, name, letter, (len(rows), self.mechanism.nv), entries)

    # --- the equations of the mechanism -------------------------------------------------

    @cached_property
    def _own(self) -> Graph:
        """The equations of the mechanism without constraints."""
        trial = Builder()
        self.choices = self.method(trial, self.mechanism, list(self.gives), self.options)
        if self.gives == ("inverse_dynamics",):
            tau = [trial.scalar(v) for v in trial.outputs["inverse_dynamics"].variables]
            entries: dict[Key, Scalar] = {}
            for k in range(self.mechanism.nv):
                qdd = trial.variable_of(trial.input(f"qdd{k + 1}", "qdd", k))
                by = Tangents(trial, {qdd: trial.number(1)})
                entries |= {(i, k): by.of(value) for i, value in enumerate(tau)}
            declare_equation(trial, self.mechanism, "mass_matrix", entries)
        return trial.finish()

    @cached_property
    def _equations(self) -> tuple[dict[Key, Scalar], Column]:
        """Return H, and h = tau at qdd = 0: all that is no inertia force of qdd."""
        graph, n, zero = self._own, self.mechanism.nv, self.builder.number(0)
        still = {f"{group}{k + 1}": zero for k in range(n) for group in ("qdd", "tau")}
        found = include(self.builder, graph, still, list(graph.outputs))
        H = found["mass_matrix"]
        entries = {(i, k): H[n * i + k] for i in range(n) for k in range(n)}
        entries = {key: v for key, v in entries.items() if not is_zero(v)}
        if "inverse_dynamics" in found:
            return entries, dict(enumerate(found["inverse_dynamics"]))
        moved = self._times(entries, dict(enumerate(found["forward_dynamics"])))
        return entries, {k: -value for k, value in moved.items()}

    def _responses(self, rows: Sequence[ConstraintRow]) -> tuple[Column, list[Column]]:
        """Return H^-1 r, and H^-1 J^T column by column."""
        zero = self.builder.number(0)
        if "forward_dynamics" not in self.gives:
            H, r = self._balance()
            free = solve(H, r)
            return free, [solve(H, {k: row.J.get(k, zero) for k in r}) for row in rows]
        found = include(self.builder, self._own, {}, ["forward_dynamics"])["forward_dynamics"]
        free, columns = dict(enumerate(found)), list[Column]()
        for row in rows:
            along = {self.builder.variable_of(self._tau(k)): entry for k, entry in row.J.items()}
            by = Tangents(self.builder, along)
            columns.append({k: self.builder.keep(by.of(value)) for k, value in free.items()})
        return free, columns

    def _tau(self, k: int) -> Scalar:
        return self.laws.laws.kinematics.q(k, "tau")

    # --- motion under constraints -------------------------------------------------------

    @cached_property
    def _motion(self) -> tuple[Column, Column]:
        """Return qdd and lambda."""
        rows, keep = self.laws.bilateral, self.builder.keep
        self._refuse_too_many()
        refuse_dependent(self.mechanism, with_quasi=False)
        free, swings = self._responses(rows)
        matrix = {
            (i, j): keep(_product(a.J, swings[j]))
            for i, a in enumerate(rows)
            for j in range(len(rows))
        }
        right = {j: keep(row.gamma - _product(row.J, free)) for j, row in enumerate(rows)}
        multipliers = self._solved({k: v for k, v in matrix.items() if not is_zero(v)}, right)
        qdd = dict(free)
        for j, swing in enumerate(swings):
            for k, value in swing.items():
                qdd[k] = qdd[k] + multipliers[j] * value
        return {k: keep(value) for k, value in qdd.items()}, multipliers

    def _refuse_too_many(self) -> None:
        count, rates = len(self.laws.bilateral), self.mechanism.nv
        if count > rates:
            raise DeriveError(
                f"there are {count} constraints on {rates} rates, so that some follow from others",
                file=self.mechanism.file,
                element="constraints",
                remedy="leave out those that follow from the others",
            )

    def _balance(self) -> tuple[dict[Key, Scalar], Column]:
        """Return H and r, or H + J^T J and r + J^T gamma where H is singular."""
        (H, h), keep = self._equations, self.builder.keep
        matrix, right = dict(H), {k: keep(self._tau(k) - value) for k, value in h.items()}
        if not dependent_rows(self._own, "mass_matrix"):
            return matrix, right
        for row in self.laws.bilateral:
            for k, a in row.J.items():
                right[k] = right[k] + a * row.gamma
                for l, b in row.J.items():
                    add_to(matrix, (k, l), a * b)
        return {key: keep(v) for key, v in matrix.items()}, {k: keep(v) for k, v in right.items()}

    def _solved(self, matrix: Mapping[Key, Scalar], right: Mapping[int, Scalar]) -> Column:
        try:
            return solve(matrix, right)
        except DeriveError as error:
            raise DeriveError(
                "the constraints do not determine their forces: one of them binds nothing, or "
                "follows from the others",
                file=self.mechanism.file,
                element="constraints",
                remedy="leave it out",
            ) from error

    # --- quasi-coordinates --------------------------------------------------------------

    @cached_property
    def _square(self) -> dict[Key, Scalar]:
        """K^T K."""
        matrix: dict[Key, Scalar] = {}
        for row in (*self.laws.quasi, *self.laws.bilateral):
            for k, a in row.J.items():
                for l, b in row.J.items():
                    add_to(matrix, (k, l), a * b)
        entries = {key: self.builder.keep(value) for key, value in matrix.items()}
        return {key: value for key, value in entries.items() if not is_zero(value)}

    def _inverse(self, right: Mapping[int, Scalar]) -> Column:
        """Return (K^T K)^-1 times a column."""
        zero = self.builder.number(0)
        column = {k: right.get(k, zero) for k in range(self.mechanism.nv)}
        return solve(self._square, column)

    @cached_property
    def _T(self) -> list[Column]:
        """The columns of T_pi."""
        refuse_dependent(self.mechanism, with_quasi=True)
        return [self._inverse(row.J) for row in self.laws.quasi]

    @cached_property
    def _drift(self) -> Column:
        """c, the accelerations at pi' = 0."""
        right: dict[Key, Scalar] = {}
        for row in (*self.laws.quasi, *self.laws.bilateral):
            for k, entry in row.J.items():
                add_to(right, (k,), entry * row.gamma)
        return self._inverse({key[0]: self.builder.keep(v) for key, v in right.items()})

    @cached_property
    def _quasi_mass(self) -> dict[Key, Scalar]:
        """T_pi^T H T_pi."""
        H, keep = self._equations[0], self.builder.keep
        moved = [self._times(H, column) for column in self._T]
        count = range(len(moved))
        entries = {(i, k): keep(_product(self._T[i], moved[k])) for i in count for k in count}
        return {key: value for key, value in entries.items() if not is_zero(value)}

    @cached_property
    def _quasi_bias(self) -> list[Scalar]:
        """T_pi^T (h + H c)."""
        H, h = self._equations
        moved = self._times(H, self._drift)
        total = {k: self.builder.keep(value + moved[k]) for k, value in h.items()}
        return [self.builder.keep(_product(column, total)) for column in self._T]

    def _quasi_motion(self) -> Column:
        tau = {k: self._tau(k) for k in range(self.mechanism.nv)}
        bias, keep = self._quasi_bias, self.builder.keep
        right = {i: keep(_product(t, tau) - bias[i]) for i, t in enumerate(self._T)}
        return solve(self._quasi_mass, right)

    def _times(self, H: Mapping[Key, Scalar], column: Mapping[int, Scalar]) -> Column:
        totals = dict.fromkeys(range(self.mechanism.nv), self.builder.number(0))
        for (i, k), value in H.items():
            totals[i] = totals[i] + value * column[k]
        return {i: self.builder.keep(value) for i, value in totals.items()}


def _product(a: Mapping[int, Scalar], b: Mapping[int, Scalar]) -> Scalar:
    """Return the sum of a_k b_k over what both have; b has all."""
    builder = next(iter(b.values())).builder
    total = builder.number(0)
    for k, value in a.items():
        total = total + value * b[k]
    return total


def _listed(column: Mapping[int, Scalar], count: int) -> list[Scalar]:
    return [column[k] for k in range(count)]
