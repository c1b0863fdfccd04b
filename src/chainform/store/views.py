"""Views for people who write SQL, each by model name and revision number."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError

from chainform.store.connection import Transaction

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


# --- whether each view is the one that was made with the tables ----------------------------------


_STORED = "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?"
_DEFINITION = "SELECT pg_get_viewdef(to_regclass(%s))"


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


NO_RIGHT = ("42501", "25006")


def _made_anew(transaction: Transaction) -> bool:
    """Make all views anew; tell whether nothing stood in the way."""
    try:
        with transaction.begin_nested():
            drop_views(transaction)
            create_views(transaction)
    except DBAPIError:
        return False
    return True
