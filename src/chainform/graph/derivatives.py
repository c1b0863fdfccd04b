"""Derivatives by the chain rule: of scalars in a builder, and of variables by an input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chainform.graph.builder import Builder
from chainform.graph.copy import builder_of
from chainform.graph.scalar import Monomial, Scalar, Terms, is_zero
from chainform.graph.types import CALLS, Graph


class Tangents:
    """Derivatives in one direction: how values change while the inputs change so.

    `direction` gives the change of each input that changes, by its variable: 1 for one input is a
    partial derivative, rates for all coordinates the derivative by time. The chain rule is applied
    once to each variable, so all derivatives together cost a small multiple of the values.
    """

    def __init__(
        self, builder: Builder, direction: Mapping[int, Scalar], suffix: str | None = None
    ) -> None:
        self.builder = builder
        self.suffix = suffix
        """What is added to the name of a variable to name its derivative; None gives no names."""
        self.known: dict[int, Scalar] = dict(direction)

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
        waiting, cone = list(variables), set[int]()
        while waiting:
            v = waiting.pop()
            if v in self.known or v in cone:
                continue
            cone.add(v)
            if self.builder.call_of[v]:
                waiting.append(self.builder.argument[v])
            else:
                waiting.extend(u for monomial in self.builder.definition(v) for u in monomial)
        # Whatever a variable is made of was defined before it.
        for v in sorted(cone):
            self.known[v] = self._named(v, self._variable(v))

    def _named(self, v: int, tangent: Scalar) -> Scalar:
        if self.suffix is None or tangent.is_number or tangent.is_signed_variable:
            return self.builder.keep(tangent)
        return self.builder.name(f"{self.builder.names[v]}{self.suffix}", tangent)

    def _variable(self, v: int) -> Scalar:
        builder = self.builder
        if not builder.call_of[v]:
            return self._terms(builder.definition(v))
        argument = builder.argument[v]
        inner = self.known[argument]
        return inner if is_zero(inner) else slope(builder, v, argument) * inner

    def _terms(self, terms: Terms) -> Scalar:
        total = self.builder.number(0)
        for monomial, coefficient in terms.items():
            total = total + self._monomial(monomial) * coefficient
        return total

    def _monomial(self, monomial: Monomial) -> Scalar:
        """Return the derivative of x^a y^b ...: one product per factor that moves."""
        total = self.builder.number(0)
        for moving in dict.fromkeys(monomial):
            tangent = self.known[moving]
            if is_zero(tangent):
                continue
            others = list(monomial)
            others.remove(moving)
            product = tangent * monomial.count(moving)
            for v in others:
                product = product * self.builder.scalar(v)
            total = total + product
        return total


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


def differentiate(
    graph: Graph, variables: Sequence[int], input_name: str
) -> tuple[Graph, list[int]]:
    """Return the graph extended by derivatives, and the variables that hold them.

    The chain rule is applied once to each variable of the cone, so the cost of a derivative
    is a small multiple of the cost of the quantity. Derivatives are named after their
    variable: `H_1_1_by_q2`.
    """
    builder = builder_of(graph)
    one = {graph.input_variable(input_name): builder.number(1)}
    tangents = Tangents(builder, one, f"_by_{input_name}")
    numbers = [
        builder.variable_of(tangents.of_variable(int(v)), f"{graph.names[int(v)]}_by_{input_name}")
        for v in variables
    ]
    return builder.finish(), numbers
