"""Analytic expressions in the database: the expansion of a variable, term by term."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, select, text

from chainform.graph import LIMIT, Expansion, Graph, expansion_text
from chainform.graph import expand as expand_graph
from chainform.store import schema
from chainform.store.bulk import insert_rows
from chainform.store.rows import double, exact

TEXT = (
    "SELECT expression FROM expansion_texts"
    " WHERE graph = :graph AND number = :number AND form = :form"
)


def form_name(*, trig: bool, split_angles: bool) -> str:
    """Return the name under which a form of the expansion is stored."""
    return f"{'trig' if trig else 'plain'}{' split' if split_angles else ''}"


def form_options(form: str) -> dict[str, bool]:
    """Return what a name of a form stands for."""
    return {"trig": form.startswith("trig"), "split_angles": form.endswith(" split")}


def is_form(form: object) -> bool:
    """Tell whether this is the name of a form."""
    return isinstance(form, str) and form_name(**form_options(form)) == form


def expression_hash(expression: str) -> str:
    """Return the hash by which a stored expression is known to be whole."""
    return hashlib.sha256(expression.encode()).hexdigest()


def expanded(
    graph: Graph,
    variables: list[int],
    *,
    trig: bool,
    split_angles: bool,
    limit: int | None = LIMIT,
) -> dict[int, Expansion]:
    """Return the expansions of some variables, made in memory by exact polynomials."""
    form = {"trig": trig, "split_angles": split_angles}
    found = expand_graph(graph, variables, **form, limit=limit)
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
        row = {"hash": expression_hash(expansion_text(expansion)), "terms": len(expansion)}
        key = {"graph": graph, "variable": variable, "form": form}
        connection.execute(insert(schema.expansions).values(**key, **row))
        for table, rows in expansion_rows(graph, variable, form, expansion):
            insert_rows(connection, table, len(rows), *zip(*rows, strict=True))


def expansion_rows(
    graph: int, variable: int, form: str, expansion: Expansion
) -> list[tuple[Table, list[tuple[Any, ...]]]]:
    """Return the rows of the terms and of the factors of an expansion."""
    key = (graph, variable, form)
    terms = [(*key, place, exact(k), double(k)) for place, (k, _) in enumerate(expansion.terms)]
    factors = [(*key, *factor) for factor in _factors(expansion)]
    return [(schema.expanded_terms, terms), (schema.expanded_factors, factors)]


def _factors(expansion: Expansion) -> list[tuple[Any, ...]]:
    names = [str(symbol) for symbol in expansion.symbols]
    return [
        (term, place, names[symbol], power)
        for term, (_, factors) in enumerate(expansion.terms)
        for place, (symbol, power) in enumerate(factors)
    ]


def stored_texts(
    connection: Connection, graph: int, variables: list[int], form: str
) -> dict[int, str]:
    """Return the expansions that are stored whole, as text, put together by the database."""
    table = schema.expansions.c
    query = select(table.variable, table.hash).where(table.graph == graph, table.form == form)
    rows: Any = connection.execute(query).all()
    hashes: dict[int, str] = dict(rows)
    found: dict[int, str] = {}
    for v in sorted(set(variables) & hashes.keys()):
        values = {"graph": graph, "number": v, "form": form}
        expression: object = connection.execute(text(TEXT), values).scalar()
        if isinstance(expression, str) and expression_hash(expression) == hashes[v]:
            found[v] = expression
    return found
