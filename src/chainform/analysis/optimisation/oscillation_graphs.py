"""Equations of small motions about equilibria, as outputs of graphs that can be differentiated.

Displacements, states of actuators, multipliers and inputs of a small motion are inputs `weights` of
such a graph, one group after the other; its output `small` is linear in them. At rest rows J of
accelerations bind displacements, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.optimisation.graph_slopes import GraphSlopes
from chainform.analysis.optimisation.state_slopes import StateSlopes, no_derivative
from chainform.formulations import with_derivatives
from chainform.graph import Builder, Graph, include
from chainform.mechanism import Mechanism


class OscillationSlopes:
    """The equations of small motions of a mechanism some of whose parameters have no value."""

    def __init__(
        self, mechanism: Mechanism, names: Sequence[str], wrenches: Sequence[str] = ()
    ) -> None:
        self.mechanism, self.names = mechanism, tuple(names)
        self.rest = StateSlopes(mechanism, names, wrenches)
        equations = self.rest.equations
        if equations.prescribing:
            message = f"the signal of {equations.prescribing[0]} prescribes a motion"
            raise no_derivative(message, mechanism.file)
        self.places = small_places(equations.sizes, mechanism.nv)
        rows, balance, states = (equations.parts[name] for name in ("rows", "balance", "x"))
        parts = [(group, group, part) for group in equations.groups for part in (balance, states)]
        # At rest J of the accelerations binds displacements, too.
        parts.append(("qdd", "q", rows))
        graph = small_graph(equations.graph, "equations", parts, self.places, mechanism)
        self.small = GraphSlopes(graph, "small", mechanism, names)

    @property
    def equations(self) -> ImplicitEquations:
        """The equations of motion."""
        return self.rest.equations

    @cached_property
    def differential(self) -> list[int]:
        """The places of the balance and of the rates of states: what has derivatives by time."""
        return [*self.part("balance"), *self.part("x")]

    def part(self, name: str) -> range:
        """The places of a part of the equations."""
        return range(self.equations.parts[name].start, self.equations.parts[name].stop)


def small_places(sizes: Mapping[str, int], nv: int) -> dict[str, slice]:
    """Return where directions by groups stand in the inputs `weights`."""
    places: dict[str, slice] = {}
    first = 0
    for group, size in sizes.items():
        last = first + (nv if group == "q" else size)
        places[group], first = slice(first, last), last
    return places


def small_graph(
    graph: Graph,
    output: str,
    parts: Sequence[tuple[str, str, slice]],
    places: Mapping[str, slice],
    mechanism: Mechanism,
) -> Graph:
    """Return a graph with an output `small`: how entries of an output change along inputs.

    Each of `parts` is a group of inputs, that of its direction, and the entries.
    """
    builder = Builder()
    count = int(np.prod(graph.block(output).shape))
    values = [builder.number(0)] * count
    for group, direction, entries in parts:
        text = f"product(derivative({output},{group}),direction)"
        along = with_derivatives(graph, [text], mechanism)
        given = {
            item.name: builder.input(f"weights{k + 1}", "weights", k)
            for item in along.inputs.values()
            if item.group == "direction"
            for k in (places[direction].start + item.index,)
        }
        found = include(builder, along, given, [text])[text]
        for k in range(count)[entries]:
            values[k] = values[k] + found[k]
    builder.output("small", (count,), [(f"small_{k + 1}", x) for k, x in enumerate(values)])
    return builder.finish()
