"""JSON read without indulgence: every fault is an error that names the file and the place."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from chainform.errors import ReadError

STDIN = "-"

MOST_BYTES = 1024**3
"""The greatest size of what is read; a device may have no end."""


def read_json(source: str) -> Any:
    """Return what a JSON file holds, stdin for `-`, or what is given itself as `{...}`.

    Every number is a float.

    NaN and Infinity come through as such, for the caller to refuse where they stand.
    """
    file = name_of(source)
    text = _decoded(_bytes_of(source, file), file)
    if not text.strip():
        raise ReadError("the file is empty", file=file, remedy='write at least {"q": [...]}')

    def record(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        return _record(pairs, file)

    try:
        return json.loads(text, object_pairs_hook=record, parse_int=float)
    except json.JSONDecodeError as problem:
        raise ReadError(
            f"this is not JSON: {problem.msg}",
            file=file,
            element=f"line {problem.lineno}, column {problem.colno}",
        ) from None
    except RecursionError:
        raise ReadError("lists or tables are nested too deeply", file=file) from None


def name_of(source: str) -> str:
    """Return how messages call a source."""
    if source == STDIN:
        return "standard input"
    return "the state given" if _is_inline(source) else source


def _is_inline(source: str) -> bool:
    return source.lstrip().startswith("{")


def _bytes_of(source: str, file: str) -> bytes:
    if _is_inline(source):
        return source.encode("utf-8", "surrogatepass")
    try:
        if source != STDIN:
            with Path(source).open("rb") as stream:
                return _bounded(stream, file)
        if sys.stdin is None:
            raise ReadError("it is closed", file=file)
        return _bounded(sys.stdin.buffer, file)
    except FileNotFoundError:
        remedy = "name a JSON file, write {...} itself, or - for standard input"
        raise ReadError("there is no such file", file=file, remedy=remedy) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ReadError(f"it cannot be read: {reason}", file=file) from None
    except ValueError as problem:
        raise ReadError(f"it cannot be a file: {problem}", file=file) from None


def _bounded(stream: BinaryIO, file: str) -> bytes:
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ReadError("it is larger than 1 GB", file=file, remedy="split the batch of states")
    return data


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ReadError(
            "the text is not UTF-8", file=file, element=f"byte {problem.start + 1}"
        ) from None


def _record(pairs: Sequence[tuple[str, Any]], file: str) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise ReadError("the key is given twice", file=file, element=repr(key[:60]))
        record[key] = value
    return record
