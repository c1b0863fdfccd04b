"""The store of models: where it is, and how it is opened.

The store itself is imported when it is first opened: the library below it takes a third of the
time in which all of chainform starts.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainform.errors import StoreError
from chainform.files import data_folder
from chainform.given import Given

if TYPE_CHECKING:
    from chainform.model.store import Store

VARIABLE = "CHAINFORM_DB"
"""The environment variable that names the store."""


def default_url() -> str:
    """Return the store that the environment names, else a file in the user's data folder."""
    return os.environ.get(VARIABLE) or str(data_folder(sys.platform, os.environ) / "models.db")


def open_store(
    url: str | PathLike[str] | None = None,
    *,
    read_only: bool = False,
    timeout: float | None = None,
) -> Store:
    """Open the store of models: a path or `sqlite:///path`, or `postgresql://...`.

    Without a url it is the one that the environment variable CHAINFORM_DB names, else the file
    `models.db` in the user's data folder. A file that does not exist is made when something is
    first saved, for reading only it must exist; the user's own folder is made where it is not.
    `timeout` is how many seconds to wait while another process writes; 30 unless the url ends with
    `?timeout=...`.
    """
    from chainform.model.store import Store
    from chainform.store import Database

    place = default_url() if url is None else _text(url)
    if url is None and "://" not in place and not read_only:
        with suppress(OSError):
            Path(place).parent.mkdir(parents=True, exist_ok=True)
    database = Database.open(place, read_only=read_only, timeout=timeout, make_later=True)
    return Store(database)


def open_store_file(path: str | PathLike[str]) -> Store:
    """Open a file that must exist, to read from it."""
    from chainform.model.store import Store
    from chainform.store import Database

    return Store(Database.open_file(_text(path)))


def _text(url: str | PathLike[Any]) -> str:
    remedy = "write a path, sqlite:///path or postgresql://user@host/database"
    place: Any = fspath(url) if isinstance(url, PathLike) else url
    return Given(place, "the store", raises=StoreError).text(remedy)
