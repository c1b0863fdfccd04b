"""Machine code in a folder of the user's cache, up to a size; what was used last stays longest."""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chainform.places import cache_folder

MOST_BYTES = 256 * 2**20
"""What all files together may take; half of it is left when that is reached."""
VARIABLE = "CHAINFORM_CACHE"
"""The variable of the environment that names another folder; nothing in it stands for no cache."""


@dataclass(frozen=True)
class CodeCache:
    """Files of machine code in a folder; whatever goes wrong there, the code is compiled again."""

    folder: Path
    most_bytes: int = MOST_BYTES

    @staticmethod
    def of_user() -> CodeCache | None:
        """Return the user's cache; None where there is none."""
        named = os.environ.get(VARIABLE)
        if named is not None:
            return CodeCache(Path(named)) if named else None
        try:
            return CodeCache(cache_folder(sys.platform, os.environ))
        except RuntimeError:
            # A user without a home, as in some containers.
            return None

    def get(self, key: str) -> bytes | None:
        """Return the machine code under a key."""
        file = self._file(key)
        with suppress(OSError):
            code = file.read_bytes()
            os.utime(file)
            return code
        return None

    def put(self, key: str, data: bytes) -> None:
        """Write machine code under a key, whole under another name first."""
        file = self._file(key)
        draft = file.with_suffix(f".{secrets.token_hex(4)}")
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(data)
                draft.replace(file)
            finally:
                draft.unlink(missing_ok=True)
            self._make_room()

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.code"

    def _make_room(self) -> None:
        """Remove the files that were not used for longest, if all are too large together."""
        files = [(entry.stat(), entry.path) for entry in os.scandir(self.folder)]
        total = sum(status.st_size for status, _ in files)
        if total <= self.most_bytes:
            return
        for status, path in sorted(files, key=lambda file: file[0].st_mtime):
            Path(path).unlink(missing_ok=True)
            total -= status.st_size
            if total <= self.most_bytes // 2:
                return
