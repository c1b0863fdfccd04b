"""What is found about a quantity: where it is not zero, and its analytic expression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainform.emitters import expansion_latex, latex_name
from chainform.graph import Expansion, expansion_text


@dataclass(frozen=True, eq=False)
class Sparsity:
    """The entries of an array that are not identically zero, as compressed rows (CSR).

    The columns of row i are `indices[indptr[i] : indptr[i + 1]]`; all indices but the last number
    the rows. The output `nonzeros(...)` has the values in this order.
    """

    shape: tuple[int, ...]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return f"<Sparsity {' × '.join(map(str, self.shape))}: {len(self)} entries>"

    def dense(self) -> NDArray[np.bool_]:
        """Return the array of truth values: whether an entry is other than zero."""
        rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        columns = self.shape[-1] if self.shape else 1
        mask = np.zeros((len(self.indptr) - 1, columns), dtype=np.bool_)
        mask[rows, self.indices] = True
        return mask.reshape(self.shape)


@dataclass(frozen=True)
class Expanded:
    """The analytic expression of one quantity: `len` is the number of its terms."""

    name: str
    expansion: Expansion

    def __len__(self) -> int:
        return len(self.expansion)

    def __str__(self) -> str:
        return expansion_text(self.expansion)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expanded) and self.expansion == other.expansion

    def __hash__(self) -> int:
        return hash(self.expansion)

    def latex(self) -> str:
        """Return the expression, with its left side, as LaTeX."""
        return f"{latex_name(self.name)} = {expansion_latex(self.expansion)}"
