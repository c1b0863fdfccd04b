"""From a graph to machine code in this process, and calls of it."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.runtime.arguments import threads_of
    from chainform.runtime.binaries import BINARIES, PLATFORMS
    from chainform.runtime.cache import CodeCache, CodeStorage, Key, LruCache, code_of
    from chainform.runtime.engine import Library
    from chainform.runtime.procedures import (
        FLOAT,
        FLOATS,
        INT,
        NONE,
        Floats,
        Ints,
        Number,
        Numbers,
        Struct,
        Structs,
        Translation,
        fmax,
        fmin,
        integers,
    )
    from chainform.runtime.program import Program
    from chainform.runtime.target import Target, host, target_for
    from chainform.runtime.threads import cores, share

__all__ = [
    "BINARIES",
    "FLOAT",
    "FLOATS",
    "INT",
    "NONE",
    "PLATFORMS",
    "CodeCache",
    "CodeStorage",
    "Floats",
    "Ints",
    "Key",
    "Library",
    "LruCache",
    "Number",
    "Numbers",
    "Program",
    "Struct",
    "Structs",
    "Target",
    "Translation",
    "code_of",
    "cores",
    "fmax",
    "fmin",
    "host",
    "integers",
    "share",
    "target_for",
    "threads_of",
]

lazy.door(__name__)
