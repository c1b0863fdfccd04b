"""From a file to a table: bytes, text, TOML or JSON, with decimals kept exact."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from chainform.errors import ReadError
from chainform.expressions import fraction_of_decimal

MAX_BYTES = 64 * 1024 * 1024
"""The greatest size of a file that is read."""

Table: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a mechanism comes from: the name of the file for messages, and its bytes."""

    file: str | None = None
    data: bytes | None = None

    @property
    def name(self) -> str:
        """A name for a mechanism that has none of its own: that of the file without ending."""
        stem = Path(self.file).stem.strip() if self.file else ""
        return stem if stem.isprintable() and 0 < len(stem) <= 200 else "mechanism"

    def error(self, message: str, remedy: str, element: str | None = None) -> ReadError:
        """Return the error for this file."""
        return ReadError(message, file=self.file, element=element, remedy=remedy)


def bytes_of(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file, or raise ReadError that says why they cannot be had."""
    file = str(path)
    source = Source(file)
    try:
        place = Path(file)
        if place.is_dir():
            raise source.error("this is a folder", "name a file in it")
        if not place.exists():
            raise source.error("there is no such file", "check the name and the folder")
        if place.stat().st_size > MAX_BYTES:
            raise source.error("the file is larger than 64 MB", "split it or leave out data")
        return place.read_bytes()
    except (OSError, ValueError) as error:
        message = f"the file cannot be read: {error}"
        raise source.error(message, "check its name and rights") from error


def text_of(data: bytes, source: Source) -> str:
    """Return the text of UTF-8 bytes."""
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        remedy = "save it as UTF-8 without byte order mark"
        raise source.error("the file begins with a byte order mark", remedy)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8 text: byte {error.start + 1} does not belong there"
        raise source.error(message, "save it as UTF-8") from error


def table_from_text(text: str, syntax: str, source: Source) -> Table:
    """Return the table written in `text`; `syntax` is `toml` or `json`."""
    if syntax not in SYNTAXES:
        known = ", ".join(SYNTAXES)
        raise source.error(f"there is no syntax {syntax!r}", f"use one of {known}")
    if not text.strip():
        raise source.error("the file is empty", "describe a mechanism in it")
    try:
        value = SYNTAXES[syntax](text)
    except RecursionError as error:
        raise source.error("lists or tables are nested too deep", "flatten them") from error
    except ReadError as error:
        error.file = source.file
        raise
    except ValueError as error:
        message = f"this is not {syntax.upper()}: {str(error)[:300]}"
        raise source.error(message, "correct the text at that place") from error
    if not isinstance(value, dict):
        raise source.error("the file holds no table", "begin with name-value pairs")
    return value  # pyright: ignore[reportUnknownVariableType]


def _read_toml(text: str) -> object:
    # TOML knows carriage returns only before line feeds; text read in binary may hold others.
    return tomllib.loads(text.replace("\r\n", "\n"), parse_float=_exact_float)


def _read_json(text: str) -> object:
    return json.loads(
        text,
        parse_float=fraction_of_decimal,
        parse_int=_exact_integer,
        parse_constant=_exact_float,
        object_pairs_hook=_distinct_pairs,
    )


SYNTAXES: dict[str, Callable[[str], object]] = {"toml": _read_toml, "json": _read_json}


def _exact_float(text: str) -> Fraction:
    """Return the exact value of a decimal; TOML and JSON both know words for NaN and infinity."""
    if any(letter in text.lower() for letter in "na"):
        raise ReadError(f"{text!r} is not a finite number", remedy="write a finite number")
    return fraction_of_decimal(text.replace("_", ""))


def _exact_integer(text: str) -> int:
    return int(fraction_of_decimal(text))


def _distinct_pairs(pairs: list[tuple[str, object]]) -> Table:
    table: Table = {}
    for key, value in pairs:
        if key in table:
            raise ReadError(f"the key {key[:60]!r} occurs twice in one table", remedy="remove one")
        table[key] = value
    return table
