"""Several processes that carry out tasks at the same time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Queue
from threading import Thread
from types import TracebackType
from typing import Any

from chainform.errors import RunError
from chainform.graph import Graph, parse_graph
from chainform.search.task import Task


@dataclass(frozen=True)
class Answer:
    """What a worker says of a task: `done`, or a better graph on the way."""

    task: int
    is_done: bool
    steps: int
    cost: float
    text: str

    @property
    def graph(self) -> Graph:
        """The graph that was found."""
        return parse_graph(self.text)


class Crew:
    """Workers that are started once and stopped at the end, whatever happens."""

    def __init__(self, size: int) -> None:
        self._answers: Queue[tuple[int, str | None]] = Queue()
        command = [sys.executable, "-m", "chainform.search.worker"]
        self._workers = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(size)
        ]
        self._listeners = [
            Thread(target=self._listen, args=(number, worker), daemon=True)
            for number, worker in enumerate(self._workers)
        ]
        for listener in self._listeners:
            listener.start()

    def _listen(self, number: int, worker: subprocess.Popen[str]) -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            self._answers.put((number, line))
        self._answers.put((number, None))

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.kill()
        for worker, listener in zip(self._workers, self._listeners, strict=True):
            listener.join()
            with suppress(OSError), worker:  # closes the pipes, and waits
                pass

    def run(self, tasks: Sequence[Task]) -> Iterator[Answer]:
        """Carry out tasks, as many at a time as there are workers; yield what they say."""
        waiting = list(enumerate(tasks))[::-1]
        busy: dict[int, int] = {}
        for number in range(len(self._workers)):
            self._give(number, waiting, busy)
        while busy:
            number, line = self._answers.get()
            if line is None:
                raise RunError("a search process ended unexpectedly", remedy="use fewer cores")
            data: dict[str, Any] = json.loads(line)
            done = data["event"] == "done"
            yield Answer(busy[number], done, data["steps"], data["cost"], data["graph"])
            if done:
                del busy[number]
                self._give(number, waiting, busy)

    def _give(self, number: int, waiting: list[tuple[int, Task]], busy: dict[int, int]) -> None:
        if not waiting:
            return
        place, task = waiting.pop()
        pipe = self._workers[number].stdin
        assert pipe is not None
        pipe.write(json.dumps(task.as_data()) + "\n")
        pipe.flush()
        busy[number] = place
