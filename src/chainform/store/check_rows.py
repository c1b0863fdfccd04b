"""The rows of a graph beside those that its content gives: which cell is another one."""

from __future__ import annotations

import zlib
from typing import Any

from sqlalchemy import Connection, Table, delete, select, text, update

from chainform.given import decompressed
from chainform.graph import Graph
from chainform.store import schema
from chainform.store.content import content_hash, graph_bytes, graph_of_bytes
from chainform.store.counts import operation_rows
from chainform.store.digest import content_counts, sorted_rows, stored_rows
from chainform.store.rows import factor_columns, graph_columns, read_graph

MOST = 20
"""How many cells of one table are named."""

Row = tuple[Any, ...]


def usable_graph(connection: Connection, key: int, repair: bool) -> tuple[Graph | None, list[str]]:
    """Return the graph that was saved, from what is left of it, and what is not left."""
    expected = connection.execute(
        text("SELECT hash FROM graphs WHERE id = :key"), {"key": key}
    ).scalar()
    cache = _cache(connection, key)
    if cache is not None and content_hash(cache) == expected:
        return graph_of_bytes(cache), []
    found = [] if cache is None else ["the load cache is damaged; rows are used instead"]
    rows = _from_rows(connection, key)
    if rows is None:
        return None, [*found, "the rows are not those that were saved: they fit no graph"]
    from_rows = content_hash(graph_bytes(rows))
    if from_rows == expected:
        return rows, found
    if cache is not None and content_hash(cache) == from_rows:
        if repair and _other(connection, key, from_rows) is None:
            table = schema.graphs
            connection.execute(update(table).where(table.c.id == key).values(hash=from_rows))
        return rows, [f"graphs.hash is {expected!r}, rows and cache have {from_rows!r}"]
    return None, [*found, "the rows are not those that were saved, and no whole cache is left"]


def merged(connection: Connection, key: int, graph: Graph) -> bool:
    """Let the graph of the same content take the place of one whose hash was changed.

    Whoever saved the content again did not find it under its hash, so that it is stored twice.
    """
    other = _other(connection, key, content_hash(graph_bytes(graph)))
    if other is None:
        return False
    for table in (schema.revisions, schema.objects):
        connection.execute(update(table).where(table.c.graph == key).values(graph=other))
    for table in schema.OF_CONTENT:
        connection.execute(delete(table).where(table.c.graph == key))
    connection.execute(delete(schema.graphs).where(schema.graphs.c.id == key))
    return True


def _other(connection: Connection, key: int, content: str) -> int | None:
    """Return another graph that has a hash."""
    table = schema.graphs.c
    query = select(table.id).where(table.hash == content, table.id != key)
    return connection.execute(query).scalar()


def _cache(connection: Connection, key: int) -> bytes | None:
    """Return the content of the load cache, damaged or not; b"" where it cannot be unpacked."""
    table = schema.caches.c
    row = connection.execute(select(table.bytes).where(table.graph == key)).one_or_none()
    if row is None:
        return None
    try:
        return decompressed(row.bytes)
    except (zlib.error, TypeError):
        return b""


def _from_rows(connection: Connection, key: int) -> Graph | None:
    try:
        graph = read_graph(connection, key)
        graph_bytes(graph)
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        return None
    return graph


def damage_of(connection: Connection, key: int, graph: Graph) -> list[str]:
    """Return the cells in which the rows of a graph are not what its content gives."""
    found: list[str] = []
    table = schema.graphs.c
    for name, value in content_counts(graph).items():
        stored: object = connection.execute(select(table[name]).where(table.id == key)).scalar()
        if stored != value:
            found.append(f"graphs.{name} is {stored!r}, was {value!r}")
    tables: dict[Table, Any] = {t: columns for t, _, columns in graph_columns(graph, key)}
    tables[schema.factors] = [column.tolist() for column in factor_columns(graph, key)]
    tables[schema.operations] = zip(*operation_rows(graph, key), strict=True)
    for name, columns in tables.items():
        expected, stored_now = sorted_rows(name, columns), stored_rows(connection, name, key)
        if expected != stored_now:
            found += _differences(name, expected, stored_now)
    return found


def _differences(table: Table, expected: list[Row], found: list[Row]) -> list[str]:
    names = [column.name for column in table.c]
    keys = [names.index(column.name) for column in table.primary_key.columns]
    was, now = ({tuple(row[k] for k in keys): row for row in rows} for rows in (expected, found))
    said: list[str] = []
    for key in [*was, *(key for key in now if key not in was)]:
        if was.get(key) == now.get(key):
            continue
        parts = zip((names[k] for k in keys[1:]), key[1:], strict=True)
        row = f"{table.name} ({', '.join(f'{name} {value}' for name, value in parts)})"
        said += _cells(names, row, was.get(key), now.get(key))
    more = [f"{table.name}: {len(said) - MOST} more"] if len(said) > MOST else []
    return said[:MOST] + more


def _cells(names: list[str], row: str, was: Row | None, now: Row | None) -> list[str]:
    if now is None:
        return [f"{row} is missing"]
    if was is None:
        return [f"{row} was not saved"]
    return [
        f"{row}: {name} is {new!r}, was {old!r}"
        for name, old, new in zip(names, was, now, strict=True)
        if old != new
    ]
