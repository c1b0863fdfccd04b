"""Whether rows are those of a graph, found out without reading all of them.

The database adds up a number made of each factor, and of each term by its coefficient; the same
sums are made of the graph. Squares keep values that change places from going unnoticed. Tables of
few rows are compared whole. It takes a third of the time that reading the graph takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, select, text

from chainform.graph import Graph
from chainform.store import schema
from chainform.store.bulk import read_columns
from chainform.store.counts import operation_rows
from chainform.store.rows import double, exact, factor_columns, graph_columns, term_keys

PRIME = 2_147_483_647
WEIGHTS = (1_000_003, 10_007, 101, 7_919, 31)


def _query(table: str, columns: Sequence[str], groups: str, *, is_sqlite: bool) -> str:
    """Return the query for count and sum over the rows of a graph, and whether cells are numbers.

    A column of SQLite may hold anything. Where one of the cells is a fraction, so is the number
    made of the row; text and bytes, which count as the number they begin with, are larger than all
    numbers.
    """
    form = "{name} * {weight}" if is_sqlite else "CAST({name} AS BIGINT) * {weight}"
    pairs = zip(columns, WEIGHTS, strict=False)
    total = " + ".join(form.format(name=name, weight=weight) for name, weight in pairs)
    largest = f"max({', '.join(columns)})" if is_sqlite else "0"
    kind = "max(typeof(h)), max(largest)" if is_sqlite else "'integer', 0"
    first = f"{groups}, " if groups else ""
    return (
        f"SELECT {first}count(*), coalesce(sum((h % {PRIME}) * (h % {PRIME}) % {PRIME}), 0), {kind}"
        f" FROM (SELECT {first}{total} AS h, {largest} AS largest FROM {table}"
        f" WHERE graph = :graph) AS mixed{f' GROUP BY {groups}' if groups else ''}"
    )


def _sums(connection: Connection, key: int, table: str, columns: Sequence[str], groups: str) -> Any:
    """Return the rows of that query; refuse cells that are no whole numbers."""
    query = _query(table, columns, groups, is_sqlite=connection.dialect.name == "sqlite")
    rows: Any = connection.execute(text(query), {"graph": key}).all()
    for *_, count, _, kind, largest in rows:
        if count and (kind != "integer" or not isinstance(largest, int)):
            raise TypeError(f"{table} has a cell that is no whole number")
    return [row[:-2] for row in rows]


def rows_match(connection: Connection, key: int, graph: Graph) -> bool:
    """Tell whether the rows of a graph are those that were written for it."""
    try:
        return (
            _counts_match(connection, key, graph)
            and _factors_match(connection, key, graph)
            and _terms_match(connection, key, graph)
            and all(
                stored_rows(connection, table, key) == sorted_rows(table, columns)
                for table, _, columns in graph_columns(graph, key)
                if table is not schema.terms
            )
            and stored_rows(connection, schema.operations, key)
            == sorted_rows(schema.operations, zip(*operation_rows(graph, key), strict=True))
        )
    except (TypeError, ValueError, ArithmeticError):
        return False


def content_counts(graph: Graph) -> dict[str, int]:
    """Return the sizes that stand beside the hash of a graph."""
    return {
        "variables": len(graph),
        "terms": len(graph.coefficient),
        "factors": len(graph.factor),
        "levels": int(graph.level.max()) + 1 if len(graph) else 0,
    }


def stored_rows(connection: Connection, table: Table, key: int) -> list[tuple[Any, ...]]:
    """Return the rows of a graph in a table, as the driver gives them, by their keys."""
    query = select(*table.c).where(table.c.graph == key).order_by(*table.primary_key.columns)
    columns = read_columns(connection, query, len(table.c))
    return sorted_rows(table, columns)


def sorted_rows(table: Table, columns: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Return rows by their keys; databases do not sort text alike."""
    rows = list(zip(*columns, strict=False))
    names = [column.name for column in table.c]
    places = [names.index(column.name) for column in table.primary_key.columns]
    if len(rows) > 1 and table is not schema.variables:
        rows.sort(key=lambda row: tuple(_sortable(row[place]) for place in places))
    return rows


def _sortable(value: Any) -> tuple[str, Any]:
    kind = "number" if isinstance(value, int | float) else type(value).__name__
    return kind, value


def _counts_match(connection: Connection, key: int, graph: Graph) -> bool:
    expected, table = content_counts(graph), schema.graphs.c
    query = select(*(table[name] for name in expected)).where(table.id == key)
    return dict(connection.execute(query).mappings().one()) == expected


def _factors_match(connection: Connection, key: int, graph: Graph) -> bool:
    columns = ("owner", "term", "place", "variable", "power")
    ((count, total),) = _sums(connection, key, "factors", columns, "")
    expected = _squares(factor_columns(graph, key)[1:]).sum()
    return (count, int(total)) == (len(graph.factor), int(expected))


def _terms_match(connection: Connection, key: int, graph: Graph) -> bool:
    rows = _sums(connection, key, "terms", ("owner", "place"), "coefficient, value")
    found = {(name, value): (count, int(total)) for name, value, count, total in rows}
    squares = _squares(term_keys(graph))
    totals = np.zeros(len(graph.coefficients), dtype=np.int64)
    np.add.at(totals, graph.coefficient, squares)
    counts = np.bincount(graph.coefficient, minlength=len(totals))
    expected = {
        (exact(k), double(k)): (count, total)
        for k, count, total in zip(
            graph.coefficients, counts.tolist(), totals.tolist(), strict=True
        )
        if count
    }
    return found == expected


def _squares(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    total = np.zeros(len(columns[0]), dtype=np.int64)
    for column, weight in zip(columns, WEIGHTS, strict=False):
        total += column.astype(np.int64) * weight
    mixed = total % PRIME
    return mixed * mixed % PRIME
