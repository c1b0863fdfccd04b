"""What quantities give: where they are not zero, expressions, operations on them, their texts."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.emitters import expansion_latex, latex_name
from chainform.given import counted
from chainform.graph import Expansion, Graph, Scalar, expansion_text

PLAIN = re.compile(r"[\w.]+(\([^()]*\))?|\[.*\]", re.DOTALL)
"""What needs no brackets in an operation."""


@dataclass(frozen=True, eq=False)
class Sparsity(Displayed):
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


def sparsity_of(graph: Graph, variables: NDArray[np.int64]) -> Sparsity:
    """Return where variables in an array are other than zero."""
    zeros = [v for v, number in graph.number_value.items() if not number]
    mask, shape = ~np.isin(variables, zeros), variables.shape
    columns = shape[-1] if shape else 1
    rows = mask.reshape(-1, columns) if columns else mask.reshape(0, 0)
    starts = np.concatenate([[0], np.cumsum(rows.sum(axis=1))])
    return Sparsity(shape, starts.astype(np.int64), np.nonzero(rows)[1])


@dataclass(frozen=True, repr=False)
class Expanded(Displayed):
    """The analytic expression of one quantity: `len` is the number of its terms."""

    name: str
    expansion: Expansion

    def __len__(self) -> int:
        return len(self.expansion)

    def __str__(self) -> str:
        return expansion_text(self.expansion)

    def __repr__(self) -> str:
        return f"<Expanded {self.name}: {counted(len(self), 'term')}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expanded) and self.expansion == other.expansion

    def __hash__(self) -> int:
        return hash(self.expansion)

    def latex(self) -> str:
        """Return the expression, with its left side, as LaTeX."""
        return f"{latex_name(self.name)} = {expansion_latex(self.expansion)}"


# --- operations on arrays of scalars --------------------------------------------------------

LARGEST_EXPONENT = 64
"""The greatest whole power that is written as products of the base."""


def _power(left: NDArray[Any], right: NDArray[Any]) -> Any:
    return np.frompyfunc(_scalar_power, 2, 1)(left, right)


def _scalar_power(base: Scalar, exponent: Scalar) -> Scalar:
    from chainform.formulations import BuilderArithmetic

    if exponent.is_number and Fraction(exponent.number).denominator == 1:
        count = int(exponent.number)
        if abs(count) <= LARGEST_EXPONENT:
            return base**count
    builder: Any = base.builder
    return BuilderArithmetic(builder).call("pow", [base, exponent])


def _quotient(left: Any, right: Any) -> Any:
    return left / right


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "@": np.matmul,
    "**": _power,
}


# --- what a quantity is, as text ------------------------------------------------------------


def entries_text(graph: Graph, name: str, labels: NDArray[np.str_]) -> str:
    """Return an array by its name where it is whole, else its entries: [H_1_1, H_1_2]."""
    block = {**graph.quantities, **graph.outputs}.get(name)
    inputs = tuple(item.name for item in graph.inputs.values() if item.group == name)
    whole, shape = (block.labels, block.shape) if block else (inputs, labels.shape)
    is_whole = tuple(map(str, labels.ravel())) == whole and labels.shape == shape
    return name if is_whole else str(labels.tolist()).replace("'", "")


def index_text(index: Any) -> str:
    """Return an index of numpy as texts write it, from 1."""
    parts = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    return ",".join(_from_one(part) for part in parts)


def _from_one(part: Any) -> str:
    if isinstance(part, int) and part >= 0:
        return str(part + 1)
    ends: Any = part
    if not isinstance(part, slice) or ends.step is not None:
        return f"entries {part}, from 0"
    first = "" if ends.start is None else ends.start + 1
    return f"{first}:{'' if ends.stop is None else ends.stop}"


def operation_text(sign: str, operands: Sequence[str]) -> str:
    """Return an operation; operands that are more than a name, a number or a list in brackets."""
    shown = [text if PLAIN.fullmatch(text) else f"({text})" for text in operands]
    return f" {sign} ".join(shown) if len(shown) > 1 else sign + shown[0]
