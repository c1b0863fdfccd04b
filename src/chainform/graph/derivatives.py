"""Derivatives by the chain rule, forward from the inputs or in reverse from the results.

Forward accumulation (`Tangents`) costs a multiple of the graph for each direction in which inputs
change, reverse accumulation (`Adjoints`) one for each result. Either way gives the same Jacobian,
and `jacobian` takes the one with fewer operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np

from chainform.graph.builder import Builder
from chainform.graph.copy import builder_of
from chainform.graph.operation_count import cost_of
from chainform.graph.scalar import Monomial, Scalar, Terms, is_zero
from chainform.graph.types import CALLS, Graph

Direction: TypeAlias = Mapping[int, Scalar]
"""How much each input changes, by its variable; the others stay."""


class Tangents:
    """Derivatives in one direction: how values change while the inputs change so.

    `direction` gives the change of each input that changes, by its variable: 1 for one input is a
    partial derivative, rates for all coordinates the derivative by time. The chain rule is applied
    once to each variable, so all derivatives together cost a small multiple of the values.
    """

    def __init__(self, builder: Builder, direction: Direction, suffix: str | None = None) -> None:
        self.builder = builder
        self.suffix = suffix
        """What is added to the name of a variable to name its derivative; None gives no names."""
        self.known: dict[int, Scalar] = dict(direction)
        self._moving = {v for v, change in direction.items() if not is_zero(change)}
        """The known variables whose derivatives are not zero."""

    def of(self, value: Scalar) -> Scalar:
        """Return the derivative of a value."""
        self._prepare(v for monomial in value.terms for v in monomial)
        return self._terms(value.terms)

    def of_variable(self, variable: int) -> Scalar:
        """Return the derivative of a variable."""
        self._prepare([variable])
        return self.known[variable]

    def _prepare(self, variables: Iterable[int]) -> None:
        """Find the derivatives of all that these variables are made of, without recursion."""
        waiting, cone = list(variables), dict[int, Sequence[int]]()
        while waiting:
            v = waiting.pop()
            if v not in self.known and v not in cone:
                cone[v] = parts = self.builder.parts(v)
                waiting.extend(parts)
        zero = self.builder.number(0)
        # Whatever a variable is made of was defined before it.
        for v in sorted(cone):
            if self._moving.isdisjoint(cone[v]):
                self.known[v] = zero
                continue
            self.known[v] = self._named(v, self._variable(v))
            if not is_zero(self.known[v]):
                self._moving.add(v)

    def _named(self, v: int, tangent: Scalar) -> Scalar:
        if self.suffix is None or tangent.is_number or tangent.is_negative:
            return self.builder.keep(tangent)
        return self.builder.name(f"{self.builder.names[v]}{self.suffix}", tangent)

    def _variable(self, v: int) -> Scalar:
        builder = self.builder
        if not builder.call_of[v]:
            return self._terms(builder.definition(v))
        argument = builder.argument[v]
        return slope(builder, v, argument) * self.known[argument]

    def _terms(self, terms: Terms) -> Scalar:
        total = self.builder.number(0)
        for monomial, coefficient in terms.items():
            total = total + self._monomial(monomial) * coefficient
        return total

    def _monomial(self, monomial: Monomial) -> Scalar:
        """Return the derivative of x^a y^b ...: one product per factor that moves."""
        total = self.builder.number(0)
        for moving in dict.fromkeys(monomial):
            if moving not in self._moving:
                continue
            others = list(monomial)
            others.remove(moving)
            product = self.known[moving] * monomial.count(moving)
            for v in others:
                product = product * self.builder.scalar(v)
            total = total + product
        return total


class Adjoints:
    """Derivatives of results by inputs, one sweep from each result back to the inputs.

    Only variables on the way from the inputs of `by` are visited.
    """

    def __init__(self, builder: Builder, by: Iterable[int]) -> None:
        self.builder = builder
        self.by = frozenset(by)
        self.active = active_variables(builder, self.by)

    def of(self, weights: Direction, prefix: str | None = None) -> dict[int, Scalar]:
        """Return the derivatives by each input of a sum of variables with weights.

        `prefix` begins the names of derivatives by the variables on the way: tau_1_by_...
        """
        active = self.active
        adjoint = {v: weight for v, weight in weights.items() if active[v]}
        waiting = sorted(-v for v in adjoint)
        found: dict[int, Scalar] = {}
        while waiting:
            v = -heappop(waiting)
            total = self._named(adjoint.pop(v), v, prefix)
            if v in self.by:
                found[v] = total
            elif not is_zero(total):
                for u, share in self._shares(v, total):
                    if u in adjoint:
                        adjoint[u] = adjoint[u] + share
                    else:
                        adjoint[u] = share
                        heappush(waiting, -u)
        return found

    def _named(self, value: Scalar, v: int, prefix: str | None) -> Scalar:
        if prefix is None or value.is_number or value.is_negative:
            return self.builder.keep(value)
        return self.builder.name(f"{prefix}{self.builder.names[v]}", value)

    def _shares(self, v: int, total: Scalar) -> Iterator[tuple[int, Scalar]]:
        """Yield what a variable adds to the derivatives by those that define it."""
        builder = self.builder
        if builder.call_of[v]:
            argument = builder.argument[v]
            yield argument, slope(builder, v, argument) * total
            return
        for monomial, coefficient in builder.definition(v).items():
            for moving in dict.fromkeys(monomial):
                if self.active[moving]:
                    others = list(monomial)
                    others.remove(moving)
                    product = total * (coefficient * monomial.count(moving))
                    for u in others:
                        product = product * builder.scalar(u)
                    yield moving, product


def active_variables(builder: Builder, inputs: Iterable[int]) -> bytearray:
    """Return, for each variable of a builder, whether it depends on one of the inputs."""
    active = bytearray(len(builder.names))
    for v in inputs:
        active[v] = 1
    first = [builder.factor_start[t] for t in builder.term_start]
    for v, argument in enumerate(builder.argument):
        if argument >= 0:
            active[v] |= active[argument]
        elif any(map(active.__getitem__, builder.factor[first[v] : first[v + 1]])):
            active[v] = 1
    return active


def slope(builder: Builder, call: int, argument: int) -> Scalar:
    """Return the derivative of a call with respect to its argument."""
    value, x = builder.scalar(call), builder.scalar(argument)
    function = CALLS[builder.call_of[call]]
    match function:
        case "sin":
            return builder.call("cos", x)
        case "cos":
            return -builder.call("sin", x)
        case "tan":
            return value * value + 1
        case "sqrt":
            return builder.call("reciprocal", value * 2)
        case "reciprocal":
            return -(value * value)
        case "exp":
            return value
        case "log":
            return builder.call("reciprocal", x)
        case "asin" | "acos":
            root = builder.call("reciprocal", builder.call("sqrt", 1 - x * x))
            return root if function == "asin" else -root
        case "atan":
            return builder.call("reciprocal", x * x + 1)
        case "abs":
            return builder.call("sign", x)
        case _:
            return builder.number(0)


# --- Jacobians ------------------------------------------------------------------------------------

Rows: TypeAlias = list[list[Scalar]]
"""The derivative of each result in each direction."""


def jacobian(
    builder: Builder,
    results: Sequence[int],
    directions: Mapping[str, Direction],
    *,
    mode: str = "cheaper",
    is_symmetric: bool = False,
) -> Rows:
    """Return the derivatives of variables in directions, which are named: {"q1": {v: 1}}.

    `mode` is "forward", "reverse", or "cheaper": the one that takes fewer operations. With
    `is_symmetric` the results are derivatives in the same directions already, one row of them
    after the other, so that each mixed derivative is built once.
    """
    if mode == "cheaper":
        mode = "forward" if is_symmetric else _cheaper(builder, results, directions)
    if mode == "reverse":
        return _in_reverse(builder, results, directions)
    sweeps = [Tangents(builder, d, f"_by_{name}") for name, d in directions.items()]
    if not is_symmetric:
        return [[sweep.of_variable(v) for sweep in sweeps] for v in results]
    rows: Rows = []
    count = len(directions)
    for place, v in enumerate(results):
        first = place - place % count
        mirrored = [rows[first + k][place % count] for k in range(place % count)]
        rows.append([*mirrored, *(sweep.of_variable(v) for sweep in sweeps[place % count :])])
    return rows


FEW = 4
"""With so many times more results than directions, or the other way round, no mode is tried."""


def _cheaper(builder: Builder, results: Sequence[int], directions: Mapping[str, Direction]) -> str:
    count = len(set(results))
    if count >= FEW * len(directions) or len(directions) == 1:
        return "forward"
    if len(directions) >= FEW * count:
        return "reverse"
    return min(("forward", "reverse"), key=partial(_operations, builder, results, directions))


def _in_reverse(
    builder: Builder, results: Sequence[int], directions: Mapping[str, Direction]
) -> Rows:
    adjoints = Adjoints(builder, {v for direction in directions.values() for v in direction})
    one = builder.number(1)
    gradients = [adjoints.of({v: one}, f"{builder.names[v]}_by_") for v in results]
    return [[along(builder, g, d) for d in directions.values()] for g in gradients]


def along(builder: Builder, gradient: Direction, direction: Direction) -> Scalar:
    """Return the sum of derivatives by inputs times the changes of these inputs."""
    total = builder.number(0)
    for v, change in direction.items():
        if v in gradient:
            total = total + gradient[v] * change
    return builder.keep(total)


def _operations(
    builder: Builder, results: Sequence[int], directions: Mapping[str, Direction], mode: str
) -> int:
    """Return how many operations a Jacobian takes, all results and the results' own included."""
    trial = builder.copy()
    moved = {
        name: {v: Scalar(trial, change.terms) for v, change in direction.items()}
        for name, direction in directions.items()
    }
    rows = jacobian(trial, results, moved, mode=mode)
    wanted = [trial.variable_of(value) for row in rows for value in row]
    graph = trial.finish({})
    count = cost_of(graph, graph.cone([*wanted, *results]), np.asarray(wanted, dtype=np.int32))
    return count.multiplications + count.additions


def differentiate(
    graph: Graph, variables: Sequence[int], input_name: str
) -> tuple[Graph, list[int]]:
    """Return the graph with derivatives by one input, and the variables that hold them.

    The chain rule is applied once to each variable of the cone, so the cost of a derivative
    is a small multiple of the cost of the quantity. Derivatives are named after their
    variable: `H_1_1_by_q2`.
    """
    builder = builder_of(graph)
    direction = {graph.input_variable(input_name): builder.number(1)}
    rows = jacobian(builder, [int(v) for v in variables], {input_name: direction})
    names = [f"{graph.names[int(v)]}_by_{input_name}" for v in variables]
    numbers = [builder.variable_of(row[0], name) for row, name in zip(rows, names, strict=True)]
    return builder.finish(), numbers
