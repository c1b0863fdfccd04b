"""Graphs in the store: as bytes with their hash, written once as rows, and loaded again.

The bytes are a line of JSON with names, inputs, blocks and the lengths of what follows, then the
arrays one after another, little-endian. They depend on the content only: coefficients are
numbered in the order of their first use, so a graph from the rows gives the same bytes as the
graph that was saved. Nothing in them is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Table, delete, insert, select, text, update

from chainform.errors import StoreError
from chainform.files import decompressed
from chainform.graph import Block, Graph, Input, number_text, verify
from chainform.store import schema
from chainform.store.connection import Connection
from chainform.store.records import Revision
from chainform.store.rows import (
    double,
    exact,
    factor_columns,
    graph_columns,
    insert_or,
    operation_rows,
    read_columns,
    read_graph,
    starts,
    term_keys,
    write_graph,
)
from chainform.store.schema import Transaction

FORMAT = 1
ARRAYS: tuple[tuple[str, str, str], ...] = (
    ("kind", "<u1", "variables"),
    ("level", "<i4", "variables"),
    ("call", "<u1", "variables"),
    ("argument", "<i4", "variables"),
    ("term_count", "<i4", "variables"),
    ("coefficient", "<i4", "terms"),
    ("factor_count", "<i4", "terms"),
    ("factor", "<i4", "factors"),
    ("power", "<i2", "factors"),
)
"""Name, type and length of each array, in the order in which they stand."""


def canonical(graph: Graph) -> Graph:
    """Return the graph with its coefficients in the order of their first use."""
    used, first, place = np.unique(graph.coefficient, return_index=True, return_inverse=True)
    order = np.argsort(first)
    if len(used) == len(graph.coefficients) and np.array_equal(used[order], np.arange(len(used))):
        return graph
    rank = np.empty(len(used), dtype=np.int32)
    rank[order] = np.arange(len(used), dtype=np.int32)
    pool = tuple(graph.coefficients[int(k)] for k in used[order])
    return replace(graph, coefficient=rank[place.reshape(-1)], coefficients=pool)


def graph_bytes(graph: Graph) -> bytes:
    """Return the bytes of a canonical graph."""
    arrays: dict[str, Any] = {
        **{name: getattr(graph, name) for name in ("kind", "level", "call", "argument")},
        "term_count": np.diff(graph.term_start),
        "coefficient": graph.coefficient,
        "factor_count": np.diff(graph.factor_start),
        **{name: getattr(graph, name) for name in ("factor", "power")},
    }
    head = {
        "format": FORMAT,
        "variables": len(graph),
        "terms": len(graph.coefficient),
        "factors": len(graph.factor),
        "names": " ".join(graph.names),
        "coefficients": " ".join(map(number_text, graph.coefficients)),
        "inputs": [
            [v, i.group, i.index, None if i.default is None else number_text(i.default)]
            for v, i in sorted(graph.inputs.items())
        ],
        "aliases": list(graph.aliases.items()),
        "outputs": [_block_data(block) for block in graph.outputs.values()],
        "quantities": [_block_data(block) for block in graph.quantities.values()],
    }
    line = json.dumps(head, ensure_ascii=True, separators=(",", ":")).encode()
    return b"".join([line, b"\n", *(arrays[n].astype(kind).tobytes() for n, kind, _ in ARRAYS)])


def _block_data(block: Block) -> list[Any]:
    return [block.name, list(block.shape), list(block.variables), " ".join(block.labels)]


def _block(data: list[Any]) -> Block:
    name, shape, variables, labels = data
    return Block(name, tuple(shape), tuple(variables), tuple(labels.split()))


def graph_of_bytes(data: bytes) -> Graph:
    """Return the graph of which `graph_bytes` made these bytes."""
    line, _, _ = data.partition(b"\n")
    head = json.loads(line)
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']} of the cache is not known")
    arrays: dict[str, NDArray[Any]] = {}
    place = len(line) + 1
    for name, kind, length in ARRAYS:
        found = np.frombuffer(data, dtype=kind, count=head[length], offset=place)
        place += found.nbytes
        # A copy in the machine's own order, at an even address, that may be written to.
        arrays[name] = found.astype(found.dtype.newbyteorder("="))
    names = tuple(head["names"].split())
    return Graph(
        names=names,
        **{name: arrays[name] for name in ("kind", "level", "call", "argument")},
        term_start=starts(arrays["term_count"]),
        coefficient=arrays["coefficient"],
        coefficients=tuple(map(Fraction, head["coefficients"].split())),
        factor_start=starts(arrays["factor_count"]),
        factor=arrays["factor"],
        power=arrays["power"],
        inputs={
            v: Input(names[v], group, index, None if default is None else Fraction(default))
            for v, group, index, default in head["inputs"]
        },
        outputs={data[0]: _block(data) for data in head["outputs"]},
        quantities={data[0]: _block(data) for data in head["quantities"]},
        aliases=dict(head["aliases"]),
    )


def content_hash(data: bytes) -> str:
    """Return the name under which content is stored."""
    return hashlib.sha256(data).hexdigest()


# --- whether rows are those of a graph -----------------------------------------------------------

# The database adds up a number made of each factor, and of each term by its coefficient; the same
# sums are made of the graph. Squares keep values that change places from going unnoticed. Tables of
# few rows are compared whole. It takes a third of the time that reading the graph takes.


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


def _sums(
    transaction: Transaction, key: int, table: str, columns: Sequence[str], groups: str
) -> Any:
    """Return the rows of that query; refuse cells that are no whole numbers."""
    query = _query(table, columns, groups, is_sqlite=transaction.dialect.name == "sqlite")
    rows: Any = transaction.execute(text(query), {"graph": key}).all()
    for *_, count, _, kind, largest in rows:
        if count and (kind != "integer" or not isinstance(largest, int)):
            raise TypeError(f"{table} has a cell that is no whole number")
    return [row[:-2] for row in rows]


def rows_match(transaction: Transaction, key: int, graph: Graph) -> bool:
    """Tell whether the rows of a graph are those that were written for it."""
    try:
        return (
            _counts_match(transaction, key, graph)
            and _factors_match(transaction, key, graph)
            and _terms_match(transaction, key, graph)
            and all(
                stored_rows(transaction, table, key) == sorted_rows(table, columns)
                for table, _, columns in graph_columns(graph, key)
                if table is not schema.terms
            )
            and stored_rows(transaction, schema.operations, key)
            == sorted_rows(schema.operations, zip(*operation_rows(graph, key), strict=True))
        )
    except (TypeError, ValueError, ArithmeticError):
        return False


def content_counts(graph: Graph) -> dict[str, int]:
    """Return the sizes that stand with the hash of a graph."""
    return {
        "variables": len(graph),
        "terms": len(graph.coefficient),
        "factors": len(graph.factor),
        "levels": int(graph.level.max()) + 1 if len(graph) else 0,
    }


def stored_rows(transaction: Transaction, table: Table, key: int) -> list[tuple[Any, ...]]:
    """Return the rows of a graph in a table, as the driver gives them, by their keys."""
    query = select(*table.c).where(table.c.graph == key).order_by(*table.primary_key.columns)
    columns = read_columns(transaction, query, len(table.c))
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


def _counts_match(transaction: Transaction, key: int, graph: Graph) -> bool:
    expected, table = content_counts(graph), schema.graphs.c
    query = select(*(table[name] for name in expected)).where(table.id == key)
    return dict(transaction.execute(query).mappings().one()) == expected


def _factors_match(transaction: Transaction, key: int, graph: Graph) -> bool:
    columns = ("owner", "term", "place", "variable", "power")
    ((count, total),) = _sums(transaction, key, "factors", columns, "")
    expected = _squares(factor_columns(graph, key)[1:]).sum()
    return (count, int(total)) == (len(graph.factor), int(expected))


def _terms_match(transaction: Transaction, key: int, graph: Graph) -> bool:
    rows = _sums(transaction, key, "terms", ("owner", "place"), "coefficient, value")
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


# --- writing and loading -------------------------------------------------------------------------


class Content:
    """A graph made ready for the store: verified, canonical, with its bytes and their hash."""

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise StoreError(f"what is saved must be a graph, not {type(graph).__name__}")
        verify(graph)
        self.graph = canonical(graph)
        self.data = graph_bytes(self.graph)
        self.hash = content_hash(self.data)


def add_graph(transaction: Transaction, content: Content) -> int:
    """Return the key of a graph; rows of the same content are used, and healed."""
    table = schema.graphs
    known = select(table.c.id).where(table.c.hash == content.hash)
    found = transaction.execute(known).scalar()
    if found is not None:
        if not rows_match(transaction, found, content.graph):
            rewrite_graph(transaction, content, found)
        return found
    values = {"hash": content.hash, **content_counts(content.graph)}
    statement = insert_or(transaction, table, values).on_conflict_do_nothing()
    key = transaction.execute(statement.returning(table.c.id)).scalar()
    if key is None:
        # Another client stored the same content a moment ago, and has committed by now.
        return transaction.execute(known).scalar_one()
    _write_content(transaction, content, key)
    return key


def rewrite_graph(transaction: Transaction, content: Content, key: int) -> None:
    """Write every row of a graph anew."""
    table = schema.graphs
    # Locked, so that two clients do not write them at once.
    locked = select(table.c.id).where(table.c.id == key)
    transaction.execute(locked.with_for_update(key_share=True))
    for rows in schema.OF_CONTENT:
        transaction.execute(delete(rows).where(rows.c.graph == key))
    counts = content_counts(content.graph)
    transaction.execute(update(table).where(table.c.id == key).values(**counts))
    _write_content(transaction, content, key)


def _write_content(transaction: Transaction, content: Content, key: int) -> None:
    write_graph(transaction, content.graph, key)
    names = [column.name for column in schema.operations.c]
    rows = [dict(zip(names, row, strict=True)) for row in operation_rows(content.graph, key)]
    transaction.execute(insert(schema.operations), rows)
    cache = {"graph": key, "bytes": zlib.compress(content.data, 1)}
    transaction.execute(insert(schema.caches).values(cache))


def load_graph(connection: Connection, transaction: Transaction, revision: Revision) -> Graph:
    """Return the graph of a revision, from its cache or, where that fails, from the rows."""
    data = cached_bytes(transaction, revision.graph)
    if data is not None and content_hash(data) == revision.content:
        return graph_of_bytes(data)
    found = read_rows(transaction, revision.graph)
    if found is None or found[1] != revision.content:
        raise connection.error(
            "the rows are not those that were saved: the file is damaged, or was changed by hand",
            "check(repair=True) puts them back where a cache is left; else take a backup",
            revision.reference,
        )
    return found[0]


def cached_bytes(transaction: Transaction, key: int) -> bytes | None:
    """Return the content of the load cache, damaged or not; b"" where it cannot be unpacked."""
    table = schema.caches.c
    row = transaction.execute(select(table.bytes).where(table.graph == key)).one_or_none()
    try:
        return None if row is None else decompressed(row.bytes)
    except (zlib.error, TypeError):
        return b""


def read_rows(transaction: Transaction, key: int) -> tuple[Graph, str] | None:
    """Return the graph that rows give, with its hash; None where they give none."""
    try:
        graph = read_graph(transaction, key)
        return graph, content_hash(graph_bytes(graph))
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        return None
