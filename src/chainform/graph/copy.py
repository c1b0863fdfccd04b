"""Take a graph up again: to extend it, or to build it anew with something replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from chainform.errors import RunError
from chainform.graph.builder import Builder
from chainform.graph.graph import Graph
from chainform.graph.scalar import Scalar
from chainform.graph.types import CALLS, Block


def builder_of(graph: Graph) -> Builder:
    """Return a builder that already holds a graph, variable by variable, ready to extend."""
    builder = Builder()
    builder.resume(graph)
    return builder


def rebuild(graph: Graph, replacement: Callable[[int, Builder], Scalar | None]) -> Graph:
    """Return the graph built again, with some variables replaced by other values.

    `replacement` is asked for each variable and answers None to keep it. Everything computed
    from a replaced variable is simplified and shared anew on the way.
    """
    builder = Builder()
    scalars: dict[int, Scalar] = {}
    for v in range(len(graph)):
        scalars[v] = _rebuilt(graph, v, builder, scalars, replacement)
    for name, block in graph.quantities.items():
        builder.quantities[name] = _block(builder, block, scalars)
    for name, block in graph.outputs.items():
        builder.outputs[name] = _block(builder, block, scalars)
    for name, v in graph.aliases.items():
        builder.name(name, scalars[v])
    return builder.finish()


def _rebuilt(
    graph: Graph,
    v: int,
    builder: Builder,
    scalars: Mapping[int, Scalar],
    replacement: Callable[[int, Builder], Scalar | None],
) -> Scalar:
    replaced = replacement(v, builder)
    if replaced is not None:
        return replaced
    if v in graph.inputs:
        given = graph.inputs[v]
        return builder.input(given.name, given.group, given.index, given.default)
    if graph.call[v]:
        argument = scalars[int(graph.argument[v])]
        return builder.call(CALLS[int(graph.call[v])], argument, graph.names[v])
    total = builder.number(0)
    for term in graph.terms(v):
        product = builder.number(1)
        for factor in term.factors:
            product = product * scalars[factor.variable] ** factor.power
        total = total + product * term.coefficient
    return builder.name(graph.names[v], total)


def _block(builder: Builder, block: Block, scalars: Mapping[int, Scalar]) -> Block:
    variables = tuple(
        builder.variable_of(scalars[v], label)
        for v, label in zip(block.variables, block.labels, strict=True)
    )
    return Block(block.name, block.shape, variables, block.labels)


def include(
    builder: Builder, graph: Graph, given: Mapping[str, Scalar], outputs: Sequence[str]
) -> dict[str, tuple[Scalar, ...]]:
    """Build some outputs of a graph into another one that is being built, and return their entries.

    `given` says what takes the place of inputs; the others become inputs of the builder, too.
    Parameters are those of the same names there, whatever their indices in the graph.
    """
    scalars: dict[int, Scalar] = {}

    def replacement(v: int, into: Builder) -> Scalar | None:
        known = graph.inputs.get(v)
        if known is None or known.name in given:
            return None if known is None else given[known.name]
        is_parameter = known.group == "parameter"
        return into.parameter(known.name, known.default) if is_parameter else None

    needed = graph.cone(graph.output_variables(outputs))
    needed[list(graph.inputs)] = True
    for v in np.flatnonzero(needed).tolist():
        scalars[v] = _rebuilt(graph, v, builder, scalars, replacement)
    blocks = {name: graph.block(name) for name in outputs}
    return {name: tuple(scalars[v] for v in block.variables) for name, block in blocks.items()}


def substitute(graph: Graph, values: Mapping[str, Fraction]) -> Graph:
    """Return the graph with inputs replaced by numbers: symbolic parameters become numeric."""
    numbers = {graph.input_variable(name): value for name, value in values.items()}

    def value(v: int, builder: Builder) -> Scalar | None:
        return builder.number(numbers[v]) if v in numbers else None

    return rebuild(graph, value)


def set_defaults(graph: Graph, values: Mapping[str, Fraction]) -> Graph:
    """Return the graph with other default values of its parameters; nothing else changes."""
    inputs = dict(graph.inputs)
    for name, value in values.items():
        variable = graph.input_variable(name)
        if inputs[variable].group != "parameter":
            raise RunError(f"{name} is not a parameter and has no default", element=name)
        inputs[variable] = replace(inputs[variable], default=value)
    return replace(graph, inputs=inputs)
