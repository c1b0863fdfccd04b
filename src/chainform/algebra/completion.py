"""Compute something for a variable after everything that it is computed from, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import TypeVar

Value = TypeVar("Value")


def complete(
    known: MutableMapping[int, Value],
    variable: int,
    needs: Callable[[int], Iterable[int]],
    compute: Callable[[int], Value],
    key: Callable[[int], int] = int,
) -> Value:
    """Return what is known of a variable; what is missing is computed first, the deepest first.

    Each variable is known under its `key`.
    """
    stack = [variable]
    while stack:
        v = stack[-1]
        if key(v) not in known:
            missing = [u for u in needs(v) if key(u) not in known]
            if missing:
                stack += missing
                continue
            known[key(v)] = compute(v)
        stack.pop()
    return known[key(variable)]
