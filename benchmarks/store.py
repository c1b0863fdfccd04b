"""The store with a large model and a six-axis one: saving, loading and following, beside raw rows.

    python benchmarks/store.py [--variables N] [--postgres postgresql://user@host/database]

The large model has three terms and seven factors per variable: 100,000 variables make 300,000
terms and 700,000 factors. "raw" writes the same three tables with plain sqlite3 executemany or
plain COPY, without keys, cache, counts or hash. The database on the server must be empty.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from chainform.graph import Builder, Graph
from chainform.store import Database, RevisionRecord

T = TypeVar("T")
WEIGHTS = [Fraction(numerator, 97) for numerator in range(-24, 25) if numerator]
TABLES = {
    "variables": ("integer", "integer", "text", "integer", "integer", "text", "integer"),
    "terms": ("integer", "integer", "integer", "text", "double precision"),
    "factors": ("integer",) * 6,
}


def model(variables: int, coordinates: int = 30, seed: int = 1) -> Graph:
    """Return a graph whose variables have three terms and seven factors each."""
    chance = random.Random(seed)
    builder = Builder(share=False)
    letters: list[int] = []
    for number in range(coordinates):
        builder.input(f"q{number + 1}", "q", number)
        angle = len(builder.names) - 1
        letters += [
            builder.define_call(f"{function}_{number + 1}", function, angle)
            for function in ("sin", "cos")
        ]
    values = list(letters)
    for number in range(variables - 3 * coordinates):
        # One factor is recent, as in a recursion along a chain, so that cones are large.
        a, b = chance.choice(values), chance.choice(values[-2000:])
        s, t, u, v, w = chance.sample(letters, 5)
        i, j, k = chance.sample(WEIGHTS, 3)
        monomials = (tuple(sorted((a, s, t))), tuple(sorted((b, u))), tuple(sorted((v, w))))
        terms = dict(zip(monomials, (i, j, k), strict=True))
        values.append(builder.define(f"v_{number + 1}", terms))
    entries = [(builder.names[v], builder.scalar(v)) for v in values[-100:]]
    builder.output("v", (len(entries),), entries)
    return builder.finish()


def timed(task: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """Return the shortest time of a task, and its result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        best = min(best, time.perf_counter() - start)
    return best, result  # type: ignore[return-value]


def columns(graph: Graph) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of the three large tables."""
    count, factor_count = np.diff(graph.term_start), np.diff(graph.factor_start)
    owner = np.repeat(np.arange(len(graph)), count)
    place = np.arange(len(owner)) - np.repeat(graph.term_start[:-1], count)
    texts = [str(k) for k in graph.coefficients]
    values = [float(k) for k in graph.coefficients]
    k = graph.coefficient.tolist()
    in_term = np.arange(len(graph.factor)) - np.repeat(graph.factor_start[:-1], factor_count)
    lists = {
        "variables": (
            *(range(len(graph)), graph.names, graph.kind.tolist(), graph.level.tolist()),
            *(graph.call.tolist(), graph.argument.tolist()),
        ),
        "terms": (owner.tolist(), place.tolist(), [texts[i] for i in k], [values[i] for i in k]),
        "factors": (
            *(np.repeat(owner, factor_count).tolist(), np.repeat(place, factor_count).tolist()),
            *(in_term.tolist(), graph.factor.tolist(), graph.power.tolist()),
        ),
    }
    return {name: list(zip(repeat(1), *parts, strict=False)) for name, parts in lists.items()}


def raw_sqlite(path: Path, rows: dict[str, list[tuple[Any, ...]]]) -> None:
    """Write the rows with executemany, and nothing else."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    for name, types in TABLES.items():
        fields = ", ".join(f"c{i} {kind}" for i, kind in enumerate(types))
        connection.execute(f"CREATE TABLE {name} ({fields})")
        marks = ", ".join("?" * len(types))
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows[name])
    connection.commit()
    connection.close()


def raw_postgres(url: str, rows: dict[str, list[tuple[Any, ...]]]) -> None:
    """Write the rows with COPY, and nothing else."""
    import psycopg

    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        for name, types in TABLES.items():
            fields = ", ".join(f"c{i} {kind}" for i, kind in enumerate(types))
            cursor.execute(f"CREATE TEMPORARY TABLE raw_{name} ({fields})")
            with cursor.copy(f"COPY raw_{name} FROM STDIN") as copy:
                for row in rows[name]:
                    copy.write_row(row)


def measure(url: str, large: Graph, small: Graph) -> dict[str, float]:
    """Return the seconds of each task on one database."""
    seconds: dict[str, float] = {}
    inputs = {given.name: 0.1 * given.index for given in large.inputs.values()}
    with Database.open(url) as database:
        database.save(small, RevisionRecord("small"))
        seconds["save"], _ = timed(lambda: database.save(large, RevisionRecord("large")))
        seconds["save same content"], _ = timed(
            lambda: database.save(large, RevisionRecord("large"))
        )
    with Database.open(url) as database:
        seconds["load"], _ = timed(lambda: database.load("large"), 3)
        seconds["load, 460 variables"], _ = timed(lambda: database.load("small"), 5)
        last = large.names[-1]
        seconds["cone"], names = timed(lambda: database.cone("large", last))
        print(f"cone of {last}: {len(names)} variables")
        seconds["uses"], _ = timed(lambda: database.uses("large", large.names[1]))
        seconds["formula"], _ = timed(lambda: database.formula("large", last), 3)
        seconds["evaluate by level"], _ = timed(lambda: database.evaluate("large", inputs))
        database.drop_caches()
        seconds["load from rows"], _ = timed(lambda: database.load("large"))
    return seconds


def main(arguments: list[str]) -> None:
    """Print a table with a row for each task and a column for each database."""
    parser = argparse.ArgumentParser(description="time the store")
    parser.add_argument("--variables", type=int, default=100_000)
    parser.add_argument("--postgres", help="address of an empty database")
    options = parser.parse_args(arguments)
    large, small = model(options.variables), model(460, coordinates=6)
    print(large)
    rows = columns(large)
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        raw, _ = timed(lambda: raw_sqlite(Path(folder, "raw.db"), rows))
        results["SQLite"] = {"raw rows": raw, **measure(f"{folder}/store.db", large, small)}
        size = Path(folder, "store.db").stat().st_size
        print(f"file: {size / 1e6:.0f} MB")
    if options.postgres:
        url = options.postgres
        raw, _ = timed(lambda: raw_postgres(url, rows))
        results["PostgreSQL"] = {"raw rows": raw, **measure(url, large, small)}
    print(f"{'seconds':24}" + "".join(f"{name:>12}" for name in results))
    for task in results["SQLite"]:
        print(f"{task:24}" + "".join(f"{column[task]:12.4f}" for column in results.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
