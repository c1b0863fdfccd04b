"""One compiled function: some outputs of a graph, for one state and for batches, and calls of it.

Both are compiled when they are first needed, unless machine code for this processor is cached. A
call takes whatever Python gives: lists or arrays, one state or a batch, in any layout.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from chainform.emitters import NumberType, Signature, many, packed, single
from chainform.errors import RunError
from chainform.graph import Graph, cost
from chainform.runtime import fastcall
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
from chainform.runtime.cache import CodeCache, cached_code
from chainform.runtime.declarations import OPTIONS, description, python_signature
from chainform.runtime.engine import Library, compiled
from chainform.runtime.serialisation import ProgramState, serialise
from chainform.runtime.target import Target
from chainform.runtime.threads import Gate, cores, share

SINGLE, PYTHON, BATCH, PACKED = "single", "python", "batch", "packed"
"""Names of the functions in the machine code."""
FUNCTION = 30
"""About how many operations a sine, a root or a quotient takes."""


class Kernel:
    """Machine code for some outputs of a graph."""

    def __init__(
        self,
        graph: Graph,
        signature: Signature,
        content: str,
        precision: str,
        target: Target,
        lanes: int,
        code_cache: CodeCache | None = None,
    ) -> None:
        self.graph = graph
        self.signature = signature
        self.precision = precision
        self.target = target
        self.lanes = lanes
        self.code_cache = code_cache
        self._content = content
        self.codes: dict[str, bytes] = {}
        """The machine code so far, by the key of the cache."""
        self._gate = Gate()
        self._libraries: dict[str, Library] = {}

    @property
    def has_one_result(self) -> bool:
        """Whether the function has one result only, so that Python code can call it directly."""
        return len(self.signature.results) == 1

    @cached_property
    def work(self) -> int:
        """About how many operations one state takes: those of the outputs, and moving numbers."""
        signature = self.signature
        found = cost(self.graph, [result.name for result in signature.results])
        calls = found.sin + found.cos + found.calls
        sums = found.multiplications + found.additions + found.angle_sums
        moved = sum(array.length for array in (*signature.arguments, *signature.results))
        return sums + FUNCTION * calls + moved + 1

    def _text(self, part: str) -> str:
        if part == BATCH:
            form = NumberType(self.precision, self.lanes, self.target.fused)
            return many(self.graph, self.signature, BATCH, form)
        form = NumberType(self.precision, 1, self.target.fused)
        text = single(self.graph, self.signature, SINGLE, form, self.target.lanes(self.precision))
        text += packed(self.signature, SINGLE, PACKED, form)
        if self.has_one_result:
            text += fastcall.text(self.signature, SINGLE, PYTHON, form)
        return text

    def _key(self, part: str) -> str:
        """Return the key of machine code in a cache: the same key, the same code."""
        text = f"{self._content} {part} {astuple(self.target)}"
        return hashlib.sha256(text.encode()).hexdigest()

    def code(self, part: str) -> bytes:
        """Return the machine code for one state (`single`) or for batches (`batch`)."""
        key = self._key(part)
        code = cached_code(self.code_cache, key, lambda: compiled(self._text(part), self.target))
        self.codes[key] = code
        return code

    def library(self, part: str) -> Library:
        """Return the machine code for one state or for batches, loaded."""
        with self._gate.held():
            if part not in self._libraries:
                names = [BATCH]
                if part == SINGLE:
                    names = [SINGLE, PACKED, *([PYTHON] if self.has_one_result else [])]
                self._libraries[part] = Library(self.code(part), names)
            return self._libraries[part]

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return self.library(BATCH if name == BATCH else SINGLE).address(name)

    @cached_property
    def run_single(self) -> Callable[..., None]:
        """The function for one state, by addresses."""
        count = len(self.signature.arguments) + len(self.signature.results)
        prototype = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * count)
        return prototype(self.address(SINGLE))

    @cached_property
    def run_batch(self) -> Callable[..., int]:
        """The function for a batch: number of states, then address and two distances each.

        It gives 0, or another number where there was no memory for it to work in.
        """
        count = len(self.signature.arguments) + len(self.signature.results)
        array: Sequence[Any] = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *array * count)
        return prototype(self.address(BATCH))


# --- calls ----------------------------------------------------------------------------------------

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
