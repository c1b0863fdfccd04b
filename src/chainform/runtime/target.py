"""The processor: its name, what it can do, how many lanes its vector registers have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from chainform.errors import RunError
from chainform.runtime.locks import LLVM


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
    """Return the processor of this machine."""
    binding = llvm()
    with LLVM.held():
        try:
            features = binding.get_host_cpu_features().flatten()
        except RuntimeError:
            features = ""
        return Target(binding.get_process_triple(), binding.get_host_cpu_name(), features)
