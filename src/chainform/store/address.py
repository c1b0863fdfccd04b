"""Where a database is: the address taken apart, and shown without its password."""

from __future__ import annotations

import os
import shutil
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

SHARED = 65_536
"""Bytes that SQLite needs beside a file to read it: the file that leads to the log, and some."""


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
    _check_marks(url)
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


def _check_marks(url: str) -> None:
    """Refuse an address in which a password cannot be told from what follows it."""
    kind, _, rest = url.partition("://")
    if rest.partition("?")[0].count("@") > 1 and not kind.startswith("sqlite"):
        raise StoreError(
            "the address has more than one @",
            file=f"{kind}://...",
            remedy="write %40 for each @ within a user name, a password or a database",
        )


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
    """How SQLite is to open a file; without a path, a database in memory."""

    path: Path | None
    read_only: bool = False
    is_new: bool = False
    """Whether opening it makes the file."""

    def uri(self) -> str:
        """Return what SQLite is to open, as things stand now."""
        if self.path is None:
            return MEMORY
        address = f"file:{quote(str(self.path))}"
        if not self.read_only:
            return address
        # Whoever may write tidies up: the last one to leave removes the log. A reader without
        # that right would leave an empty one behind.
        may_write = _is_writable(self.path) and _is_writable(self.path.parent)
        return f"{address}?mode={'rw' if may_write else 'ro'}"

    def state(self) -> tuple[int, ...]:
        """Return by what a change of a file, or of the log beside it, shows."""
        if self.path is None:
            return ()
        files = (self.path, *(Path(f"{self.path}{ending}") for ending in ("-wal", "-shm")))
        found = [file.stat() if file.exists() else None for file in files]
        return tuple(part for s in found if s for part in (s.st_ino, s.st_size, s.st_mtime_ns))

    def has_log(self) -> bool:
        """Tell whether something is in the log that the file does not have yet."""
        log = Path(f"{self.path}-wal")
        return log.exists() and log.stat().st_size > 0

    def is_full(self) -> bool:
        """Tell whether the disk has less room than SQLite needs beside a file to read its log."""
        try:
            return self.path is not None and shutil.disk_usage(self.path.parent).free < SHARED
        except OSError:
            return False


def place_of(shown: str, *, read_only: bool) -> Place:
    """Return how to open a file; refuse what cannot be one."""
    if shown == MEMORY:
        return Place(None, read_only, True)
    try:
        # SQLite keeps its log beside the file itself, not beside a link to it.
        path = Path(shown).resolve()
        if path.is_dir():
            raise StoreError("this is a folder", file=shown, remedy="name a file in it")
        is_there = path.exists()
        if not is_there and not path.parent.is_dir():
            raise StoreError("its folder does not exist", file=shown, remedy="make the folder")
        return Place(path, read_only or (is_there and not _is_writable(path)), not is_there)
    except (OSError, ValueError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise StoreError(
            f"the file cannot be opened: {reason}",
            file=shown[:200],
            remedy="look at its name and at the permissions of the folders that lead to it",
        ) from None


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
