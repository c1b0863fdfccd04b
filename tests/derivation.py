"""Graphs of the tests: the same outputs of the same mechanism are derived once in each process.

A tenth of the time of all tests would go to graphs that were there before, most of them of the
examples. A graph does not change, so tests may share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chainform.formulations import Formulation, Options
from chainform.formulations.shared import axes
from chainform.formulations.shared.options import AxisChoices
from chainform.graph import Graph
from chainform.mechanism import Mechanism
from chainform.runtime import Key, LruCache

MOST = 100
"""How many graphs are stored; those that were used last."""

Derivation = Callable[[Formulation, Mechanism, Sequence[str], Options], tuple[Graph, AxisChoices]]


def derived_once(derive: Derivation) -> Derivation:
    """Return what stands for `Formulation.graph`."""
    known: LruCache[tuple[Graph, AxisChoices]] = LruCache(MOST)

    def graph(
        method: Formulation, mechanism: Mechanism, outputs: Sequence[str], options: Options
    ) -> tuple[Graph, AxisChoices]:
        choices = (options.closure, options.wrenches, options.without, *options.axes.items())
        # Tests of agreement choose axes in a way of their own.
        way = (method.name, axes.by_price)
        key = Key((*way, tuple(outputs), choices, mechanism.name), (mechanism,))
        return known.get(key, lambda: derive(method, mechanism, outputs, options))

    return graph
