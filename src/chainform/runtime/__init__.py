"""From a graph to machine code in this process, and calls of it."""

from chainform.runtime.code_cache import CodeCache
from chainform.runtime.kernel import Keeper
from chainform.runtime.program import Program
from chainform.runtime.seal import Sealed
from chainform.runtime.target import Target, host, target_for

__all__ = ["CodeCache", "Keeper", "Program", "Sealed", "Target", "host", "target_for"]
