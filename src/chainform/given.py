"""What somebody gave, checked in one way wherever it comes in: numbers, and compressed bytes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from chainform.errors import RunError

Array: TypeAlias = NDArray[np.float64]

LEAST_UNPACKED, GREATEST_RATIO = 16 * 2**20, 16
"""Packed bytes may become 16 MB and sixteen times their own length."""

MASKED = "masked numbers"
NUMBERS = "fiu"
"""The kinds of numpy's types that are real numbers; truth values, texts and dates are none."""


def real_array(name: str, value: Any, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return real numbers as an array of a type; RunError for anything that is not real numbers.

    Whole numbers, fractions, decimals and other exact numbers of Python are taken. Complex numbers,
    texts, truth values, dates, missing and masked entries are refused, within lists too. Infinite
    numbers and nan are numbers here.
    """
    wrong = _wrong_part(value)
    if wrong is not None:
        raise _no_numbers(name, wrong)
    try:
        array: NDArray[Any] = np.asarray(value)
    except (ValueError, TypeError):
        raise _no_numbers(name, "lists of different lengths") from None
    if array.dtype.kind == "O":
        array = _from_objects(array)
    if array.dtype.kind not in NUMBERS:
        raise _no_numbers(name, str(array.dtype))
    try:
        with np.errstate(over="raise"):
            return array.astype(dtype, copy=False)
    except FloatingPointError:
        raise _no_numbers(name, f"numbers beyond the range of {np.dtype(dtype)}") from None


def _no_numbers(name: str, wrong: str) -> RunError:
    remedy = "give a number, or a list or an array of numbers"
    if wrong == MASKED:
        remedy = "fill masked entries, or leave their states out"
    message = f"{name} is not an array of real numbers but of {wrong}"
    return RunError(message, element=name, remedy=remedy)


def finite_array(name: str, value: Any) -> Array:
    """Return finite real numbers as an array of doubles of its own; RunError for anything else."""
    array = np.array(real_array(name, value))
    finite = np.isfinite(array)
    if not finite.all():
        first = np.argwhere(~finite)[0].tolist()
        where = f"; the first is number {first[0] + 1}" if first else ""
        raise RunError(
            f"{name} has entries that are not finite",
            element=name,
            remedy=f"give finite numbers{where}",
        )
    return array


def finite_number(name: str, value: Any) -> float:
    """Return one finite real number; RunError for anything else, arrays of one entry too."""
    array = finite_array(name, value)
    if array.ndim:
        raise RunError(f"{name} is {array.size} numbers", element=name, remedy="give one number")
    return float(array)


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


def _wrong_part(value: Any) -> str | None:
    """Return what makes a value no numbers although numpy would take it as numbers, or None."""
    if type(value) in (float, int):
        return None
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, list | tuple):
        parts = map(_wrong_part, cast("list[Any]", value))
        return next((part for part in parts if part is not None), None)
    if isinstance(value, np.ndarray):
        array = cast("NDArray[Any]", value)
        if array.dtype.kind == "b":
            return "bool"
        # Only a subclass can be masked; numpy's masked arrays are imported when first used.
        if type(array) is not np.ndarray and np.ma.is_masked(cast(Any, array)):
            return MASKED
    return None


def _from_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Return exact numbers of Python as doubles; anything else as it is."""
    items: list[Any] = array.ravel().tolist()
    try:
        return np.array([_double(item) for item in items], np.float64).reshape(array.shape)
    except (TypeError, ValueError, OverflowError):
        return array


def _double(item: Any) -> float:
    """Return a number as a double; TypeError where it is no real number."""
    if isinstance(item, bool | np.ndarray):
        raise TypeError
    if isinstance(item, np.generic) and np.asarray(cast(Any, item)).dtype.kind not in NUMBERS:
        raise TypeError
    convert = cast("Callable[[], float] | None", getattr(cast(Any, item), "__float__", None))
    if convert is None:
        raise TypeError
    return float(convert())
