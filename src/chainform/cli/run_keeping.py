"""Files that a motion on its way is kept in: all that there is, wherever it can be written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chainform.errors import Error
from chainform.simulation import Run


@dataclass
class Keeping:
    """Writes a run that is not at its end; a complete one that was there before stays.

    `earlier` are files that were there at the start, of other runs: what is not complete goes
    beside them.
    """

    files: Sequence[str]
    outputs: Sequence[str]
    earlier: Sequence[str] = ()
    written: list[str] = field(default_factory=list[str])
    """Where it was written the last time."""

    def __call__(self, part: Run) -> None:
        """Write a part of a motion to all files; without its outputs, where these are the trouble.

        Raises the first error, after everything has been tried.
        """
        self.written, troubles = [], list[Error]()
        for file in map(self._place, self.files):
            try:
                self._write(part, file)
                self.written.append(file)
            except Error as problem:
                troubles.append(problem)
        if troubles:
            raise troubles[0]

    def _write(self, part: Run, file: str) -> None:
        try:
            part.save(file, self.outputs)
        except Error:
            if not self.outputs:
                raise
            part.save(file)

    def _place(self, file: str) -> str:
        if file not in self.earlier:
            return file
        path = Path(file)
        return str(path.with_name(f"{path.stem}.part{path.suffix}"))

    def finished(self) -> None:
        """Remove parts that were written beside files which are whole now."""
        for file in self.earlier:
            with suppress(OSError):
                Path(self._place(file)).unlink(missing_ok=True)
