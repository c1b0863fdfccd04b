"""A process that carries out tasks: one line of JSON for each task in, for each result out."""

from __future__ import annotations

import json
import signal
import sys

from chainform.graph import Graph, graph_text
from chainform.search.task import Task, run


def main() -> None:
    """Serve tasks until there are no more; an interrupt is the business of who gave them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        result = run(Task.from_data(json.loads(line)), _report)
        _answer("done", result.steps, result.cost, result.graph)


def _report(steps: int, cost: float, graph: Graph) -> None:
    _answer("better", steps, cost, graph)


def _answer(event: str, steps: int, cost: float, graph: Graph) -> None:
    answer = {"event": event, "steps": steps, "cost": cost, "graph": graph_text(graph)}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
