"""Which store is meant: by `--db`, by the environment, or none at all."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chainform.errors import StoreError
from chainform.model import default_url, open_store

if TYPE_CHECKING:
    from chainform.model import Store


def add_db(parser: ArgumentParser) -> None:
    """Add `--db`, which every command has."""
    parser.add_argument(
        "--db",
        metavar="URL",
        help="the store of models: a file, or postgresql://... (default: CHAINFORM_DB, else "
        "models.db in the user's data folder)",
    )


def chosen_store(args: Namespace, *, make: bool = False, read_only: bool = False) -> Store:
    """Open the store that the options or the environment name; only `make` makes a new one."""
    if args.db is not None and (args.db in ("", ":memory:") or args.db.rstrip("/") == "sqlite:"):
        raise StoreError(
            "a store in memory would be gone with the command", file=args.db, remedy="name a file"
        )
    file = store_file(args)
    with told(args.db or default_url()):
        if file is not None:
            check_regular(file)
        if file is not None and not make and not file.exists():
            raise StoreError(
                "there is no store of models",
                file=str(file),
                remedy="chainform derive FILE --save NAME makes it; --db names another one",
            )
        return open_store(args.db, read_only=read_only)


def store_file(args: Namespace) -> Path | None:
    """Return the file of the store, None where it is on a server."""
    url: str = args.db or default_url()
    scheme, mark, rest = url.partition(":///")
    if mark and scheme.partition("+")[0] == "sqlite":
        return Path(rest.partition("?")[0])
    return None if "://" in url else Path(url)


def check_regular(path: Path) -> None:
    """Refuse pipes and devices: SQLite would wait for them, perhaps for ever."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise StoreError("this is not a regular file", file=str(path), remedy="name another file")


def exists(path: Path) -> bool:
    """Tell whether there is something of this name; what cannot be a name does not exist."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


@contextmanager
def told(place: str) -> Generator[None]:
    """Turn what the system or a driver says of a place into an error of the store."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise StoreError(
            f"it cannot be opened: {reason}",
            file=_without_password(place),
            remedy="look at the name, and at the rights to the file and its folder",
        ) from problem
    except (ValueError, OverflowError) as problem:
        raise StoreError(
            f"it cannot be the address of a store: {problem}",
            file=_without_password(place),
            remedy="write a path, or postgresql://user@host:port/database",
        ) from None


def _without_password(place: str) -> str:
    """Return the address up to 200 characters, a password in it replaced by ***."""
    scheme, mark, rest = place.partition("://")
    user, at, host = rest.rpartition("@")
    if not mark or not at or ":" not in user:
        return place[:200]
    return f"{scheme}://{user.partition(':')[0]}:***@{host}"[:200]
