"""Processes that run tasks at the same time, and the pool that feeds them.

A process reads one line of JSON for each task and writes one for each result. The pool holds the
other end of both pipes. When they break, nobody waits for an answer any more, and the process ends
at once and silently.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue, SimpleQueue
from tempfile import TemporaryFile
from threading import Thread
from time import time
from types import TracebackType
from typing import IO, Any

from chainform.graph import Graph, graph_text, parse_graph
from chainform.search.task import SearchTask, run

LOSSES = 3
"""How often a task may lose its worker before it is given up."""
GRACE = 2.0
"""How long after the time limit of the tasks a worker is waited for."""
_COMMAND = (sys.executable, "-m", "chainform.search.workers")


class LostError(Exception):
    """A task that could not be carried out, and why."""


@dataclass(frozen=True)
class Answer:
    """What a worker says of a task: `done`, a better graph on the way, or just the steps so far."""

    task: int
    is_done: bool
    steps: int
    cost: float
    """Infinite where no graph comes with it."""
    text: str
    problem: str = ""
    """What went wrong where the task could not be carried out; then nothing has come of it."""

    @property
    def graph(self) -> Graph:
        """The graph that was found."""
        return parse_graph(self.text)


# --- the pool -------------------------------------------------------------------------------------


def _started(complaints: IO[str]) -> subprocess.Popen[str]:
    """Return a new process that the Ctrl-C of a terminal does not reach; we end it ourselves."""
    pipe = subprocess.PIPE
    if sys.platform == "win32":
        group = subprocess.CREATE_NEW_PROCESS_GROUP
        return subprocess.Popen(
            _COMMAND, stdin=pipe, stdout=pipe, stderr=complaints, text=True, creationflags=group
        )
    return subprocess.Popen(
        _COMMAND, stdin=pipe, stdout=pipe, stderr=complaints, text=True, start_new_session=True
    )


class _Worker:
    """A process, and threads that talk to it: a process that is stopped must not stop us."""

    def __init__(self, answers: Queue[tuple[_Worker, str | None]], complaints: IO[str]) -> None:
        self.task: int | None = None
        """Which task it carries out."""
        self.process = _started(complaints)
        self._answers = answers
        self._threads: list[Thread] = []
        self._begin(Thread(target=self._listen, daemon=True))

    def _begin(self, thread: Thread) -> None:
        self._threads = [*(thread for thread in self._threads if thread.is_alive()), thread]
        thread.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):  # the last words of one that was killed may be cut short
                self._answers.put((self, line))
        self._answers.put((self, None))

    def give(self, number: int, task: SearchTask) -> None:
        """Let the process carry out a task."""
        self.task = number
        line = json.dumps(task.as_data()) + "\n"
        self._begin(Thread(target=self._write, args=(line,), daemon=True))

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # that it is gone is seen by who listens
            self.process.stdin.write(line)
            self.process.stdin.flush()

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        for thread in self._threads:
            thread.join()
        with suppress(OSError), self.process:  # closes the pipes, and waits
            pass


class WorkerPool:
    """Workers that are stopped at the end, whatever happens; one that is lost is replaced."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: Queue[tuple[_Worker, str | None]] = Queue()
        self._workers: list[_Worker] = []

    def __enter__(self) -> WorkerPool:
        self._complaints = TemporaryFile("w+", encoding="utf-8", errors="renumber")
        # They are ready by the time there are tasks. Whatever is wrong is reported then.
        with suppress(OSError):
            while len(self._workers) < self._size:
                self._workers.append(_Worker(self._answers, self._complaints))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.end()
        self._complaints.close()

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes."""
        return [worker.process.pid for worker in self._workers]

    def run(self, tasks: Sequence[SearchTask], until: float | None = None) -> Iterator[Answer]:
        """Carry out tasks, as many at a time as there are workers; yield what they say.

        A task depends on nothing but itself, so one whose worker is lost is carried out again;
        LostError is raised where that does not help. After the time `until` no task is given out,
        and soon after it those that are out are waited for no longer.
        """
        waiting = list(range(len(tasks)))[::-1]
        losses: Counter[int] = Counter()
        while True:
            if until is None or time() < until:
                self._give_out(tasks, waiting)
            if all(worker.task is None for worker in self._workers):
                return
            event = self._next_event(until)
            if event is None:
                return
            worker, line = event
            number = worker.task
            if line is not None and number is not None:
                answer = _answer_of(number, tasks[number], json.loads(line))
                if answer.is_done:
                    worker.task = None
                yield answer
            elif line is None:
                self._workers.remove(worker)
                worker.end()
                if number is not None:
                    self._count(losses, number)
                    waiting.append(number)

    def _give_out(self, tasks: Sequence[SearchTask], waiting: list[int]) -> None:
        while waiting:
            worker = self._idle()
            if worker is None:
                return
            number = waiting.pop()
            worker.give(number, tasks[number])

    def _idle(self) -> _Worker | None:
        """Return a worker that has nothing to do, a new one where some are missing."""
        for worker in self._workers:
            if worker.task is None:
                return worker
        if len(self._workers) == self._size:
            return None
        try:
            self._workers.append(_Worker(self._answers, self._complaints))
        except OSError as problem:
            if self._workers:
                return None
            raise LostError(f"no search process can be started: {problem}") from None
        return self._workers[-1]

    def _next_event(self, until: float | None) -> tuple[_Worker, str | None] | None:
        """Return the next line of a worker, or that it ended; None once it is too late."""
        while True:
            left = float("inf") if until is None else until + GRACE - time()
            try:
                # Not for ever, since on Windows that would keep an interrupt waiting.
                return self._answers.get(timeout=max(0.0, min(1.0, left)))
            except Empty:
                if left <= 0:
                    return None

    def _count(self, losses: Counter[int], number: int) -> None:
        losses[number] += 1
        if losses[number] < LOSSES:
            return
        self._complaints.seek(0)
        lines = [line.strip() for line in self._complaints if line.strip()]
        why = f" ({lines[-1][:200]})" if lines else ""
        raise LostError(f"a search process ended unexpectedly, {LOSSES} times{why}")


def _answer_of(number: int, task: SearchTask, data: dict[str, Any]) -> Answer:
    if data["event"] == "failed":
        return Answer(number, True, 0, float("inf"), graph_text(task.graph), data["problem"])
    return Answer(number, data["event"] == "done", data["steps"], data["cost"], data["graph"])


# --- the process: python -m chainform.search.workers ----------------------------------------------


def main() -> None:
    """Serve tasks until stdin ends; an interrupt is the business of who gave them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    while True:
        line = lines.get()
        try:
            result = run(SearchTask.from_data(json.loads(line)), _report)
        except Exception as problem:  # noqa: BLE001
            _answer({"event": "failed", "problem": f"{type(problem).__name__}: {problem}"[:200]})
        else:
            _send("done", result.steps, result.cost, result.graph)


def _read(lines: SimpleQueue[str]) -> None:
    """Take tasks in while another is carried out, so that the end of stdin is seen then, too."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _report(steps: int, cost: float, graph: Graph | None) -> None:
    _send("better" if graph else "going", steps, cost, graph)


def _send(event: str, steps: int, cost: float, graph: Graph | None) -> None:
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
