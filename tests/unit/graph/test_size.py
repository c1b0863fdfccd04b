"""A large graph, scaled down: the benchmark runs, and its graph is sound."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.graph import FLOAT, BatchPlan, Graph, cost, evaluate, graph_text, parse_graph, verify

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "graph_size.py"


@pytest.fixture(scope="module")
def benchmark() -> dict[str, Any]:
    return runpy.run_path(str(BENCHMARK))


def test_a_large_graph_is_sound(benchmark: dict[str, Any]) -> None:
    graph: Graph = benchmark["large_graph"](3000)
    verify(graph)
    assert len(graph) == 3000
    computed = 3000 - 90
    assert len(graph.factor) == pytest.approx(10 * computed, rel=0.01)
    counted = cost(graph)
    assert (counted.sin, counted.cos, counted.angle_sums, counted.calls) == (30, 30, 0, 0)
    assert counted.additions == 3 * computed
    assert counted.multiplications == pytest.approx(10 * computed, rel=0.01)
    values = {given.name: 0.1 * given.index for given in graph.inputs.values()}
    one = evaluate(graph, values, FLOAT)["v"].astype(float)
    plan = BatchPlan(graph, graph.block("v").variables)
    many = plan.run({v: values[given.name] for v, given in graph.inputs.items()}, 2)
    assert np.allclose(many, one[:, None], rtol=0, atol=1e-14)
    assert graph_text(parse_graph(graph_text(graph))) == graph_text(graph)


def test_the_benchmark_prints_times_and_memory(
    benchmark: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark["main"](["500"])
    lines = capsys.readouterr().out.splitlines()
    tasks = [line.rsplit(maxsplit=4) for line in lines if line.endswith(" MB")]
    assert [task[0] for task in tasks] == [
        "start",
        "build",
        "verify",
        "count",
        "evaluate one state",
        "plan",
        "evaluate 100 states",
        "write text",
        "read text",
    ]
    benchmark["main"](["500", "--profile"])
    assert "function calls" in capsys.readouterr().out
