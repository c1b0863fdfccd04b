"""LLVM: from text to machine code, and from machine code to addresses in this process."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any

from chainform.runtime.target import Target, llvm

EXTERNAL = ("malloc", "free", "asin", "acos", "atan", "exp", "log")
"""What compiled code may call in the C library."""

_numbers = count(1)


def compiled(text: str, target: Target) -> bytes:
    """Return the machine code of a module, as an object file."""
    binding = llvm()
    module = binding.parse_assembly(text)
    module.triple = target.triple
    machine = _machine(target)
    module.data_layout = str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=1)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def assembly(text: str, target: Target) -> str:
    """Return the machine code of a module as assembly text, for reading."""
    binding = llvm()
    module = binding.parse_assembly(text)
    module.triple = target.triple
    machine = _machine(target)
    options = binding.create_pipeline_tuning_options(speed_level=1)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return str(machine.emit_assembly(module))


def _machine(target: Target) -> Any:
    found = llvm().Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, codemodel="jitdefault", jit=True
    )


class Library:
    """Machine code that is loaded; it stays as long as this object."""

    def __init__(self, code: bytes, names: Sequence[str]) -> None:
        binding = llvm()
        self._compiler = _compiler()
        builder = binding.JITLibraryBuilder().add_object_img(code)
        for name, address in _c_library().items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        self._tracker = builder.link(self._compiler, f"chainform{next(_numbers)}")
        self._addresses = {name: int(self._tracker[name]) for name in names}

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return self._addresses[name]


_shared: list[Any] = []


def _compiler() -> Any:
    if not _shared:
        _shared.append(llvm().create_lljit_compiler())
    return _shared[0]


@cache
def _c_library() -> dict[str, int]:
    """Return the addresses of the functions that compiled code may call.

    Looking for the libraries starts other programs, so it is done once.
    """
    names = [ctypes.util.find_library(name) for name in ("c", "m", "msvcrt")]
    libraries = [ctypes.CDLL(None)] if hasattr(ctypes, "pythonapi") else []
    libraries += [ctypes.CDLL(name) for name in names if name]
    found: dict[str, int] = {}
    for name in EXTERNAL:
        for library in libraries:
            if hasattr(library, name):
                found[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
                break
    return found
