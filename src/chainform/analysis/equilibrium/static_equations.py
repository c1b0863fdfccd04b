"""The equations of rest: what must vanish where a mechanism stands still, and its derivatives.

symbol   meaning
q, x     coordinates; states of actuators besides q and qd
s        multipliers of loops, constraints and joints that are held, then pushes of contacts
r, g     what loops, holonomic constraints and held joints leave open; gaps of contacts, g >= 0
J        derivatives of r by the rates, the rows of nonholonomic constraints, those of g

    balance   ID(q, 0, 0, t) - efforts of actuators - J^T s = 0
    x         x' = 0
    rows      r(q, t) = 0,    qdd(q, x) = 0 of joints whose signal prescribes qdd
    gaps      g(q, t) >= 0,    s >= 0,    g s = 0

A nonholonomic constraint takes a force and leaves all positions open. Stiff stops and contacts push
with their stiffness times their depth. All derivatives are exact, those by q along the rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import (
    ImplicitEquations,
    declared,
    implicit_equations,
)
from chainform.analysis.results.displacement import displaced
from chainform.errors import DeriveError
from chainform.formulations import (
    ConstraintRow,
    coordinate_of,
    entry_of,
    rows_of,
    with_derivatives,
)
from chainform.graph import BatchPlan, Builder, Graph, Scalar, include
from chainform.mechanism import GROUND, Attachment, Mechanism
from chainform.pipeline import derive
from chainform.simulation import Barrier, Barriers, GapContext, PointContact
from chainform.spatial import apply, cross, subtract

Array = NDArray[np.float64]
AT_REST = ("qd", "qdd", "tau", "force", "wrench")
"""The inputs that are zero where nothing moves and nothing more acts."""
GROUPS = ("q", "x", "sigma")
"""The inputs that are unknown."""
SETTLING = 20
"""The most steps in which states of actuators come to suit a pose."""


@dataclass(frozen=True)
class StaticStates:
    """Some states at rest: q (m, nq), x (m, nx), sigma (m, ns) and a parameter (m,)."""

    q: Array
    x: Array
    sigma: Array
    parameter: Array

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, places: Any) -> StaticStates:
        return StaticStates(
            self.q[places], self.x[places], self.sigma[places], self.parameter[places]
        )

    def put(self, places: Any, other: StaticStates) -> None:
        """Put other states in the place of some."""
        for own, new in zip(self.arrays, other.arrays, strict=True):
            own[places] = new

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The arrays, in their order."""
        return self.q, self.x, self.sigma, self.parameter

    def copy(self) -> StaticStates:
        """Return the same states in arrays of their own."""
        return StaticStates(*(array.copy() for array in self.arrays))


def joined(states: Sequence[StaticStates]) -> StaticStates:
    """Return states one after the other."""
    columns = zip(*(state.arrays for state in states), strict=True)
    return StaticStates(*(np.concatenate(column) for column in columns))


def own_column(parameter: str) -> str:
    """Return the name of the column of one parameter; no group of inputs has such a name."""
    return f"parameter {parameter}"


class BatchOutput:
    """An output of a graph for many states at once."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        variables = np.asarray(graph.block(name).variables, np.int32)
        wanted, self.places = np.unique(variables, return_inverse=True)
        self.plan = BatchPlan(graph, wanted)

    def __call__(self, columns: Mapping[str, Array], count: int) -> Array:
        """Return the entries (count, n), given the groups of inputs, (n,) or (count, n).

        A parameter without a value has a column of its own, or that of the only such parameter.
        """
        numbers: dict[int, Any] = {}
        for v in self.plan.inputs:
            item = self.graph.inputs[v]
            if item.group == "parameter" and item.default is not None:
                numbers[v] = float(item.default)
            elif item.group == "parameter":
                numbers[v] = columns.get(own_column(item.name), columns.get("parameter"))
            else:
                column = columns[item.group][..., item.index]
                numbers[v] = np.ascontiguousarray(column) if column.ndim else float(column)
        # Where a law has no value there is none, and the caller sees that.
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(self.plan.run(numbers, count)[self.places].T)


@dataclass(frozen=True)
class StaticEquations:
    """The equations of rest of one mechanism; `parts` says where each begins and ends.

    `moving` are the equations of motion. Of the `rows` of sigma those of `contacts` stand last.
    `constants` are the inputs that are given: u and t. The parameter that has no value is the one
    of the states; `signal` is the place in u of a signal that takes its place.
    """

    mechanism: Mechanism
    moving: ImplicitEquations
    graph: Graph
    parts: Mapping[str, slice]
    rows: tuple[str, ...]
    contacts: tuple[str, ...]
    constants: Mapping[str, Array]
    signal: int | None = None

    @property
    def sizes(self) -> dict[str, int]:
        """How many unknowns there are of each group; q counts along the rates."""
        own = self.moving.sizes
        return {"q": own["qd"], "x": own["x"], "sigma": len(self.rows) + len(self.contacts)}

    @property
    def count(self) -> int:
        """How many equations there are."""
        return self.parts["gaps"].stop

    @cached_property
    def _values(self) -> BatchOutput:
        return BatchOutput(self.graph, "equations")

    @cached_property
    def _slopes(self) -> dict[str, BatchOutput]:
        groups = [group for group, size in self.sizes.items() if size]
        texts = {g: f"product(derivative(equations,{g}),direction)" for g in groups}
        inputs = self.graph.inputs.values()
        names = [i.name for i in inputs if i.group == "parameter" and i.default is None]
        by = "u" if self.signal is not None else names[0] if names else None
        if by is not None:
            texts["parameter"] = f"derivative(equations,{by})"
        graph = with_derivatives(self.graph, list(texts.values()), self.mechanism)
        return {group: BatchOutput(graph, text) for group, text in texts.items()}

    @cached_property
    def _energy(self) -> BatchOutput | None:
        known = "potential_energy" in self.graph.outputs
        return BatchOutput(self.graph, "potential_energy") if known else None

    def columns(self, states: StaticStates) -> dict[str, Array]:
        """Return all inputs of the equations."""
        columns: dict[str, Array] = dict(self.constants)
        if self.signal is not None:
            u = np.tile(columns["u"], (len(states), 1))
            u[:, self.signal] = states.parameter
            columns["u"] = u
        own = dict(zip(("q", "x", "sigma", "parameter"), states.arrays, strict=True))
        return {**columns, **own}

    def values(self, states: StaticStates) -> Array:
        """Return all equations, (m, count)."""
        return self._values(self.columns(states), len(states))

    def slopes(self, states: StaticStates, groups: Sequence[str] = GROUPS) -> Array:
        """Return their derivatives by the unknowns, or by some groups of them, (m, count, n)."""
        m = len(states)
        parts: list[Array] = []
        for group, size in self.sizes.items():
            if not size or group not in groups:
                continue
            lanes = self.columns(states[np.repeat(np.arange(m), size)])
            lanes["direction"] = np.tile(np.eye(size), (m, 1))
            found = self._slopes[group](lanes, m * size)
            parts.append(found.reshape(m, size, self.count).transpose(0, 2, 1))
        return np.concatenate([np.zeros((m, self.count, 0)), *parts], axis=2)

    def parameter_slopes(self, states: StaticStates) -> Array:
        """Return the derivatives by the parameter, (m, count)."""
        if "parameter" not in self._slopes:
            return np.zeros((len(states), self.count))
        found = self._slopes["parameter"](self.columns(states), len(states))
        return found.reshape(len(states), self.count, -1)[..., self.signal or 0]

    def energies(self, states: StaticStates) -> Array | None:
        """Return the potential energy of weight and springs (J), (m,); None where it has none."""
        output = self._energy
        return None if output is None else output(self.columns(states), len(states))[:, 0]

    def wrenches(self, states: StaticStates) -> dict[str, Array]:
        """Return force and moment of the ground on segments, about their origins, (m, 6)."""
        names = [name for name in self.graph.outputs if name.startswith("contact_wrench(")]
        columns = self.columns(states)
        return {name: BatchOutput(self.graph, name)(columns, len(states)) for name in names}

    def moved(self, states: StaticStates, steps: Array) -> StaticStates:
        """Return states after steps (m, n) of the unknowns."""
        nv, nx = self.sizes["q"], self.sizes["x"]
        q = displaced(self.mechanism, states.q, steps[:, :nv])
        x, sigma = states.x + steps[:, nv : nv + nx], states.sigma + steps[:, nv + nx :]
        return replace(states, q=q, x=x, sigma=sigma)

    def settled(self, states: StaticStates) -> StaticStates:
        """Return states in which those of actuators suit the pose, as far as Newton finds them.

        A rotor behind an elastic gear would twist it by the whole pose, were it left at zero.
        """
        part, first = self.parts["x"], states
        if not self.sizes["x"]:
            return states
        before = np.abs(self.values(first)[:, part]).max(axis=1)
        for _ in range(SETTLING):
            slopes = _finite(self.slopes(states, ("x",))[:, part])
            left = _finite(self.values(states)[:, part])
            steps = np.einsum("mij,mj->mi", np.linalg.pinv(slopes), left)
            # One that runs away stays where it was in the end.
            moved = np.asarray(np.clip(steps, -1e100, 1e100), np.float64)
            states = replace(states, x=states.x - moved)
            if np.all(np.abs(moved) <= 1e-9 * (1.0 + np.abs(states.x))):
                break
        left = np.abs(self.values(states)[:, part]).max(axis=1)
        is_better = left < before
        return replace(states, x=np.where(is_better[:, None], states.x, first.x))

    def depends_on_time(self) -> bool:
        """Whether the equations depend on time."""
        graph = self.graph
        cone = graph.cone(graph.output_variables(["equations"]))
        return any(cone[v] and item.group == "t" for v, item in graph.inputs.items())


def _finite(array: Array) -> Array:
    return np.nan_to_num(array, nan=0.0, posinf=0.0, neginf=0.0)


# --- construction -----------------------------------------------------------------------------


def static_equations(
    mechanism: Mechanism,
    barriers: Barriers,
    held: Mapping[int, float],
    constants: Mapping[str, Array],
    signal: int | None = None,
) -> StaticEquations:
    """Return the equations of rest; `held` are values of coordinates by rate.

    A parameter of the mechanism without a value stays free.
    """
    moving = implicit_equations(mechanism)
    builder = Builder()
    zero = builder.number(0)
    given = {i.name: zero for i in moving.graph.inputs.values() if i.group in AT_REST}
    found = include(builder, moving.graph, given, ["equations"])["equations"]
    balance, x = (list(found[moving.parts[name]]) for name in ("balance", "x"))
    first = moving.sizes["sigma"]
    pairs = zip(rows_of(builder, mechanism), moving.holonomic, strict=True)
    rows = [row.value for row, binds_positions in pairs if binds_positions]
    # A signal that prescribes accelerations asks for none.
    rows += found[moving.parts["rows"]][moving.held :]
    for k, (rate, value) in enumerate(held.items()):
        rows.append(entry_of(builder, "q", coordinate_of(mechanism, rate)) - Fraction(value))
        balance[rate] = balance[rate] - entry_of(builder, "sigma", first + k)
    contact = _Contacts(builder, mechanism, barriers)
    gaps = contact.add_to(balance, first + len(held))
    lists = {"balance": balance, "x": x, "rows": rows, "gaps": gaps}
    parts = declared(builder, lists)
    _declare_energy(builder, mechanism, given)
    for name, wrench in contact.wrenches.items():
        entries = [(f"{name}_{c}", value) for c, value in zip("123456", wrench, strict=True)]
        builder.output(f"contact_wrench({name})", (6,), entries)
    constraints = (c.name for c in mechanism.constraints if c.kind != "unilateral")
    loops = (f"{loop.name} {k + 1}" for loop in mechanism.loops for k in range(loop.equations))
    holds = (f"hold {mechanism.rates[rate]}" for rate in held)
    names = (*loops, *constraints, *moving.prescribing, *holds)
    contacts = tuple(barrier.name for barrier in barriers.rigid)
    graph = builder.finish()
    return StaticEquations(mechanism, moving, graph, parts, names, contacts, constants, signal)


class _Contacts:
    """The pushes of stops and contacts in equations that are being built."""

    def __init__(self, builder: Builder, mechanism: Mechanism, barriers: Barriers) -> None:
        self.builder, self.mechanism, self.barriers = builder, mechanism, barriers
        self.context = GapContext(builder, mechanism)
        self.wrenches: dict[str, list[Scalar]] = {}
        """Force and moment on segments that touch the ground, by name."""

    def add_to(self, balance: list[Scalar], first: int) -> list[Scalar]:
        """Put all pushes into the balance, and return the gaps of rigid contacts.

        The pushes of these are entries of sigma, from the `first` one on.
        """
        builder = self.builder
        for barrier in self.barriers.stiff:
            row = self._row(barrier)
            depth = (builder.call("abs", row.value) - row.value) / 2
            push = builder.keep(depth * Fraction(barrier.contact_law.stiffness or 0.0))
            self._push(balance, barrier, row, push)
        gaps: list[Scalar] = []
        for k, barrier in enumerate(self.barriers.rigid):
            row = self._row(barrier)
            gaps.append(row.value)
            self._push(balance, barrier, row, entry_of(builder, "sigma", first + k))
        return gaps

    def _row(self, barrier: Barrier) -> ConstraintRow:
        return self.context.laws.holonomic(barrier.residuals(self.context)[0])

    def _push(
        self, balance: list[Scalar], barrier: Barrier, row: ConstraintRow, push: Scalar
    ) -> None:
        for rate, entry in row.J.items():
            balance[rate] = balance[rate] - entry * push
        if isinstance(barrier, PointContact) and barrier.place.segment != GROUND:
            places, keep = self.context.places, self.builder.keep
            x, y, z = barrier.normal
            normal = (
                apply(places.world.base.rotation, (x, y, z)) if barrier.is_on_base else (x, y, z)
            )
            force = tuple(keep(push * n) for n in normal)
            at, origin = (
                places.place_of(place)
                for place in (barrier.place, Attachment(barrier.place.segment))
            )
            moment = cross(subtract(at, origin), (force[0], force[1], force[2]))
            name = self.mechanism.segments[barrier.place.segment].name
            before = self.wrenches.get(name, [self.builder.number(0)] * 6)
            self.wrenches[name] = [
                keep(a + b) for a, b in zip(before, (*force, *moment), strict=True)
            ]


def _declare_energy(builder: Builder, mechanism: Mechanism, given: Mapping[str, Scalar]) -> None:
    try:
        model = derive(mechanism, ["potential_energy"])
    except DeriveError:
        return
    found = include(builder, model.graph, given, ["potential_energy"])["potential_energy"]
    builder.output("potential_energy", (), [("V", found[0])])
