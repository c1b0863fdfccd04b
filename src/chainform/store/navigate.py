"""Following a model inside the database: what a variable needs, who uses it, its formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, select, text

from chainform.errors import StoreError
from chainform.store import schema
from chainform.store.arguments import text_of

# A call has an argument and no factors, a sum has factors and no argument, so that one of the
# two columns is what the definition names.
CONE = """
WITH RECURSIVE needed (variable) AS (
    SELECT number FROM variables WHERE graph = :graph AND number = :variable
  UNION
    SELECT coalesce(v.argument, f.variable)
    FROM needed n
    JOIN variables v ON v.graph = :graph AND v.number = n.variable
    LEFT JOIN factors f ON f.graph = :graph AND f.owner = n.variable
    WHERE coalesce(v.argument, f.variable) IS NOT NULL
)
SELECT v.name FROM needed n JOIN variables v ON v.graph = :graph AND v.number = n.variable
ORDER BY v.number
"""

USERS = """
SELECT v.name FROM variables v
WHERE v.graph = :graph AND (v.argument = :variable OR v.number IN
    (SELECT f.owner FROM factors f WHERE f.graph = :graph AND f.variable = :variable))
ORDER BY v.number
"""

ALL_USERS = """
WITH RECURSIVE
edges (owner, variable) AS (
    SELECT owner, variable FROM factors WHERE graph = :graph
  UNION ALL
    SELECT number, argument FROM variables WHERE graph = :graph AND argument IS NOT NULL
),
users (variable) AS (
    SELECT owner FROM edges WHERE variable = :variable
  UNION
    SELECT e.owner FROM users u JOIN edges e ON e.variable = u.variable
)
SELECT v.name FROM users u JOIN variables v ON v.graph = :graph AND v.number = u.variable
ORDER BY v.number
"""

FORMULA = "SELECT formula FROM definitions WHERE graph = :graph AND number = :variable"


def find_variable(connection: Connection, graph: int, name: str) -> int:
    """Return the variable of that name: its own, another one, or the label of an entry."""
    text_of(name, "the name of a variable")
    v, a, o = schema.variables.c, schema.aliases.c, schema.outputs.c
    for query in (
        select(v.number).where(v.graph == graph, v.name == name),
        select(a.variable).where(a.graph == graph, a.name == name),
        select(o.variable).where(o.graph == graph, o.label == name).order_by(o.is_output.desc()),
    ):
        found = connection.execute(query).scalar()
        if found is not None:
            return found
    known = connection.execute(select(v.name).where(v.graph == graph)).scalars()
    close = get_close_matches(name, list(known), n=3)
    raise StoreError(
        f"the model has no variable {name}",
        element=name,
        remedy=f"did you mean {', '.join(close)}?" if close else "the view formulas lists them",
    )


BATCH = 500
"""How many keys one query asks for; a statement holds a limited number of values."""

Candidate = tuple[str, tuple[int | None, ...]]
"""A name, and indices from 1 of the entries meant; None stands for all."""


def find_entries(
    connection: Connection, graph: int, candidates: Sequence[Candidate]
) -> dict[str, int]:
    """Return the variables that the first known name means, by label.

    A name is that of a quantity, with indices or without, of an entry or of a variable.
    """
    for name, indices in candidates:
        found = _block_entries(connection, graph, text_of(name, "the name of a quantity"), indices)
        if found is None and not indices:
            with suppress(StoreError):
                found = {name: find_variable(connection, graph, name)}
        if found is not None:
            return found
    name = candidates[0][0]
    return {name: find_variable(connection, graph, name)}


def _block_entries(
    connection: Connection, graph: int, name: str, indices: tuple[int | None, ...]
) -> dict[str, int] | None:
    o = schema.outputs.c
    query = select(o.is_output, o.indices, o.label, o.variable)
    query = query.where(o.graph == graph, o.quantity == name)
    rows: Any = connection.execute(query.order_by(o.is_output.desc(), o.place)).all()
    if not rows:
        return None
    found = {
        row.label: row.variable
        for row in rows
        if row.is_output == rows[0].is_output and _fits(row.indices, indices)
    }
    if not found:
        asked = ",".join(":" if i is None else str(i) for i in indices)
        raise StoreError(
            f"{name} has no entry [{asked}]",
            element=name,
            remedy=f"indices count from 1; the last entry is [{rows[-1].indices}]",
        )
    return found


def _fits(place: str, indices: tuple[int | None, ...]) -> bool:
    own = place.split(",") if place else []
    if len(indices) > len(own):
        return False
    return all(i is None or str(i) == part for i, part in zip(indices, own, strict=False))


def variable_names(
    connection: Connection, graph: int, entries: Mapping[str, int]
) -> dict[str, str]:
    """Return the own name of the variable behind each label."""
    v = schema.variables.c
    query = select(v.number, v.name).where(v.graph == graph)
    if len(entries) <= BATCH:
        query = query.where(v.number.in_(list(entries.values())))
    rows: Any = connection.execute(query).all()
    named: dict[int, str] = dict(rows)
    return {label: named[number] for label, number in entries.items()}


def names(connection: Connection, query: str, graph: int, variable: int) -> list[str]:
    """Return the names that one of the queries above finds, in definition order."""
    by_key(connection)
    values = {"graph": graph, "variable": variable}
    return list(connection.execute(text(query), values).scalars())


def by_key(connection: Connection) -> None:
    """Have PostgreSQL follow the keys for the rest of the transaction.

    Without statistics, as right after a save, it would read whole tables at every step.
    """
    if connection.dialect.name == "postgresql":
        for setting in ("hashjoin", "mergejoin", "seqscan", "bitmapscan"):
            connection.exec_driver_sql(f"SET LOCAL enable_{setting} = off")
        connection.exec_driver_sql("SET LOCAL jit = off")
