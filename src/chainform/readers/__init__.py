"""Read mechanisms from files: `read` chooses the reader, each form has a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, cast

from chainform.given import Given
from chainform.mechanism import Mechanism
from chainform.readers.native import native_text, native_toml, read_native
from chainform.readers.source import Source, Table, bytes_of, table_from_text, text_of
from chainform.readers.tree import read_tree
from chainform.readers.urdf.read import read_urdf
from chainform.readers.urdf.write import export_urdf, side_path, urdf_text, write_urdf
from chainform.readers.vectors import read_vectors

__all__ = [
    "DOCUMENT_READERS",
    "EXPRESSIONS",
    "FILE_TYPES",
    "READERS",
    "ReadOptions",
    "Source",
    "Table",
    "bytes_of",
    "export_urdf",
    "native_text",
    "native_toml",
    "read",
    "read_text",
    "side_path",
    "table_from_text",
    "text_of",
    "urdf_text",
    "write_urdf",
]

Reader = Callable[[Mapping[str, object], Source], Mechanism]
DocumentReader = Callable[[bytes, Source, Mapping[str, object]], Mechanism]

READERS: dict[str, Reader] = {
    "native": read_native,
    "vectors": read_vectors,
    "tree": read_tree,
}
"""The forms of TOML and JSON files, by the value of their key `format`."""

DOCUMENT_READERS: dict[str, DocumentReader] = {"urdf": read_urdf}
"""The readers of other files, which take the bytes and options of their own."""

FILE_TYPES: dict[str, str] = {".toml": "toml", ".json": "json", ".urdf": "urdf", ".xacro": "urdf"}
"""The syntax of a file by the ending of its name."""

PART = ("root", "tips")
"""The options that bound the part of a mechanism to read, in files of every form."""

EXPRESSIONS = ".expr"
"""The ending of files of expressions, which describe no mechanism."""


class ReadOptions(TypedDict, total=False):
    """Options of `read`, which tells what each means."""

    base: Literal["fixed", "floating"] | str
    mimic: Literal["couple", "free"] | str
    snap: bool | float | Mapping[str, float]
    root: str | None
    tips: str | Sequence[str] | None
    side_file: str | PathLike[str] | bool | None


def read(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002
    **options: Unpack[ReadOptions],
) -> Mechanism:
    """Return the mechanism described in a file.

    The ending of the name tells the type of the file. `format` overrides it for URDF (urdf), and
    the key of that name in TOML and JSON files (native, vectors or tree); without either the form
    of these is native.

    `root` and `tips` bound the part to read: the segments (links of a URDF) beyond the root that
    lie on the way to the tips.

    Options of URDF files: `base` ("fixed" or "floating"), `mimic` ("couple" or "free"), `snap`
    (True, 0 or {"angle": rad, "entry": relative}), `side_file` (a path, None for the one next to
    the file, False for none).
    """
    file = _file_of(path)
    syntax = FILE_TYPES.get(Path(file).suffix.lower())
    data = bytes_of(file)
    source = Source(file, data)
    if format in DOCUMENT_READERS:
        return DOCUMENT_READERS[format](data, source, options)
    if syntax is None and Path(file).suffix.lower() == EXPRESSIONS:
        remedy = "derive it: chainform derive FILE, or cf.read_expressions(FILE) in Python"
        raise source.error("this is a file of expressions, and no mechanism", remedy)
    if syntax is None:
        remedy = (
            f"name it with one of these endings: {', '.join(FILE_TYPES)}; a file of expressions "
        )
        remedy += f"with {EXPRESSIONS}"
        raise source.error("the ending of the name tells no file type", remedy)
    if syntax in DOCUMENT_READERS:
        _check_format(format, syntax, source)
        return DOCUMENT_READERS[syntax](data, source, options)
    return _read(text_of(data, source), syntax, source, format, options)


def read_text(
    text: str,
    syntax: str,
    file: str | None = None,
    format: str | None = None,  # noqa: A002
    **options: Unpack[ReadOptions],
) -> Mechanism:
    """Return the mechanism described in a text; `syntax` is `toml`, `json` or `urdf`."""
    source = Source(file, text.encode("utf-8", "surrogatepass"))
    if syntax in DOCUMENT_READERS:
        _check_format(format, syntax, source)
        return DOCUMENT_READERS[syntax](source.data or b"", source, options)
    return _read(text, syntax, source, format, options)


def _file_of(path: object) -> str:
    """Return the name of a file; a model has none."""
    if isinstance(path, str | PathLike):
        return str(cast("str | PathLike[str]", path))
    has_mechanism = isinstance(getattr(path, "mechanism", None), Mechanism)
    remedy = "give its .mechanism" if has_mechanism else 'write "robot.urdf"'
    raise Given(path, "path").expected("the path of a file", remedy)


def _check_format(form: str | None, syntax: str, source: Source) -> None:
    if form not in (None, syntax):
        message = f"a {syntax.upper()} file has no format {form[:40]!r}"
        raise source.error(message, "leave it out", "format")


def _read(
    text: str, syntax: str, source: Source, form: str | None, options: Mapping[str, object]
) -> Mechanism:
    others = [name for name in options if name not in PART]
    if others:
        message = f"{syntax.upper()} files have no option {others[0]!r}"
        raise source.error(message, "leave it out; what it says stands in the file", "options")
    table = table_from_text(text, syntax, source)
    block = table
    if "mechanism" in table:
        # A mechanism may stand among results computed for it; those are not ours to read.
        remedy = "of a scenario give the file that it names, or describe it under [mechanism]"
        block = source.given(table["mechanism"], "mechanism").table(remedy=remedy).value
    chosen = form or block.get("format") or table.get("format") or "native"
    mechanism = READERS[source.given(chosen, "format").choice(tuple(READERS))](block, source)
    part: dict[str, Any] = {k: value for k, value in options.items() if value is not None}
    return mechanism.subtree(**part) if part else mechanism
