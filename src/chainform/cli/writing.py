"""Files that commands write: whole or not at all, and nothing is overwritten unasked."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from chainform.errors import ReadError, RunError


def target_of(name: str | None, source: str, *, force: bool, option: str = "-o") -> Path | None:
    """Return where to write, None for standard output; refuse what would destroy a file."""
    if name is None or name == "-":
        return None
    target = Path(name)
    if not exists(target):
        return target
    if target.is_dir():
        raise ReadError("this is a folder", file=str(target), element=option)
    with suppress(OSError, ValueError):
        if target.samefile(source):
            raise ReadError("this is the mechanism itself", file=str(target), element=option)
    if not force:
        raise existing(target)
    return target


def exists(target: Path) -> bool:
    """Tell whether something has this name already."""
    try:
        target.lstat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as problem:
        raise ReadError(f"it cannot be a file: {problem}", file=str(target)) from None
    return True


def existing(target: Path) -> ReadError:
    """Return the error about a file that is there already."""
    return ReadError("the file exists", file=str(target), remedy="--force overwrites it")


def write_file(target: Path, text: str, *, force: bool) -> None:
    """Write a whole file or none: a new one that cannot be finished is removed."""
    try:
        with target.open("w" if force else "x", encoding="utf-8", newline="\n") as stream:
            try:
                stream.write(text)
                stream.flush()
            except OSError:
                if not force:
                    target.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise existing(target) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        remedy = "look at the folder, the rights to it, and the room on the disk"
        raise RunError(
            f"it cannot be written: {reason}", file=str(target), remedy=remedy
        ) from problem
