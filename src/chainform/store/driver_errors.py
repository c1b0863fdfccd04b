"""What the drivers report, in words by which the user can put it right."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from chainform.errors import Error, RunError, StoreError

FULL = (
    "the disk is full, and nothing was saved",
    "make room and try again; what was saved before is whole",
)
LOCKED = (
    "another process holds the database",
    "try again when it is done, or open with a longer timeout",
)
_READ_ONLY = ("it cannot be written", "change its permissions, or save to another database")

CHANGED = (
    "the file was changed by another process while it was read",
    "ask again; without the right to write in its folder a reader cannot hold it still",
)
GONE = (
    "a row is not there: it was removed by another process, or by hand",
    "look whether the model is there still; `check` tells whether rows are missing",
)
_TAKEN = (
    "another process has just stored the same name or content",
    "look what is there now, and try again",
)
_REMOVED = (
    "what this belongs to was just removed by another process",
    "look what is there now, and try again",
)
_ENCODING = (
    "the encoding of the database lacks a character of a text",
    "make the database anew with: createdb --encoding UTF8 --template template0 NAME",
)

ONLY_READS = (
    "a query may only read",
    "ask with SELECT; models are changed by save, bind, tag, rename and delete",
)

_SQLITE = {
    sqlite3.SQLITE_NOTADB: (
        "this file is not a database of chainform",
        "name another file; this one was not touched",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged",
        "take a copy from a backup, or save what is left with: sqlite3 FILE .recover",
    ),
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_CONSTRAINT: (
        "a row does not fit those that are there: some were changed by hand",
        "`check` tells which, and check(repair=True) mends what it can",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the file cannot be opened",
        "look at the permissions of the file and of its folder",
    ),
    sqlite3.SQLITE_AUTH: ONLY_READS,
    sqlite3.SQLITE_IOERR: (
        "the disk reports an error",
        "look at the disk; what was saved before is not changed",
    ),
}

_NO_DATABASE = ("there is no such database on the server", "create it with: createdb NAME")
_NO_USER = ("the server does not know the user", "create it with: createuser NAME")
_NO_PASSWORD = (
    "the server wants a password",
    "give it in the address, in PGPASSWORD or in the file ~/.pgpass",
)
_REFUSED = ("the server refuses the password", "look at the user and the password")

_POSTGRES = {
    "53100": FULL,
    "25006": _READ_ONLY,
    "42501": ("the user of the database may not do this", "ask its owner for the permission"),
    "55P03": LOCKED,
    "40P01": LOCKED,
    "40001": LOCKED,
    "57014": (
        "the server stopped the statement: it took longer than the server allows",
        "raise statement_timeout for the user or the database",
    ),
    "23505": _TAKEN,
    "23503": _REMOVED,
    "22P05": _ENCODING,
    "22021": _ENCODING,
    "3F000": (
        "no schema of the database is chosen in which tables can be made",
        "set search_path for the user or the database",
    ),
    "28P01": _REFUSED,
    "28000": ("the server refuses the user", "look at the user name"),
    "3D000": _NO_DATABASE,
    "53300": ("the server has no connection left", "try again later"),
}

_CONNECTING = (
    (re.compile(r'database ".*" does not exist'), _NO_DATABASE),
    (re.compile(r'role ".*" does not exist'), _NO_USER),
    (re.compile(r"no password supplied"), _NO_PASSWORD),
    (re.compile(r"password authentication failed"), _REFUSED),
)
"""What a server says when it lets nobody in; the driver passes on the words and no code."""

COLLISIONS = ("40P01", "40001", "23505", "23503")
"""Deadlock, states that cannot follow one another, a name just taken, an owner just removed."""

DEPENDENT = "2BP01"

NO_VALUE = ("22003", "22012", "2201E", "2201F")
"""Out of range, division by zero, logarithm and root of what has none."""


def trouble(problem: BaseException, place: str) -> Error:
    """Return the error of a driver as an error of the store, with its remedy."""
    if isinstance(problem, sqlite3.Error):
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
        known = _SQLITE.get(code)
    else:
        state = getattr(problem, "sqlstate", None)
        if state in NO_VALUE:
            return RunError(f"a value cannot be computed: {first_line(problem)}", file=place)
        known = _POSTGRES.get(state or "") or _on_connecting(problem, state)
        if state == DEPENDENT:
            known = _dependent(problem)
    message, remedy = known or (first_line(problem), None)
    return StoreError(message, file=place, remedy=remedy)


def _on_connecting(problem: BaseException, state: str | None) -> tuple[str, str] | None:
    is_cut = state is None and type(problem).__name__ == "OperationalError"
    if not is_cut and not (state or "").startswith(("08", "57P")):
        return None
    for pattern, known in _CONNECTING:
        if pattern.search(str(problem)):
            return known
    return (
        f"the server cannot be reached: {first_line(problem)}",
        "look at host and port, and whether the server runs",
    )


def _dependent(problem: BaseException) -> tuple[str, str]:
    """Return what stands in the way of removing a table or a view, as the server names it."""
    detail: str = getattr(getattr(problem, "diag", None), "message_detail", None) or ""
    names = ", ".join(detail.splitlines()) or first_line(problem)
    return (
        f"something of yours is built on tables or views that must change: {names}",
        "drop it, open the database once, and make it anew",
    )


def first_line(problem: BaseException) -> str:
    """Return what an error says, in one line."""
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__


@contextmanager
def damaged(place: str, what: str) -> Generator[None]:
    """Turn what goes wrong with rows that chainform did not write into an error of the store."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as problem:
        raise StoreError(
            f"what is stored of it is damaged, or was changed by hand: {first_line(problem)}",
            file=place,
            element=what,
            remedy="`check` tells where; take the database from a backup",
        ) from problem
