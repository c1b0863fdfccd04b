"""A process that carries out tasks: one line of JSON for each task in, for each result out.

Whoever gives the tasks holds the other end of both pipes. When they break, nobody waits for an
answer any more, and the process ends at once and without a word.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import Any

from chainform.graph import Graph, graph_text
from chainform.search.task import Task, run


def main() -> None:
    """Serve tasks until stdin ends; an interrupt is the business of who gave them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    while True:
        line = lines.get()
        try:
            result = run(Task.from_data(json.loads(line)), _report)
        except Exception as problem:  # noqa: BLE001
            _answer({"event": "failed", "problem": f"{type(problem).__name__}: {problem}"[:200]})
        else:
            _found("done", result.steps, result.cost, result.graph)


def _read(lines: SimpleQueue[str]) -> None:
    """Take tasks in while another is carried out, so that the end of stdin is seen then, too."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _report(steps: int, cost: float, graph: Graph | None) -> None:
    _found("better" if graph else "going", steps, cost, graph)


def _found(event: str, steps: int, cost: float, graph: Graph | None) -> None:
    text = graph_text(graph) if graph else ""
    _answer({"event": event, "steps": steps, "cost": cost, "graph": text})


def _answer(answer: dict[str, Any]) -> None:
    try:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    except OSError:
        os._exit(0)


if __name__ == "__main__":
    main()
