"""Runs as NPZ files of numpy: an array for each quantity, and `about`, JSON as bytes."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import ReadError
from chainform.files import unpacked_size
from chainform.mechanism import Mechanism
from chainform.simulation.results.plain import REMEDY, Record, known_of

Array = NDArray[np.float64]

ABOUT = "about"


def write(path: Path, record: Record, _: Mechanism) -> None:
    """Write a file; the arrays keep their shapes."""
    text = np.frombuffer(record.text.encode(), dtype=np.uint8)
    arrays: dict[str, Any] = {ABOUT: text, **record.arrays}
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


def read(path: Path) -> Record:
    """Return what a file holds; nothing in it is ever executed."""
    try:
        _check_sizes(path)
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as found:
            known = known_of(bytes(found[ABOUT].astype(np.uint8)).decode())
            arrays = {name: _numbers(found, name, shape) for name, shape in known["arrays"].items()}
    except ReadError:
        raise
    except (
        *(AttributeError, EOFError, KeyError, MemoryError, NotImplementedError, TypeError),
        *(ValueError, zipfile.BadZipFile, zlib.error, RuntimeError),
    ) as problem:
        raise ReadError(
            f"this is not an NPZ file of a run: {problem}", remedy="name a file of chainform"
        ) from problem
    return Record(arrays, tuple(known["outputs"]), known)


def _check_sizes(path: Path) -> None:
    """Refuse arrays that are longer than the bytes in the file, before memory is taken for them."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > unpacked_size(path.stat().st_size):
            raise ReadError("the file would become far longer than it is", remedy=REMEDY)
        for part in parts:
            with archive.open(part) as stream:
                version = np.lib.format.read_magic(stream)
                reader = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                    version, np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = reader(stream)
            if prod(shape) * dtype.itemsize > part.file_size:
                message = f"an array of the shape {shape} does not fit into {part.file_size} bytes"
                raise ReadError(message, element=part.filename[:60], remedy=REMEDY)


def _numbers(found: Mapping[str, Any], name: str, shape: list[int]) -> Array:
    """Return an array, whose rows must have a shape."""
    if name not in found:
        raise ReadError("there are no such numbers", element=name[:60], remedy=REMEDY)
    array = found[name]
    if array.dtype.kind not in "fiu" or list(array.shape[1:]) != shape:
        message = f"it has the shape {array.shape} and the type {array.dtype}"
        raise ReadError(message, element=name[:60], remedy=REMEDY)
    return array.astype(np.float64)
