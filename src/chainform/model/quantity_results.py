"""What quantities give: where they are not zero, expressions, operations on them, their texts."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.emitters import Notation
from chainform.errors import RunError
from chainform.given import Given, counted
from chainform.graph import Expansion, Graph, Scalar, digits_of, formula_text, length, rounded
from chainform.mechanism import number_of
from chainform.model.formulas import FormulaArray, FormulaOptions, expanded_formulas

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


@dataclass(frozen=True, eq=False, repr=False)
class Expanded(Displayed):
    """The analytic expression of a quantity, or of each entry of an array, indexed like one.

    `len` is the number of terms that are written, those in brackets included. Two are equal if
    their values are, in whatever form they are written; where sines stand within sines within
    sines, equal ones in other forms may be taken for different.
    """

    name: str
    labels: NDArray[np.str_]
    expansions: NDArray[Any]
    """An `Expansion` for each entry."""
    notation: Callable[[Mapping[str, str] | None], Notation]
    """Returns how names are written in LaTeX and MathML, with symbols that are given."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the array; () for a single entry."""
        return self.expansions.shape

    @property
    def expansion(self) -> Expansion:
        """The terms of a single entry."""
        if self.shape:
            raise RunError(
                f"{self.name} has {self.expansions.size} entries",
                element=self.name,
                remedy=f"choose one, such as [{', '.join('0' for _ in self.shape)}]",
            )
        return self.expansions.item()

    def __getitem__(self, index: Any) -> Expanded:
        expansions, labels = np.asarray(self.expansions[index]), np.asarray(self.labels[index])
        name = str(labels) if not labels.shape else self.name
        return Expanded(name, labels, expansions, self.notation)

    def __len__(self) -> int:
        return sum(length(expansion)[0] for expansion in self.expansions.flat)

    def rounded(self, digits: int) -> Expanded:
        """Return it with numbers rounded to so many significant digits, for people."""
        count = digits_of(digits)
        rows = [e if count is None else rounded(e, count) for e in self.expansions.flat]
        entries = np.empty(len(rows), dtype=object)
        entries[:] = rows
        return replace(self, expansions=entries.reshape(self.shape))

    def __str__(self) -> str:
        if not self.shape:
            return formula_text(self.expansion)
        rows = equations(map(str, self.labels.flat), map(formula_text, self.expansions.flat))
        return "\n".join(f"{left} = {text}" for left, text in rows)

    def __repr__(self) -> str:
        shape = f", shape {self.shape}" if self.shape else ""
        return f"<Expanded {self.name}{shape}: {counted(len(self), 'term')}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expanded) or self.shape != other.shape:
            return False
        # Exact polynomials take long to import; a model is derived and run without them.
        from chainform.algebra import is_equal

        pairs = zip(self.expansions.flat, other.expansions.flat, strict=True)
        return all(is_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(self.shape)

    def latex(self, **options: Unpack[FormulaOptions]) -> str:
        """Return the formulas, with left sides, as LaTeX; options but `angles` as of a quantity."""
        return self._formulas(options).latex(options)

    def mathml(self, **options: Unpack[FormulaOptions]) -> str:
        """Return the formulas, with left sides, as a `math` element for a page."""
        return self._formulas(options).mathml()

    def _formulas(self, options: FormulaOptions) -> FormulaArray:
        if options.get("angles") is not None:
            message = f"{self.name} is multiplied out already"
            raise RunError(message, element="angles", remedy="write expand(angles=...)")
        notation = self.notation(options.get("symbols"))
        return expanded_formulas(self.name, self.labels, self.expansions, notation, options)


MOST_ZEROS = 12
"""Entries that are zero and are listed by name."""


def equations(names: Iterable[str], formulas: Iterable[str]) -> list[tuple[str, str]]:
    """Return each formula once, behind all its names: H_1_2 = H_2_1; those that are zero last."""
    of_formula: dict[str, list[str]] = {}
    for name, formula in zip(names, formulas, strict=True):
        of_formula.setdefault(formula, []).append(str(name))
    zeros = of_formula.pop("0", [])
    rows = [(" = ".join(labels), formula) for formula, labels in of_formula.items()]
    if zeros:
        more = f" = ... ({len(zeros)} entries)" if len(zeros) > MOST_ZEROS else ""
        rows.append((f"{' = '.join(zeros[:MOST_ZEROS])}{more}", "0"))
    return rows


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


def exact_number(given: Given) -> Fraction:
    """Return a number as the fraction that it is written as."""
    with given.translate_errors():
        number = number_of(given.value)
    if isinstance(number, Fraction):
        return number
    raise given.expected("a number")
