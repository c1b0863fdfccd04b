"""Options of a program and arguments of its functions: checked, broadcast, as rows of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from chainform.emitters import Argument, ResultArray
from chainform.errors import RunError
from chainform.given import argument, real_array
from chainform.graph import GROUPS

Array: TypeAlias = NDArray[np.floating[Any]]
_WORK: Any = 100_000
"""How hard numpy may try to tell whether arrays overlap."""


def given(argument: Argument, value: Any, dtype: np.dtype[Any]) -> Array:
    """Return an argument as an array whose last dimension has the right length."""
    name, length = argument.group, argument.length
    array = numbers(name, value, dtype)
    if name == "t" and length == 1 and (array.ndim == 0 or array.shape[-1] != 1):
        # Time is one number for each state.
        return array[..., np.newaxis]
    if array.ndim == 0 or array.shape[-1] != length:
        raise RunError(
            f"{name} has the shape {array.shape}, its last dimension must be {length}",
            element=name,
            remedy=f"give {length} numbers for one state, or an array (..., {length})",
        )
    return array


def numbers(name: str, value: Any, dtype: np.dtype[Any]) -> Array:
    """Return real numbers as an aligned array of the type that is computed with."""
    array = real_array(name, value, dtype)
    return array if array.flags.aligned else array.copy()


def batch_shape(arrays: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common leading dimensions."""
    shapes = set(arrays.values())
    if len(shapes) == 1:
        return shapes.pop()
    try:
        return np.broadcast_shapes(*arrays.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in arrays.items())
        raise RunError(
            f"the leading dimensions of the arguments do not fit together: {listed}",
            element=", ".join(arrays),
            remedy="give every argument the same number of states, or one for all of them",
        ) from None


def rows(array: Array, batch: tuple[int, ...], length: int) -> Array:
    """Return an argument as one row for each state of the batch; copied only if it must be."""
    if array.shape != (*batch, length):
        array = np.broadcast_to(array, (*batch, length))
    return array if len(batch) == 1 else array.reshape(prod(batch), length)


def checked_out(
    result: ResultArray, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    """Return the array for a result as a plain one, if it can take it; RunError if not."""
    if not isinstance(out, np.ndarray):
        raise RunError(f"out for {result.name} is not an array", element="out")
    if isinstance(out, np.ma.MaskedArray):
        raise RunError(
            f"out for {result.name} is a masked array",
            element="out",
            remedy="give the array behind it: out=array.data",
        )
    # What subclasses make of shapes and assignments is their own affair.
    found: Array = np.asarray(cast(Array, out))
    if found.shape != shape or found.dtype != dtype:
        raise RunError(
            f"out for {result.name} has the shape {found.shape} and the type {found.dtype}",
            element="out",
            remedy=f"give an array of the shape {shape} and the type {dtype}",
        )
    if not found.flags.writeable:
        raise RunError(f"out for {result.name} cannot be written to", element="out")
    if _meets_itself(found):
        raise RunError(
            f"several entries of out for {result.name} lie in the same place",
            element="out",
            remedy="give an array of its own memory",
        )
    return found


def check_apart(names: Sequence[str], outs: Sequence[Array]) -> None:
    """Refuse results that would overwrite each other."""
    for (name, a), (other, b) in combinations(zip(names, outs, strict=True), 2):
        if _meet(a, b):
            raise RunError(
                f"out for {name} and out for {other} overlap",
                element="out",
                remedy="give each result an array of its own, or parts of one that lie apart",
            )


def _meet(a: Array, b: Array) -> bool:
    """Whether two arrays have memory in common; where numpy cannot decide it in time, they have."""
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, _WORK)
    except np.exceptions.TooHardError:
        return True


def _meets_itself(array: Array) -> bool:
    """Whether two entries of an array lie in the same place, wholly or in part."""
    if array.flags.forc or not array.size:
        return False
    pairs = zip(array.strides, array.shape, strict=True)
    steps = sorted((abs(step), length) for step, length in pairs if length > 1)
    span = array.itemsize
    for step, length in steps:
        if step < span:
            break
        span += step * (length - 1)
    else:
        return False
    grid = np.indices([length for _, length in steps]).reshape(len(steps), -1)
    places = np.sort(np.array([step for step, _ in steps]) @ grid)
    return bool((np.diff(places) < array.itemsize).any())


def rows_of_result(array: Array, count: int, length: int) -> Array | None:
    """Return a result as one row for each state, without a copy; None where that cannot be."""
    if not array.flags.aligned:
        return None
    view = array.reshape(count, length)
    return view if view.size == 0 or np.may_share_memory(view, array) else None


def overlaps(array: Array, others: Sequence[Array]) -> bool:
    """Whether an array may share memory with others."""
    return any(np.may_share_memory(array, other) for other in others)


# --- options of a program -------------------------------------------------------------------------

PRECISIONS = ("float64", "float32")
LANES = (2, 4, 8, 16)


def precision_of(value: Any) -> str:
    """Return a precision by its name; the type of numpy's numbers will do as well."""
    name: Any = value.name if isinstance(value, np.dtype) else value
    return argument("precision", name).choice(PRECISIONS)


def threads_of(value: Any) -> int | None:
    """Return a number of threads; None stands for all cores."""
    return None if value is None else argument("threads", value).whole(1)


def lanes_of(value: Any, native: int) -> int:
    """Return a number of lanes; None stands for what the processor has."""
    if value is None:
        return native
    given = argument("lanes", value)
    if given.whole() not in LANES:
        raise given.error(f"there are no {given.whole()} lanes", "give 2, 4, 8 or 16")
    return given.whole()


def lengths_of(value: Any) -> dict[str, int]:
    """Return how many numbers the groups of inputs have."""
    if value is None:
        return {}
    table = argument("lengths", value).table(GROUPS, 'write {"q": 6}')
    return {group: length.whole() for group, length in table.items()}


def values_of(what: str, values: Any, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters that are given by name, each of them known."""
    given = argument(what, values).table(remedy='write {"name": number}').value
    for name in given:
        if name not in known:
            remedy = "" if known else "the model has no free parameters"
            raise argument(name[:60], name).unknown("free parameter", known, remedy)
    return given


def number_of(name: str, value: Any) -> float:
    """Return the value of a parameter, one number."""
    array = real_array(name, value)
    if array.ndim:
        raise RunError(f"{name} must be one number", element=name, remedy="give one number")
    return float(array)
