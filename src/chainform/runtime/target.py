"""The processor that code is compiled for: its features, and the lanes of its vector registers.

It is the one of this machine unless CHAINFORM_CPU or `cpu=` names another one, as LLVM calls it. A
name that LLVM does not know, and a processor whose instructions this machine lacks, are refused
before anything is compiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chainform.errors import RunError
from chainform.given import argument, near
from chainform.runtime.threads import LLVM

VARIABLE = "CHAINFORM_CPU"
"""Names the processor for everything that is compiled, where nothing else does."""

NATIVE = "native"
"""The processor of this machine, with all its features."""

LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")

SPECIAL = """
    amx-bf16 amx-fp16 amx-int8 amx-tile cldemote clflushopt clwb clzero enqcmd fsgsbase hreset
    invpcid lwp mwaitx pconfig pku prefetchi ptwrite rdpid rdpru rdrnd rdseed rtm serialize sgx
    shstk tsxldtrk uintr waitpkg wbnoinvd xsavec xsaveopt xsaves
"""
"""Features for operating systems and special libraries, which virtual machines often hide: a named
processor is taken without those that this machine lacks."""

_SCRIPT = Path(__file__).with_name("processors.py")
_PATIENCE = 120
"""Seconds after which the process that describes a processor has failed."""


@dataclass(frozen=True, slots=True)
class Target:
    """A processor as LLVM knows it."""

    triple: str
    cpu: str
    features: str

    def has(self, feature: str) -> bool:
        """Whether the processor has a feature, by LLVM's name for it."""
        return f"+{feature}" in self.features.split(",")

    @property
    def fused(self) -> bool:
        """Whether it multiplies and adds in one instruction."""
        return self.has("fma") or self.triple.startswith(("aarch64", "arm64"))

    def lanes(self, precision: str) -> int:
        """Return how many numbers one vector register holds."""
        doubles = 8 if self.has("avx512f") else 4 if self.has("avx2") else 2
        return doubles if precision == "float64" else 2 * doubles


@cache
def llvm() -> Any:
    """Return llvmlite's binding, ready for this machine; RunError where it cannot be had.

    Its library is loaded when it is imported, or as late as at the first call. A fork waits for
    that too: the copy would wait for a module whose import was cut off.
    """
    remedy = "install it with: pip install 'chainform[compile]'"
    try:
        with LLVM.held():
            from llvmlite import binding

            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
    except ImportError as error:
        raise RunError("compiling needs llvmlite", element="compile", remedy=remedy) from error
    except OSError as error:
        raise RunError(
            f"compiling needs llvmlite, whose library cannot be loaded: {error}",
            element="compile",
            remedy=remedy.replace("install it", "install it again"),
        ) from error
    return binding


def llvmlite_version() -> str:
    """Return the version of llvmlite, on which machine code depends."""
    llvm()
    from llvmlite import __version__

    return str(__version__)


@cache
def host() -> Target:
    """Return the processor of this machine, with all its features."""
    binding = llvm()
    with LLVM.held():
        try:
            features = binding.get_host_cpu_features().flatten()
        except RuntimeError:
            features = ""
        return Target(binding.get_process_triple(), binding.get_host_cpu_name(), features)


def target_for(cpu: str | Target | None = None) -> Target:
    """Return the processor of a name; without one that of CHAINFORM_CPU, or of this machine."""
    if isinstance(cpu, Target):
        return cpu
    element = VARIABLE if cpu is None else "cpu"
    name: Any = os.environ.get(VARIABLE) or NATIVE if cpu is None else cpu
    remedy = f"write {LEVELS[2]!r}, or {NATIVE!r} for the processor of this machine"
    argument(element, name).text(remedy)
    native = host()
    return native if name == NATIVE else _named(name, element, native)


@cache
def _named(name: str, element: str, native: Target) -> Target:
    """Return a processor that LLVM knows and this machine can stand for; RunError for others."""
    facts = _facts(name, element)
    names: list[str] = facts["names"]
    if name not in names:
        usual = LEVELS if native.triple.startswith("x86_64") else ("generic", native.cpu)
        raise RunError(
            f"LLVM knows no processor {name[:60]!r} for {native.triple}",
            element=element,
            remedy=f"{near(name, names, 3)}choose from {', '.join([*usual, NATIVE])}",
        )
    lacking = [feature for feature in facts["missing"] if feature not in SPECIAL.split()]
    is_strict = not native.triple.startswith("x86_64")
    if lacking or (is_strict and not facts["is_subset"] and name != "generic"):
        what = f" ({', '.join(lacking)})" if lacking else ""
        raise RunError(
            f"this machine, {native.cpu}, lacks features of {name}{what}, and cannot run its code",
            element=element,
            remedy=f"choose a processor with fewer features, or {NATIVE!r}",
        )
    signs = [f"{'-' if f in facts['missing'] else '+'}{f}" for f in facts["features"]]
    return Target(native.triple, name, ",".join(signs))


def _facts(name: str, element: str) -> dict[str, Any]:
    """Return what LLVM knows of a processor, from a process of its own.

    A fork waits for it, as for LLVM itself: the copy must not find an import cut off.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        with LLVM.held():
            from multiprocessing.spawn import get_executable

            if getattr(sys, "frozen", False):
                raise OSError("this program cannot start Python")
            command = [os.fsdecode(get_executable()), "-P", os.fspath(_SCRIPT), name]
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE,
                check=True,
            )
        return json.loads(done.stdout)
    except (OSError, ValueError, TypeError, subprocess.SubprocessError) as error:
        written: Any = getattr(error, "stderr", None) or b""
        why = written.decode(errors="replace").strip().splitlines()[-1:] or [str(error)]
        raise RunError(
            f"LLVM makes no code for {name[:60]!r}: {why[0]}",
            element=element,
            remedy=f"choose another processor, or {NATIVE!r}",
        ) from error
