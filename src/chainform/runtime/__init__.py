"""From a graph to machine code in this process, and calls of it."""

from chainform.runtime.arguments import threads_of
from chainform.runtime.cache import CodeCache, CodeStorage, Key, LruCache, code_of
from chainform.runtime.engine import Library
from chainform.runtime.program import Program
from chainform.runtime.target import Target, host, target_for
from chainform.runtime.threads import cores, share

__all__ = [
    "CodeCache",
    "CodeStorage",
    "Key",
    "Library",
    "LruCache",
    "Program",
    "Target",
    "code_of",
    "cores",
    "host",
    "share",
    "target_for",
    "threads_of",
]
