"""Machine code for others: object files, shared libraries and WebAssembly, without a compiler.

LLVM on board makes object files for any of its processors. They need no other library, so that
they run on bare machines. A shared library and a WebAssembly module are linked by ziglang.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from chainform.emitters import (
    LIBRARY,
    NumberType,
    Package,
    object_folder,
    shared_folder,
    together,
    wasm_folder,
)
from chainform.errors import RunError
from chainform.given import argument
from chainform.graph import CALLS
from chainform.runtime.engine import object_code
from chainform.runtime.target import Target, host

NATIVE = "native"
WASM = "wasm"


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of machine: its processor, that for single precision, its vectors and calls."""

    target: Target
    single: Target | None = None
    """The processor for float32, where that is a smaller one."""
    lanes: int = 1
    is_fused: bool = True
    abi: str = ""
    is_position_independent: bool = True


PLATFORMS: dict[str, Platform] = {
    "x86_64": Platform(Target("x86_64-unknown-linux-gnu", "x86-64", ""), lanes=2, is_fused=False),
    "aarch64": Platform(Target("aarch64-unknown-linux-gnu", "generic", ""), lanes=2),
    "arm": Platform(Target("armv7a-none-eabihf", "cortex-a9", ""), is_fused=False),
    "thumbv7em": Platform(
        Target("thumbv7em-none-eabihf", "cortex-m7", ""),
        Target("thumbv7em-none-eabihf", "cortex-m4", ""),
        is_position_independent=False,
    ),
    "riscv64": Platform(
        Target("riscv64-unknown-elf", "generic-rv64", "+m,+a,+f,+d,+c"),
        abi="lp64d",
    ),
    WASM: Platform(
        Target("wasm32-unknown-unknown", "generic", ""),
        is_fused=False,
        is_position_independent=False,
    ),
}
"""Machines by name; `native` is this one."""


def platform_of(name: str) -> Platform:
    """Return a kind of machine by its name."""
    argument("target", name).choice([NATIVE, *(n for n in PLATFORMS if n != WASM)])
    if name != NATIVE:
        return PLATFORMS[name]
    own = host()
    return Platform(own, lanes=own.lanes("float64"), is_fused=own.fused)


def object_file(package: Package, target: str = NATIVE) -> bytes:
    """Return the functions of a package as an object file, with C's calls and no library."""
    _refuse_library(package)
    return _object(package, platform_of(target))


def _object(package: Package, platform: Platform) -> bytes:
    lanes = platform.lanes * (2 if package.is_single and platform.lanes > 1 else 1)
    form = NumberType(package.precision, 1, platform.is_fused)
    kernels = [
        (package.graph, function.signature, f"{package.name}_{function.name}")
        for function in package.functions
    ]
    target = (platform.single if package.is_single else None) or platform.target
    text = together(kernels, form, lanes)
    return object_code(
        text, target, platform.abi, is_position_independent=platform.is_position_independent
    )


def _refuse_library(package: Package) -> None:
    """Refuse functions that only a library has."""
    graph = package.graph
    needed = graph.cone(graph.output_variables(package.outputs))
    called = {CALLS[int(number)] for number in graph.call[needed] if number}
    missing = [name for name in LIBRARY if name in called]
    if missing:
        raise RunError(
            f"the machine code would need {', '.join(missing)} of a C library",
            element=missing[0],
            remedy="export another language, such as c, or outputs without it",
        )


# --- linking --------------------------------------------------------------------------------------


def shared_library(package: Package) -> bytes:
    """Return the functions of a package as a shared library for this machine."""
    _refuse_library(package)
    name = f"-fsoname=lib{package.name}.so"
    return _linked(_object(package, platform_of(NATIVE)), ["build-lib", "-dynamic", name], "so")


def wasm_module(package: Package) -> bytes:
    """Return the functions of a package as a WebAssembly module that imports nothing.

    It exports its memory, and `__heap_base`, from where on callers may use it.
    """
    _refuse_library(package)
    names = [f"{package.name}_{function.name}" for function in package.functions]
    options = ["build-exe", "-target", "wasm32-freestanding", "-fno-entry", "-fcompiler-rt"]
    options += [f"--export={name}" for name in (*names, "__heap_base")]
    return _linked(_object(package, PLATFORMS[WASM]), options, "wasm")


def _linked(code: bytes, options: Sequence[str], ending: str) -> bytes:
    """Return what ziglang makes of an object file; RunError where it is missing or fails."""
    if find_spec("ziglang") is None:
        remedy = "install it with: pip install 'chainform[link]'; or export an object file"
        raise RunError("a linker is needed, ziglang", element="link", remedy=remedy)
    with TemporaryDirectory(prefix="chainform-") as folder:
        source, result = Path(folder) / "functions.o", Path(folder) / f"result.{ending}"
        source.write_bytes(code)
        places = {f"ZIG_{word}_CACHE_DIR": folder for word in ("GLOBAL", "LOCAL")}
        command = [sys.executable, "-m", "ziglang", options[0], str(source), *options[1:]]
        command += ["-O", "ReleaseSmall", "-fstrip", f"-femit-bin={result}"]
        done = subprocess.run(
            command, env={**os.environ, **places}, capture_output=True, text=True, check=False
        )
        if done.returncode or not result.is_file():
            why = (done.stderr.strip().splitlines() or ["no reason given"])[0]
            raise RunError(f"ziglang could not link: {why[:200]}", element="link")
        return result.read_bytes()


BINARIES: dict[str, Callable[[Package, str], dict[str, str | bytes]]] = {
    "object": lambda package, target: object_folder(package, object_file(package, target)),
    "shared": lambda package, _: shared_folder(package, shared_library(package)),
    "wasm": lambda package, _: wasm_folder(package, wasm_module(package)),
}
"""Folders with machine code."""
