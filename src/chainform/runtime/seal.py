"""Machine code is taken only from oneself: what was kept is sealed with a key of the user's own.

A store or a file may come from somebody else, and machine code does whatever it likes. Code whose
seal does not fit is compiled again.
"""

from __future__ import annotations

import hmac
import os
import secrets
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from chainform.places import data_folder
from chainform.runtime.keeping import Keeper, checked_keeper, keep, kept

KEY_FILE = "machine-code.key"
_BYTES = 32


def user_key() -> bytes | None:
    """Return the user's key, made when it is first asked for; None where it cannot be kept."""
    try:
        folder = data_folder(sys.platform, os.environ)
    except RuntimeError:
        # A user without a home, as in some containers.
        return None
    return key_in(folder)


def key_in(folder: Path) -> bytes | None:
    """Return the key in a folder, made when there is none; None where it cannot be kept."""
    file = folder / KEY_FILE
    with suppress(OSError):
        if not file.exists():
            _make(file)
        key = file.read_bytes()
        return key if len(key) == _BYTES else None
    return None


def _make(file: Path) -> None:
    """Make a key, whole under another name first, so that nobody reads half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
        f.write(secrets.token_bytes(_BYTES))
    try:
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()


def sealed(code: bytes, name: str, key: bytes) -> bytes:
    """Return machine code with a seal that holds for its name."""
    return hmac.digest(key, name.encode() + code, sha256) + code


def unsealed(data: bytes, name: str, key: bytes) -> bytes | None:
    """Return machine code whose seal fits; None otherwise."""
    seal, code = data[:32], data[32:]
    return (
        code if hmac.compare_digest(seal, hmac.digest(key, name.encode() + code, sha256)) else None
    )


class Sealed:
    """A keeper that seals what another one keeps; without a key it keeps nothing.

    Several users may share a store: each has places of their own in it, which only they can name.
    Where the other one cannot read or write, machine code is made again.
    """

    def __init__(self, keeper: Keeper, key: bytes | None = None) -> None:
        self.keeper = checked_keeper(keeper)
        self.key = user_key() if key is None else key

    def get(self, key: str) -> bytes | None:
        """Return the machine code under a key, if the user made it."""
        if self.key is None:
            return None
        place = place_of(key, self.key)
        data = kept(self.keeper, place)
        return None if data is None else unsealed(data, place, self.key)

    def put(self, key: str, data: bytes) -> None:
        """Keep machine code under a key."""
        if self.key is not None:
            place = place_of(key, self.key)
            keep(self.keeper, place, sealed(data, place, self.key))


def place_of(name: str, key: bytes) -> str:
    """Return where machine code of this name is kept by the user who has the key."""
    return hmac.digest(key, b"place " + name.encode(), sha256).hex()
