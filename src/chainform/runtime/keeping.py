"""Where machine code is kept, by whoever offers to: nothing that goes wrong there stops a program.

Machine code can always be made again. A store that is closed or read-only keeps nothing, and that
is all; a keeper that fails in ways of its own is spoken about, since somebody has to mend it.
"""

from __future__ import annotations

import warnings
from typing import Any, Protocol, cast

from chainform.errors import Error, RunError


class Keeper(Protocol):
    """Where machine code is kept from one time to the next."""

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key."""
        ...


def checked_keeper(keeper: Any) -> Keeper:
    """Return a keeper, if it has what a keeper needs; RunError if not."""
    if callable(getattr(keeper, "get", None)) and callable(getattr(keeper, "put", None)):
        return keeper
    raise RunError(
        f"a keeper has get(key) and put(key, data); {type(keeper).__name__} does not",
        element="keeper",
        remedy="give the objects of a store: keeper=store.database.objects",
    )


def kept(keeper: Keeper, key: str) -> bytes | None:
    """Return what is kept under a key; None where there is nothing that could be used."""
    try:
        data: Any = keeper.get(key)
    except Error:
        return None
    except Exception as trouble:  # noqa: BLE001, a keeper is anybody's code
        _warn(keeper, f"get failed: {trouble!r}")
        return None
    if data is None or isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(cast(Any, data))
    _warn(keeper, f"get gave {type(data).__name__}, not bytes")
    return None


def keep(keeper: Keeper, key: str, data: bytes) -> None:
    """Keep bytes under a key, if that can be done."""
    try:
        keeper.put(key, data)
    except Error:
        return
    except Exception as trouble:  # noqa: BLE001, a keeper is anybody's code
        _warn(keeper, f"put failed: {trouble!r}")


def _warn(keeper: Keeper, trouble: str) -> None:
    text = f"the keeper of machine code, {type(keeper).__name__}, does not work: {trouble}"
    warnings.warn(text, RuntimeWarning, stacklevel=3)
