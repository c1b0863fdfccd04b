"""A call with whatever Python gives: lists or arrays, one state or a batch, in any layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from chainform.errors import RunError
from chainform.runtime.arguments import (
    Array,
    batch_shape,
    check_apart,
    checked_out,
    given,
    numbers,
    overlaps,
    rows,
    rows_of_result,
    values_of,
)
from chainform.runtime.declarations import OPTIONS, description, python_signature
from chainform.runtime.kernel import Kernel
from chainform.runtime.serialisation import ProgramState, serialise
from chainform.runtime.threads import cores, share

PIECE = 10_000_000
"""About how many operations are worth waking a thread for."""


class CompiledFunction:
    """Calls a kernel: `function(q, qd, qdd, out=None, values=None)`.

    `restore` makes the function again, in another process, from bytes and outputs.
    """

    def __init__(
        self,
        kernel: Kernel,
        parameters: Mapping[str, float | None],
        threads: int | None,
        state: ProgramState,
        restore: Callable[[bytes, Sequence[str]], Any],
    ) -> None:
        self.kernel = kernel
        self.threads = threads
        self.parameters = dict(parameters)
        self.dtype = np.dtype(kernel.precision)
        arguments = kernel.signature.arguments
        self.arguments = [a for a in arguments if a.group != "parameter"]
        self.takes_parameters = len(self.arguments) < len(arguments)
        self.outputs = tuple(result.name for result in kernel.signature.results)
        self.name = self.__name__ = self.__qualname__ = ", ".join(self.outputs)
        self.__signature__ = python_signature(self.arguments)
        self.__doc__ = description(self.arguments, kernel.signature.results, parameters)
        self._state = state
        self._restore = restore

    def to_bytes(self) -> bytes:
        """Return the program that the function belongs to, with the function's machine code."""
        return serialise(self._state.with_codes(self.kernel.codes))

    def __reduce__(self) -> tuple[Any, ...]:
        return self._restore, (self.to_bytes(), self.outputs)

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        values: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Any:
        """Return the result for one state or a batch of states."""
        arrays = self._given(args, named)
        leading = {a.group: x.shape[:-1] for a, x in zip(self.arguments, arrays, strict=True)}
        lengths = [argument.length for argument in self.arguments]
        given_values = self._given_values(values)
        leading |= {f'values["{name}"]': value.shape for name, value in given_values.items()}
        batch = batch_shape(leading)
        if self.takes_parameters:
            found = self.parameter_values(given_values)
            arrays.append(_stacked(list(found.values()), self.dtype))
            lengths.append(len(found))
        results, outs = self._outs(out, batch)
        if batch:
            self._batch(arrays, lengths, batch, outs)
        else:
            self._single(arrays, outs)
        return results[0] if len(results) == 1 else tuple(results)

    # --- what is given --------------------------------------------------------------------

    def _given(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Array]:
        names = [argument.group for argument in self.arguments]
        for name in named:
            if name not in names or names.index(name) < len(args):
                trouble = "twice" if name in names else "an unexpected keyword argument"
                order = ", ".join([*names, *(f"{option}=None" for option in OPTIONS)])
                raise TypeError(f"{self.name}({order}) got {trouble}: {name}")
        found = [*args, *(named[name] for name in names[len(args) :] if name in named)]
        if len(found) != len(names):
            raise RunError(
                f"{self.name} takes {', '.join(names)}, not {len(found)} arguments",
                element=self.name,
                remedy=f"call it with ({', '.join(names)})",
            )
        pairs = zip(self.arguments, found, strict=True)
        return [given(argument, value, self.dtype) for argument, value in pairs]

    def _given_values(self, values: Any) -> dict[str, Array]:
        """Return the parameters that are given, each of them known."""
        if values is None:
            return {}
        known = values_of("values", values, self.parameters)
        return {name: numbers(name, value, self.dtype) for name, value in known.items()}

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

    def _outs(self, out: Any, batch: tuple[int, ...]) -> tuple[Sequence[Any], list[Array]]:
        """Return what the caller gets, and the plain arrays behind it."""
        results = self.kernel.signature.results
        shapes = [(*batch, *result.shape) for result in results]
        if out is None:
            made = [np.empty(shape, self.dtype) for shape in shapes]
            return made, made
        several: Sequence[Any] = [out] if len(results) == 1 else out
        if not isinstance(several, list | tuple) or len(several) != len(results):
            raise RunError(
                f"out must be {len(results)} arrays, one for each of {self.name}", element="out"
            )
        pairs = zip(results, several, shapes, strict=True)
        outs = [checked_out(result, x, shape, self.dtype) for result, x, shape in pairs]
        check_apart(self.outputs, outs)
        return several, outs

    # --- running --------------------------------------------------------------------------

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

    def pieces(self, count: int) -> int:
        """Return in how many pieces a batch is worked off: one where threads would not pay."""
        threads = self.threads or cores()
        return max(1, min(threads, count * self.kernel.work // PIECE))

    def _run(self, count: int, arrays: Sequence[Array]) -> None:
        pieces = 1 if count <= self.kernel.lanes or self.threads == 1 else self.pieces(count)
        size = -(-count // pieces)
        size = -(-size // self.kernel.lanes) * self.kernel.lanes
        ranges = [(start, min(start + size, count)) for start in range(0, count, size)]
        if len(ranges) == 1:
            self._piece(0, count, arrays)
        else:
            share(lambda ends: self._piece(*ends, arrays), ranges, pieces)

    def _piece(self, start: int, end: int, arrays: Sequence[Array]) -> None:
        passed: list[int] = []
        for array in arrays:
            state, entry = array.strides
            passed += [array.ctypes.data + start * state, state, entry]
        if self.kernel.run_batch(end - start, *passed):
            raise MemoryError(f"there is no memory left to compute {self.name}")


def _stacked(values: Sequence[Array], dtype: np.dtype[Any]) -> Array:
    """Return the parameters as one array; with leading dimensions where one of them has any."""
    if all(value.ndim == 0 for value in values):
        return np.array([float(value) for value in values], dtype)
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def _copy_back(targets: Sequence[Array], outs: Sequence[Array]) -> None:
    for target, x in zip(targets, outs, strict=True):
        if target is not x:
            x[...] = target
