"""Analytic expressions in the database: the expansion of a variable, term by term."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text

from chainform.graph import Expansion, Graph
from chainform.graph import expand as expand_graph
from chainform.store import schema
from chainform.store.bulk import insert_rows
from chainform.store.rows import double, exact

TEXT = (
    "SELECT expression FROM expressions WHERE graph = :graph AND number = :number AND form = :form"
)


def form_name(*, trig: bool, split_angles: bool) -> str:
    """Return the name under which a form of the expansion is stored."""
    return f"{'trig' if trig else 'plain'}{' split' if split_angles else ''}"


def missing(connection: Connection, graph: int, variables: list[int], form: str) -> list[int]:
    """Return those variables whose expansion is not stored yet."""
    table = schema.expansions.c
    query = select(table.variable).where(table.graph == graph, table.form == form)
    known = set(connection.execute(query).scalars())
    return sorted(set(variables) - known)


def expanded(
    graph: Graph, variables: list[int], *, trig: bool, split_angles: bool
) -> dict[int, Expansion]:
    """Return the expansions of some variables, made in memory by exact polynomials."""
    found = expand_graph(graph, variables, trig=trig, split_angles=split_angles)
    return dict(zip(variables, found, strict=True))


def write_expansions(
    connection: Connection, graph: int, found: dict[int, Expansion], form: str
) -> None:
    """Write expansions as rows, in place of what is stored."""
    for table in (schema.expanded_factors, schema.expanded_terms, schema.expansions):
        for variable in found:
            connection.execute(
                delete(table).where(
                    table.c.graph == graph, table.c.variable == variable, table.c.form == form
                )
            )
    for variable, expansion in found.items():
        row = {"graph": graph, "variable": variable, "form": form, "terms": len(expansion)}
        connection.execute(insert(schema.expansions).values(row))
        head = (repeat(graph), repeat(variable), repeat(form))
        values = [k for k, _ in expansion.terms]
        columns = (range(len(values)), map(exact, values), map(double, values))
        insert_rows(connection, schema.expanded_terms, len(values), *head, *columns)
        factors = _factors(expansion)
        insert_rows(
            connection,
            schema.expanded_factors,
            len(factors),
            *head,
            *zip(*factors, strict=True),
        )


def _factors(expansion: Expansion) -> list[tuple[Any, ...]]:
    names = [str(symbol) for symbol in expansion.symbols]
    return [
        (term, place, names[symbol], power)
        for term, (_, factors) in enumerate(expansion.terms)
        for place, (symbol, power) in enumerate(factors)
    ]


def expansion_texts(
    connection: Connection, graph: int, variables: list[int], form: str
) -> dict[int, str]:
    """Return stored expansions as text, put together by the database."""
    return {
        v: connection.execute(text(TEXT), {"graph": graph, "number": v, "form": form}).scalar_one()
        for v in sorted(set(variables))
    }
