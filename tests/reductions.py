"""Graphs that move, and what a reduction has to keep, for the tests of algebra and search."""

from __future__ import annotations

from typing import Any

from chainform.graph import EXACT, Builder, Graph, cost, evaluate, verify
from strategies import ANGLES, NUMBERS, Program


def moving_graph(program: Program, constants: int = 0) -> Graph:
    """Return the graph of a program whose numbers are rates, but for the last few: parameters."""
    builder = Builder()
    moving = len(NUMBERS) - constants
    given = [
        builder.input(name, "qd" if i < moving else "parameter", i if i < moving else i - moving)
        for i, name in enumerate(NUMBERS)
    ]
    turned = [builder.input(name, "q", i) for i, name in enumerate(ANGLES)]
    named = iter(range(len(program.steps)))
    values = program.run(
        given, turned, builder.call, lambda value: builder.name(f"named_{next(named)}", value)
    )
    entries = [(f"out_{i + 1}", value) for i, value in enumerate(values)]
    builder.output("out", (len(values),), entries)
    return builder.finish()


def operations(graph: Graph) -> int:
    """Return how many multiplications and additions a graph takes."""
    count = cost(graph)
    return count.multiplications + count.additions


def check_kept(before: Graph, after: Graph, values: dict[str, Any] | None = None) -> None:
    """Check that a graph is legal, with the outputs and inputs of another, and their values."""
    verify(after)
    assert list(after.outputs) == list(before.outputs)
    for name, block in before.outputs.items():
        assert after.outputs[name].shape == block.shape
        assert after.outputs[name].labels == block.labels
    assert list(after.inputs.values()) == list(before.inputs.values())
    if values is None:
        return
    for name in (*after.outputs, *after.quantities):
        old = evaluate(before, values, EXACT, [name])[name]
        assert (evaluate(after, values, EXACT, [name])[name] == old).all(), name
