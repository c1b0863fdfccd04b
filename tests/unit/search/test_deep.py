"""The long search: repeatable by steps, bounded by time, and never in vain."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from time import perf_counter, process_time
from typing import Any

import pytest

import chainform as cf
from chainform.algebra import STANDARD, Prices, is_same, multiply_out, system_of
from chainform.graph import Graph, graph_text, verify
from chainform.search import deep as deeps
from chainform.search import effort_of, reduce_graph, workers
from chainform.search import task as tasks
from chainform.search.deep import EXPANSION, WALKS, deep, round_steps
from chainform.search.fast import StartGraph, best_starts, best_walk
from chainform.search.task import WORK, SearchTask, run
from reductions import check_kept, operations
from zoo import exact_state, reference

MECHANISM = reference("manipulator_5dof")
STEPS = 80


@cache
def start() -> Graph:
    return cf.derive(MECHANISM, ["mass_matrix", "gravity"]).graph


@cache
def searched(cores: int, attempt: int = 0, seed: int = 0) -> Graph:
    del attempt
    return deep([start()], steps=STEPS, cores=cores, seed=seed)


@pytest.mark.slow
def test_the_same_with_any_number_of_cores() -> None:
    found = searched(1)
    assert graph_text(found) == graph_text(searched(2))
    check_kept(start(), found, exact_state(MECHANISM, 1))
    assert operations(found) < operations(start())


@pytest.mark.slow
def test_the_same_in_two_runs() -> None:
    assert graph_text(searched(2)) == graph_text(searched(2, attempt=1))


@pytest.mark.slow
def test_a_seed_is_another_search() -> None:
    other = searched(2, seed=1)
    assert is_same(start(), other)
    assert operations(other) < operations(start())


def test_time_ends_it() -> None:
    begin = perf_counter()
    found = deep([start()], seconds=0.5, cores=2)
    assert perf_counter() - begin < 8
    verify(found)
    assert operations(found) <= operations(start())


@pytest.mark.slow
def test_steps_are_told_and_not_exceeded() -> None:
    told: list[tuple[int, float]] = []
    deep([start()], steps=40, cores=2, progress=lambda steps, cost, _: told.append((steps, cost)))
    steps, costs = zip(*told, strict=True)
    assert list(steps) == sorted(steps)
    assert steps[-1] == 40
    assert list(costs) == sorted(costs, reverse=True)


@pytest.mark.slow
def test_an_interrupt_keeps_the_best() -> None:
    seen: list[Graph] = []

    def progress(steps: int, cost: float, graph: Graph) -> None:
        seen.append(graph)
        if len(seen) == 3:
            raise KeyboardInterrupt

    found = deep([start()], steps=40, cores=2, progress=progress)
    assert graph_text(found) == graph_text(seen[-1])
    assert operations(found) < operations(start())


def test_an_interrupt_at_once_keeps_the_stages() -> None:
    def progress(steps: int, cost: float, graph: Graph) -> None:
        raise KeyboardInterrupt

    effort = effort_of("deep", budget="1m", cores=1)
    stages = reduce_graph(start(), effort, progress=progress)
    assert [stage.name for stage in stages] == ["formulation", "search_deep"]
    assert operations(stages[-1].graph) <= operations(start())


# --- interrupts, and processes that are lost --------------------------------------------------

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let an interrupt come as it does where nobody has changed that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def fast_graph() -> Graph:
    return best_walk(best_starts([start()], STANDARD), STANDARD)[1].best_graph()


@pytest.mark.slow
@posix
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_waits_for_what_a_fast_reduction_finds() -> None:
    told: list[Graph] = []

    def progress(steps: int, cost: float, graph: Graph) -> None:
        if not told:
            signal.raise_signal(signal.SIGINT)
        told.append(graph)

    found = deep([start()], seconds=60, cores=1, progress=progress)
    assert len(told) == 3
    assert operations(found) <= operations(fast_graph())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@posix
@pytest.mark.usefixtures("interruptible")
def test_a_second_interrupt_does_not_wait() -> None:
    def progress(steps: int, cost: float, graph: Graph) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    assert deep([start()], seconds=60, cores=1, progress=progress) is start()


@pytest.mark.slow
def test_starts_are_settled_as_long_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[Any] = []
    monkeypatch.setattr(deeps, "best_walk", walked.append)
    seen: list[Graph] = []

    def noted_starts(given: Sequence[Graph], prices: Prices) -> list[StartGraph]:
        seen.extend(given)
        return best_starts(seen, prices)

    monkeypatch.setattr(deeps, "best_starts", noted_starts)
    found = deep([start()] * 3, seconds=1e-9, cores=1)
    assert (len(seen), walked) == (1, [])
    check_kept(start(), found)
    seen.clear()
    monkeypatch.setattr(deeps, "best_walk", best_walk)
    deep([start()] * 3, steps=1, cores=1)
    assert len(seen) == 3


class Killing:
    """Sends a signal to one worker as soon as the walks have begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
        self.number = number
        self.sent = 0
        give = workers.WorkerPool.run

        def run_and_kill(pool: workers.WorkerPool, *arguments: Any) -> Any:
            for answer in give(pool, *arguments):
                if not self.sent:
                    self.sent = pool.processes[-1]
                    os.kill(self.sent, number)
                yield answer

        monkeypatch.setattr(workers.WorkerPool, "run", run_and_kill)


@pytest.mark.slow
@posix
def test_a_lost_worker_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    killing = Killing(monkeypatch, signal.SIGKILL)
    assert graph_text(deep([start()], steps=STEPS, cores=2)) == graph_text(searched(2))
    assert killing.sent


@pytest.mark.slow
@posix
def test_a_stopped_worker_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE", 0.3)

    def short(_: Graph) -> int:
        return 20

    monkeypatch.setattr(deeps, "round_steps", short)
    killing = Killing(monkeypatch, signal.SIGSTOP)
    # On a busy machine no worker may have answered before the time is over.
    for seconds in (2, 8, 32):
        found = deep([start()], seconds=seconds, cores=2)
        if killing.sent:
            break
    assert killing.sent
    assert operations(found) <= operations(fast_graph())


@pytest.mark.slow
def test_a_search_that_cannot_go_on_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    command = (sys.executable, "-S", "-c", "import sys; sys.exit('no room')")
    monkeypatch.setattr(workers, "_COMMAND", command)
    with pytest.warns(RuntimeWarning, match=r"ended early.*3 times \(no room\)"):
        found = deep([start()], steps=STEPS, cores=1)
    assert operations(found) <= operations(fast_graph())


@pytest.mark.slow
def test_a_walk_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deeps, "TEMPERATURES", ("warm", *deeps.TEMPERATURES[1:]))
    with pytest.warns(RuntimeWarning, match=r"1 walks of the search failed \(TypeError"):
        found = deep([start()], steps=8, cores=1)
    assert operations(found) <= operations(fast_graph())


# --- its parts --------------------------------------------------------------------------------


def test_a_task_is_data_and_back() -> None:
    task = SearchTask(start(), 3, 20, 0.4, Prices(call=5.0), expansion=100, until=None)
    again = SearchTask.from_data(task.as_data())
    assert graph_text(again.graph) == graph_text(task.graph)
    assert again.as_data() == task.as_data()
    first, second = run(task), run(again)
    assert graph_text(first.graph) == graph_text(second.graph)
    assert (first.cost, first.steps) == (second.cost, 20)


def test_a_task_that_is_over() -> None:
    result = run(SearchTask(start(), 0, 20, 0.4, STANDARD, until=0.0))
    assert (result.steps, result.cost) == (0, float("inf"))
    assert result.graph is start() or is_same(result.graph, start())


def test_a_task_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_BETWEEN_REPORTS", 0.0)
    task = SearchTask(start(), 3, 12, 0.4, STANDARD)
    told: list[tuple[int, float, Graph | None]] = []
    result = run(task, lambda *news: told.append(news))
    assert [steps for steps, _, _ in told] == list(range(1, 13))
    for _, cost, graph in told:
        assert (graph is None) == (cost == float("inf"))
    monkeypatch.undo()
    assert graph_text(run(task).graph) == graph_text(result.graph)


def test_what_is_dearer_multiplied_out_is_left_as_it_is() -> None:
    plain = SearchTask(start(), 3, 5, 0.4, STANDARD)
    dear = replace(plain, expansion=1000, max_cost=1.0)
    assert graph_text(run(dear).graph) == graph_text(run(plain).graph)


@pytest.mark.slow
def test_multiplying_out_is_given_up_early() -> None:
    graph = cf.derive(reference("humanoid_30"), ["inverse_dynamics"]).graph
    sums = system_of(graph).sums
    began = process_time()
    assert not multiply_out(sums, EXPANSION, EXPANSION, WORK * EXPANSION)
    assert process_time() - began < 3


def test_rounds_are_shorter_where_a_step_takes_longer() -> None:
    large = cf.derive(reference("puma560"), ["mass_matrix", "coriolis"]).graph
    assert 200 <= round_steps(large) < round_steps(start()) <= 8000
    assert WALKS >= 2


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 3])
def test_fewer_steps_than_walks(steps: int) -> None:
    found = deep([start()], steps=steps, cores=2)
    check_kept(start(), found)
    assert operations(found) <= operations(start())
