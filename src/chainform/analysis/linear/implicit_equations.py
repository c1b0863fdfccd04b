"""Equations of motion that are not solved for the accelerations, and their exact derivatives.

symbol   meaning
ID       inverse dynamics of the open mechanism, without drives
I, m     inertia of an actuator felt at its joint, and its effort while the joint stands still
J, s     rows of loops, of constraints, then of joints whose signal prescribes qdd; multipliers
x        states of actuators besides q and qd, then states of controllers
f        rates of loops and constraints: what must stay zero

    balance    ID(q, qd, qdd, t) + I qdd - m - tau - J^T s = 0
    rows       J qdd - gamma = 0
    rates      f(q, qd, t) = 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.acting_laws import ActingLaws
from chainform.formulations import MotionEquations, entry_of, with_derivatives
from chainform.graph import (
    CALLS,
    BatchPlan,
    Block,
    Builder,
    Graph,
    Scalar,
    include,
    rounding_bounds,
)
from chainform.mechanism import Mechanism
from chainform.pipeline import derive
from chainform.simulation import EquationBuilder, law_inputs, rest_names

Array = NDArray[np.float64]
Point = Mapping[str, Array]
"""Numbers of all inputs, by group; t has one."""
Values = Mapping[str, float]
"""Values of parameters that have none in a graph."""

KINKS = ("abs", "sign")
"""Functions without a derivative where their argument is zero."""
SEAM = 1e-12
"""Arguments below this are zero."""


@dataclass(frozen=True)
class ImplicitEquations:
    """The equations of one mechanism as a graph; `parts` says where each begins and ends.

    The first `held` rows belong to loops and constraints, of which `holonomic` bind positions.
    `given` are the values of parameters that have none in the graph.
    """

    mechanism: Mechanism
    wrenches: tuple[str, ...]
    graph: Graph
    parts: Mapping[str, slice]
    sizes: Mapping[str, int]
    holonomic: NDArray[np.bool_]
    prescribing: tuple[str, ...]
    """Actuators whose signal prescribes an acceleration; their rows stand last."""
    control_states: tuple[str, ...] = ()
    """States of controllers, which stand last in x."""
    gives_signals: bool = False
    """Whether laws or controllers give signals of actuators, next to u."""
    given: Values = field(default_factory=dict[str, float])

    @property
    def held(self) -> int:
        """How many rows belong to loops and constraints."""
        return len(self.holonomic)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups of inputs that have entries, but for the time."""
        return tuple(group for group, size in self.sizes.items() if size and group != "t")

    @cached_property
    def _derivatives(self) -> dict[str, OutputPlan]:
        texts = {group: _in_direction("equations", group) for group in self.groups}
        graph = with_derivatives(self.graph, list(texts.values()), self.mechanism)
        return {group: OutputPlan(graph, graph.block(text)) for group, text in texts.items()}

    @cached_property
    def _values(self) -> OutputPlan:
        return OutputPlan(self.graph, self.graph.block("equations"))

    def with_values(self, mechanism: Mechanism, given: Values) -> ImplicitEquations:
        """Return the equations with values of parameters, which the mechanism has as well."""
        other = replace(self, mechanism=mechanism, given=given)
        # What is made of the graph alone serves for all values.
        other.__dict__.update(_derivatives=self._derivatives, _values=self._values)
        return other

    def values(self, point: Point) -> dict[str, Array]:
        """Return the parts of the equations at a point."""
        found = self._values(point, None, self.given)[:, 0]
        return {name: found[part] for name, part in self.parts.items()}

    def derivatives(
        self, point: Point, groups: Sequence[str] | None = None
    ) -> dict[tuple[str, str], Array]:
        """Return the derivative of each part by each group; those by q are along the rates."""
        result: dict[tuple[str, str], Array] = {}
        for group in self.sizes if groups is None else groups:
            count = self.mechanism.nv if group == "q" else self.sizes[group]
            whole = np.zeros((self.parts["drives"].stop, count))
            if group in self.groups:
                whole = self._derivatives[group](point, np.eye(count), self.given)
            result |= {(name, group): whole[part] for name, part in self.parts.items()}
        return result

    def bounds(self, point: Point, group: str) -> dict[str, Array]:
        """Return how far rounding may take the derivatives of all parts by a group."""
        count = self.mechanism.nv if group == "q" else self.sizes[group]
        whole = np.zeros((self.parts["drives"].stop, count))
        if group in self.groups:
            whole = self._derivatives[group].bounds(point, np.eye(count), self.given)
        # Where it may lead over a jump there is no bound; a note tells of the jump.
        whole = np.where(np.isfinite(whole), whole, 0.0)
        return {name: whole[part] for name, part in self.parts.items()}

    def seams(self, point: Point) -> list[tuple[str, tuple[str, ...]]]:
        """Return the functions without a derivative at a point, and the inputs they depend on."""
        graph = self.graph
        calls = [v for v in range(len(graph)) if CALLS[int(graph.call[v])] in KINKS]
        if not calls:
            return []
        arguments = tuple(int(graph.argument[v]) for v in calls)
        block = Block("arguments", (len(calls),), arguments, tuple(map(str, arguments)))
        numbers = OutputPlan(graph, block)(point, None, self.given)[:, 0]
        found: list[tuple[str, tuple[str, ...]]] = []
        for call, argument, number in zip(calls, arguments, numbers, strict=True):
            if not abs(number) <= SEAM:
                continue
            cone = graph.cone([argument])
            names = tuple(given.name for v, given in graph.inputs.items() if cone[v])
            found.append((CALLS[int(graph.call[call])], names))
        return list(dict.fromkeys(found))


def implicit_equations(
    mechanism: Mechanism, wrenches: Sequence[str] = (), laws: ActingLaws | None = None
) -> ImplicitEquations:
    """Return the equations of a mechanism; `wrenches` are frames on which forces act.

    What `laws` give is added to tau and u, which remain inputs.
    """
    laws = ActingLaws() if laws is None else laws
    model = derive(mechanism, ["inverse_dynamics"], wrenches=wrenches)
    equations = EquationBuilder(mechanism, model)
    builder, nv = equations.builder, mechanism.nv
    sizes = {"q": mechanism.nq, "qd": nv, "qdd": nv, "tau": nv, "t": 1}
    rest = len(rest_names(mechanism))
    given = law_inputs(equations, laws.efforts, list(laws.controllers.values()))
    control = laws.state_names(given.owners)
    sizes |= {"x": rest + len(control), "u": len(mechanism.actuators)}
    sizes |= {"force": len(mechanism.unknowns), "wrench": 6 * len(model.wrenches)}
    for group, size in sizes.items():
        _declare_inputs(builder, mechanism, group, size)
    tau, signals = (
        [builder.keep(entry_of(builder, group, k) + value) for k, value in enumerate(values)]
        for group, values in (("tau", given.tau), ("u", given.u))
    )
    own = MotionEquations(builder, mechanism, tau, range(rest), signals)
    sizes["sigma"] = len(own.rows)
    _declare_inputs(builder, mechanism, "sigma", sizes["sigma"])
    lists = own.parts()
    del lists["states"]
    efforts = lists.pop("efforts")
    lists["x"] += equations.extra[rest:]
    lists = {"balance": _balance(builder, model.graph, efforts), **lists}
    parts = declared(builder, lists)
    holonomic = np.array([row.value is not row.rate for row in own.held], dtype=np.bool_)
    return ImplicitEquations(
        mechanism,
        model.wrenches,
        builder.finish(),
        parts,
        sizes,
        holonomic,
        tuple(own.prescribed.values()),
        control,
        laws.give_signals,
    )


def _declare_inputs(builder: Builder, mechanism: Mechanism, group: str, count: int) -> None:
    """Declare the inputs of a group, whole and in their order."""
    names = [f"{group}{k + 1}" for k in range(count)]
    if group == "force":
        names = list(mechanism.unknowns)
    elif group == "t":
        names = ["t"]
    for k, name in enumerate(names):
        builder.input(name, group, k)


def _balance(builder: Builder, graph: Graph, efforts: Sequence[Scalar]) -> list[Scalar]:
    """Return what inverse dynamics and the efforts leave over."""
    reactions = [item.name for item in graph.inputs.values() if item.group == "sigma"]
    given = dict.fromkeys(reactions, builder.number(0))
    needed = include(builder, graph, given, ["inverse_dynamics"])["inverse_dynamics"]
    return [tau - effort for tau, effort in zip(needed, efforts, strict=True)]


def declared(builder: Builder, lists: Mapping[str, Sequence[Scalar]]) -> dict[str, slice]:
    """Declare the equations as one vector, and return where each part stands in it."""
    parts: dict[str, slice] = {}
    entries: list[tuple[str, Scalar]] = []
    for name, values in lists.items():
        parts[name] = slice(len(entries), len(entries) + len(values))
        entries += [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
    builder.output("equations", (len(entries),), entries)
    return parts


def _in_direction(output: str, group: str) -> str:
    """Return the text of a derivative in one direction, which takes far fewer operations to build.

    The columns of the whole derivative are a batch of unit directions.
    """
    return f"product(derivative({output},{group}),direction)"


class OutputPlan:
    """The order of work for the entries of one output of a graph."""

    def __init__(self, graph: Graph, block: Block) -> None:
        wanted = np.asarray(block.variables, np.int32)
        places, self.places = np.unique(wanted, return_inverse=True)
        self.graph, self.plan = graph, BatchPlan(graph, places)

    def __call__(self, point: Point, directions: Array | None, given: Values) -> Array:
        """Return the entries at a point, (entries, 1), or a column for each direction.

        `given` are the values of parameters that have none.
        """
        numbers, count = self._numbers(point, directions, given)
        # What has no finite value is refused by the caller.
        with np.errstate(all="ignore"):
            return self.plan.run(numbers, count)[self.places]

    def bounds(self, point: Point, directions: Array, given: Values) -> Array:
        """Return how far rounding may take the entries, a column for each direction."""
        numbers, count = self._numbers(point, directions, given)
        wanted: list[int] = self.plan.wanted.tolist()
        return rounding_bounds(self.graph, wanted, numbers, count)[1][self.places]

    def _numbers(
        self, point: Point, directions: Array | None, given: Values
    ) -> tuple[dict[int, Array | float], int]:
        """Return the numbers of all inputs, and how many columns there are."""
        numbers: dict[int, Array | float] = {}
        for v in self.plan.inputs:
            item = self.graph.inputs[v]
            if item.group == "direction" and directions is not None:
                numbers[v] = np.ascontiguousarray(directions[:, item.index])
            elif item.group == "parameter":
                value = item.default
                numbers[v] = given.get(item.name, np.nan) if value is None else float(value)
            else:
                numbers[v] = float(point[item.group][item.index])
        return numbers, 1 if directions is None else len(directions)
