"""Workers: every task is answered, whatever happens to the processes that carry them out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any, cast

import pytest

import chainform as cf
from chainform.algebra import STANDARD
from chainform.graph import Graph, graph_text
from chainform.search import workers
from chainform.search.task import SearchTask, run
from chainform.search.workers import Answer, LostError, WorkerPool
from reductions import check_kept
from zoo import reference

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


@cache
def start() -> Graph:
    return cf.derive(reference("manipulator_5dof"), ["mass_matrix", "gravity"]).graph


def task(seed: int = 0, steps: int = 4, **options: Any) -> SearchTask:
    return SearchTask(start(), seed, steps, 0.4, STANDARD, **options)


def done(answers: Iterator[Answer]) -> dict[int, Answer]:
    return {answer.task: answer for answer in answers if answer.is_done}


def wait_for(is_so: Callable[[], bool], seconds: float = 10.0) -> None:
    end = monotonic() + seconds
    while not is_so():
        assert monotonic() < end
        sleep(0.02)


def is_alive(process: int) -> bool:
    """Whether a process is there and has not ended, though nobody may have asked how it did."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


def test_every_task_is_answered() -> None:
    tasks = [task(seed) for seed in range(3)]
    with WorkerPool(2) as pool:
        answers = done(pool.run(tasks))
        assert sorted(answers) == [0, 1, 2]
        for place, answer in answers.items():
            assert answer.cost == run(tasks[place]).cost
            assert answer.steps == 4
            check_kept(start(), answer.graph)


@posix
def test_the_task_of_a_lost_worker_is_carried_out_again() -> None:
    tasks = [task(seed, 30) for seed in range(3)]
    with WorkerPool(2) as pool:
        lost = pool.processes[0]
        answers: dict[int, Answer] = {}
        for answer in pool.run(tasks):
            if not answers:
                os.kill(pool.processes[0], signal.SIGKILL)
            answers[answer.task] = answer
        assert lost not in pool.processes
    for place, answer in answers.items():
        assert answer.text == graph_text(run(tasks[place]).graph)
    assert len(answers) == 3


@posix
def test_workers_lost_before_there_is_a_task() -> None:
    with WorkerPool(2) as pool:
        for process in pool.processes:
            os.kill(process, signal.SIGKILL)
        sleep(0.1)
        assert sorted(done(pool.run([task(), task(1)]))) == [0, 1]


def test_a_task_that_always_loses_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    command = (sys.executable, "-S", "-c", "import sys; sys.exit('no room')")
    monkeypatch.setattr(workers, "_COMMAND", command)
    with (
        WorkerPool(1) as pool,
        pytest.raises(LostError, match=r"unexpectedly, 3 times \(no room\)"),
    ):
        done(pool.run([task()]))


def test_processes_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_COMMAND", ("/no/such/program",))
    with WorkerPool(2) as pool, pytest.raises(LostError, match="no search process can be started"):
        done(pool.run([task()]))


def test_a_task_that_fails() -> None:
    with WorkerPool(1) as pool:
        answers = done(pool.run([task(expansion=cast(int, "many")), task()]))
    assert answers[0].problem.startswith("TypeError: ")
    assert (answers[0].steps, answers[0].cost) == (0, float("inf"))
    assert answers[0].text == graph_text(start())
    assert (answers[1].steps, answers[1].problem) == (4, "")


@pytest.mark.slow
@posix
def test_a_stopped_worker_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE", 0.2)
    # More than a pipe holds, so that whoever writes it waits for somebody to read it.
    large = cf.derive(reference("rackovic_4_1"), ["mass_matrix", "coriolis"]).graph
    assert len(graph_text(large)) > 100_000
    began = monotonic()
    until = time() + 1.5
    tasks = [SearchTask(large, seed, 10**6, 0.4, STANDARD, until=until) for seed in range(2)]
    with WorkerPool(2) as pool:
        os.kill(pool.processes[0], signal.SIGSTOP)
        answers = done(pool.run(tasks, until))
        stopped = pool.processes[0]
    assert 0 not in answers
    assert monotonic() - began < 6
    with pytest.raises(ProcessLookupError):
        os.kill(stopped, 0)


def test_no_task_is_given_out_too_late() -> None:
    with WorkerPool(1) as pool:
        assert not list(pool.run([task()], time() - 1))


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_worker_ends_quietly_with_who_started_it(is_busy: bool) -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "chainform.search.workers"]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdin is not None
    if is_busy:
        process.stdin.write(json.dumps(task(steps=10**7).as_data()) + "\n")
        process.stdin.flush()
        sleep(0.5)
        assert process.poll() is None
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_when_the_parent_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    text = tmp_path / "graph.txt"
    text.write_text(graph_text(start()), "utf-8")
    script = (
        "import sys; from pathlib import Path\n"
        "from chainform.algebra import STANDARD\n"
        "from chainform.graph import parse_graph\n"
        "from chainform.search.workers import WorkerPool\n"
        "from chainform.search.task import SearchTask\n"
        "graph = parse_graph(Path(sys.argv[1]).read_text('utf-8'))\n"
        "with WorkerPool(2) as pool:\n"
        "    print(*pool.processes, flush=True)\n"
        "    list(pool.run([SearchTask(graph, n, 10**7, 0.4, STANDARD) for n in range(2)]))\n"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", script, str(text)]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert len(workers) == 2
        assert all(is_alive(process) for process in workers)
        sleep(0.3)
        parent.send_signal(number)
        assert parent.stderr.read() == ""
    wait_for(lambda: not any(is_alive(process) for process in workers))
