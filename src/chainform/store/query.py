"""Questions of one's own, in SQL: they read, and change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from chainform.store.arguments import mapping_of, text_of
from chainform.store.guards import reading_only
from chainform.store.link import Link
from chainform.store.troubles import ONLY_READS

READ_ONLY_TRANSACTION = "25006"


def query_rows(link: Link, sql: str, values: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """Return the rows of a query; values are bound to `:name` in it."""
    statement = text(text_of(sql, "a query"))
    bound = mapping_of({} if values is None else values, "the values of a query")
    for name in statement.compile().params:
        if name not in bound:
            raise link.error(f"no value is given for :{name}", f"values={{{name!r}: ...}}", name)
    with link.reading() as connection, reading_only(connection, link.guard):
        try:
            result = connection.execute(statement, bound)
        except DBAPIError as problem:
            if getattr(problem.orig, "sqlstate", None) == READ_ONLY_TRANSACTION:
                raise link.error(*ONLY_READS) from problem
            raise
        if not result.returns_rows:
            raise link.error(*ONLY_READS)
        return [dict(row) for row in result.mappings()]
