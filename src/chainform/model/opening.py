"""Open the store of models.

The store itself is imported when it is first opened: the library below it takes a third of the
time in which all of chainform starts.
"""

from __future__ import annotations

from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from chainform.errors import StoreError
from chainform.model.user_data import default_url

if TYPE_CHECKING:
    from chainform.model.store import Store


def open_store(url: str | PathLike[str] | None = None, *, read_only: bool = False) -> Store:
    """Open the store of models: a path or `sqlite:///path`, or `postgresql://...`.

    Without a url it is the one that the environment variable CHAINFORM_DB names, else the file
    `models.db` in the user's data folder. A file that does not exist is made unless the store is
    to be read only, and so is the folder where no url is given.
    """
    from chainform.model.store import Store
    from chainform.store import Database

    place = default_url() if url is None else str(url)
    if url is None and "://" not in place and not read_only:
        with suppress(OSError):
            Path(place).parent.mkdir(parents=True, exist_ok=True)
    return Store(Database.open(place, read_only=read_only))


def open_store_file(path: str | PathLike[str]) -> Store:
    """Open a file that must exist, to read from it."""
    if not Path(path).is_file():
        raise StoreError("there is no such file", file=str(path), remedy="check the name")
    return open_store(path, read_only=True)
