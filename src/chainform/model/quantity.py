"""A quantity of a model: one formula, or an array of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.emitters import definition_latex, expansion_latex, latex_name
from chainform.errors import RunError
from chainform.graph import (
    LIMIT,
    Cost,
    Expansion,
    Graph,
    cost_of,
    definition_text,
    differentiate,
    expand,
    expansion_text,
    parameter_only,
    sympy_expressions,
)

Resolver: TypeAlias = Callable[[str], str]
"""Turns a coordinate's own name into the name of the input, `elbow` into `q3`."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """An array of variables of a graph, indexed like a numpy array, from 0.

    `str` gives the definition of a single entry as it stands in the graph; `expand` multiplies
    it out over the inputs.
    """

    name: str
    graph: Graph
    variables: NDArray[np.int64]
    labels: NDArray[np.str_]
    resolve: Resolver = str

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the array; () for a single entry."""
        return self.variables.shape

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self.name} is a single quantity and has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Quantity]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Quantity:
        try:
            variables, labels = self.variables[index], self.labels[index]
        except IndexError:
            raise RunError(
                f"{self.name} has the shape {self.shape}; there is no entry {index}",
                element=self.name,
                remedy="indices count from 0",
            ) from None
        name = str(labels) if np.ndim(variables) == 0 else self.name
        return Quantity(name, self.graph, np.asarray(variables), np.asarray(labels), self.resolve)

    # --- formulas -----------------------------------------------------------------------

    @property
    def variable(self) -> int:
        """The variable behind a single entry."""
        if self.shape:
            raise RunError(
                f"{self.name} has {self.variables.size} entries",
                element=self.name,
                remedy=f"choose one, such as [{', '.join('0' for _ in self.shape)}]",
            )
        return int(self.variables)

    def __str__(self) -> str:
        if not self.shape:
            return definition_text(self.graph, self.variable)
        return "\n".join(
            f"{label} = {definition_text(self.graph, int(v))}"
            for v, label in zip(self.variables.flat, self.labels.flat, strict=True)
        )

    def __repr__(self) -> str:
        if self.shape:
            return f"Quantity({self.name}, shape {self.shape})"
        return f"Quantity({self.name} = {self})"

    def latex(self, *, expanded: bool = False) -> str:
        """Return the formula of a single entry, with its left side, as LaTeX."""
        right = (
            expansion_latex(self.expand().expansion)
            if expanded
            else definition_latex(self.graph, self.variable)
        )
        return f"{latex_name(self.name)} = {right}"

    def sympy(self) -> Any:
        """Return a SymPy expression of the inputs, or a nested array of them."""
        expressions = sympy_expressions(self.graph, self.variables.ravel().tolist())
        if not self.shape:
            return expressions[0]
        array = np.empty(len(expressions), dtype=object)
        array[:] = expressions
        return array.reshape(self.shape)

    def expand(
        self, *, trig: bool = True, split_angles: bool = True, limit: int | None = LIMIT
    ) -> Expanded:
        """Return the whole analytic expression of a single entry over the inputs.

        More than `limit` terms are an error; None means that there is no limit.
        With `trig` squares of sines are replaced by 1 - cos^2, which makes the form canonical;
        with `split_angles` sines of sums are written by those of the single angles.
        """
        options = {"trig": trig, "split_angles": split_angles}
        found = expand(self.graph, [self.variable], **options, limit=limit)
        return Expanded(self.name, found[0])

    def diff(self, name: str) -> Quantity:
        """Return the partial derivative with respect to an input, `q2` or a coordinate's name."""
        source = self.resolve(str(name))
        graph, variables = differentiate(self.graph, self.variables.ravel().tolist(), source)
        labels = np.char.add(self.labels, f"_by_{source}")
        numbers = np.asarray(variables, dtype=np.int64).reshape(self.shape)
        title = str(labels) if not self.shape else f"{self.name}_by_{source}"
        return Quantity(title, graph, numbers, labels, self.resolve)

    def sparsity(self) -> Sparsity:
        """Return where entries are that are not zero for every state."""
        zeros = [v for v, number in self.graph.number_value.items() if not number]
        mask = ~np.isin(self.variables, zeros)
        columns = self.shape[-1] if self.shape else 1
        rows = mask.reshape(-1, columns) if columns else mask.reshape(0, 0)
        starts = np.concatenate([[0], np.cumsum(rows.sum(axis=1))])
        return Sparsity(self.shape, starts.astype(np.int64), np.nonzero(rows)[1])

    # --- the graph around it ------------------------------------------------------------

    def count(self) -> Cost:
        """Count the operations that this quantity alone needs, as `Model.count` does."""
        wanted = np.unique(self.variables).astype(np.int32)
        needed = self.graph.cone(wanted) & ~parameter_only(self.graph)
        return cost_of(self.graph, needed, wanted)

    def needs(self) -> list[str]:
        """Return the names of all variables this quantity is computed from, inputs first."""
        mask = self.graph.cone(self.variables.ravel())
        mask[self.variables.ravel()] = False
        return [self.graph.names[v] for v in np.flatnonzero(mask)]


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
