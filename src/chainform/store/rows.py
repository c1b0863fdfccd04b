"""A graph as rows, and rows as a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, select

from chainform.graph import CALLS, Block, Graph, Input, number_text
from chainform.store import schema
from chainform.store.bulk import insert_integers, insert_rows, read_columns
from chainform.store.content import starts


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


def write_graph(connection: Connection, graph: Graph, key: int) -> None:
    """Write every row of a graph under its number."""
    for table, count, columns in graph_columns(graph, key):
        insert_rows(connection, table, count, *columns)
    insert_integers(connection, schema.factors, *factor_columns(graph, key))


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


def read_graph(connection: Connection, key: int) -> Graph:
    """Return the graph of that number from its rows."""
    named, kind, level, call, argument = _columns(connection, schema.variables, key, 2)
    names: tuple[str, ...] = tuple(named)
    owner, _, texts = _columns(connection, schema.terms, key, 1, 4)
    of_factor, of_term, _, factor, power = _columns(connection, schema.factors, key, 1)
    numbers = {name or None: number for number, name in enumerate(CALLS)}
    owners = np.asarray(owner, dtype=np.int64)
    term_counts = np.bincount(owners, minlength=len(names))
    term_start = starts(term_counts)
    term = term_start[np.asarray(of_factor, dtype=np.int64)] + np.asarray(of_term, dtype=np.int64)
    place: dict[str, int] = {}
    coefficient = [place.setdefault(text, len(place)) for text in texts]
    outputs, quantities = (_read_blocks(connection, key, is_output) for is_output in (True, False))
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
        inputs=_read_inputs(connection, key, names),
        outputs=outputs,
        quantities=quantities,
        aliases=_read_aliases(connection, key),
    )


def _columns(
    connection: Connection, table: Table, key: int, first: int, last: int | None = None
) -> list[Sequence[Any]]:
    """Return columns of a table for one graph, in the order of the primary key."""
    chosen = list(table.c)[first:last]
    query = select(*chosen).where(table.c.graph == key).order_by(*table.primary_key.columns)
    return read_columns(connection, query, len(chosen))


def _read_inputs(connection: Connection, key: int, names: tuple[str, ...]) -> dict[int, Input]:
    variable, source, place, texts, _ = _columns(connection, schema.inputs, key, 1)
    rows: Any = zip(variable, source, place, texts, strict=True)
    return {
        v: Input(names[int(v)], group, index, None if default is None else Fraction(default))
        for v, group, index, default in rows
    }


def _read_aliases(connection: Connection, key: int) -> dict[str, int]:
    table = schema.aliases
    query = select(table.c.name, table.c.variable).where(table.c.graph == key)
    rows: Any = connection.execute(query.order_by(table.c.place)).all()
    return dict(rows)


def _read_blocks(connection: Connection, key: int, is_output: bool) -> dict[str, Block]:
    shapes, outputs = schema.shapes.c, schema.outputs.c
    entries: dict[str, list[tuple[int, str]]] = {}
    rows: Iterable[Any] = connection.execute(
        select(outputs.quantity, outputs.variable, outputs.label)
        .where(outputs.graph == key, outputs.is_output == is_output)
        .order_by(outputs.quantity, outputs.place)
    )
    for name, variable, label in rows:
        entries.setdefault(name, []).append((variable, label))
    blocks: dict[str, Block] = {}
    rows = connection.execute(
        select(shapes.quantity, shapes.shape)
        .where(shapes.graph == key, shapes.is_output == is_output)
        .order_by(shapes.place)
    )
    for name, shape in rows:
        pairs = entries.get(name, [])
        lengths = tuple(map(int, shape.split()))
        blocks[name] = Block(name, lengths, tuple(v for v, _ in pairs), tuple(n for _, n in pairs))
    return blocks
