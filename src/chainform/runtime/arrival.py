"""Functions that arrive from another process, each with the program it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from chainform.runtime.program import Program


class Functions:
    """The functions of a program as attributes, and nothing beside them.

    Python sends a function of C as an attribute of something; a program has other attributes too,
    which an output may be called like.
    """

    def __init__(self, data: bytes) -> None:
        self._program = _program_from(data)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self._program.function(name)


def function_from(data: bytes, outputs: Sequence[str]) -> Callable[..., Any]:
    """Return a function of the program that bytes hold."""
    return _program_from(data).function(*outputs)


@lru_cache(maxsize=8)
def _program_from(data: bytes) -> Program:
    """Return a program; the same for the same bytes, as functions may come with every task."""
    return Program.from_bytes(data)
