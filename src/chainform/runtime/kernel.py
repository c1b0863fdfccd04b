"""One compiled function: some outputs of a graph, for one state and for batches.

Both are compiled when they are first needed, unless machine code for this processor is kept.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Protocol

from chainform.emitters.llvm import Form, Signature, many, single
from chainform.graph import Graph
from chainform.runtime import fastcall
from chainform.runtime.engine import Library, compiled
from chainform.runtime.target import Target


class Keeper(Protocol):
    """Where machine code is kept from one time to the next."""

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key."""
        ...


SINGLE, PYTHON, BATCH, PACKED = "single", "python", "batch", "packed"
"""Names of the functions in the machine code."""


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
        keeper: Keeper | None = None,
    ) -> None:
        self.graph = graph
        self.signature = signature
        self.precision = precision
        self.target = target
        self.lanes = lanes
        self.keeper = keeper
        self._content = content
        self.codes: dict[str, bytes] = {}
        """The machine code so far, by the key under which it is kept."""
        self._lock = Lock()
        self._libraries: dict[str, Library] = {}

    @property
    def has_one_result(self) -> bool:
        """Whether the function has one result only, so that Python code can call it directly."""
        return len(self.signature.results) == 1

    def _text(self, part: str) -> str:
        if part == BATCH:
            form = Form(self.precision, self.lanes, self.target.fused)
            return many(self.graph, self.signature, BATCH, form)
        form = Form(self.precision, 1, self.target.fused)
        text = single(self.graph, self.signature, SINGLE, form, self.target.lanes(self.precision))
        text += _packed(self.signature, form)
        if self.has_one_result:
            text += fastcall.text(self.signature, SINGLE, PYTHON, form)
        return text

    def _key(self, part: str) -> str:
        """Return what machine code is kept under: the same key, the same code."""
        return hashlib.sha256(f"{self._content} {part} {self.target}".encode()).hexdigest()

    def code(self, part: str) -> bytes:
        """Return the machine code for one state (`single`) or for batches (`batch`)."""
        key = self._key(part)
        code = self.keeper.get(key) if self.keeper else None
        if code is None:
            code = compiled(self._text(part), self.target)
            if self.keeper:
                self.keeper.put(key, code)
        self.codes[key] = code
        return code

    def library(self, part: str) -> Library:
        """Return the machine code for one state or for batches, loaded."""
        with self._lock:
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
    def run_batch(self) -> Callable[..., None]:
        """The function for a batch: number of states, then address and two distances each."""
        count = len(self.signature.arguments) + len(self.signature.results)
        array: Sequence[Any] = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_int64, *array * count)
        return prototype(self.address(BATCH))


def _packed(signature: Signature, form: Form) -> str:
    """Return a function with all arguments in one array that gives one entry of the results.

    This is what integrators and solvers in C ask for: double f(int n, double *x, void *entry),
    where `entry` is the address of an i64.
    """
    total = sum(result.length for result in signature.results)
    lines = [
        f"define double @{PACKED}(i32 %n, ptr %x, ptr %entry) {{",
        f"  %out = alloca [{max(total, 1)} x {form.scalar}], align 64",
    ]
    passed: list[str] = []
    for base, lengths in (
        ("x", [argument.length for argument in signature.arguments]),
        ("out", [result.length for result in signature.results]),
    ):
        offset = 0
        for number, length in enumerate(lengths):
            name = f"%{base}{number}"
            lines.append(f"  {name} = getelementptr {form.scalar}, ptr %{base}, i64 {offset}")
            passed.append(f"ptr {name}")
            offset += length
    lines += [
        f"  call void @{SINGLE}({', '.join(passed)})",
        "  %k = load i64, ptr %entry",
        f"  %place = getelementptr {form.scalar}, ptr %out, i64 %k",
        f"  %value = load {form.scalar}, ptr %place",
    ]
    if form.precision == "float32":
        lines += ["  %wide = fpext float %value to double", "  ret double %wide"]
    else:
        lines.append("  ret double %value")
    return "\n".join([*lines, "}"]) + "\n\n"
