"""Questions of one's own, in SQL: they read, and change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.exc import ProgrammingError

from chainform.store.arguments import mapping_of, text_of
from chainform.store.guards import reading_only
from chainform.store.link import Link
from chainform.store.troubles import ONLY_READS

READ_ONLY_TRANSACTION = "25006"
ONE_AT_A_TIME = ("a query is one statement", "ask one after the other, without a semicolon")


def query_rows(link: Link, sql: str, values: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the rows of a query; values are bound to `:name` in it."""
    statement = text(text_of(sql, "a query"))
    bound = mapping_of({} if values is None else values, "the values of a query")
    for name in statement.compile().params:
        if name not in bound:
            raise link.error(f"no value is given for :{name}", f"values={{{name!r}: ...}}", name)
    with link.reading() as connection, reading_only(connection, link.guard):
        if connection.dialect.name == "postgresql":
            return _server_rows(link, connection, statement, bound)
        try:
            result = connection.execute(statement, bound)
        except ProgrammingError as problem:
            if "one statement at a time" in str(problem):
                raise link.error(*ONE_AT_A_TIME) from problem
            raise
        if not result.returns_rows:
            raise link.error(*ONLY_READS)
        return [dict(row) for row in result.mappings()]


def _server_rows(
    link: Link, connection: Connection, statement: TextClause, bound: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Return the rows of one statement; prepared, because the server prepares one at a time.

    Several in a row could end the transaction that only reads, and begin another.
    """
    compiled = statement.compile(dialect=connection.dialect)
    values = compiled.construct_params(dict(bound))
    driver: Any = connection.connection.dbapi_connection
    with driver.cursor() as cursor:
        try:
            cursor.execute(str(compiled), values, prepare=True)
        except driver_error(link) as problem:
            if getattr(problem, "sqlstate", None) == READ_ONLY_TRANSACTION:
                raise link.error(*ONLY_READS) from problem
            if "multiple commands" in str(problem):
                raise link.error(*ONE_AT_A_TIME) from problem
            raise
        if cursor.description is None:
            raise link.error(*ONLY_READS)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def driver_error(link: Link) -> type[Exception]:
    """Return what the errors of a driver have in common."""
    return link.engine.dialect.loaded_dbapi.Error
