"""A call with whatever Python gives: lists or arrays, one state or a batch, in any layout."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import repeat
from math import prod
from typing import Any, cast

import numpy as np

from chainform.errors import RunError
from chainform.runtime.arrays import (
    Array,
    batch_shape,
    checked_out,
    given,
    numbers,
    overlaps,
    rows,
    rows_of_result,
)
from chainform.runtime.kernel import Kernel

THREADED = 20_000_000
"""From so many additions and multiplications on, a batch is shared among threads."""


class Call:
    """Calls a kernel: `call(q, qd, qdd, out=None, values=None)`."""

    def __init__(
        self, kernel: Kernel, parameters: Mapping[str, float | None], threads: int | None
    ) -> None:
        self.kernel = kernel
        self.threads = threads
        self.parameters = dict(parameters)
        self.dtype = np.dtype(kernel.precision)
        arguments = kernel.signature.arguments
        self.arguments = [a for a in arguments if a.group != "parameter"]
        self.takes_parameters = len(self.arguments) < len(arguments)
        self.name = ", ".join(result.name for result in kernel.signature.results)
        self._cost = len(kernel.graph.factor) + 1

    def __call__(self, *args: Any, out: Any = None, values: Mapping[str, Any] | None = None) -> Any:
        """Return the result for one state or a batch of states."""
        arrays = self._given(args)
        leading = {a.group: x.shape[:-1] for a, x in zip(self.arguments, arrays, strict=True)}
        lengths = [argument.length for argument in self.arguments]
        given_values = self._given_values(values)
        leading |= {f'values["{name}"]': value.shape for name, value in given_values.items()}
        batch = batch_shape(leading)
        if self.takes_parameters:
            found = self.parameter_values(given_values)
            arrays.append(_stacked(list(found.values()), self.dtype))
            lengths.append(len(found))
        outs = self._outs(out, batch)
        if batch:
            self._batch(arrays, lengths, batch, outs)
        else:
            self._single(arrays, outs)
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _given(self, args: Sequence[Any]) -> list[Array]:
        names = [argument.group for argument in self.arguments]
        if len(args) != len(names):
            raise RunError(
                f"{self.name} takes {', '.join(names)}, not {len(args)} arguments",
                element=self.name,
                remedy=f"call it with ({', '.join(names)})",
            )
        pairs = zip(self.arguments, args, strict=True)
        return [given(argument, value, self.dtype) for argument, value in pairs]

    def _given_values(self, values: Any) -> dict[str, Array]:
        """Return the parameters that are given, each of them known."""
        if values is None:
            return {}
        if not isinstance(values, Mapping):
            raise RunError(
                "values are given by the names of parameters",
                element="values",
                remedy='write values={"name": number}',
            )
        given = cast("Mapping[str, Any]", values)
        for name in given:
            if name not in self.parameters:
                raise unknown_parameter(name, list(self.parameters))
        return {name: numbers(name, value, self.dtype) for name, value in given.items()}

    def parameter_values(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Return a value for every parameter: as given, else its default."""
        found: dict[str, Array] = {}
        for name, default in self.parameters.items():
            value = values.get(name, default)
            if value is None:
                raise RunError(
                    f"the parameter {name} has no value",
                    element=name,
                    remedy=f'give it with values={{"{name}": ...}} or bind it',
                )
            found[name] = numbers(name, value, self.dtype)
        return found

    def _outs(self, out: Any, batch: tuple[int, ...]) -> list[Array]:
        results = self.kernel.signature.results
        shapes = [(*batch, *result.shape) for result in results]
        if out is None:
            return [np.empty(shape, self.dtype) for shape in shapes]
        several: Sequence[Any] = [out] if len(results) == 1 else out
        if not isinstance(several, list | tuple) or len(several) != len(results):
            raise RunError(
                f"out must be {len(results)} arrays, one for each of {self.name}", element="out"
            )
        pairs = zip(results, several, shapes, strict=True)
        return [checked_out(result, x, shape, self.dtype) for result, x, shape in pairs]

    def _single(self, arrays: Sequence[Array], outs: Sequence[Array]) -> None:
        sources = [np.ascontiguousarray(array) for array in arrays]
        targets = [
            x if x.flags.carray and not overlaps(x, sources) else np.empty(x.shape, self.dtype)
            for x in outs
        ]
        self.kernel.run_single(*(x.ctypes.data for x in [*sources, *targets]))
        _copy_back(targets, outs)

    def _batch(
        self,
        arrays: Sequence[Array],
        lengths: Sequence[int],
        batch: tuple[int, ...],
        outs: Sequence[Array],
    ) -> None:
        count = prod(batch)
        sources = [rows(x, batch, length) for x, length in zip(arrays, lengths, strict=True)]
        seen: list[Array] = []
        targets: list[Array] = []
        for x, result in zip(outs, self.kernel.signature.results, strict=True):
            view = None if overlaps(x, sources) else rows_of_result(x, count, result.length)
            target = x
            if view is None:
                target = np.empty(x.shape, self.dtype)
                view = target.reshape(count, result.length)
            targets.append(target)
            seen.append(view)
        if count:
            self._run(count, [*sources, *seen])
        _copy_back(targets, outs)

    def _run(self, count: int, arrays: Sequence[Array]) -> None:
        threads = self.threads or (os.cpu_count() or 1)
        if count * self._cost < THREADED and self.threads is None:
            threads = 1
        piece = -(-count // threads)
        piece = -(-piece // self.kernel.lanes) * self.kernel.lanes
        starts = range(0, count, piece)
        if len(starts) == 1:
            self._piece(0, count, arrays)
        else:
            ends = [min(start + piece, count) for start in starts]
            list(_pool().map(self._piece, starts, ends, repeat(arrays)))

    def _piece(self, start: int, end: int, arrays: Sequence[Array]) -> None:
        passed: list[int] = []
        for array in arrays:
            state, entry = array.strides
            passed += [array.ctypes.data + start * state, state, entry]
        self.kernel.run_batch(end - start, *passed)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="chainform")


if hasattr(os, "register_at_fork"):
    # A copy of the process has none of the threads, and would wait for them.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _stacked(values: Sequence[Array], dtype: np.dtype[Any]) -> Array:
    """Return the parameters as one array; with leading dimensions where one of them has any."""
    if all(value.ndim == 0 for value in values):
        return np.array([float(value) for value in values], dtype)
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def _copy_back(targets: Sequence[Array], outs: Sequence[Array]) -> None:
    for target, x in zip(targets, outs, strict=True):
        if target is not x:
            x[...] = target


def unknown_parameter(name: str, known: list[str]) -> RunError:
    """Return the error for a name that is no free parameter."""
    return RunError(
        f"{name} is not a free parameter",
        element=name,
        remedy=f"choose from {', '.join(known)}" if known else "the model has no free parameters",
    )
