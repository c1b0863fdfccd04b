"""The graph of a mechanism by one method, in the cheapest axes and in others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chainform.formulations.element_quantities import ElementQuantities
from chainform.formulations.options import AxisChoices, Method, Options
from chainform.formulations.quantities import Quantities, parse_request
from chainform.formulations.scope import uses_elements
from chainform.graph import Builder, Graph
from chainform.mechanism import Mechanism

MOST_RANKS = 5
"""How many other choices of axes are built."""
LARGEST = 2_000
"""The most factors of a graph that is built in other axes, too."""


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

        The axes are those of the options or, where there are none, the cheapest.
        """
        builder = _builder(mechanism)
        requests = [parse_request(output) for output in outputs]
        own = [request.name for request in requests if request.name in self.outputs]
        choices = self.build(builder, mechanism, own, options) if own else {}
        kind = ElementQuantities if uses_elements(mechanism) else Quantities
        quantities = kind(builder, mechanism, options)
        for request in requests:
            if request.name not in self.outputs:
                quantities.build(request)
        graph = builder.finish()
        blocks = {request.text: graph.outputs[request.text] for request in requests}
        return replace(graph, outputs=blocks), choices

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
    """Return a builder that knows the parameters, q, qd and qdd, so that all can be asked about."""
    builder = Builder()
    for parameter in mechanism.parameters:
        builder.parameter(parameter.name, parameter.value)
    for group, count in (("q", mechanism.nq), ("qd", mechanism.nv), ("qdd", mechanism.nv)):
        for index in range(count):
            builder.input(f"{group}{index + 1}", group, index)
    return builder
