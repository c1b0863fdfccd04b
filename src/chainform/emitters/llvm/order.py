"""The order of statements: what is needed next is computed next, so that few values wait.

A value that waits occupies a register. Going depth first from the outputs, the deepest argument
first, keeps values short-lived (for trees this is nearly Sethi and Ullman's rule).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chainform.emitters.llvm.definitions import Definitions

CHUNK = 2000
"""Instructions in one function: compiling takes longer than in proportion beyond."""
STORE = 3
"""Instructions of a store, with its address."""


def depth_first(definitions: Definitions, wanted: Iterable[int], known: set[int]) -> list[int]:
    """Return what to compute, in order, for what is wanted; `known` need not be, and grows."""
    order: list[int] = []
    for root in wanted:
        stack = [root]
        while stack:
            v = stack[-1]
            if v in known:
                stack.pop()
                continue
            missing = [u for u in definitions.needs(v) if u not in known]
            if missing:
                stack += sorted(missing, key=lambda u: definitions.levels[u])
                continue
            stack.pop()
            known.add(v)
            order.append(v)
    return order


def chunks(
    definitions: Definitions, order: Iterable[int], stores: Mapping[int, int]
) -> list[list[int]]:
    """Cut a list of statements into functions of a size that compiles quickly.

    `stores` is how often a value is stored, where it is.
    """
    parts: list[list[int]] = []
    size = CHUNK
    for v in order:
        if size >= CHUNK:
            parts.append([])
            size = 0
        parts[-1].append(v)
        size += definitions.size(v) + STORE * stores.get(v, 0)
    return parts
