"""Linear equations z' = A(t) z + B(t) over many intervals at once, by Gauss collocation.

symbol   meaning
xi       displacements along the rates; xi' = v - C xi, where C turns the axes of quaternion joints
u        changes of rates v, then of further states x; u' = F (xi, u) + B
a, b, c  the method of Gauss with five nodes in each interval, of order 10 (Hairer and Wanner, IV.5)
U        u' at all nodes of an interval: K U = R (xi, v, x at its beginning) + B
E        how z at the end follows from U; z at the end = E U + what U has no part in

Displacements are eliminated: only u' at the nodes is solved for. The adjoint of an interval has the
same matrices, transposed: its weights at the nodes are K^-T E^T times those at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NODES = 5
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
    c: Array = (1.0 + roots) / 2.0
    powers = np.arange(NODES)
    a: Array = (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(c[:, None] ** powers)
    return Gauss(a, weights / 2.0, c)


class Stages:
    """The equations of k intervals with lengths h (k,).

    `F` (k, NODES, d, n) has u' by xi, v, x at the nodes; `C` (k, NODES, nv, nv) is None where axes
    do not turn.
    """

    def __init__(self, F: Array, C: Array | None, h: Array, nv: int) -> None:
        self.F, self.C, self.h, self.nv = F, C, h, nv
        self.k, self.s, self.d, self.n = F.shape
        self.ha: Array = h[:, None, None] * gauss().a
        self.base, self.share = self._displacements()

    def _displacements(self) -> tuple[Array, Array | None]:
        """Return xi at the nodes by xi and v at the beginning, (k, s, nv, 2 nv), and by v' there.

        The second is None where it is h^2 a^2, times one for each displacement.
        """
        k, s, nv = self.k, self.s, self.nv
        base = np.zeros((k, s, nv, 2 * nv))
        base[..., :nv] = np.eye(nv)
        base[..., nv:] = (self.h[:, None] * gauss().c)[..., None, None] * np.eye(nv)
        if self.C is None:
            return base, None
        turned: Array = np.einsum("kij,kjxy->kixjy", self.ha, self.C)
        turned = turned.reshape(k, s * nv, s * nv)
        turned[:, np.arange(s * nv), np.arange(s * nv)] += 1.0
        inverse = np.asarray(np.linalg.inv(turned), dtype=np.float64)
        base = (inverse @ base.reshape(k, s * nv, 2 * nv)).reshape(base.shape)
        inverse = inverse.reshape(k, s, nv, s, nv)
        share: Array = np.einsum("kixly,klj->kixjy", inverse, self.twice)
        return base, share

    @property
    def twice(self) -> Array:
        """h^2 a^2, (k, s, s)."""
        return self.ha @ self.ha

    @cached_property
    def K(self) -> Array:
        """The matrix of u' at the nodes, (k, s d, s d)."""
        k, s, d, nv, F = self.k, self.s, self.d, self.nv, self.F
        K = np.empty((k, s, d, s, d))
        np.multiply(-F[:, :, :, None, nv:], self.ha[:, :, None, :, None], out=K)
        if self.share is None:
            K[..., :nv] -= F[:, :, :, None, :nv] * self.twice[:, :, None, :, None]
        else:
            moved = F[..., :nv] @ self.share.reshape(k, s, nv, s * nv)
            K[..., :nv] -= moved.reshape(k, s, d, s, nv)
        flat = K.reshape(k, s * d, s * d)
        flat[:, np.arange(s * d), np.arange(s * d)] += 1.0
        return flat

    @cached_property
    def E(self) -> Array:
        """How z at the end follows from u' at the nodes, (k, n, s d)."""
        k, s, d, nv, b = self.k, self.s, self.d, self.nv, gauss().b
        E = np.zeros((k, self.n, s, d))
        places: NDArray[np.intp] = np.arange(int(d))
        h = self.h
        E[:, nv + places, :, places] = h[:, None] * b
        rates = np.arange(nv)
        E[:, rates, :, rates] = (h * h)[:, None] * (b @ gauss().a)
        if self.C is not None and self.share is not None:
            turned = (h[:, None] * b)[..., None, None] * self.C
            E[:, :nv, :, :nv] -= np.einsum("kixy,kiyjw->kxjw", turned, self.share)
        return E.reshape(k, self.n, s * d)

    def results(self, forced: Array | None = None) -> Array:
        """Return z at the end by z at the beginning, (k, n, n), then by columns of B.

        `forced` (k, s, d, p) are these at the nodes.
        """
        k, s, d, nv, n = self.k, self.s, self.d, self.nv, self.n
        p = 0 if forced is None else forced.shape[-1]
        right = np.empty((k, s, d, n + p))
        right[..., : 2 * nv] = self.F[..., :nv] @ self.base
        right[..., nv : 2 * nv] += self.F[..., nv : 2 * nv]
        right[..., 2 * nv : n] = self.F[..., 2 * nv :]
        if forced is not None:
            right[..., n:] = forced
        U = np.linalg.solve(self.K, right.reshape(k, s * d, n + p))
        result = self.E @ U
        result[:, np.arange(n), np.arange(n)] += 1.0
        if self.C is None:
            rates = np.arange(nv)
            result[:, rates, nv + rates] += self.h[:, None]
            return result
        weights = self.h[:, None] * gauss().b
        result[:, :nv, nv : 2 * nv] += self.h[:, None, None] * np.eye(nv)
        result[:, :nv, : 2 * nv] -= np.einsum("ki,kixy,kiyw->kxw", weights, self.C, self.base)
        return result

    def node_weights(self, costates: Array) -> Array:
        """Return the weights of B at the nodes, (k, s, d), given those of z at the ends, (k, n)."""
        right = np.swapaxes(self.E, 1, 2) @ costates[..., None]
        found = np.linalg.solve(np.swapaxes(self.K, 1, 2), right)
        return np.asarray(found, dtype=np.float64).reshape(self.k, self.s, self.d)
