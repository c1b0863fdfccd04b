"""Partial derivatives of any variable with respect to any input, in the same graph form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainform.graph.builder import Builder
from chainform.graph.copy import builder_of
from chainform.graph.graph import Graph
from chainform.graph.scalar import Scalar
from chainform.graph.types import CALLS, Kind, Term


def differentiate(
    graph: Graph, variables: Sequence[int], input_name: str
) -> tuple[Graph, list[int]]:
    """Return the graph extended by derivatives, and the variables that hold them.

    The chain rule is applied once to each variable of the cone, so the cost of a derivative
    is a small multiple of the cost of the quantity. Derivatives are named after their
    variable: `H_1_1_by_q2`.
    """
    builder, tangents = _tangents(graph, variables, input_name)
    numbers = [
        builder.variable_of(tangents[int(v)], f"{graph.names[int(v)]}_by_{input_name}")
        for v in variables
    ]
    return builder.finish(), numbers


def _tangents(
    graph: Graph, variables: Sequence[int], input_name: str
) -> tuple[Builder, dict[int, Scalar]]:
    source = graph.input_variable(input_name)
    builder = builder_of(graph)
    tangents: dict[int, Scalar] = {}
    for v in np.flatnonzero(graph.cone(variables)).tolist():
        if graph.kind[v] == Kind.CALL:
            argument = int(graph.argument[v])
            inner = tangents[argument]
            is_still = inner.is_number and not inner.number
            tangent = inner if is_still else _slope(builder, v, argument) * inner
        else:
            tangent = builder.number(int(v == source))
            for term in graph.terms(v):
                tangent = tangent + _term_tangent(builder, term, tangents)
        if not (tangent.is_number or tangent.is_signed_variable):
            tangent = builder.name(f"{graph.names[v]}_by_{input_name}", tangent)
        tangents[v] = tangent
    return builder, tangents


def _term_tangent(builder: Builder, term: Term, tangents: dict[int, Scalar]) -> Scalar:
    """Return the derivative of K x^a y^b ...: one product per factor that moves."""
    total = builder.number(0)
    for moving in term.factors:
        tangent = tangents[moving.variable]
        if tangent.is_number and not tangent.number:
            continue
        product = builder.number(term.coefficient * moving.power) * tangent
        for factor in term.factors:
            power = factor.power - (factor.variable == moving.variable)
            if power:
                product = product * builder.scalar(factor.variable) ** power
        total = total + product
    return total


def _slope(builder: Builder, call: int, argument: int) -> Scalar:
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
            slope = builder.call("reciprocal", builder.call("sqrt", 1 - x * x))
            return slope if function == "asin" else -slope
        case "atan":
            return builder.call("reciprocal", x * x + 1)
        case "abs":
            return builder.call("sign", x)
        case _:
            return builder.number(0)
