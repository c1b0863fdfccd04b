"""Machine code of the tests: each text is compiled once, by whichever process needs it first.

Half of the time of all tests would go to LLVM. The code is stored under everything that it depends
on: the text, the processor, the sources of the compiler's room and the version of LLVM. So it is
what LLVM would make again, and a changed emitter or procedure is compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from chainform.runtime import Target, engine
from chainform.runtime.cache import compiler

DAYS = 7
"""How long code stays that no test uses."""


class CompiledOnce:
    """Stands for the compiler, `engine.compiled`; its folder serves all processes of a test run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, text: str, target: Target) -> bytes:
        """Return the machine code of a text."""
        key = hashlib.sha256(f"{compiler()} {target} {text}".encode()).hexdigest()
        file = self.folder / key
        with suppress(FileNotFoundError):
            code = file.read_bytes()
            os.utime(file)
            return code
        code = engine.compiled(text, target)
        draft = self.folder / f"{key}.{secrets.token_hex(4)}"
        draft.write_bytes(code)
        draft.replace(file)
        return code

    def remove_old(self) -> None:
        """Remove the code that was not used for days."""
        oldest = time.time() - DAYS * 24 * 3600
        for entry in os.scandir(self.folder):
            with suppress(FileNotFoundError):
                if entry.stat().st_mtime < oldest:
                    Path(entry.path).unlink()
