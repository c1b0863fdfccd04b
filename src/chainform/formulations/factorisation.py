"""H = L^T D L without square roots, from the tips to the base, and the solution of H x = b.

Eliminating the coordinates in this order fills no zero of H: branches that do not meet stay
apart (Featherstone). For each coordinate one reciprocal is taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from chainform.formulations.motion import is_zero
from chainform.formulations.outputs import Key
from chainform.formulations.refusals import refuse_massless
from chainform.graph import Scalar


def solve(matrix: Mapping[Key, Scalar], right: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """Return x with H x = b, for a symmetric positive H given by its entries that are not zero."""
    h: dict[tuple[int, int], Scalar] = {(i, k): value for (i, k), value in matrix.items()}
    b = dict(right)
    if not b:
        return {}
    order = elimination_order(set(h), sorted(b))
    keep = next(iter(b.values())).builder.keep
    factors: dict[int, list[tuple[int, Scalar]]] = {}
    inverse: dict[int, Scalar] = {}
    left = set(order)
    for k in order:
        left.discard(k)
        if (k, k) not in h or is_zero(h[k, k]):
            raise refuse_massless(k)
        inverse[k] = h[k, k].builder.call("reciprocal", h[k, k])
        row = [i for i in sorted(left) if (k, i) in h]
        factors[k] = [(i, keep(h[k, i] * inverse[k])) for i in row]
        for place, (i, factor) in enumerate(factors[k]):
            for l in row[: place + 1]:
                change = factor * h[k, l]
                updated = keep(h[i, l] - change) if (i, l) in h else keep(-change)
                h[i, l] = h[l, i] = updated
            b[i] = keep(b[i] - factor * b[k])
    x: dict[int, Scalar] = {}
    for k in reversed(order):
        value = b[k] * inverse[k]
        for i, factor in factors[k]:
            value = value - factor * x[i]
        x[k] = keep(value)
    return x


def elimination_order(entries: set[tuple[int, int]], unknowns: list[int]) -> list[int]:
    """Return an order that fills few zeros: always the unknown with the fewest neighbours left.

    For a tree these are the tips, so that nothing is filled at all.
    """
    neighbours = {k: {i for i in unknowns if i != k and (k, i) in entries} for k in unknowns}
    order: list[int] = []
    while neighbours:
        k = min(neighbours, key=lambda key: (len(neighbours[key]), -key))
        around = neighbours.pop(k)
        for i in around:
            neighbours[i] |= around - {i}
            neighbours[i].discard(k)
        order.append(k)
    return order
