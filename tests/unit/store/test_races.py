"""Several clients at once: one of them wins, the others are told so, and nothing is mixed up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from chainform.errors import StoreError
from chainform.graph import Graph, graph_text, parse_graph, set_defaults
from chainform.store import Database, RevisionRecord, expansions, references, transfer


def at_once(url: str, *tasks: Callable[[Database], Any]) -> list[Any]:
    """Do tasks in threads, each with a database of its own; give what each returns or raises."""
    gate = threading.Barrier(len(tasks))
    found: list[Any] = [None] * len(tasks)

    def work(place: int) -> None:
        try:
            with Database.open(url) as database:
                gate.wait()
                found[place] = tasks[place](database)
        except Exception as problem:  # noqa: BLE001
            found[place] = problem

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def variant(graph: Graph, number: int) -> Graph:
    return set_defaults(graph, {"m_1": Fraction(number)})


def meet(monkeypatch: pytest.MonkeyPatch, parties: int) -> None:
    """Let imports wait for one another, for a while, before they write the first graph."""
    gate = threading.Barrier(parties)
    plain = transfer.load_graph

    def load(*arguments: Any) -> Graph:
        with suppress(threading.BrokenBarrierError):
            gate.wait(timeout=1)
        return plain(*arguments)

    monkeypatch.setattr(transfer, "load_graph", load)


def importing(path: Path, *names: str) -> Callable[[Database], Any]:
    def task(database: Database) -> Any:
        with Database.open(str(path), read_only=True) as source:
            chosen = {name: name for name in names}
            return transfer.copy_models(source.connection, database.connection, chosen)

    return task


def test_one_of_several_imports_wins(
    url: str, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.db"
    with Database.open(str(source)) as database:
        for number in range(3):
            database.save(variant(graph, number), RevisionRecord("arm"))
    Database.open(url).close()
    meet(monkeypatch, 3)
    found = at_once(url, *[importing(source, "arm")] * 3)
    problems = [item for item in found if isinstance(item, Exception)]
    assert len(problems) == 2
    assert all("there is a model arm already" in str(problem) for problem in problems)
    with Database.open(url) as database:
        assert [revision.number for revision in database.log("arm")] == [1, 2, 3]
        assert database.check() == []


def test_imports_that_share_contents(
    url: str, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each brings, in another order, what the other brings too; none waits for ever."""
    Database.open(url).close()
    tasks: list[Callable[[Database], Any]] = []
    for name, numbers in (("one", (1, 2, 3)), ("two", (3, 2, 1))):
        path = tmp_path / f"{name}.db"
        with Database.open(str(path)) as database:
            for number in numbers:
                database.save(variant(graph, number), RevisionRecord(f"{name}{number}"))
        tasks.append(importing(path, *(f"{name}{number}" for number in numbers)))
    meet(monkeypatch, 2)
    found = at_once(url, *tasks)
    assert not [item for item in found if isinstance(item, Exception)]
    with Database.open(url) as database:
        assert len(database.models()) == 6
        assert database.query("SELECT count(*) AS n FROM graphs") == [{"n": 3}]


@pytest.mark.parametrize("code", ["40P01", "40001", "23505", "23503"])
def test_a_collision_is_tried_again(postgres_url: str, code: str) -> None:
    with Database.open(postgres_url) as database:
        calls: list[int] = []

        def task(connection: Connection, times: int) -> str:
            calls.append(1)
            if len(calls) <= times:
                raised = f"RAISE EXCEPTION 'raw words' USING ERRCODE = '{code}'"
                connection.exec_driver_sql(f"DO $$ BEGIN {raised}; END $$")
            return "done"

        assert database.connection.write(lambda connection: task(connection, 2)) == "done"
        calls.clear()
        with pytest.raises(StoreError) as caught:
            database.connection.write(lambda connection: task(connection, 99))
        assert "raw words" not in str(caught.value)
        assert caught.value.remedy


def test_a_tag_stays_on_one_revision(
    url: str, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database.open(url) as database:
        for _ in range(2):
            database.save(graph, RevisionRecord("arm"))
    gate = threading.Barrier(2)

    def add(*arguments: Any) -> None:
        references.add_tags(*arguments)
        with suppress(threading.BrokenBarrierError):
            gate.wait(timeout=1)

    monkeypatch.setattr("chainform.store.repository.add_tags", add)
    at_once(
        url,
        lambda database: database.tag("arm@1", "best"),
        lambda database: database.tag("arm@2", "best"),
    )
    with Database.open(url) as database:
        assert sum(len(revision.tags) for revision in database.log("arm")) == 1


@pytest.mark.slow
def test_what_is_removed_meanwhile(url: str, graph: Graph) -> None:
    """Whoever comes late is told what is not there, in words of the store."""
    with Database.open(url) as database:
        for number in range(8):
            database.save(graph, RevisionRecord(f"arm{number}"))
    for number in range(8):
        name = f"arm{number}"
        found = at_once(
            url,
            lambda database, name=name: database.delete(name),
            lambda database, name=name: database.tag(name, "best"),
            lambda database, name=name: database.runs.save(name, "run", {"t": [1]}),
            lambda database, name=name: database.objects.put("key", b"x", name),
            lambda database, name=name: database.delete(name),
        )
        problems = [item for item in found if isinstance(item, Exception)]
        assert all(f"there is no model {name}" in str(problem) for problem in problems), problems
        assert sum(item == 1 for item in found if isinstance(item, int)) == 1
    with Database.open(url) as database:
        assert database.check() == []


def test_runs_of_one_name(url: str, graph: Graph) -> None:
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
    for number in range(5):
        found = at_once(
            url,
            *[lambda database, number=number: database.runs.save("arm", f"{number}", {"t": [1]})]
            * 2,
        )
        assert sum("run of this name already" in str(item) for item in found) == 1


# --- expressions --------------------------------------------------------------------------------


def test_an_expression_of_another_model_is_not_kept(
    url: str, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another content under the same name, and in SQLite under the same key.
    replaced = parse_graph(graph_text(graph).replace("9.81", "1.62"))
    plain = expansions.expanded

    def slow(*arguments: Any, **options: bool) -> Any:
        found = plain(*arguments, **options)
        monkeypatch.setattr(expansions, "expanded", plain)
        with Database.open(url) as writer:
            writer.delete("arm")
            writer.gc()
            writer.save(replaced, RevisionRecord("arm"))
        return found

    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
        monkeypatch.setattr(expansions, "expanded", slow)
        assert "9.81" in database.expand("arm", "gravity")["hG_1"]
        assert "1.62" in database.expand("arm", "gravity")["hG_1"]
        assert database.check() == []


def test_an_expression_of_another_graph_is_found(url: str, graph: Graph) -> None:
    other = parse_graph(graph_text(graph).replace("9.81", "1.62"))
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
        variable = graph.outputs["gravity"].variables[0]
        with database.connection.writing() as connection:
            found = expansions.expanded(other, [variable], "split")
            expansions.write_expansions(connection, 1, found, "split")
        assert any("not that of this graph" in problem for problem in database.check())
        database.check(repair=True)
        assert database.check() == []
        assert "9.81" in database.expand("arm", "gravity")["hG_1"]


def test_an_expression_is_given_though_it_cannot_be_kept(url: str, graph: Graph) -> None:
    with Database.open(url) as other, Database.open(url, timeout=0.1) as database:
        other.save(graph, RevisionRecord("arm"))
        with other.connection.writing():
            assert database.expand("arm", "energy")
        assert database.query("SELECT * FROM expansions") == []


def test_rows_of_another_graph_are_looked_at_anew(tmp_path: Path, graph: Graph) -> None:
    """SQLite gives the key of a graph that is gone to the next one."""
    url = str(tmp_path / "store.db")
    with Database.open(url) as database:
        database.save(graph, RevisionRecord("arm"))
        with Database.open(url) as other:
            other.delete("arm")
            other.gc()
            assert other.save(variant(graph, 7), RevisionRecord("arm")).graph == 1
            with other.connection.writing() as connection:
                connection.exec_driver_sql("UPDATE terms SET value = value * 2")
        with pytest.raises(StoreError, match="not those that were saved"):
            database.evaluate("arm", {"q1": 0.1, "q2": 0.2})


def test_threads_share_a_database_in_memory(graph: Graph) -> None:
    problems: list[BaseException] = []
    with Database.open(":memory:") as database:
        database.save(graph, RevisionRecord("arm"))

        def work(name: str) -> None:
            try:
                for _ in range(10):
                    database.save(graph, RevisionRecord(name))
                    database.evaluate("arm", {"q1": 0.1, "q2": 0.2})
            except BaseException as problem:  # noqa: BLE001
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(f"m{k}",)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert [entry.revisions for entry in database.models("m")][-4:] == [10] * 4
        assert database.copy("arm", database, "again")[0].number == 1
