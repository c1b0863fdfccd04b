"""Processes that save into one database: killed at random points, or many at once.

    python store_processes.py kill URL KILLS SEED
    python store_processes.py write URL WRITERS SAVES

Prints one line of JSON. The modules are loaded once; each process is a fork, so that two hundred
of them take seconds. No connection is open at a fork.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction

from chainform.graph import Builder, Graph, graph_text, set_defaults, verify
from chainform.store import Database, RevisionRecord


def base_graph(variables: int) -> Graph:
    """Return a graph of that many sums, with one parameter."""
    builder = Builder(share=False)
    x = builder.input("x", "parameter", 0, Fraction(1))
    previous = 0
    for number in range(variables):
        previous = builder.define(f"v_{number}", {(0, previous): Fraction(number + 1, 7), (): 1})
    builder.output("out", (2,), [("x", x), ("last", builder.scalar(previous))])
    return builder.finish()


def child(task: Callable[[int], None]) -> tuple[int, int]:
    """Run a task in a new process; return its number and the end of a pipe from it."""
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return process, reader
    os.close(reader)
    status = 1
    try:
        task(writer)
        status = 0
    finally:
        os._exit(status)


def kill_loop(url: str, kills: int, seed: int) -> dict[str, int]:
    """Kill a saving process again and again; each time what was committed must be whole."""
    chance = random.Random(seed)
    graph = base_graph(150)
    last = within = 0
    for kill in range(kills):

        def save_on(writer: int, kill: int = kill) -> None:
            with Database.open(url) as database:
                for number in range(1000):
                    value = Fraction(1000 * kill + number + 2)
                    os.write(writer, b"(")
                    database.save(
                        set_defaults(graph, {"x": value}), RevisionRecord("m", note=str(value))
                    )
                    os.write(writer, b")")

        process, reader = child(save_on)
        os.read(reader, 1)
        time.sleep(chance.uniform(0.0, 0.04))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        marks = b"(" + os.read(reader, 10_000)
        os.close(reader)
        within += marks.endswith(b"(")
        last = _whole(url, graph, last + marks.count(b")"), drop=kill % 20 == 19)
    return {"kills": kills, "within": within, "revisions": last}


def _whole(url: str, graph: Graph, acknowledged: int, *, drop: bool) -> int:
    """See that the last revision is whole and none that was acknowledged is missing."""
    with Database.open(url) as database:
        _await_server(database)
        if not database.models():
            assert acknowledged == 0
            return 0
        if drop:
            database.drop_caches()
            assert database.check() == []
        found, revision = database.load("m")
        verify(found)
        expected = set_defaults(graph, {"x": Fraction(revision.note)})
        assert graph_text(found) == graph_text(expected)
        # The kill may come between the commit and the word that it is done.
        assert acknowledged <= revision.number <= acknowledged + 1
        count = database.query("SELECT count(*) AS n FROM revisions")[0]["n"]
        assert count == revision.number
        return revision.number


def _await_server(database: Database) -> None:
    """Wait until the server is done with what the killed process had sent to it."""
    others = (
        "SELECT count(*) AS n FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )
    while not database.connection.is_sqlite and database.query(others)[0]["n"]:
        time.sleep(0.005)


def writers(url: str, processes: int, saves: int) -> dict[str, int]:
    """Let several processes save at once, into one model and into one of their own."""
    Database.open(url).close()
    graph = base_graph(20)

    def save_as(writer: int, who: int) -> None:
        with Database.open(url, timeout=120) as database:
            for number in range(saves):
                # Every second content is the same in all processes.
                value = Fraction(number if number % 2 else 1000 * (who + 1) + number)
                name = "shared" if number % 4 else f"own {who}"
                record = RevisionRecord(name, author=str(who), note=str(value))
                database.save(set_defaults(graph, {"x": value}), record)
                if number % 10 == 0:
                    database.load(name)
                if number == saves // 2:
                    database.gc()

    started = [child(lambda writer, who=who: save_as(writer, who)) for who in range(processes)]
    states = [os.waitpid(process, 0)[1] for process, _ in started]
    assert states == [0] * processes
    total = 0
    with Database.open(url) as database:
        for entry in database.models():
            log = database.log(entry.name)
            assert [r.number for r in log] == list(range(1, len(log) + 1))
            for who in {r.author for r in log}:
                assert len({r.note for r in log if r.author == who}) == sum(
                    r.author == who for r in log
                )
            total += len(log)
            found, latest = database.load(entry.name)
            assert graph_text(found) == graph_text(
                set_defaults(graph, {"x": Fraction(latest.note)})
            )
        assert database.check() == []
        graphs = database.query("SELECT count(*) AS n FROM graphs")[0]["n"]
    return {"revisions": total, "graphs": graphs}


if __name__ == "__main__":
    command, address, first, second = sys.argv[1:]
    run = kill_loop if command == "kill" else writers
    sys.stdout.write(json.dumps(run(address, int(first), int(second))) + "\n")
