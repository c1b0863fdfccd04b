"""Files written whole or not at all, bounded decompression, and the folders of a user.

A file that is there stays until the new one is done.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from shutil import rmtree

from chainform.errors import RunError

REMEDY = "look at the folder, the rights to it, and the room on the disk"


@contextmanager
def replacing(path: str | PathLike[str]) -> Generator[Path]:
    """Give a new file that takes the place of `path` when all went well, and is gone if not.

    It is in the same folder, and its name is short and ends as that of `path` does. Where `path` is
    a link, the file that it leads to is replaced. What the system refuses is a RunError.
    """
    target, part = _new_file(path)
    try:
        yield part
        _take_rights(part, target)
        part.replace(target)
    except OSError as problem:
        raise _refused(path, problem) from problem
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(path: str | PathLike[str], data: bytes) -> Path:
    """Write a file and return where it is."""
    with replacing(path) as part:
        part.write_bytes(data)
    return Path(path)


def write_folder(folder: str | PathLike[str], contents: Mapping[str, str | bytes]) -> Path:
    """Write a new folder of files, whole or not at all; RunError where it has something in it."""
    check_folder(folder)
    target = Path(folder)
    is_new = not target.is_dir()
    part = (target.parent if is_new else target) / f".chainform-{token_hex(4)}"
    try:
        part.mkdir()
    except (OSError, ValueError) as problem:
        raise _refused(folder, problem) from problem
    try:
        for name, content in contents.items():
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        if is_new:
            part.rename(target)
        else:
            _move_up(part)
    except (OSError, ValueError) as problem:
        raise _refused(folder, problem) from problem
    finally:
        rmtree(part, ignore_errors=True)
    return target


def _move_up(folder: Path) -> None:
    """Move what a folder holds into the one around it; none of it where that fails or is stopped.

    The folder around may be the one that somebody works in, or a volume: it stays the same one.
    """
    names = [entry.name for entry in folder.iterdir()]
    try:
        for name in names:
            (folder / name).rename(folder.parent / name)
    except BaseException:
        for name in names:
            with suppress(OSError):
                (folder.parent / name).rename(folder / name)
        raise


def check_folder(folder: str | PathLike[str]) -> None:
    """Refuse, before anything is computed, a place at which no new folder can be written."""
    target = Path(folder)
    try:
        if not str(folder):
            raise FileExistsError(errno.EINVAL, "it has no name")
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            raise FileExistsError(errno.EEXIST, "this is a file, not a folder")
        if target.is_dir() and any(target.iterdir()):
            raise FileExistsError(errno.ENOTEMPTY, "the folder is not empty")
        if not target.absolute().parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    except (OSError, ValueError) as problem:
        raise _refused(folder, problem) from problem


def check_target(path: str | PathLike[str]) -> None:
    """Refuse, before anything is computed, a place at which no file can be written."""
    try:
        if not target_of(path).parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    except (OSError, ValueError) as problem:
        raise _refused(path, problem) from problem


def target_of(path: str | PathLike[str]) -> Path:
    """Return the file that a path leads to; OSError for a folder, a device or a pipe."""
    target = Path(path)
    if target.is_symlink():
        # A link to itself remains one.
        target = Path(os.path.realpath(target))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "this is a device or a pipe")
    return target


def _new_file(path: str | PathLike[str]) -> tuple[Path, Path]:
    """Return the file that a path leads to, and a new, empty one in its folder."""
    try:
        target = target_of(path)
        while True:
            part = target.with_name(f".chainform-{token_hex(4)}{Path(path).suffix}")
            with suppress(FileExistsError):
                part.touch(exist_ok=False)
                return target, part
    except (OSError, ValueError) as problem:
        raise _refused(path, problem) from problem


def _take_rights(part: Path, target: Path) -> None:
    """Let a file be read and written by those who could do so with the one that it replaces."""
    with suppress(OSError):
        part.chmod(stat.S_IMODE(target.stat().st_mode))


def _refused(path: str | PathLike[str], problem: OSError | ValueError) -> RunError:
    reason, remedy = getattr(problem, "strerror", None) or str(problem), REMEDY
    if isinstance(problem, FileExistsError):
        remedy = "name a new folder, or an empty one"
    elif isinstance(problem, FileNotFoundError):
        reason, remedy = f"the folder {Path(path).parent} does not exist", "make it first"
    elif isinstance(problem, IsADirectoryError):
        reason, remedy = "this is a folder", "name a file in it"
    message = f"it cannot be written: {reason}"
    return RunError(message, file=str(path), element="file", remedy=remedy)


LEAST_UNPACKED, GREATEST_RATIO = 16 * 2**20, 16
"""Packed bytes may become 16 MB and sixteen times their own length."""


def unpacked_size(packed: int) -> int:
    """Return the most bytes that so many packed bytes may become.

    What we write becomes four or five times as long. A file of zeros would become a thousand times
    as long, so that a few megabytes could fill the memory.
    """
    return LEAST_UNPACKED + GREATEST_RATIO * packed


def decompressed(data: bytes) -> bytes:
    """Return the content of bytes that zlib packed; zlib.error where they are damaged or a bomb.

    No more memory is taken than `unpacked_size` allows.
    """
    machine = zlib.decompressobj()
    found = machine.decompress(data, unpacked_size(len(data)))
    if not machine.eof:
        raise zlib.error("the bytes are cut off, or would become far longer than they are")
    return found


def data_folder(platform: str, environment: Mapping[str, str]) -> Path:
    """Return the folder for our data, as each platform has it; it need not exist."""
    home = Path.home()
    if platform == "win32":
        folder = _absolute(environment.get("LOCALAPPDATA")) or home / "AppData" / "Local"
    elif platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = _absolute(environment.get("XDG_DATA_HOME")) or home / ".local" / "share"
    return folder / "chainform"


def cache_folder(platform: str, environment: Mapping[str, str]) -> Path:
    """Return the folder for what can be made again, as each platform has it; it need not exist."""
    home = Path.home()
    if platform == "win32":
        folder = _absolute(environment.get("LOCALAPPDATA")) or home / "AppData" / "Local"
        return folder / "chainform" / "Cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "chainform"
    return (_absolute(environment.get("XDG_CACHE_HOME")) or home / ".cache") / "chainform"


def _absolute(text: str | None) -> Path | None:
    """Return a folder that the environment names; a relative one is to be ignored."""
    return Path(text) if text and Path(text).is_absolute() else None
