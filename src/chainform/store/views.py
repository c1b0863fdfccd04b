"""What SQL sees besides tables: views for people, and functions that evaluate as the graph does.

The views go by model name and revision number, and need no function of ours. Products and calls
are computed in double precision exactly as by the graph's own evaluation.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError

from chainform.errors import RunError
from chainform.graph import CALLS, FLOAT
from chainform.store.schema import Transaction

_OF_REVISION = "models m JOIN revisions r ON r.model = m.id"
_QUANTITIES = f"""
SELECT m.name AS model, r.number AS revision, r.graph, s.quantity, s.is_output, s.shape,
       o.indices, o.label, v.name, v.level
FROM {_OF_REVISION}
JOIN shapes s ON s.graph = r.graph
JOIN outputs o ON o.graph = s.graph AND o.is_output = s.is_output AND o.quantity = s.quantity
JOIN variables v ON v.graph = o.graph AND v.number = o.variable
"""
_FORMULAS = f"""
SELECT m.name AS model, r.number AS revision, r.graph, d.number, d.name, d.kind, d.level, d.formula
FROM {_OF_REVISION}
JOIN definitions d ON d.graph = r.graph
"""
_KINDS = "CASE v.kind {} END".format(
    " ".join(
        f"WHEN {number} THEN '{name}'"
        for number, name in enumerate(
            ("constant", "parameter", "coordinate", "force", "computed", "call")
        )
    )
)
_OPERATION_COUNTS = f"""
SELECT m.name AS model, r.number AS revision, r.graph, n.quantity,
       n.multiplications, n.additions, n.sin, n.cos, n.angle_sums, n.calls,
       n.once_multiplications, n.once_additions, n.once_sin, n.once_cos, n.once_angle_sums,
       n.once_calls
FROM {_OF_REVISION}
JOIN operations n ON n.graph = r.graph
"""
_EXPRESSIONS = f"""
SELECT m.name AS model, r.number AS revision, r.graph, o.quantity, o.is_output,
       coalesce(o.label, e.name) AS label, e.number, e.name, e.form, e.terms, e.expression
FROM {_OF_REVISION}
JOIN expansion_texts e ON e.graph = r.graph
LEFT JOIN outputs o ON o.graph = e.graph AND o.variable = e.number
"""
_USES = f"""
SELECT DISTINCT m.name AS model, r.number AS revision, r.graph, u.name, w.name AS uses
FROM {_OF_REVISION}
JOIN factors f ON f.graph = r.graph
JOIN variables u ON u.graph = f.graph AND u.number = f.owner
JOIN variables w ON w.graph = f.graph AND w.number = f.variable
UNION ALL
SELECT m.name, r.number, r.graph, u.name, w.name
FROM {_OF_REVISION}
JOIN variables u ON u.graph = r.graph
JOIN variables w ON w.graph = u.graph AND w.number = u.argument
"""


def joined(text: str, separator: str, rows: str, order: str, *, is_sqlite: bool) -> str:
    """Return the expression that joins a text of each row, in an order."""
    if is_sqlite:
        inner = f"SELECT {text} AS piece {rows} ORDER BY {order}"
        return f"(SELECT group_concat(piece, '{separator}') FROM ({inner}))"
    return f"(SELECT string_agg({text}, '{separator}' ORDER BY {order}) {rows})"


def sum_text(terms: str, product: str, *, is_sqlite: bool) -> str:
    """Return the expression for the text of a sum.

    `terms` is the rest of a query for the terms t, `product` the expression for the text of the
    factors of t, which is null for a bare number.
    """
    rows = f"FROM (SELECT t.place, t.coefficient, {product} AS product {terms}) AS term"
    sign = (
        "CASE WHEN place = 0 THEN CASE WHEN coefficient LIKE '-%' THEN '-' ELSE '' END"
        " WHEN coefficient LIKE '-%' THEN ' - ' ELSE ' + ' END"
    )
    size = "ltrim(coefficient, '-')"
    body = (
        f"CASE WHEN product IS NULL THEN {size} WHEN {size} = '1' THEN product"
        f" ELSE {size} || '*' || product END"
    )
    total = joined(f"{sign} || {body}", "", rows, "place", is_sqlite=is_sqlite)
    return f"coalesce({total}, '0')"


def power_text(name: str) -> str:
    """Return the expression for the text of a factor f."""
    return f"{name} || CASE WHEN f.power = 1 THEN '' ELSE '^' || f.power END"


def _definitions(*, is_sqlite: bool) -> str:
    factors = (
        "FROM factors f JOIN variables w ON w.graph = f.graph AND w.number = f.variable"
        " WHERE f.graph = t.graph AND f.owner = t.owner AND f.term = t.place"
    )
    product = joined(power_text("w.name"), "*", factors, "f.place", is_sqlite=is_sqlite)
    terms = "FROM terms t WHERE t.graph = v.graph AND t.owner = v.number"
    total = sum_text(terms, product, is_sqlite=is_sqlite)
    return (
        f"SELECT v.graph, v.number, v.name, {_KINDS} AS kind, v.level,"
        " CASE WHEN v.kind IN (1, 2, 3) THEN v.name"
        " WHEN v.call IS NOT NULL THEN v.call || '(' || a.name || ')'"
        f" ELSE {total} END AS formula"
        " FROM variables v"
        " LEFT JOIN variables a ON a.graph = v.graph AND a.number = v.argument"
    )


def _expansion_texts(*, is_sqlite: bool) -> str:
    factors = (
        "FROM expanded_factors f WHERE f.graph = t.graph AND f.variable = t.variable"
        " AND f.form = t.form AND f.term = t.place"
    )
    product = joined(power_text("f.symbol"), "*", factors, "f.place", is_sqlite=is_sqlite)
    terms = (
        "FROM expanded_terms t"
        " WHERE t.graph = e.graph AND t.variable = e.variable AND t.form = e.form"
    )
    total = sum_text(terms, product, is_sqlite=is_sqlite)
    return (
        "SELECT e.graph, e.variable AS number, v.name, e.form, e.terms,"
        f" {total} AS expression FROM expansions e"
        " JOIN variables v ON v.graph = e.graph AND v.number = e.variable"
    )


def _views(*, is_sqlite: bool) -> dict[str, str]:
    return {
        "definitions": _definitions(is_sqlite=is_sqlite),
        "expansion_texts": _expansion_texts(is_sqlite=is_sqlite),
        "quantities": _QUANTITIES,
        "formulas": _FORMULAS,
        "operation_counts": _OPERATION_COUNTS,
        "expressions": _EXPRESSIONS,
        "uses": _USES,
    }


def view_queries(transaction: Transaction) -> dict[str, str]:
    """Return the query of each view, in the order in which they can be made."""
    return _views(is_sqlite=transaction.dialect.name == "sqlite")


def create_views(transaction: Transaction) -> None:
    """Make every view; they use nothing but what SQLite and PostgreSQL have of their own."""
    for name, query in view_queries(transaction).items():
        # A percent sign would begin a parameter of the driver of PostgreSQL.
        transaction.exec_driver_sql(
            f"CREATE VIEW {name} AS {query}".replace("%", _percent(transaction))
        )


def _percent(transaction: Transaction) -> str:
    return "%" if transaction.dialect.name == "sqlite" else "%%"


def drop_views(transaction: Transaction) -> None:
    """Remove the views, so that the tables below them can change."""
    for name in reversed(_views(is_sqlite=True)):
        transaction.exec_driver_sql(f"DROP VIEW IF EXISTS {name}")


# --- whether each view is the one that was made with the tables -------------------------------


_STORED = "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?"
_DEFINITION = "SELECT pg_get_viewdef(to_regclass(%s))"
NO_RIGHT = ("42501", "25006")


def view_damage(transaction: Transaction, repair: bool) -> Iterator[str]:
    """Give the views that were replaced or removed; with `repair` make all of them anew."""
    is_sqlite = transaction.dialect.name == "sqlite"
    wrong = _changed_in_file(transaction) if is_sqlite else _changed_on_server(transaction)
    mended = " (repaired)" if wrong and repair and _made_anew(transaction) else ""
    yield from (f"the view {name} is not what was made{mended}" for name in wrong)


def _changed_in_file(transaction: Transaction) -> list[str]:
    found: list[str] = []
    for name, query in view_queries(transaction).items():
        stored = transaction.exec_driver_sql(_STORED, (name,)).scalar()
        if stored != f"CREATE VIEW {name} AS {query}".strip():
            found.append(name)
    return found


def _changed_on_server(transaction: Transaction) -> list[str]:
    """Return the same, by views for the moment: the server keeps definitions in words of its own.

    Where none can be made, for want of a right, nothing is known of the views.
    """
    found: list[str] = []
    for name, query in view_queries(transaction).items():
        own = "pg_temp.chainform_view"
        statement = f"CREATE TEMPORARY VIEW chainform_view AS {query}".replace("%", "%%")
        try:
            with transaction.begin_nested():
                transaction.exec_driver_sql(statement)
        except DBAPIError as problem:
            if getattr(problem.orig, "sqlstate", None) not in NO_RIGHT:
                found.append(name)
            continue
        expected = transaction.exec_driver_sql(_DEFINITION, (own,)).scalar()
        if transaction.exec_driver_sql(_DEFINITION, (name,)).scalar() != expected:
            found.append(name)
        transaction.exec_driver_sql(f"DROP VIEW {own}")
    return found


def _made_anew(transaction: Transaction) -> bool:
    """Make all views anew; tell whether nothing stood in the way."""
    try:
        with transaction.begin_nested():
            drop_views(transaction)
            create_views(transaction)
    except DBAPIError:
        return False
    return True


# --- functions: products and calls, of SQLite and of PostgreSQL -------------------------------


class Product:
    """The aggregate `product(value, power)`: factors multiplied from left to right."""

    def __init__(self) -> None:
        self.value: float | None = 1.0

    def step(self, value: object, power: object) -> None:
        """Multiply by one factor, as often as its power says; cells may hold anything."""
        if self.value is None or not isinstance(value, float | int) or not isinstance(power, int):
            self.value = None
            return
        for _ in range(power):
            self.value *= value

    def finalize(self) -> float | None:
        """Return the product; without factors it is one, with an unknown factor unknown."""
        return self.value


def call_value(function: object, argument: object) -> float | None:
    """Return the value of a call, or None where it has none."""
    if not isinstance(argument, float | int) or not isinstance(function, str):
        return None
    if not function or function not in CALLS:
        return None
    try:
        value = FLOAT.call(function, argument)
    except RunError:
        return None
    return value if math.isfinite(value) else None


def _lower(value: str | None) -> str | None:
    return None if value is None else value.lower()


def register_functions(connection: sqlite3.Connection) -> None:
    """Make `product` and `call_value` known to a connection of SQLite."""
    connection.create_aggregate("product", 2, Product)  # type: ignore[arg-type]
    connection.create_function("call_value", 2, call_value, deterministic=True)
    # The one that is built in knows the letters of English only.
    connection.create_function("lower", 1, _lower, deterministic=True)


POSTGRES_CALLS = {
    **{name: f"{name}({{x}})" for name in CALLS if name},
    "log": "ln({x})",
    "reciprocal": "1.0 / {x}",
    "sign": "sign({x})",
}
CAREFUL_CALLS = {
    **POSTGRES_CALLS,
    "sqrt": "CASE WHEN {x} >= 0 THEN sqrt({x}) END",
    "log": "CASE WHEN {x} > 0 THEN ln({x}) END",
    "asin": "CASE WHEN abs({x}) <= 1 THEN asin({x}) END",
    "acos": "CASE WHEN abs({x}) <= 1 THEN acos({x}) END",
    "exp": "CASE WHEN {x} < -745 THEN 0 WHEN {x} < 709.78 THEN exp({x}) END",
    "reciprocal": "CASE WHEN abs({x}) > 5.6e-309 THEN 1.0 / {x} END",
}
"""Calls that give null, where PostgreSQL alone would stop, and nothing where the value is."""


def postgres_call(function: str, argument: str, *, careful: bool = False) -> str:
    """Return the expression by which PostgreSQL computes a call, from two column names."""
    calls = CAREFUL_CALLS if careful else POSTGRES_CALLS
    cases = " ".join(
        f"WHEN '{name}' THEN {form.format(x=argument)}" for name, form in calls.items()
    )
    return f"CASE {function} {cases} END"


POSTGRES_AGGREGATES = """
CREATE OR REPLACE AGGREGATE pg_temp.product (float8)
    (SFUNC = float8mul, STYPE = float8, INITCOND = '1');
"""
# PostgreSQL stops where a product vanishes or a number grows too large; in memory the first is
# zero and the second infinite. Scaled by powers of ten, both are seen before they happen.
CAREFUL_AGGREGATES = """
CREATE OR REPLACE FUNCTION pg_temp.careful_times (a float8, b float8) RETURNS float8
IMMUTABLE LANGUAGE sql AS $$ SELECT CASE
    WHEN abs(a) < 1 AND abs(b) < 1 AND least(abs(a), abs(b)) < 1e-154 AND a <> 0 AND b <> 0
        AND (abs(a) * 1e162::float8) * (abs(b) * 1e162::float8) < 2.48 THEN 0
    WHEN abs(a) > 1 AND abs(b) > 1
        AND (abs(a) * 1e-154::float8) * (abs(b) * 1e-154::float8) > 1.797693134862315
        THEN CASE WHEN sign(a) = sign(b) THEN 'inf'::float8 ELSE '-inf'::float8 END
    ELSE a * b END $$;
CREATE OR REPLACE FUNCTION pg_temp.careful_plus (a float8, b float8) RETURNS float8
IMMUTABLE LANGUAGE sql AS $$ SELECT CASE
    WHEN greatest(abs(a), abs(b)) > 1e307 AND sign(a) = sign(b)
        AND abs(a * 0.5::float8 + b * 0.5::float8) > 8.98846567431157e307
        THEN CASE WHEN a > 0 THEN 'inf'::float8 ELSE '-inf'::float8 END
    ELSE a + b END $$;
CREATE OR REPLACE AGGREGATE pg_temp.careful_product (float8)
    (SFUNC = pg_temp.careful_times, STYPE = float8, INITCOND = '1');
CREATE OR REPLACE AGGREGATE pg_temp.careful_sum (float8)
    (SFUNC = pg_temp.careful_plus, STYPE = float8, INITCOND = '0');
"""
