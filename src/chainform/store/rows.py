"""A graph as rows, and rows as a graph; many rows at once, a row unless it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice, repeat
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Select, SmallInteger, Table, select
from sqlalchemy.dialects import sqlite

from chainform.graph import CALLS, Block, Cost, Graph, Input, cost_of, number_text, parameter_only
from chainform.store import schema
from chainform.store.schema import COST_COLUMNS, Transaction


def double(value: Fraction | None) -> float | None:
    """Return the nearest double, or None where there is none."""
    try:
        return None if value is None else float(value)
    except OverflowError:
        return None


def exact(value: Fraction | None) -> str | None:
    """Return a number as the tables hold it."""
    return None if value is None else number_text(value)


Columns = tuple[Iterable[Any], ...]
"""The columns of a table, in its order; one that repeats a value may go on for ever."""


def write_graph(transaction: Transaction, graph: Graph, key: int) -> None:
    """Write every row of a graph under its number."""
    for table, count, columns in graph_columns(graph, key):
        insert_rows(transaction, table, count, *columns)
    insert_integers(transaction, schema.factors, *factor_columns(graph, key))


def graph_columns(graph: Graph, key: int) -> Iterator[tuple[Table, int, Columns]]:
    """Give what each table holds of a graph, apart from its factors: rows, and their columns."""
    yield schema.variables, len(graph), _variable_columns(graph, key)
    yield schema.terms, len(graph.coefficient), _term_columns(graph, key)
    for table, rows in name_rows(graph, key):
        yield table, len(rows), tuple(zip(*rows, strict=True))


def _variable_columns(graph: Graph, key: int) -> Columns:
    names: Sequence[str | None] = [None, *CALLS[1:]]
    return (
        repeat(key),
        range(len(graph)),
        graph.names,
        graph.kind.tolist(),
        graph.level.tolist(),
        map(names.__getitem__, graph.call.tolist()),
        [None if a < 0 else a for a in graph.argument.tolist()],
    )


def _term_columns(graph: Graph, key: int) -> Columns:
    owner, place = term_keys(graph)
    texts, values = list(map(exact, graph.coefficients)), list(map(double, graph.coefficients))
    coefficient = graph.coefficient.tolist()
    return (
        repeat(key),
        owner.tolist(),
        place.tolist(),
        map(texts.__getitem__, coefficient),
        map(values.__getitem__, coefficient),
    )


def term_keys(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the owner and the place of each term."""
    counts = np.diff(graph.term_start)
    return np.repeat(np.arange(len(graph)), counts), _places(graph.term_start, counts)


def factor_columns(graph: Graph, key: int) -> tuple[NDArray[Any], ...]:
    """Return the columns of the factors, which are all integers."""
    owner, place = term_keys(graph)
    counts = np.diff(graph.factor_start)
    return (
        np.full(len(graph.factor), key),
        np.repeat(owner, counts),
        np.repeat(place, counts),
        _places(graph.factor_start, counts),
        graph.factor,
        graph.power,
    )


def _places(start: NDArray[np.int64], counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return the place of each element within its group."""
    total = int(start[-1])
    return np.arange(total, dtype=np.int64) - np.repeat(start[:-1], counts)


def name_rows(graph: Graph, key: int) -> list[tuple[Table, list[tuple[Any, ...]]]]:
    """Return the rows of inputs, aliases, shapes and outputs, which are few."""
    given = [
        (key, v, i.group, i.index, exact(i.default), double(i.default))
        for v, i in graph.inputs.items()
    ]
    aliases = [(key, name, place, v) for place, (name, v) in enumerate(graph.aliases.items())]
    shapes: list[tuple[Any, ...]] = []
    outputs: list[tuple[Any, ...]] = []
    for is_output, blocks in ((True, graph.outputs), (False, graph.quantities)):
        for place, block in enumerate(blocks.values()):
            shape = " ".join(map(str, block.shape))
            shapes.append((key, is_output, block.name, place, shape))
            outputs += _entries(key, is_output, block)
    return [
        (schema.inputs, given),
        (schema.aliases, aliases),
        (schema.shapes, shapes),
        (schema.outputs, outputs),
    ]


def _entries(key: int, is_output: bool, block: Block) -> Iterator[tuple[Any, ...]]:
    indices = np.ndindex(block.shape) if prod(block.shape) else iter(())
    columns = zip(indices, block.labels, block.variables, strict=True)
    for place, (index, label, variable) in enumerate(columns):
        shown = ",".join(str(i + 1) for i in index)
        yield (key, is_output, block.name, place, shown, label, variable)


# --- reading --------------------------------------------------------------------------------


def read_graph(transaction: Transaction, key: int) -> Graph:
    """Return the graph of that number from its rows."""
    named, kind, level, call, argument = _columns(transaction, schema.variables, key, 2)
    names: tuple[str, ...] = tuple(named)
    owner, _, texts = _columns(transaction, schema.terms, key, 1, 4)
    of_factor, of_term, _, factor, power = _columns(transaction, schema.factors, key, 1)
    numbers = {name or None: number for number, name in enumerate(CALLS)}
    owners = np.asarray(owner, dtype=np.int64)
    term_counts = np.bincount(owners, minlength=len(names))
    term_start = starts(term_counts)
    term = term_start[np.asarray(of_factor, dtype=np.int64)] + np.asarray(of_term, dtype=np.int64)
    place: dict[str, int] = {}
    coefficient = [place.setdefault(text, len(place)) for text in texts]
    outputs, quantities = (_read_blocks(transaction, key, is_output) for is_output in (True, False))
    return Graph(
        names=names,
        kind=np.asarray(kind, dtype=np.uint8),
        level=np.asarray(level, dtype=np.int32),
        call=np.asarray([numbers[name] for name in call], dtype=np.uint8),
        argument=np.asarray([-1 if a is None else a for a in argument], dtype=np.int32),
        term_start=term_start,
        coefficient=np.asarray(coefficient, dtype=np.int32),
        coefficients=tuple(map(Fraction, place)),
        factor_start=starts(np.bincount(term, minlength=len(texts))),
        factor=np.asarray(factor, dtype=np.int32),
        power=np.asarray(power, dtype=np.int16),
        inputs=_read_inputs(transaction, key, names),
        outputs=outputs,
        quantities=quantities,
        aliases=_read_aliases(transaction, key),
    )


def _columns(
    transaction: Transaction, table: Table, key: int, first: int, last: int | None = None
) -> list[Sequence[Any]]:
    """Return columns of a table for one graph, in the order of the primary key."""
    chosen = list(table.c)[first:last]
    query = select(*chosen).where(table.c.graph == key).order_by(*table.primary_key.columns)
    return read_columns(transaction, query, len(chosen))


def _read_inputs(transaction: Transaction, key: int, names: tuple[str, ...]) -> dict[int, Input]:
    variable, source, place, texts, _ = _columns(transaction, schema.inputs, key, 1)
    rows: Any = zip(variable, source, place, texts, strict=True)
    return {
        v: Input(names[int(v)], group, index, None if default is None else Fraction(default))
        for v, group, index, default in rows
    }


def _read_aliases(transaction: Transaction, key: int) -> dict[str, int]:
    table = schema.aliases
    query = select(table.c.name, table.c.variable).where(table.c.graph == key)
    rows: Any = transaction.execute(query.order_by(table.c.place)).all()
    return dict(rows)


def _read_blocks(transaction: Transaction, key: int, is_output: bool) -> dict[str, Block]:
    shapes, outputs = schema.shapes.c, schema.outputs.c
    entries: dict[str, list[tuple[int, str]]] = {}
    rows: Iterable[Any] = transaction.execute(
        select(outputs.quantity, outputs.variable, outputs.label)
        .where(outputs.graph == key, outputs.is_output == is_output)
        .order_by(outputs.quantity, outputs.place)
    )
    for name, variable, label in rows:
        entries.setdefault(name, []).append((variable, label))
    blocks: dict[str, Block] = {}
    rows = transaction.execute(
        select(shapes.quantity, shapes.shape)
        .where(shapes.graph == key, shapes.is_output == is_output)
        .order_by(shapes.place)
    )
    for name, shape in rows:
        pairs = entries.get(name, [])
        lengths = tuple(map(int, shape.split()))
        blocks[name] = Block(name, lengths, tuple(v for v, _ in pairs), tuple(n for _, n in pairs))
    return blocks


def starts(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each of consecutive groups begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


# --- operation counts: of all outputs together, and of each --------------------------------------


TOTAL = ""
"""The name under which the count of all outputs together is stored."""


def counts(graph: Graph) -> Iterator[tuple[str, Cost, Cost]]:
    """Give, for all outputs (named "") and for each, what every evaluation and what once takes."""
    once = parameter_only(graph)
    total: tuple[Cost, Cost] | None = None
    for name in (TOTAL, *graph.outputs):
        if name != TOTAL and len(graph.outputs) == 1 and total is not None:
            yield name, *total
            continue
        wanted = graph.output_variables([name] if name else None)
        needed = graph.cone(wanted)
        found = cost_of(graph, needed & ~once, wanted), cost_of(graph, needed & once, wanted)
        total = total or found
        yield name, *found


def operation_rows(graph: Graph, key: int) -> list[tuple[Any, ...]]:
    """Return the rows of `operations` for a graph."""
    return [
        (
            key,
            name,
            *(cost.as_dict()[c] for c in COST_COLUMNS),
            *(once.as_dict()[c] for c in COST_COLUMNS),
        )
        for name, cost, once in counts(graph)
    ]


# --- many rows at once: several per statement in SQLite, COPY in PostgreSQL ----------------------


ROWS = 50
"""Rows in one INSERT of SQLite: twice as fast as one by one, and far below its limits."""

CHUNK = 100_000
"""Rows that go to the server at a time."""


def insert_rows(
    transaction: Transaction, table: Table, count: int, *columns: Iterable[Any]
) -> None:
    """Write rows given column by column, in the order of the table's columns."""
    if count == 0:
        return
    names = [f'"{column.name}"' for column in table.c][: len(columns)]
    rows: Iterator[tuple[Any, ...]] = zip(*columns, strict=False)
    driver: Any = transaction.connection.driver_connection
    target = f'"{table.name}" ({", ".join(names)})'
    if transaction.dialect.name == "sqlite":
        _insert(driver, target, rows, count, len(names))
    else:
        with driver.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def insert_integers(transaction: Transaction, table: Table, *columns: NDArray[Any]) -> None:
    """Write rows of integers given as arrays, one for each column of the table.

    To PostgreSQL they go in its binary form, laid out by numpy: each row is the number of
    fields, then each field's length and value, all big-endian.
    """
    if transaction.dialect.name == "sqlite":
        lists = [column.tolist() for column in columns]
        insert_rows(transaction, table, len(columns[0]), *lists)
        return
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for column in table.c:
        kind = _width(column.type)
        fields += [(f"{column.name} length", ">i4"), (column.name, f">i{kind}")]
    rows = np.empty(len(columns[0]), dtype=fields)
    rows["fields"] = len(columns)
    for column, values in zip(table.c, columns, strict=True):
        rows[f"{column.name} length"] = _width(column.type)
        rows[column.name] = values
    names = ", ".join(f'"{column.name}"' for column in table.c)
    statement = f'COPY "{table.name}" ({names}) FROM STDIN (FORMAT BINARY)'
    driver: Any = transaction.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\x00" + bytes(8))
        for first in range(0, len(rows), CHUNK):
            copy.write(rows[first : first + CHUNK].tobytes())
        copy.write(b"\xff\xff")


def _width(kind: object) -> int:
    """Return the bytes of an integer column in PostgreSQL."""
    if isinstance(kind, BigInteger):
        return 8
    return 2 if isinstance(kind, SmallInteger) else 4


def _insert(
    driver: Any, target: str, rows: Iterator[tuple[Any, ...]], count: int, width: int
) -> None:
    marks = f"({', '.join('?' * width)})"
    whole = count // ROWS
    if whole:
        groups = (tuple(chain.from_iterable(islice(rows, ROWS))) for _ in range(whole))
        driver.executemany(f"INSERT INTO {target} VALUES {', '.join([marks] * ROWS)}", groups)
    driver.executemany(f"INSERT INTO {target} VALUES {marks}", islice(rows, count % ROWS))


def read_columns(transaction: Transaction, query: Select[Any], width: int) -> list[Sequence[Any]]:
    """Return the columns of a query, fetched by the driver itself: plain values, no row objects."""
    with transaction.execute(query) as result:
        cursor: Any = result.cursor
        rows = cursor.fetchall()
    return list(zip(*rows, strict=True)) if rows else [() for _ in range(width)]


# --- a row that is made unless it is there -------------------------------------------------------


def upsert(transaction: Transaction, table: Table, unique: str, values: dict[str, Any]) -> int:
    """Return the key of the row with that unique value, made if there is none, and lock it.

    A row that is there takes the values, all but the moment when it was made.
    """
    statement = insert_or(transaction, table, values)
    new = {name: statement.excluded[name] for name in values if name != "created"}
    statement = statement.on_conflict_do_update(index_elements=[unique], set_=new)
    return transaction.execute(statement.returning(table.c.id)).scalar_one()


def insert_or(transaction: Transaction, table: Table, values: dict[str, Any]) -> Any:
    """Return an INSERT that can say what to do about a row that is there."""
    if transaction.dialect.name == "sqlite":
        return sqlite.insert(table).values(values)
    # The other dialect takes longer to import than a model to load; few need both.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table).values(values)
