"""Queries inside the database: names and entries, cones and users, values by rising level.

For values a temporary table takes the value of each variable that is needed. Inputs and constants
have level zero; each step of the sweep computes one level from those below it, with one statement
for sums of products and one for calls. Only inputs go in and only results come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from chainform.errors import RunError, StoreError
from chainform.given import near
from chainform.graph import Kind
from chainform.store import schema
from chainform.store.driver_errors import NO_VALUE
from chainform.store.records import text_of
from chainform.store.schema import Transaction
from chainform.store.views import CAREFUL_AGGREGATES, POSTGRES_AGGREGATES, postgres_call

# A call has an argument and no factors, a sum has factors and no argument, so that one of the
# two columns is what the definition names.
_NEEDED = """
WITH RECURSIVE needed (variable) AS (
    {first}
  UNION
    SELECT coalesce(v.argument, f.variable)
    FROM needed n
    JOIN variables v ON v.graph = :graph AND v.number = n.variable
    LEFT JOIN factors f ON f.graph = :graph AND f.owner = n.variable
    WHERE coalesce(v.argument, f.variable) IS NOT NULL
)
"""
_ONE = "SELECT number FROM variables WHERE graph = :graph AND number = :variable"
CONE = f"""{_NEEDED.format(first=_ONE)}
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


def find_variable(transaction: Transaction, graph: int, name: str) -> int:
    """Return the variable of that name: its own, another one, or the label of an entry."""
    text_of(name, "the name of a variable")
    v, a, o = schema.variables.c, schema.aliases.c, schema.outputs.c
    for query in (
        select(v.number).where(v.graph == graph, v.name == name),
        select(a.variable).where(a.graph == graph, a.name == name),
        select(o.variable).where(o.graph == graph, o.label == name).order_by(o.is_output.desc()),
    ):
        found = transaction.execute(query).scalar()
        if found is not None:
            return found
    known = transaction.execute(select(v.name).where(v.graph == graph)).scalars()
    raise StoreError(
        f"the model has no variable {name}",
        element=name,
        remedy=near(name, known, 3).strip() or "the view formulas lists them",
    )


BATCH = 500
"""How many keys one query asks for; a statement holds a limited number of values."""

Indices = tuple[int | slice | None, ...]
Candidate = tuple[str, Indices]
"""A name, and indices from 1 of the entries meant; None stands for all, a slice for both ends."""


def find_entries(
    transaction: Transaction, graph: int, candidates: Sequence[Candidate]
) -> dict[str, int]:
    """Return the variables that the first known name means, by label.

    A name is that of a quantity, with indices or without, of an entry or of a variable.
    """
    for name, indices in candidates:
        found = _block_entries(transaction, graph, text_of(name, "the name of a quantity"), indices)
        if found is None and not indices:
            with suppress(StoreError):
                found = {name: find_variable(transaction, graph, name)}
        if found is not None:
            return found
    name = candidates[0][0]
    return {name: find_variable(transaction, graph, name)}


def _block_entries(
    transaction: Transaction, graph: int, name: str, indices: Indices
) -> dict[str, int] | None:
    o = schema.outputs.c
    query = select(o.is_output, o.indices, o.label, o.variable)
    query = query.where(o.graph == graph, o.quantity == name)
    rows: Any = transaction.execute(query.order_by(o.is_output.desc(), o.place)).all()
    if not rows:
        return None
    own = [row for row in rows if row.is_output == rows[0].is_output]
    found = {row.label: row.variable for row in own if _fits(row.indices, indices)}
    last = own[-1].indices
    ends = zip(indices, last.split(","), strict=False)
    if not found or any(isinstance(i, slice) and (i.stop or 0) > int(n) for i, n in ends):
        shown = (f"{i.start or ''}:{i.stop or ''}" if isinstance(i, slice) else i for i in indices)
        raise StoreError(
            f"{name} has no entry [{','.join(':' if i is None else str(i) for i in shown)}]",
            element=name,
            remedy=f"indices count from 1; the last entry is [{last}]",
        )
    return found


def _fits(place: str, indices: Indices) -> bool:
    own = [int(part) for part in place.split(",")] if place else []
    return len(indices) <= len(own) and all(map(_is_meant, own, indices))


def _is_meant(number: int, index: int | slice | None) -> bool:
    if isinstance(index, slice):
        first = 1 if index.start is None else index.start
        return 0 < first <= number <= (number if index.stop is None else index.stop)
    return index in (None, number)


def variable_names(
    transaction: Transaction, graph: int, entries: Mapping[str, int]
) -> dict[str, str]:
    """Return the own name of the variable behind each label."""
    v = schema.variables.c
    query = select(v.number, v.name).where(v.graph == graph)
    if len(entries) <= BATCH:
        query = query.where(v.number.in_(list(entries.values())))
    rows: Any = transaction.execute(query).all()
    named: dict[int, str] = dict(rows)
    return {label: named[number] for label, number in entries.items()}


def related_names(transaction: Transaction, query: str, graph: int, variable: int) -> list[str]:
    """Return the names that one of the queries above finds, in definition order."""
    by_key(transaction)
    values = {"graph": graph, "variable": variable}
    return list(transaction.execute(text(query), values).scalars())


def by_key(transaction: Transaction) -> None:
    """Have PostgreSQL follow the keys for the rest of the transaction.

    Without statistics, as right after a save, it would read whole tables at every step.
    """
    if transaction.dialect.name == "postgresql":
        for setting in ("hashjoin", "mergejoin", "seqscan", "bitmapscan"):
            transaction.exec_driver_sql(f"SET LOCAL enable_{setting} = off")
        transaction.exec_driver_sql("SET LOCAL jit = off")


# --- values by rising level ----------------------------------------------------------------------


_VALUES = f"""
INSERT INTO needed_values (variable, level, kind, value)
{_NEEDED.format(first="SELECT variable FROM wanted_values")}
SELECT v.number, v.level, v.kind, i.value
FROM needed n JOIN variables v ON v.graph = :graph AND v.number = n.variable
LEFT JOIN inputs i ON i.graph = :graph AND i.variable = n.variable
"""

_GIVEN = """
SELECT i.variable, v.name, i.source, i.exact, n.value FROM needed_values n
JOIN inputs i ON i.graph = :graph AND i.variable = n.variable
JOIN variables v ON v.graph = :graph AND v.number = n.variable
"""

_SUMS = """
UPDATE needed_values SET value = (
    SELECT CASE WHEN count(*) = 0 THEN 0.0 WHEN count(t.value) = count(*) THEN {total} END
    FROM terms t WHERE t.graph = :graph AND t.owner = needed_values.variable
)
WHERE level = :level AND kind IN (:constant, :computed)
"""

_PRODUCT = """(
    SELECT {product} FROM factors f JOIN needed_values x ON x.variable = f.variable{repeated}
    WHERE f.graph = t.graph AND f.owner = t.owner AND f.term = t.place
)"""

_CALLS = """
UPDATE needed_values SET value = (
    SELECT {call} FROM variables v JOIN needed_values x ON x.variable = v.argument
    WHERE v.graph = :graph AND v.number = needed_values.variable
)
WHERE level = :level AND kind = :call
"""

_RESULTS = """
SELECT x.variable, x.value FROM wanted_values w JOIN needed_values x ON x.variable = w.variable
"""

_NOT_FINITE = """
SELECT v.name FROM needed_values n JOIN variables v ON v.graph = :graph AND v.number = n.variable
WHERE n.level = :level AND (n.value IS NULL OR abs(n.value) > 1.7976931348623157e308)
ORDER BY v.number LIMIT 1
"""


def evaluate_levels(
    transaction: Transaction, graph: int, inputs: Mapping[str, float], wanted: Sequence[str] | None
) -> dict[str, NDArray[np.float64]]:
    """Return outputs or quantities by name (all outputs by default), computed by the database."""
    blocks = _blocks(transaction, graph, wanted)
    _make_tables(transaction)
    variables = sorted({v for _, entries in blocks.values() for v in entries})
    _insert(transaction, "INSERT INTO wanted_values (variable) VALUES (:variable)", variables)
    by_key(transaction)
    transaction.execute(text(_VALUES), {"graph": graph})
    _set_inputs(transaction, graph, inputs)
    _sweep(transaction, graph)
    rows: Any = transaction.execute(text(_RESULTS)).all()
    values: dict[int, float] = dict(rows)
    _drop_tables(transaction)
    return {
        name: np.asarray([values[v] for v in entries], dtype=np.float64).reshape(shape)
        for name, (shape, entries) in blocks.items()
    }


def _blocks(
    transaction: Transaction, graph: int, wanted: Sequence[str] | None
) -> dict[str, tuple[tuple[int, ...], list[int]]]:
    """Return the shape and the variables of each quantity that is wanted."""
    s, o = schema.shapes.c, schema.outputs.c
    query = select(s.quantity, s.is_output, s.shape).where(s.graph == graph)
    query = query.order_by(s.is_output.desc(), s.place)
    known: dict[str, tuple[bool, str]] = {}
    rows: Any = transaction.execute(query)
    for name, is_output, shape in rows:
        known.setdefault(name, (is_output, shape))
    names = [name for name, (is_output, _) in known.items() if is_output]
    blocks: dict[str, tuple[tuple[int, ...], list[int]]] = {}
    for name in names if wanted is None else wanted:
        if name not in known:
            blocks[name] = (), [_variable(transaction, graph, name)]
            continue
        is_output, shape = known[name]
        query = select(o.variable).where(
            o.graph == graph, o.quantity == name, o.is_output == is_output
        )
        entries = list(transaction.execute(query.order_by(o.place)).scalars())
        blocks[name] = tuple(map(int, shape.split())), entries
    return blocks


def _variable(transaction: Transaction, graph: int, name: str) -> int:
    """Return a variable that is wanted by its own name."""
    try:
        return find_variable(transaction, graph, name)
    except StoreError as problem:
        raise RunError(
            f"the model has no quantity {name}", element=name, remedy=problem.remedy
        ) from None


def _make_tables(transaction: Transaction) -> None:
    _drop_tables(transaction)
    number = "double precision"
    transaction.exec_driver_sql(
        "CREATE TEMPORARY TABLE wanted_values (variable integer PRIMARY KEY)"
    )
    transaction.exec_driver_sql(
        "CREATE TEMPORARY TABLE needed_values (variable integer PRIMARY KEY,"
        f" level integer NOT NULL, kind integer NOT NULL, value {number})"
    )
    transaction.exec_driver_sql("CREATE INDEX needed_by_level ON needed_values (level, kind)")
    if transaction.dialect.name == "postgresql":
        transaction.exec_driver_sql(POSTGRES_AGGREGATES)


def _drop_tables(transaction: Transaction) -> None:
    # Only the temporary ones: a schema may hold tables of these names that are not ours.
    own = "pg_temp" if transaction.dialect.name == "postgresql" else "temp"
    for name in ("wanted_values", "needed_values"):
        transaction.exec_driver_sql(f"DROP TABLE IF EXISTS {own}.{name}")


def _insert(transaction: Transaction, statement: str, variables: list[int]) -> None:
    if variables:
        transaction.execute(text(statement), [{"variable": v} for v in variables])


def _set_inputs(transaction: Transaction, graph: int, inputs: Mapping[str, float]) -> None:
    given: list[dict[str, Any]] = []
    rows: Any = transaction.execute(text(_GIVEN), {"graph": graph})
    for variable, name, source, exact, default in rows:
        if name in inputs:
            given.append({"variable": variable, "value": float(inputs[name])})
        elif exact is None:
            where = "in values" if source == "parameter" else f"({source})"
            raise RunError(
                f"no value is given for {name}", element=name, remedy=f"give {name} a value {where}"
            )
        elif default is None:
            raise RunError("a number is too large for double precision", element=name)
    if given:
        statement = "UPDATE needed_values SET value = :value WHERE variable = :variable"
        transaction.execute(text(statement), given)


def _sweep(transaction: Transaction, graph: int) -> None:
    """Compute all levels.

    PostgreSQL stops where a product vanishes or a value is too large. That is rare, and to look
    out for it takes time, so the sweep is then made once more, with care.
    """
    if transaction.dialect.name == "sqlite":
        _compute(transaction, graph, *_sqlite_statements())
        return
    try:
        with transaction.begin_nested():
            _compute(transaction, graph, *_postgres_statements(careful=False))
    except DBAPIError as problem:
        if getattr(problem.orig, "sqlstate", None) not in NO_VALUE:
            raise
        transaction.exec_driver_sql(CAREFUL_AGGREGATES)
        _compute(transaction, graph, *_postgres_statements(careful=True))


def _compute(transaction: Transaction, graph: int, sums: str, calls: str) -> None:
    last = transaction.execute(text("SELECT max(level) FROM needed_values")).scalar()
    kinds = {"constant": int(Kind.CONSTANT), "computed": int(Kind.COMPUTED)}
    for level in range(0 if last is None else last + 1):
        values = {"graph": graph, "level": level}
        transaction.execute(text(sums), {**values, **kinds})
        transaction.execute(text(calls), {**values, "call": int(Kind.CALL)})
        name = transaction.execute(text(_NOT_FINITE), values).scalar()
        if name is not None:
            raise RunError(
                f"{name} has no finite value in this state",
                element=name,
                remedy="look at what it is computed from, with formula and cone",
            )


# Terms are added and factors multiplied in the order in which they stand, as in memory.


def _sqlite_statements() -> tuple[str, str]:
    """Return the statements for the sums and the calls of one level."""
    product = _PRODUCT.format(product="coalesce(product(x.value, f.power), 1.0)", repeated="")
    sums = _SUMS.format(total=f"sum(t.value * {product})")
    return sums, _CALLS.format(call="call_value(v.call, x.value)")


def _postgres_statements(*, careful: bool) -> tuple[str, str]:
    """Return the same for PostgreSQL."""
    if careful:
        product = _PRODUCT.format(
            product="coalesce(pg_temp.careful_product(x.value ORDER BY f.place), 1)",
            repeated=" CROSS JOIN LATERAL generate_series(1, f.power)",
        )
        value = f"pg_temp.careful_times(t.value, {product})"
        total = f"pg_temp.careful_sum({value} ORDER BY t.place)"
    else:
        product = _PRODUCT.format(
            product="coalesce(pg_temp.product(power(x.value, f.power) ORDER BY f.place), 1)",
            repeated="",
        )
        total = f"sum(t.value * {product} ORDER BY t.place)"
    call = postgres_call("v.call", "x.value", careful=careful)
    return _SUMS.format(total=total), _CALLS.format(call=call)
