"""One compiled function: some outputs of a graph, for one state and for batches.

Both are compiled when they are first needed, unless machine code for this processor is cached.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from chainform.emitters.llvm import NumberType, Signature, many, packed, single
from chainform.graph import Graph, cost
from chainform.runtime import fastcall
from chainform.runtime.cache import CodeCache, cached_code
from chainform.runtime.engine import Library, compiled
from chainform.runtime.target import Target
from chainform.runtime.threads import Gate, free_properties_in_copies

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
        return hashlib.sha256(f"{self._content} {part} {self.target}".encode()).hexdigest()

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


free_properties_in_copies(Graph, Kernel)
