"""A method: the outputs that it gives, and how the graph of any outputs is built by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chainform.formulations.accelerations import SolvedAccelerations
from chainform.formulations.composite_derivatives import composite_derivatives
from chainform.formulations.element_quantities import ElementQuantities
from chainform.formulations.linear_matrices import LINEAR, LinearMatrices
from chainform.formulations.operators import Operators, composite_slopes
from chainform.formulations.quantities import Quantities
from chainform.formulations.shared.options import (
    AxisChoice,
    AxisChoices,
    GraphOf,
    Method,
    Options,
    Part,
    parse_request,
)
from chainform.formulations.shared.scope import uses_elements
from chainform.graph import Builder, Graph, base_outputs, cheaper_graph
from chainform.mechanism import GROUND, JointKind, Mechanism

MOST_RANKS = 5
"""How many other choices of axes are built."""
LARGEST = 2_000
"""The most factors of a graph that is built in other axes, too."""
FEW_RATES = 16
"""Up to so many rates it is tried whether accumulation is cheaper than composite bodies."""


@dataclass(frozen=True, slots=True)
class Formulation:
    """A method: the outputs it can give, and the function that adds them to a graph.

    The function takes a mechanism whose parameters are settled, the outputs, and options.
    `moving_base` says that a prescribed motion of the base enters all of them, however it is
    given; elements take one that follows from laws of time for the place of the base.
    """

    name: str
    outputs: tuple[str, ...]
    build: Method
    moving_base: bool = False

    def graph(
        self, mechanism: Mechanism, outputs: Sequence[str], options: Options
    ) -> tuple[Graph, AxisChoices]:
        """Return the graph of outputs, in this order, and the choices of axes for it.

        The axes are those of the options or, where there are none, the cheapest. Derivatives of
        inverse dynamics come from composite bodies; where none is by qd, accumulation may be
        cheaper, so both are built and counted.
        """
        slopes = composite_slopes(outputs) if self.name == "auto" else []
        if not slopes or uses_elements(mechanism):
            return self._graph(mechanism, outputs, options)
        found = self._graph(mechanism, outputs, options, slopes)
        if mechanism.nv > FEW_RATES or any(text.endswith(",qd)") for text in slopes):
            return found
        other = self._graph(mechanism, outputs, options)
        return found if cheaper_graph(found[0], other[0]) is found[0] else other

    def _graph(
        self,
        mechanism: Mechanism,
        outputs: Sequence[str],
        options: Options,
        slopes: Sequence[str] = (),
    ) -> tuple[Graph, AxisChoices]:
        """Return the graph of outputs, with these derivatives from composite bodies."""
        builder = _builder(mechanism)
        accelerations = self._accelerations(builder, mechanism, outputs, options)
        bases = list(dict.fromkeys(base for text in outputs for base in base_outputs(text)))
        requests = [parse_request(base) for base in bases if base not in builder.outputs]
        linear = LinearMatrices(builder, mechanism, self._graph_of(mechanism, options))
        for request in requests:
            if request.name in LINEAR:
                linear.declare(request)
        requests = [request for request in requests if request.name not in LINEAR]
        own = [request.name for request in requests if request.name in self.outputs]
        choices: AxisChoices = self.build(builder, mechanism, own, options) if own else {}
        others = [request for request in requests if request.name not in self.outputs]
        if others:
            kind = ElementQuantities if uses_elements(mechanism) else Quantities
            quantities = kind(builder, mechanism, options.in_axes(choices))
            for request in others:
                quantities.build(request)
            choices = {**choices, **quantities.choices}
        if slopes:
            axes = options.in_axes(choices)
            choices = {**choices, **composite_derivatives(builder, mechanism, slopes, axes)}
        operators = Operators(builder, mechanism, accelerations)
        operators.expect(outputs)
        builder.quantities |= {base: builder.outputs[base] for base in bases if base not in outputs}
        blocks = {text: replace(operators.declare(text), name=text) for text in outputs}
        return builder.finish(blocks), choices

    def _accelerations(
        self, builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
    ) -> SolvedAccelerations | None:
        """Return the accelerations where their derivatives are wanted, and the method is free."""
        wanted = any("(forward_dynamics," in text for text in outputs)
        if self.name != "auto" or not wanted:
            return None

        graph_of = self._graph_of(mechanism, options)
        self.build(builder, mechanism, ["mass_matrix"], options)
        is_flying = any(
            segment.parent == GROUND and segment.joint.kind is JointKind.FREE
            for segment in mechanism.segments
        )
        has_composites = is_flying and not uses_elements(mechanism)
        split_of = partial(_split_slopes, mechanism, options) if has_composites else None
        return SolvedAccelerations(builder, mechanism.nv, graph_of, split_of)

    def _graph_of(self, mechanism: Mechanism, options: Options) -> GraphOf:
        """Return what gives the graph of other outputs; the choices of axes are ranked once."""
        ranked: dict[Part, Sequence[AxisChoice]] = {}

        def graph_of(outputs: Sequence[str]) -> Graph:
            graph, choices = self.graph(mechanism, outputs, options.in_axes(ranked))
            ranked.update(choices)
            return graph

        return graph_of

    def graphs_in_other_axes(
        self,
        mechanism: Mechanism,
        outputs: Sequence[str],
        options: Options,
        choices: AxisChoices,
    ) -> Iterator[Graph]:
        """Yield the graph of outputs in the next choices of axes, the cheapest first."""
        count = max(map(len, choices.values()), default=1)
        for rank in range(1, min(count, MOST_RANKS + 1)):
            yield self.graph(mechanism, outputs, options.in_axes(choices, rank))[0]


def _builder(mechanism: Mechanism) -> Builder:
    """Return a builder that knows the parameters, q, qd and qdd, so that each has a name."""
    builder = Builder()
    for parameter in mechanism.parameters:
        builder.parameter(parameter.name, parameter.value)
    for group, count in (("q", mechanism.nq), ("qd", mechanism.nv), ("qdd", mechanism.nv)):
        for index in range(count):
            builder.input(f"{group}{index + 1}", group, index)
    return builder


def _split_slopes(mechanism: Mechanism, options: Options, outputs: Sequence[str]) -> Graph:
    """Return derivatives of inverse dynamics without common accelerations, and these."""
    builder = _builder(mechanism)
    composite_derivatives(builder, mechanism, outputs, options)
    return builder.finish()
