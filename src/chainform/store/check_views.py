"""The views, looked over: whether each is the one that was made with the tables."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from chainform.store.views import create_views, drop_views, view_queries

_STORED = "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?"
_DEFINITION = "SELECT pg_get_viewdef(to_regclass(%s))"


def view_damage(connection: Connection, repair: bool) -> Iterator[str]:
    """Give the views that were replaced or removed; with `repair` make all of them anew."""
    is_sqlite = connection.dialect.name == "sqlite"
    wrong = _changed_in_file(connection) if is_sqlite else _changed_on_server(connection)
    mended = " (repaired)" if wrong and repair and _made_anew(connection) else ""
    yield from (f"the view {name} is not what was made{mended}" for name in wrong)


def _changed_in_file(connection: Connection) -> list[str]:
    found: list[str] = []
    for name, query in view_queries(connection).items():
        stored = connection.exec_driver_sql(_STORED, (name,)).scalar()
        if stored != f"CREATE VIEW {name} AS {query}".strip():
            found.append(name)
    return found


def _changed_on_server(connection: Connection) -> list[str]:
    """Return the same, by views for the moment: the server keeps definitions in words of its own.

    Where none can be made, for want of a right, nothing can be said of the views.
    """
    found: list[str] = []
    for name, query in view_queries(connection).items():
        own = "pg_temp.chainform_view"
        statement = f"CREATE TEMPORARY VIEW chainform_view AS {query}".replace("%", "%%")
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(statement)
        except DBAPIError as problem:
            if getattr(problem.orig, "sqlstate", None) not in NO_RIGHT:
                found.append(name)
            continue
        expected = connection.exec_driver_sql(_DEFINITION, (own,)).scalar()
        if connection.exec_driver_sql(_DEFINITION, (name,)).scalar() != expected:
            found.append(name)
        connection.exec_driver_sql(f"DROP VIEW {own}")
    return found


NO_RIGHT = ("42501", "25006")


def _made_anew(connection: Connection) -> bool:
    """Make all views anew; tell whether nothing stood in the way."""
    try:
        with connection.begin_nested():
            drop_views(connection)
            create_views(connection)
    except DBAPIError:
        return False
    return True
