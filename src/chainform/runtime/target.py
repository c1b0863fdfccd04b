"""The processor: its name, what it can do, how many lanes its vector registers have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from chainform.errors import RunError


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
    """Return llvmlite's binding, ready for this machine; RunError where it is not installed."""
    try:
        from llvmlite import binding
    except ImportError as error:
        raise RunError(
            "compiling needs llvmlite",
            element="compile",
            remedy="install it with: pip install 'chainform[compile]'",
        ) from error
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def host() -> Target:
    """Return the processor of this machine."""
    binding = llvm()
    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""
    return Target(binding.get_process_triple(), binding.get_host_cpu_name(), features)
