"""The long search: repeatable by steps, bounded by time, and never in vain."""

from __future__ import annotations

from functools import cache
from time import perf_counter

import pytest

from chainform.algebra import STANDARD, Prices, is_same
from chainform.graph import Graph, graph_text, verify
from chainform.search import effort_of, reduce_graph
from chainform.search.crew import Crew
from chainform.search.deep import WALKS, deep, round_steps
from chainform.search.task import Task, run
from reductions import check_kept, operations
from unreduced import unreduced
from zoo import exact_state, reference

MECHANISM = reference("manipulator_5dof")
STEPS = 80


@cache
def start() -> Graph:
    return unreduced(MECHANISM, ["mass_matrix", "gravity"]).graph


@cache
def searched(cores: int, attempt: int = 0, seed: int = 0) -> Graph:
    del attempt
    return deep([start()], steps=STEPS, cores=cores, seed=seed)


def test_the_same_with_any_number_of_cores() -> None:
    found = searched(1)
    assert graph_text(found) == graph_text(searched(2))
    check_kept(start(), found, exact_state(MECHANISM, 1))
    assert operations(found) < operations(start())


def test_the_same_in_two_runs() -> None:
    assert graph_text(searched(2)) == graph_text(searched(2, attempt=1))


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


def test_steps_are_told_and_not_exceeded() -> None:
    told: list[tuple[int, float]] = []
    deep([start()], steps=40, cores=2, progress=lambda steps, cost, _: told.append((steps, cost)))
    steps, costs = zip(*told, strict=True)
    assert list(steps) == sorted(steps)
    assert steps[-1] == 40
    assert list(costs) == sorted(costs, reverse=True)


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


# --- its parts --------------------------------------------------------------------------------


def test_a_task_is_data_and_back() -> None:
    task = Task(start(), 3, 20, 0.4, Prices(call=5.0), expansion=100, until=None)
    again = Task.from_data(task.as_data())
    assert graph_text(again.graph) == graph_text(task.graph)
    assert again.as_data() == task.as_data()
    first, second = run(task), run(again)
    assert graph_text(first.graph) == graph_text(second.graph)
    assert (first.cost, first.steps) == (second.cost, 20)


def test_a_task_that_is_over() -> None:
    result = run(Task(start(), 0, 20, 0.4, STANDARD, until=0.0))
    assert (result.steps, result.cost) == (0, float("inf"))
    assert result.graph is start() or is_same(result.graph, start())


def test_a_crew_answers_every_task() -> None:
    tasks = [Task(start(), seed, 4, 0.4, STANDARD) for seed in range(3)]
    with Crew(2) as crew:
        answers = [answer for answer in crew.run(tasks) if answer.is_done]
        assert sorted(answer.task for answer in answers) == [0, 1, 2]
        for answer in answers:
            assert answer.cost == run(tasks[answer.task]).cost
            assert answer.steps == 4
            check_kept(start(), answer.graph)


def test_rounds_are_shorter_where_a_step_takes_longer() -> None:
    large = unreduced(reference("puma560"), ["mass_matrix", "coriolis"]).graph
    assert 200 <= round_steps(large) < round_steps(start()) <= 8000
    assert WALKS >= 2


@pytest.mark.parametrize("steps", [1, 3])
def test_fewer_steps_than_walks(steps: int) -> None:
    found = deep([start()], steps=steps, cores=2)
    check_kept(start(), found)
    assert operations(found) <= operations(start())
