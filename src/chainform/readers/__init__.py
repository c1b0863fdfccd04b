"""Read mechanisms from files: `read` chooses the reader, each form has a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path

from chainform.mechanism import Mechanism
from chainform.mechanism.tables import kind_of, table_of
from chainform.readers.native import read_native
from chainform.readers.source import Source, bytes_of, table_from_text, text_of
from chainform.readers.tree import read_tree
from chainform.readers.vectors import read_vectors

__all__ = ["FILE_TYPES", "READERS", "read", "read_text"]

Reader = Callable[[Mapping[str, object], Source], Mechanism]

READERS: dict[str, Reader] = {
    "native": read_native,
    "vectors": read_vectors,
    "tree": read_tree,
}
"""The forms of TOML and JSON files, by the value of their key `format`."""

FILE_TYPES: dict[str, str] = {".toml": "toml", ".json": "json"}
"""The syntax of a file by the ending of its name."""


def read(path: str | PathLike[str], format: str | None = None) -> Mechanism:  # noqa: A002
    """Return the mechanism described in a file.

    The ending of the name tells TOML from JSON. `format` (native, vectors or tree) overrides the
    key of that name in the file; without either the form is native.
    """
    file = str(path)
    syntax = FILE_TYPES.get(Path(file).suffix.lower())
    data = bytes_of(path)
    source = Source(file, data)
    if syntax is None:
        remedy = "name it with one of these endings: " + ", ".join(FILE_TYPES)
        raise source.error("the ending of the name tells no file type", remedy)
    return _read(text_of(data, source), syntax, source, format)


def read_text(
    text: str,
    syntax: str,
    file: str | None = None,
    format: str | None = None,  # noqa: A002
) -> Mechanism:
    """Return the mechanism described in a text; `syntax` is `toml` or `json`."""
    source = Source(file, text.encode("utf-8", "surrogatepass"))
    return _read(text, syntax, source, format)


def _read(text: str, syntax: str, source: Source, form: str | None) -> Mechanism:
    table = table_from_text(text, syntax, source)
    block = table
    if "mechanism" in table:
        # A mechanism may stand among results computed for it; those are not ours to read.
        block = table_of(table["mechanism"], source.file, "mechanism")
    chosen = form or block.get("format") or table.get("format") or "native"
    if not isinstance(chosen, str) or chosen not in READERS:
        shown = repr(chosen[:40]) if isinstance(chosen, str) else kind_of(chosen)
        known = ", ".join(READERS)
        raise source.error(f"there is no format {shown}", f"use one of {known}", "format")
    return READERS[chosen](block, source)
