"""Small motions about a state, as formulas: how everything changes with z and w.

symbol    meaning
z         displacements of the independent coordinates, changes of the independent rates, and of
          those states of actuators that are not q and qd
w         changes of the signals u and of unknown forces, or of tau; and of outer wrenches
xi        displacements of all coordinates along the rates
J, f, s   rows of loops, constraints and prescribed accelerations; their rates; multipliers
i, d      independent and dependent rates
T         J T = 0, and 1 in the rows of independent rates: T_d = - J_d^+ J_i
M         H, and the inertias of actuators
b, c      M qdd - J^T s = b, efforts less inverse dynamics at qdd = 0;  J qdd = c

J_d has independent columns, J_d^+ = (J_d^T J_d)^-1 J_d^T, so that rows may follow from others.

    motion        qdd = J_d^+ c + T y,    T^T M T y = T^T (b - M J_d^+ c)
    multipliers   s = J_d^+^T (M qdd - b)_d
    positions     xi = T_h xi_i                                  of the rows that bind positions
    rates         dqd = T dqd_i - J_d^+ (df/dq) xi
    accelerations from the same equations, with the changes of b and c at constant qdd and s
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from chainform.formulations.shared.actuators import entry_of, rest_places
from chainform.formulations.shared.directions import InputGroups, turned_axes
from chainform.formulations.shared.independent_rates import independent_rates, refuse_loose
from chainform.formulations.shared.motion_equations import MotionEquations
from chainform.formulations.shared.options import GraphOf
from chainform.formulations.shared.outputs import Factorisation, Key, add_to
from chainform.graph import Builder, Direction, Graph, Scalar, include, is_zero, jacobian
from chainform.mechanism import Mechanism

Column: TypeAlias = dict[int, Scalar]
Changes: TypeAlias = dict[str, Column]
"""How inputs change with one entry of z or w, by group; what is not named does not change."""
Matrix: TypeAlias = list[Column]
"""Rows of a matrix, entries that are not zero by column."""


class SmallMotions:
    """The motion of a mechanism, and how it changes, as scalars of q, qd, x, u, tau, t, ..."""

    def __init__(self, builder: Builder, mechanism: Mechanism, graph_of: GraphOf) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.graph_of = graph_of
        self.places = rest_places(mechanism)
        """Where the states of actuators besides q and qd stand in x."""
        self.own = _MotionGraph(mechanism, self.places)
        self.free = independent_rates(mechanism, self.own.prescribed)
        refuse_loose(mechanism, self.free, lambda: graph_of(["mass_matrix"]))
        still = self._given({}, {})
        self.J = self._matrix("rows", "qdd", still)
        self.held = _Tangent(builder, self.J[: self.own.held], self.free.rates, mechanism.nv)
        self.all = self.held
        if self.own.prescribed:
            self.all = _Tangent(builder, self.J, self.free.accelerations, mechanism.nv)
        self.inertia = self._inertia(still)
        self.reduced = self._reduced()
        self.qdd, self.sigma = self._motion(still)
        self.moving = self._given(self.qdd, self.sigma)
        """What takes the place of qdd and multipliers in other graphs."""
        self._known: dict[tuple[str, str], Matrix] = {}

    # --- the motion ---------------------------------------------------------------------

    def _given(self, qdd: Column, sigma: Column) -> dict[str, Scalar]:
        zero = self.builder.number(0)
        rows, nv = range(len(self.own.rows)), range(self.mechanism.nv)
        return {
            **{f"qdd{k + 1}": qdd.get(k, zero) for k in nv},
            **{f"sigma{k + 1}": sigma.get(k, zero) for k in rows},
        }

    def _matrix(self, part: str, group: str, given: Mapping[str, Scalar]) -> Matrix:
        """Return the derivative of a part of the equations by a group of inputs."""
        name, count = f"{part}_by_{group}", self.own.sizes[group]
        entries = include(self.builder, self.own.graph, given, [name])[name]
        return _rows(entries, count)

    def _inertia(self, still: Mapping[str, Scalar]) -> Matrix:
        """Return M."""
        nv = self.mechanism.nv
        graph = self.graph_of(["mass_matrix"])
        entries = include(self.builder, graph, still, ["mass_matrix"])["mass_matrix"]
        efforts = self._matrix("efforts", "qdd", still)
        pairs = zip(_rows(entries, nv), efforts, strict=True)
        return [add(self.builder, row, own, -1) for row, own in pairs]

    def _reduced(self) -> Factorisation | None:
        """Return the factors of T^T M T."""
        columns = self.all.columns
        moved = {k: self._product(self.inertia, column) for k, column in columns.items()}
        matrix: dict[Key, Scalar] = {}
        for i, column in columns.items():
            for k in columns:
                if k <= i:
                    value = self._dot(column, moved[k])
                    if not is_zero(value):
                        matrix[i, k] = matrix[k, i] = value
        return Factorisation(matrix, list(columns)) if columns else None

    def _motion(self, still: Mapping[str, Scalar]) -> tuple[Column, Column]:
        """Return qdd and the multipliers."""
        graph, keep = self.graph_of(["inverse_dynamics"]), self.builder.keep
        bias = include(self.builder, graph, self._open(graph, still), ["inverse_dynamics"])
        found = include(self.builder, self.own.graph, still, ["efforts", "rows"])
        pairs = zip(found["efforts"], bias["inverse_dynamics"], strict=True)
        b = {k: keep(effort - value) for k, (effort, value) in enumerate(pairs)}
        return self.solved(b, {k: -value for k, value in enumerate(found["rows"])})

    def _open(self, graph: Graph, given: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """Return what is given to inverse dynamics: no reactions of loops."""
        reactions = [item.name for item in graph.inputs.values() if item.group == "sigma"]
        return {**given, **dict.fromkeys(reactions, self.builder.number(0))}

    def solved(self, b: Column, c: Column) -> tuple[Column, Column]:
        """Return qdd and s with M qdd - J^T s = b and J qdd = c."""
        start, keep = self.all.following(c), self.builder.keep
        moved = self._product(self.inertia, start)
        rest = add(self.builder, b, moved, -1)
        right = {k: self._dot(column, rest) for k, column in self.all.columns.items()}
        y = self.reduced.solve(_clean(right)) if self.reduced else {}
        qdd = dict(start)
        for k, value in _clean(y).items():
            for i, entry in self.all.columns[k].items():
                add_to(qdd, i, value * entry)
        qdd = _clean({i: keep(value) for i, value in qdd.items()})
        force = add(self.builder, self._product(self.inertia, qdd), b, -1) if self.J else {}
        return qdd, self.all.multipliers(force)

    # --- changes ------------------------------------------------------------------------

    def _slopes(self, part: str, group: str) -> Matrix:
        """Return the derivative of a part of the equations, along the motion."""
        if (part, group) not in self._known:
            self._known[part, group] = self._matrix(part, group, self.moving)
        return self._known[part, group]

    @cached_property
    def states(self) -> list[Changes]:
        """How everything changes with z, a table for each entry."""
        one, nv = self.builder.number(1), self.mechanism.nv
        rates = self._slopes("rates", "q")
        bound = self.J[: self.own.held]
        holonomic = [row for row, own in zip(bound, self.own.holonomic, strict=True) if own]
        positions = self.held
        if len(holonomic) < len(bound):
            positions = _Tangent(self.builder, holonomic, self.free.positions, nv)
        given: list[Changes] = []
        for column in positions.columns.values():
            right = {k: -v for k, v in self._product(rates, column).items()}
            given.append({"q": column, "qd": self.held.following(right)})
        given += [{"qd": column} for column in self.held.columns.values()]
        given += [{"x": {k: one}} for k in range(len(self.places))]
        return [self._completed(changes) for changes in given]

    @cached_property
    def inputs(self) -> list[Changes]:
        """How everything changes with w, a table for each entry."""
        mechanism, one = self.mechanism, self.builder.number(1)
        counts = {"u": len(mechanism.actuators), "force": len(mechanism.unknowns)}
        if not any(counts.values()):
            counts = {"tau": mechanism.nv}
        inputs = self.graph_of(["inverse_dynamics"]).inputs.values()
        counts["wrench"] = sum(item.group == "wrench" for item in inputs)
        places = [(group, k) for group, count in counts.items() for k in range(count)]
        return [
            {group: {k: one}, "qdd": self._responses[k]}
            if group == "tau" and not self.J
            else self._completed({group: {k: one}})
            for group, k in places
        ]

    @cached_property
    def _responses(self) -> Matrix:
        """The columns of the inverse of M, where nothing is bound."""
        inverse = self.reduced.inverted() if self.reduced else {}
        each = range(self.mechanism.nv)
        return [_clean({i: inverse[i, k] for i in each}) for k in each]

    def _completed(self, changes: Changes) -> Changes:
        """Return changes with those of accelerations and multipliers."""
        balance: Column = {}
        for group, change in changes.items():
            if group in ("q", "qd", "force", "wrench"):
                moved = self._product(self._bias_slopes[group], change)
                balance = add(self.builder, balance, moved, -1)
        efforts, rows = self.change("efforts", changes), self.change("rows", changes)
        b = add(self.builder, efforts, balance)
        qdd, sigma = self.solved(b, {k: -value for k, value in rows.items()})
        return {**changes, "qdd": qdd, "sigma": sigma}

    def change(self, part: str, changes: Changes) -> Column:
        """Return how a part of the equations changes."""
        total: Column = {}
        for group, change in changes.items():
            if group in self.own.sizes and change:
                moved = self._product(self._slopes(part, group), change)
                total = add(self.builder, total, moved)
        return total

    def change_of(self, group: str, changes: Changes) -> Column:
        """Return how a group of inputs of an output changes; x are all states of actuators."""
        parts = {"x": "states", "drives": "drives"}
        return self.change(parts[group], changes) if group in parts else changes.get(group, {})

    @cached_property
    def along(self) -> dict[str, Scalar]:
        """What takes the place of inputs of an output: what acts on the joints is tau there."""
        found = include(self.builder, self.own.graph, self.moving, ["drives", "states"])
        tau = {f"tau{k + 1}": value for k, value in enumerate(found["drives"])}
        x = {f"x{k + 1}": value for k, value in enumerate(found["states"])}
        return {**self.moving, **tau, **x}

    @cached_property
    def _bias_slopes(self) -> dict[str, Matrix]:
        """Derivatives of inverse dynamics, along the motion."""
        known = {item.group for item in self.graph_of(["inverse_dynamics"]).inputs.values()}
        groups = ["q", "qd", *(group for group in ("force", "wrench") if group in known)]
        texts = {group: f"derivative(inverse_dynamics,{group})" for group in groups}
        graph = self.graph_of(list(texts.values()))
        given = self._open(graph, self.moving)
        found = include(self.builder, graph, given, list(texts.values()))
        slopes: dict[str, Matrix] = {}
        for group, text in texts.items():
            slopes[group] = _rows(found[text], graph.block(text).shape[-1])
        return slopes

    def shifts(self, changes: Changes) -> Column:
        """Return xi': axes of joints with quaternions turn while they are displaced."""
        turned: Column = {}
        displaced = changes.get("q", {})
        for (i, k), value in turned_axes(self.builder, self.mechanism).items():
            if k in displaced:
                add_to(turned, i, value * displaced[k])
        return add(self.builder, changes.get("qd", {}), turned, -1)

    # --- sums ---------------------------------------------------------------------------

    def _product(self, matrix: Matrix, column: Column) -> Column:
        return product(self.builder, matrix, column)

    def _dot(self, a: Column, b: Column) -> Scalar:
        total = self.builder.number(0)
        for k, value in a.items():
            if k in b:
                total = total + value * b[k]
        return self.builder.keep(total)


def product(builder: Builder, matrix: Matrix, column: Column) -> Column:
    """Return a matrix times a column, entries that are not zero."""
    total: Column = {}
    for i, row in enumerate(matrix):
        for k, value in row.items():
            if k in column:
                add_to(total, i, value * column[k])
    return _clean({i: builder.keep(value) for i, value in total.items()})


def add(builder: Builder, a: Column, b: Column, sign: int = 1) -> Column:
    """Return a + b, or with the sign -1 a - b."""
    total = dict(a)
    for k, value in b.items():
        add_to(total, k, value if sign > 0 else -value)
    return _clean({k: builder.keep(value) for k, value in total.items()})


def _rows(entries: Sequence[Scalar], count: int) -> Matrix:
    """Return a matrix from its entries in rows of so many."""
    rows = [entries[i : i + count] for i in range(0, len(entries), count)] if count else []
    return [_clean(dict(enumerate(row))) for row in rows]


def _clean(column: Column) -> Column:
    return {k: value for k, value in column.items() if not is_zero(value)}


# --- rows of loops, constraints and prescribed accelerations ------------------------------------


class _Tangent:
    """J dqd = c, solved for the dependent rates."""

    def __init__(self, builder: Builder, J: Matrix, free: Sequence[int], count: int) -> None:
        self.builder = builder
        self.dependent = [k for k in range(count) if k not in free]
        self.J = [{k: v for k, v in row.items() if k in self.dependent} for row in J]
        self.factors: Factorisation | None = None
        if self.dependent:
            self.factors = Factorisation(self._square(), self.dependent)
        self.columns = {k: self._column(J, k) for k in free}
        """The columns of T, by independent rate."""

    def _square(self) -> dict[Key, Scalar]:
        """Return J_d^T J_d."""
        total: dict[Key, Scalar] = {}
        for row in self.J:
            for i, a in row.items():
                for k, b in row.items():
                    if k <= i:
                        add_to(total, (i, k), a * b)
        half = {key: self.builder.keep(value) for key, value in total.items()}
        mirrored = {(k, i): value for (i, k), value in half.items()}
        return {key: v for key, v in {**half, **mirrored}.items() if not is_zero(v)}

    def _column(self, J: Matrix, k: int) -> Column:
        right = {i: -row[k] for i, row in enumerate(J) if k in row}
        return {k: self.builder.number(1), **self.following(right)}

    def following(self, right: Column) -> Column:
        """Return dependent rates with J_d dqd_d = c, where the independent ones are zero."""
        total: Column = {}
        for i, value in right.items():
            for k, entry in self.J[i].items():
                add_to(total, k, entry * value)
        total = _clean({k: self.builder.keep(value) for k, value in total.items()})
        return _clean(self.factors.solve(total)) if self.factors and total else {}

    def multipliers(self, force: Column) -> Column:
        """Return those of least norm with J_d^T s = force_d."""
        own = {k: value for k, value in force.items() if k in self.dependent}
        if self.factors is None or not own:
            return {}
        return product(self.builder, self.J, self.factors.solve(own))


class _MotionGraph:
    """The graph of what the equations have besides inverse dynamics, and of its derivatives.

    Output `efforts_by_q` is the derivative of `efforts` along the rates, and so on.
    """

    def __init__(self, mechanism: Mechanism, places: Sequence[int]) -> None:
        builder, nv = Builder(), mechanism.nv
        counts = {"q": mechanism.nq, "qd": nv, "qdd": nv}
        counts |= {"x": len(mechanism.states), "u": len(mechanism.actuators)}
        for group, count in counts.items():
            for k in range(count):
                entry_of(builder, group, k)
        driven = {rate for actuator in mechanism.actuators for rate, _ in actuator.shares}
        zero = builder.number(0)
        tau = [zero if k in driven else entry_of(builder, "tau", k) for k in range(nv)]
        own = MotionEquations(builder, mechanism, tau, places)
        self.rows, self.held, self.prescribed = own.rows, len(own.held), own.prescribed
        self.holonomic = [row.value is not row.rate for row in own.held]
        self.sizes = {"q": nv, "qd": nv, "qdd": nv, "x": len(places)}
        self.sizes |= {"u": counts["u"], "tau": nv, "sigma": len(own.rows)}
        self.parts = own.parts()
        for name, values in self.parts.items():
            self._declare(builder, name, values)
        for group in self.sizes:
            self._differentiate(builder, group, _directions(builder, mechanism, group, places))
        self.graph = builder.finish()

    def _differentiate(self, builder: Builder, group: str, each: Mapping[str, Direction]) -> None:
        entries = [value for values in self.parts.values() for value in values]
        variables = [builder.variable_of(value) for value in entries]
        none: list[list[Scalar]] = [[] for _ in entries]
        rows = iter(jacobian(builder, variables, each) if each else none)
        for name, values in self.parts.items():
            flat = [value for _ in values for value in next(rows)]
            self._declare(builder, f"{name}_by_{group}", flat)

    def _declare(self, builder: Builder, name: str, values: Sequence[Scalar]) -> None:
        entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
        builder.output(name, (len(entries),), entries)


def _directions(
    builder: Builder, mechanism: Mechanism, group: str, places: Sequence[int]
) -> Mapping[str, Direction]:
    """Return how inputs change, one direction for each entry; of x those at places."""
    if group == "x":
        one = builder.number(1)
        names = [f"x{place + 1}" for place in places]
        return {
            n: {builder.variable_of(entry_of(builder, "x", k)): one}
            for n, k in zip(names, places, strict=True)
        }
    inputs = InputGroups(builder, mechanism)
    return inputs.directions(group).each if group in inputs.groups or group == "tau" else {}
