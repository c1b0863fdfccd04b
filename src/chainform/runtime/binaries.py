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

WIDE = """
define void @__multi3(ptr %to, i64 %a, i64 %a_high, i64 %b, i64 %b_high) noinline optnone {
  %a0 = and i64 %a, 4294967295
  %a1 = lshr i64 %a, 32
  %b0 = and i64 %b, 4294967295
  %b1 = lshr i64 %b, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %first = lshr i64 %p00, 32
  %middle = add i64 %p10, %first
  %middle_low = and i64 %middle, 4294967295
  %middle_high = lshr i64 %middle, 32
  %cross = add i64 %p01, %middle_low
  %cross_low = shl i64 %cross, 32
  %cross_high = lshr i64 %cross, 32
  %last = and i64 %p00, 4294967295
  %low = or i64 %cross_low, %last
  %s0 = add i64 %p11, %middle_high
  %s1 = add i64 %s0, %cross_high
  %o0 = mul i64 %a, %b_high
  %o1 = mul i64 %a_high, %b
  %s2 = add i64 %s1, %o0
  %high = add i64 %s2, %o1
  %place = getelementptr i64, ptr %to, i32 1
  store i64 %low, ptr %to
  store i64 %high, ptr %place
  ret void
}
declare i64 @llvm.fshl.i64(i64, i64, i64)
define void @__ashlti3(ptr %to, i64 %low, i64 %high, i32 %count) noinline optnone {
  %wide = zext i32 %count to i64
  %within = and i64 %wide, 63
  %is_small = icmp ult i64 %wide, 64
  %moved = shl i64 %low, %within
  %both = call i64 @llvm.fshl.i64(i64 %high, i64 %low, i64 %within)
  %new_low = select i1 %is_small, i64 %moved, i64 0
  %new_high = select i1 %is_small, i64 %both, i64 %moved
  %place = getelementptr i64, ptr %to, i32 1
  store i64 %new_low, ptr %to
  store i64 %new_high, ptr %place
  ret void
}
"""
"""What WebAssembly calls for products and shifts of 128 bits, as its convention for calls has it:
products by halves of 32 bits."""


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
    text = together(kernels, form, lanes) + (WIDE if platform is PLATFORMS[WASM] else "")
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
    code, name = _object(package, platform_of(NATIVE)), f"lib{package.name}.so"
    if sys.platform == "linux":
        return _linked(code, ["ld.lld", "-shared", "-s", "-soname", name])
    return _linked(code, ["build-lib", "-dynamic", f"-fsoname={name}", "-fstrip"], "-femit-bin=")


def wasm_module(package: Package) -> bytes:
    """Return the functions of a package as a WebAssembly module that imports nothing.

    It exports its memory, and `__heap_base`, from where on callers may use it.
    """
    _refuse_library(package)
    names = [f"{package.name}_{function.name}" for function in package.functions]
    exported = [f"--export={name}" for name in (*names, "__heap_base")]
    code = _object(package, PLATFORMS[WASM])
    return _linked(code, ["wasm-ld", "--no-entry", "--strip-all", *exported])


def _linked(code: bytes, command: Sequence[str], result_option: str = "-o") -> bytes:
    """Return what ziglang makes of an object file; RunError where it is missing or fails."""
    if find_spec("ziglang") is None:
        remedy = "install it with: pip install 'chainform[link]'; or export an object file"
        raise RunError("a linker is needed, ziglang", element="link", remedy=remedy)
    with TemporaryDirectory(prefix="chainform-") as folder:
        source, result = Path(folder) / "functions.o", Path(folder) / "result"
        source.write_bytes(code)
        places = {f"ZIG_{word}_CACHE_DIR": folder for word in ("GLOBAL", "LOCAL")}
        called = [sys.executable, "-m", "ziglang", *command, str(source)]
        done = subprocess.run(
            [*called, f"{result_option}{result}"],
            env={**os.environ, **places},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not result.is_file():
            why = (done.stderr.strip().splitlines() or ["no reason given"])[0]
            raise RunError(f"ziglang could not link: {why[:200]}", element="link")
        return result.read_bytes()


BINARIES: dict[str, Callable[[Package, str], dict[str, str | bytes]]] = {
    "object": lambda package, target: object_folder(
        package, object_file(package, target), "" if target == NATIVE else target
    ),
    "shared": lambda package, _: shared_folder(package, shared_library(package)),
    "wasm": lambda package, _: wasm_folder(package, wasm_module(package)),
}
"""Folders with machine code."""
