"""Cases in processes of their own, so that one that hangs or dies costs itself only."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from signal import SIG_IGN, SIGINT, SIGXCPU, signal
from threading import Thread
from time import monotonic, process_time
from typing import Any, cast

from tools.campaign.report import Counts

LIMIT = 240.0
"""Seconds of the processor that a case may take, with all that is made smaller."""
PATIENCE = 10.0
"""By how much more time may pass: a process may have to share its processor."""
SHRINKING = 15.0
"""Seconds of the processor for making one disagreement smaller."""


def _bounded(seconds: float) -> None:
    """Let the system end this process when it has computed for so long from now on."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(process_time() + seconds) + 1, hard))


def _orphaned() -> None:
    """End this process when its parent has ended, however that was."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(connection: Connection, seed: int, limit: float) -> None:
    """Take cases by their numbers until there is none; the parent ends it, no key does."""
    signal(SIGINT, SIG_IGN)
    Thread(target=_orphaned, daemon=True).start()
    from tools.campaign.rounds import round_of

    known: set[str] = set()
    while True:
        task = connection.recv()
        if task is None:
            return
        _bounded(limit)
        try:
            counts = round_of(seed, task, SHRINKING, frozenset(known))
        except Exception as error:  # noqa: BLE001
            counts = _broken(seed, task, f"{type(error).__name__}: {error}")
        known |= set(counts.scripts)
        connection.send(counts)


def _broken(seed: int, number: int, what: str) -> Counts:
    counts = Counts(cases=1)
    label = f"case {number} of seed {seed}: {what}"
    counts.disagreements[label] += 1
    counts.scripts[label] = f"# repeat it: python tools/campaign.py --seed {seed} --case {number}\n"
    return counts


@dataclass
class Worker:
    """A process, and the case that it is at."""

    process: BaseProcess
    connection: Connection
    seed: int
    number: int = -1
    began: float = 0.0

    @classmethod
    def start(cls, seed: int, limit: float) -> Worker:
        """Start a process."""
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, seed, limit), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours, seed)

    def give(self, number: int) -> None:
        """Hand over a case."""
        self.number, self.began = number, monotonic()
        self.connection.send(number)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def rounds(
    seeds: list[int], numbers: Iterator[int], is_over: Callable[[], bool], limit: float = LIMIT
) -> Iterator[Counts]:
    """Yield the counts of case after case; each of the processes has a seed of its own."""
    crew: list[Worker] = []
    try:
        for seed, number in zip(seeds, numbers, strict=False):
            crew.append(Worker.start(seed, limit))
            crew[-1].give(number)
        while crew:
            ready = wait([worker.connection for worker in crew], timeout=1.0)
            for place, worker in reversed(list(enumerate(crew))):
                counts = _result(worker, ready, limit)
                if counts is None:
                    continue
                yield counts
                number = None if is_over() else next(numbers, None)
                if number is None:
                    crew.pop(place).stop()
                    continue
                if not worker.process.is_alive():
                    worker.connection.close()
                    crew[place] = Worker.start(worker.seed, limit)
                crew[place].give(number)
    finally:
        for worker in crew:
            worker.stop()


def _result(worker: Worker, ready: list[Any], limit: float) -> Counts | None:
    """Return what a worker has to say: counts, or that it hung or died."""
    hung = f"hung for more than {limit:.0f} s"
    if worker.connection in ready:
        try:
            return cast("Counts", worker.connection.recv())
        except EOFError:
            worker.process.join()
            code = worker.process.exitcode
            return _broken(
                worker.seed, worker.number, hung if code == -SIGXCPU else f"died: {code}"
            )
    if monotonic() - worker.began > PATIENCE * limit:
        worker.process.kill()
        worker.process.join()
        return _broken(worker.seed, worker.number, hung)
    return None
