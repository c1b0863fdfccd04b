"""Linear equations z' = A(t) z + B(t) over many intervals at once, by Gauss collocation.

symbol   meaning
xi       displacements along the rates; xi' = v - C xi, where C turns the axes of quaternion joints
u        changes of rates v, then of further states x; u' = F (xi, u) + B
a, b, c  the method of Gauss with three nodes in each interval, of order 6 (Hairer and Wanner, IV.5)

Displacements are eliminated: only u' at the nodes is solved for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NODES = 3
ORDER = 2 * NODES


@dataclass(frozen=True, eq=False)
class Gauss:
    """The method of Gauss: nodes c and weights b in 0 ... 1, and the matrix a."""

    a: Array
    b: Array
    c: Array


@cache
def gauss() -> Gauss:
    """Return the method: a and b integrate the polynomials through the nodes."""
    roots, weights = np.polynomial.legendre.leggauss(NODES)
    c = (1.0 + roots) / 2.0
    powers = np.arange(NODES)
    a = (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(c[:, None] ** powers)
    return Gauss(a, weights / 2.0, c)


def nodes_in(edges: Array) -> Array:
    """Return the nodes of the intervals between edges, (k, NODES), given edges (k + 1,)."""
    return edges[:-1, None] + np.diff(edges)[:, None] * gauss().c


def transitions(F: Array, C: Array | None, h: Array, nv: int) -> Array:
    """Return how z at the end of each interval follows from z at its beginning, and from B.

    `F` has u' by xi, v, x and by parameters at the nodes, (k, NODES, d, n + p); `C` (k, NODES, nv,
    nv) is None where axes do not turn; `h` (k,) are lengths. The result is (k, n, n + p).
    """
    k, s, d, width = F.shape
    method, n = gauss(), nv + d
    h1 = h[:, None, None, None]
    base, share = _displacements(C, h, nv)
    ha = h[:, None, None] * method.a
    M = -np.einsum("kidx,kijxv->kidjv", F[..., :nv], share)
    M = np.concatenate([M, np.zeros((k, s, d, s, d - nv))], axis=-1)
    M -= np.einsum("kidu,kij->kidju", F[..., nv:n], ha)
    flat = M.reshape(k, s * d, s * d)
    flat[:, np.arange(s * d), np.arange(s * d)] += 1.0
    right = F.copy()
    right[..., : 2 * nv] = F[..., :nv] @ base
    right[..., nv : 2 * nv] += F[..., nv : 2 * nv]
    U = np.linalg.solve(flat, right.reshape(k, s * d, width)).reshape(k, s, d, width)
    result = np.zeros((k, n, width))
    result[:, nv:] = np.einsum("i,kidw->kdw", method.b, h1 * U)
    result[:, np.arange(n), np.arange(n)] += 1.0
    W = U[:, :, :nv]
    if C is None:
        result[:, :nv] += h1[:, 0] ** 2 * np.einsum("i,kivw->kvw", method.b @ method.a, W)
        result[:, np.arange(nv), np.arange(nv, 2 * nv)] += h[:, None]
        return result
    xi = np.einsum("kijxv,kjvw->kixw", share, W)
    xi[..., : 2 * nv] += base
    v = np.einsum("kij,kjvw->kivw", ha, W)
    v[..., np.arange(nv), np.arange(nv, 2 * nv)] += 1.0
    result[:, :nv] += np.einsum("i,kivw->kvw", method.b, h1 * (v - C @ xi))
    return result


def _displacements(C: Array | None, h: Array, nv: int) -> tuple[Array, Array]:
    """Return xi at the nodes by xi and v at the beginning, (k, s, nv, 2 nv), and by u' there."""
    method, one = gauss(), np.eye(nv)
    k, s = len(h), NODES
    base = np.zeros((k, s, nv, 2 * nv))
    base[..., :nv] = one
    base[..., nv:] = (h[:, None] * method.c)[..., None, None] * one
    twice = (h * h)[:, None, None] * (method.a @ method.a)
    share = twice[..., None, None] * one
    if C is None:
        return base, share
    turned = np.einsum("kij,kjxy->kixjy", h[:, None, None] * method.a, C).reshape(k, s * nv, s * nv)
    turned[:, np.arange(s * nv), np.arange(s * nv)] += 1.0
    inverse = np.linalg.inv(turned)
    base = (inverse @ base.reshape(k, s * nv, 2 * nv)).reshape(base.shape)
    inverse = inverse.reshape(k, s, nv, s, nv)
    return base, np.einsum("kixly,klj->kijxy", inverse, twice)
