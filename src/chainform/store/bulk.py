"""Many rows at once: several per statement in SQLite, COPY in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Connection, Select, SmallInteger, Table

ROWS = 50
"""Rows in one INSERT of SQLite: twice as fast as one by one, and far below its limits."""

CHUNK = 100_000
"""Rows that go to the server at a time."""


def insert_rows(connection: Connection, table: Table, count: int, *columns: Iterable[Any]) -> None:
    """Write rows given column by column, in the order of the table's columns."""
    if count == 0:
        return
    names = [f'"{column.name}"' for column in table.c][: len(columns)]
    rows: Iterator[tuple[Any, ...]] = zip(*columns, strict=False)
    driver: Any = connection.connection.driver_connection
    target = f'"{table.name}" ({", ".join(names)})'
    if connection.dialect.name == "sqlite":
        _insert(driver, target, rows, count, len(names))
    else:
        with driver.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def insert_integers(connection: Connection, table: Table, *columns: NDArray[Any]) -> None:
    """Write rows of integers given as arrays, one for each column of the table.

    To PostgreSQL they go in its binary form, laid out by numpy: each row is the number of
    fields, then each field's length and value, all big-endian.
    """
    if connection.dialect.name == "sqlite":
        lists = [column.tolist() for column in columns]
        insert_rows(connection, table, len(columns[0]), *lists)
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
    driver: Any = connection.connection.driver_connection
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


def read_columns(connection: Connection, query: Select[Any], width: int) -> list[Sequence[Any]]:
    """Return the columns of a query, fetched by the driver itself: plain values, no row objects."""
    with connection.execute(query) as result:
        cursor: Any = result.cursor
        rows = cursor.fetchall()
    return list(zip(*rows, strict=True)) if rows else [() for _ in range(width)]
