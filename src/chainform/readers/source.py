"""From a file to a table: bytes, text, TOML or JSON, with exact decimals."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TypeAlias, cast

from chainform.errors import ReadError
from chainform.expressions import fraction_of_decimal
from chainform.given import Given

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

    def given(self, value: object, element: str = "") -> Given:
        """Return a value of this file."""
        return Given(value, element, self.file)

    def error(self, message: str, remedy: str, element: str | None = None) -> ReadError:
        """Return the error for this file."""
        return ReadError(message, file=self.file, element=element, remedy=remedy)


def bytes_of(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file, or raise ReadError that says why they cannot be had."""
    file = str(path)
    source = Source(file)
    try:
        path = Path(file)
        if path.is_dir():
            raise source.error("this is a folder", "name a file in it")
        if not path.exists():
            raise source.error("there is no such file", "check the name and the folder")
        if path.stat().st_size > MAX_BYTES:
            raise source.error("the file is larger than 64 MB", "split it or leave out data")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise source.error("it has more than 64 MB", "name a file that ends")
        return data
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
        numbers = ExactNumbers()
        value = SYNTAXES[syntax](text, numbers)
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
    table = cast("Table", value)
    if numbers.unread:
        first = numbers.unread[0]
        raise source.error(first.message, first.remedy, place_of(first, table))
    return table


@dataclass(frozen=True, eq=False)
class Unread:
    """A number that is none here; where it stands is known when all of the text is read."""

    message: str
    remedy: str


@dataclass(frozen=True)
class ExactNumbers:
    """Reads decimals exactly, and notes those that have no value."""

    unread: list[Unread] = field(default_factory=list[Unread])

    def decimal(self, text: str) -> Fraction | Unread:
        """Return the value of a decimal; TOML and JSON both know words for NaN and infinity."""
        try:
            if any(letter in text.lower() for letter in "na"):
                raise ReadError(f"{text!r} is not a finite number", remedy="write a finite number")
            return fraction_of_decimal(text.replace("_", ""))
        except ReadError as error:
            self.unread.append(Unread(error.message, error.remedy or ""))
            return self.unread[-1]

    def integer(self, text: str) -> int | Unread:
        """Return the value of an integer."""
        value = self.decimal(text)
        return int(value) if isinstance(value, Fraction) else value


def place_of(number: Unread, table: Table) -> str | None:
    """Return where a number stands: `initial, q[2]`."""
    left: list[tuple[str, object]] = [(key, value) for key, value in table.items()]
    while left:
        where, value = left.pop()
        if value is number:
            return where[:200]
        if isinstance(value, dict):
            entries = cast("Table", value).items()
            left += [(f"{where}, {key[:60]}", entry) for key, entry in entries]
        elif isinstance(value, list):
            items = enumerate(cast("list[object]", value), 1)
            left += [(f"{where}[{k}]", entry) for k, entry in items]
    return None


LONG_INTEGER = re.compile(r"(?<![\w.])([0-9]{20})(?:_?[0-9]){4000,}(?![\w.])")
"""An integer of so many digits that Python does not read it."""


TEXTS = re.compile(
    r""""{3}(?:\\.|[^\\])*?(?:"{3}|\Z)|'{3}.*?(?:'{3}|\Z)"""
    r"""|"(?:\\[^\n]|[^"\\\n])*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
"""Texts, quoted keys and comments of TOML, to the end of the line where they are not closed."""

MOST_PARTS = 100
LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MOST_PARTS},}}+")
"""A key of more parts than a mechanism can have: the time to read it grows by their square."""


def _check_keys(text: str) -> None:
    """Refuse keys of very many parts, a.b.c. and so on."""
    # A text may stand for a part of a key; what is in it does not matter.
    match = LONG_KEY.search(TEXTS.sub("_", text))
    if match is not None:
        raise ReadError(
            f"the key {match[0][:40]}... has more than {MOST_PARTS} parts",
            remedy="write tables in tables less deep",
        )


def _read_toml(text: str, numbers: ExactNumbers) -> object:
    # TOML knows carriage returns only before line feeds; text read in binary may hold others.
    text = text.replace("\r\n", "\n")
    _check_keys(text)
    try:
        return tomllib.loads(text, parse_float=numbers.decimal)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        # As a decimal it is noted with its path.
        numbers.unread.clear()
        return tomllib.loads(LONG_INTEGER.sub(r"\1e9999", text), parse_float=numbers.decimal)


def _read_json(text: str, numbers: ExactNumbers) -> object:
    return json.loads(
        text,
        parse_float=numbers.decimal,
        parse_int=numbers.integer,
        parse_constant=numbers.decimal,
        object_pairs_hook=_distinct_pairs,
    )


SYNTAXES: dict[str, Callable[[str, ExactNumbers], object]] = {
    "toml": _read_toml,
    "json": _read_json,
}


def _distinct_pairs(pairs: list[tuple[str, object]]) -> Table:
    table: Table = {}
    for key, value in pairs:
        if key in table:
            raise ReadError(f"the key {key[:60]!r} occurs twice in one table", remedy="remove one")
        table[key] = value
    return table
