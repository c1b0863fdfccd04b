"""A large graph: how long it takes to build, verify, count, evaluate and write, and in what memory.

    python benchmarks/graph_size.py [variables] [--profile]

With 100,000 variables, the default, the graph has a million factors.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import resource
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np

from chainform.graph import (
    FLOAT,
    BatchPlan,
    Builder,
    Graph,
    Scalar,
    cost,
    evaluate,
    graph_text,
    parse_graph,
    verify,
)

T = TypeVar("T")

COORDINATES = 30
WEIGHTS = [Fraction(numerator, 97) for numerator in range(-24, 25) if numerator]
"""Coefficients so small that four terms with factors below one stay below one."""


def large_graph(variables: int, seed: int = 1) -> Graph:
    """Return a graph of about that many variables, each with four terms and ten factors.

    Every variable uses earlier ones, sines and cosines, as equations of motion do.
    """
    chance = random.Random(seed)
    builder = Builder()
    letters: list[Scalar] = []
    for number in range(COORDINATES):
        q = builder.input(f"q{number + 1}", "q", number)
        letters += [builder.call("sin", q), builder.call("cos", q)]
    values = list(letters)
    entries: list[tuple[str, Scalar]] = []
    for number in range(variables - 3 * COORDINATES):
        a, b = chance.choice(values), chance.choice(values)
        s, t, u, v, w, x, y, z = chance.sample(letters, 8)
        i, j, k, l = chance.sample(WEIGHTS, 4)
        total = i * a * s * t + j * b * u * v + k * w * x + l * y * z
        name = f"v_{number + 1}"
        values.append(builder.name(name, total))
        entries.append((name, values[-1]))
    builder.output("v", (len(entries),), entries)
    return builder.finish()


def timed(what: str, task: Callable[[], T]) -> T:
    """Run a task, print how long it took and the peak memory so far, and return its result."""
    start = time.perf_counter()
    result = task()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:28} {seconds:8.2f} s {peak:8.0f} MB")
    return result


def profiled_build(variables: int) -> Graph:
    """Build under the profiler and print the functions that took longest."""
    profile = cProfile.Profile()
    graph = profile.runcall(large_graph, variables)
    pstats.Stats(profile).sort_stats("tottime").print_stats(15)
    return graph


def main(arguments: list[str]) -> None:
    """Print one line for each task."""
    parser = argparse.ArgumentParser(description="time a large graph")
    parser.add_argument("variables", type=int, nargs="?", default=100_000)
    parser.add_argument("--profile", action="store_true", help="show where the build spends time")
    options = parser.parse_args(arguments)
    if options.profile:
        profiled_build(options.variables)
        return
    states = {f"q{n + 1}": 0.1 * n for n in range(COORDINATES)}
    timed("start", lambda: None)
    graph = timed("build", lambda: large_graph(options.variables))
    print(graph)
    timed("verify", lambda: verify(graph))
    print(timed("count", lambda: cost(graph)))
    timed("evaluate one state", lambda: evaluate(graph, states, FLOAT))
    plan = timed("plan", lambda: BatchPlan(graph, graph.output_variables()))
    inputs = {v: np.full(100, states[given.name]) for v, given in graph.inputs.items()}
    timed("evaluate 100 states", lambda: plan.run(inputs, 100))
    text = timed("write text", lambda: graph_text(graph))
    timed("read text", lambda: parse_graph(text))


if __name__ == "__main__":
    main(sys.argv[1:])
