"""Where a database is: the address taken apart, and shown without its password."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from chainform.errors import StoreError
from chainform.store.arguments import seconds_of, text_of

TIMEOUT = 30.0
"""How long to wait for other processes, in seconds, unless something else is said."""

SECRET = ("password", "sslpassword")
"""Options of an address that are not shown."""

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Address:
    """A file or a server, and how long to wait for others there."""

    shown: str
    """As messages name it."""
    timeout: float
    server: URL | None = None
    """None for a file."""


def parse_address(url: str, timeout: float | None) -> Address:
    """Return what an address means: a path, `sqlite:///path` or `postgresql://...`.

    `?timeout=5` at its end counts unless a timeout is given.
    """
    text_of(url, "the address of the database")
    if "://" not in url:
        return Address(url, TIMEOUT if timeout is None else seconds_of(timeout, "timeout"))
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(
            "the address of the database cannot be understood",
            file=f"{url.partition('://')[0]}://...",
            remedy="write a path, sqlite:///path or postgresql://user@host:port/database",
        ) from None
    kind, shown = parsed.get_backend_name(), shown_url(parsed)
    if kind not in ("sqlite", "postgresql", "postgres"):
        raise StoreError(
            f"there is no store in {kind}",
            file=shown,
            remedy="use SQLite (a path) or PostgreSQL (postgresql://...)",
        )
    wait = _timeout(parsed, shown) if timeout is None else seconds_of(timeout, "timeout")
    parsed = parsed.difference_update_query(["timeout"])
    if kind != "sqlite":
        return Address(shown, wait, parsed.set(drivername="postgresql+psycopg"))
    if parsed.query:
        raise StoreError(
            f"there is no option {next(iter(parsed.query))}", file=shown, remedy="timeout is one"
        )
    return Address(parsed.database or MEMORY, wait)


def shown_url(url: URL) -> str:
    """Return an address without its passwords."""
    hidden = url.update_query_dict({name: "***" for name in SECRET if name in url.query})
    return hidden.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def _timeout(url: URL, shown: str) -> float:
    given: Any = url.query.get("timeout", TIMEOUT)
    try:
        return seconds_of(float(given), "timeout")
    except (TypeError, ValueError):
        raise StoreError(
            "the timeout is not a number of seconds", file=shown, remedy="write ?timeout=5"
        ) from None


# --- files ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """How SQLite is to open a file."""

    uri: str
    read_only: bool
    is_new: bool
    """Whether opening it makes the file."""


def place_of(shown: str, *, read_only: bool) -> Place:
    """Return how to open a file; refuse what cannot be one."""
    if shown == MEMORY:
        return Place(MEMORY, read_only, True)
    try:
        # SQLite keeps its log beside the file itself, not beside a link to it.
        path = Path(shown).resolve()
        if path.is_dir():
            raise StoreError("this is a folder", file=shown, remedy="name a file in it")
        is_there = path.exists()
        if not is_there and not path.parent.is_dir():
            raise StoreError("its folder does not exist", file=shown, remedy="make the folder")
        read_only = read_only or (is_there and not _is_writable(path))
        return Place(_uri(path, read_only), read_only, not is_there)
    except (OSError, ValueError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise StoreError(
            f"the file cannot be opened: {reason}",
            file=shown[:200],
            remedy="look at its name and at the permissions of the folders that lead to it",
        ) from None


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _uri(path: Path, read_only: bool) -> str:
    address = f"file:{quote(str(path))}"
    if not read_only:
        return address
    if _is_writable(path) and _is_writable(path.parent):
        # Whoever may write tidies up: the last one to leave removes the log. A reader without
        # that right would leave an empty one behind.
        return f"{address}?mode=rw"
    # Where nothing can be written, SQLite cannot make the file by which readers and writers of a
    # log agree; without a log there is nothing to agree on.
    log = Path(f"{path}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    can_share = _is_writable(path.parent) or Path(f"{path}-shm").exists()
    return f"{address}?mode=ro" if has_log or can_share else f"{address}?mode=ro&immutable=1"
