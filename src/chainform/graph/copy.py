"""Graphs from graphs: continued in a builder, rebuilt with replacements, cut and joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.graph.builder import Builder
from chainform.graph.draft import Draft, copied_block, free_names, substituted
from chainform.graph.scalar import Scalar
from chainform.graph.types import CALLS, Block, Graph


def builder_of(graph: Graph) -> Builder:
    """Return a builder that already holds a graph, variable by variable, ready to extend."""
    builder = Builder()
    builder.resume(graph)
    return builder


def rebuild(graph: Graph, replacement: Callable[[int, Builder], Scalar | None]) -> Graph:
    """Return the graph built again, with some variables replaced by other values.

    `replacement` is called for each variable and returns None to keep it. Everything computed
    from a replaced variable is simplified and shared anew on the way.
    """
    builder = Builder()
    scalars: dict[int, Scalar] = {}
    for v in range(len(graph)):
        scalars[v] = _rebuilt(graph, v, builder, scalars, replacement)
    for name, block in graph.quantities.items():
        builder.quantities[name] = copied_block(builder, block, scalars)
    for name, block in graph.outputs.items():
        builder.outputs[name] = copied_block(builder, block, scalars)
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


# --- parts of a graph -----------------------------------------------------------------------------


def restrict(graph: Graph, needed: NDArray[np.bool_]) -> Graph:
    """Return the rows of a graph in a mask that is closed under what definitions use.

    Quantities go unless all their entries stay; other names go with their variables.
    """
    new_index = np.cumsum(needed, dtype=np.int32) - 1
    rows = np.flatnonzero(needed)
    in_term = np.repeat(needed, np.diff(graph.term_start))
    in_factor = np.repeat(in_term, np.diff(graph.factor_start))
    argument = graph.argument[rows]
    return replace(
        graph,
        names=tuple(graph.names[v] for v in rows.tolist()),
        kind=graph.kind[rows],
        level=graph.level[rows],
        call=graph.call[rows],
        argument=np.where(argument >= 0, new_index[argument], -1).astype(np.int32),
        term_start=_starts(np.diff(graph.term_start)[rows]),
        coefficient=graph.coefficient[in_term],
        factor_start=_starts(np.diff(graph.factor_start)[in_term]),
        factor=new_index[graph.factor[in_factor]],
        power=graph.power[in_factor],
        inputs={int(new_index[v]): given for v, given in graph.inputs.items() if needed[v]},
        outputs={name: _renumbered(block, new_index) for name, block in graph.outputs.items()},
        quantities={
            name: _renumbered(block, new_index)
            for name, block in graph.quantities.items()
            if all(needed[v] for v in block.variables)
        },
        aliases={name: int(new_index[v]) for name, v in graph.aliases.items() if needed[v]},
    )


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _renumbered(block: Block, new_index: NDArray[np.int32]) -> Block:
    return replace(block, variables=tuple(int(new_index[v]) for v in block.variables))


def graft(graph: Graph, top: Sequence[int], part: Graph) -> Graph:
    """Return a graph with some variables defined by the only output of another graph.

    The part has the same inputs and gives the values of `top`, in that order. Its variables come
    first, so that the rest finds what it shares with them.
    """
    (block,) = part.outputs.values()
    inner = Draft(part)
    builder = Builder()
    free = free_names(graph)
    scalars: dict[int, Scalar] = {}
    for v in range(len(part)):
        given = part.inputs.get(v)
        if given is not None:
            scalars[v] = builder.input(given.name, given.group, given.index, given.default)
        elif v in inner.calls:
            function, argument = inner.calls[v]
            scalars[v] = builder.call(function, scalars[argument], part.names[v])
        else:
            value = Scalar(builder, substituted(inner.terms[v], scalars))
            name = part.names[v]
            taken = name in graph.numbers and name not in block.labels
            scalars[v] = builder.name(next(free) if taken else name, value)
    outer = Draft(graph)
    known = {v: scalars[w] for v, w in zip(top, block.variables, strict=True)}
    return outer.finish_with(builder, known)
