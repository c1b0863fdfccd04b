"""A quantity of a model: one formula, or an array of them; numbers and further ones from it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import RunError
from chainform.given import Given
from chainform.graph import (
    GROUPS,
    LIMIT,
    Block,
    Builder,
    Cost,
    Graph,
    Scalar,
    builder_of,
    cost_of,
    definition_text,
    differentiate,
    include,
    parameter_only,
    restrict,
    sympy_array,
)
from chainform.mechanism import Mechanism, parametrise
from chainform.model.formulas import (
    FormulaOptions,
    expressions,
    formula_array,
    masses_of,
    notation_of,
)
from chainform.model.quantity_results import (
    OPERATIONS,
    Expanded,
    Sparsity,
    entries_text,
    exact_number,
    index_text,
    operation_text,
    sparsity_of,
)
from chainform.runtime import Program

LONGEST = 160
"""Characters of a formula in one line."""
RESULT = "result"
"""The name of a quantity that was computed from others, until an output has it."""


class QuantityModel(Protocol):
    """A model as its quantities see it: `chainform.Model`."""

    @property
    def mechanism(self) -> Mechanism: ...

    @property
    def parameters(self) -> str | tuple[str, ...]: ...

    @property
    def wrenches(self) -> tuple[str, ...]: ...

    @property
    def title(self) -> str: ...

    def input_name(self, name: str) -> str: ...

    def with_graph(self, graph: Graph) -> QuantityModel: ...

    def __getitem__(self, name: str) -> Quantity: ...

    @property
    def evaluate(self) -> Callable[..., dict[str, NDArray[np.float64]]]: ...

    @property
    def compile(self) -> Callable[..., Program]: ...

    @property
    def emit(self) -> Callable[..., str]: ...


@dataclass(frozen=True, eq=False)
class Quantity(Displayed):
    """An array of variables of a graph, indexed like a numpy array, from 0.

    `str` gives the definition of a single entry as it stands in the graph; `expand` multiplies
    it out over the inputs. `+ - * / @ **` and `.T` are those of numpy, with numbers, arrays of
    them and quantities of the same mechanism; `model.with_outputs({"K": ...})` gives the result a
    name.
    """

    name: str
    graph: Graph
    variables: NDArray[np.int64]
    labels: NDArray[np.str_]
    model: QuantityModel
    computed: str = ""
    """How it was computed, in words; empty for what the model has."""

    __array_ufunc__ = None
    """An array of numpy leaves its operations with a quantity to the quantity."""

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
        chosen = (np.asarray(variables), np.asarray(labels))
        text = f"({self.computed})[{index_text(index)}]" if self.computed else ""
        return Quantity(name, self.graph, *chosen, self.model, text)

    @property
    def text(self) -> str:
        """What it is: a name, a list of entries, or how it was computed."""
        whole = entries_text(self.graph, self.name, self.labels) if self.shape else self.name
        return self.computed or whole

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
        text = str(self)
        shown = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
        return f"Quantity({self.name} = {shown})"

    def latex(self, *, expanded: bool = False, **options: Unpack[FormulaOptions]) -> str:
        r"""Return the formulas with their left sides as LaTeX: definitions, or expanded ones.

        A vector or matrix is a matrix where it fits into a line of `width` characters (90), else an
        equation for each entry; long sums are broken, and nothing is left out. With `trig="short"`
        the sine of q_2 + q_3 is s_{23}, and a legend says so. `symbols` names coordinates and
        parameters: {"crank": r"\theta"}; with `digits` numbers are rounded. The result stands
        in mathematics (`aligned`); `environment="align*"` stands by itself, with page breaks.
        """
        return formula_array(self, options, expanded=expanded).latex(options)

    def mathml(self, *, expanded: bool = False, **options: Unpack[FormulaOptions]) -> str:
        """Return the formulas as a `math` element for a page; options as those of `latex`."""
        return formula_array(self, options, expanded=expanded).mathml()

    def sympy(self, *, time: bool = False) -> Any:
        """Return a SymPy expression of the inputs; a Matrix of them, an Array of three indices.

        Symbols are real, masses of bodies not negative, numbers exact. With `time` coordinates are
        functions of t, and rates and accelerations their derivatives.
        """
        if time and self.model.mechanism.nq != self.model.mechanism.nv:
            raise RunError(
                "with a quaternion the rates are no derivatives of the coordinates",
                element="time",
                remedy='leave it out, or write the joints with euler = "zyx"',
            )
        masses = masses_of(parametrise(self.model.mechanism, self.model.parameters))
        return sympy_array(self.graph, self.variables, masses, time=time)

    def expand(self, *, angles: str | None = None, limit: int | None = LIMIT) -> Expanded:
        """Return the whole analytic expression over the inputs, of each entry.

        Sums of angles stand as in the graph with `angles="kept"`, are split into single angles with
        "split", which makes the form canonical, and folded where this is shorter with "collected".
        Without a choice it is the shortest. More than `limit` terms of one entry are an error; None
        means that there is no limit.
        """
        flat = self.variables.ravel().tolist()
        found = expressions(self.graph, flat, angles, limit)
        entries = np.empty(len(found), dtype=object)
        entries[:] = found
        entries = entries.reshape(self.shape)
        notation = partial(notation_of, self.model.mechanism, names=self.graph.names)
        return Expanded(self.name, self.labels, entries, notation)

    def diff(self, name: str) -> Quantity:
        """Return the partial derivative by an input, `q2` or a coordinate's name.

        By all of a group, such as `q`, `qd` or `parameters`, it has one more index, the last.
        """
        source = self.model.input_name(str(name))
        if source not in self.graph.numbers and source in (*GROUPS, "parameters"):
            found = self._alone()[f"derivative({self.name},{source})"]
            return replace(found, model=self.model, computed=f"d({self.text})/d({source})")
        graph, variables = differentiate(self.graph, self.variables.ravel().tolist(), source)
        labels = np.char.add(self.labels, f"_by_{source}")
        numbers = np.asarray(variables, dtype=np.int64).reshape(self.shape)
        title = str(labels) if not self.shape else f"{self.name}_by_{source}"
        text = f"d({self.text})/d({source})"
        return Quantity(title, graph, numbers, labels, self.model, text)

    # --- numbers and programs -----------------------------------------------------------

    def _alone(self) -> QuantityModel:
        """Return the model whose only output is this quantity."""
        variables = tuple(self.variables.ravel().tolist())
        labels = tuple(map(str, self.labels.ravel()))
        needed = self.graph.cone(variables)
        needed[list(self.graph.inputs)] = True
        outputs = {self.name: Block(self.name, self.shape, variables, labels)}
        others = {name: b for name, b in self.graph.quantities.items() if name != self.name}
        graph = restrict(replace(self.graph, outputs=outputs, quantities=others), needed)
        return self.model.with_graph(graph)

    def evaluate(
        self, q: Any = None, qd: Any = None, qdd: Any = None, tau: Any = None, **states: Any
    ) -> NDArray[np.float64]:
        """Return its numbers; states and `values` are given as to `Model.evaluate`."""
        return self._alone().evaluate(q, qd, qdd, tau, **states)[self.name]

    def compile(self, **options: Any) -> Callable[..., Any]:
        """Return it as a compiled function, `model["H"].compile()(q)`; options as `Model.compile`.

        The function takes the arguments that the quantity depends on, as those of a program do.
        """
        return self._alone().compile(**options).function(self.name)

    def emit(self, language: str) -> str:
        """Return program text that computes it, as `Model.emit` does."""
        return self._alone().emit(language)

    # --- arithmetic ---------------------------------------------------------------------

    @property
    def T(self) -> Quantity:
        """The transpose, its axes in reverse order."""
        text = f"transpose of {self.computed}" if self.computed else ""
        return replace(self, variables=self.variables.T, labels=self.labels.T, computed=text)

    def __neg__(self) -> Quantity:
        return self._computed("-", self)

    def __pos__(self) -> Quantity:
        return self

    def __add__(self, other: Any) -> Quantity:
        return self._computed("+", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Quantity:
        return self._computed("-", self, other)

    def __rsub__(self, other: Any) -> Quantity:
        return self._computed("-", other, self)

    def __mul__(self, other: Any) -> Quantity:
        return self._computed("*", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Quantity:
        return self._computed("/", self, other)

    def __rtruediv__(self, other: Any) -> Quantity:
        return self._computed("/", other, self)

    def __matmul__(self, other: Any) -> Quantity:
        return self._computed("@", self, other)

    def __rmatmul__(self, other: Any) -> Quantity:
        return self._computed("@", other, self)

    def __pow__(self, other: Any) -> Quantity:
        return self._computed("**", self, other)

    def __rpow__(self, other: Any) -> Quantity:
        return self._computed("**", other, self)

    def _computed(self, sign: str, *operands: Any) -> Quantity:
        """Return an operation on quantities, in a graph that has this one as well."""
        builder = builder_of(self.graph)
        arrays = [self._operand(operand, builder) for operand in operands]
        operation = OPERATIONS[sign] if len(operands) > 1 else operator.neg
        try:
            found = np.asarray(operation(*arrays), dtype=object)
        except ValueError:
            shapes = " and ".join(str(array.shape) for array in arrays)
            raise RunError(
                f"the shapes {shapes} do not fit together",
                element=self.name,
                remedy="they must fit as those of numpy arrays do",
            ) from None
        variables = [builder.variable_of(scalar) for scalar in found.flat]
        labels = np.asarray(
            ["_".join([RESULT, *(str(i + 1) for i in index)]) for index in np.ndindex(*found.shape)]
        )
        numbers = np.asarray(variables, dtype=np.int64).reshape(found.shape)
        labels, graph = labels.reshape(found.shape), builder.finish()
        text = operation_text(sign, [_shown(operand) for operand in operands])
        return Quantity(RESULT, graph, numbers, labels, self.model, text)

    def _operand(self, operand: Any, builder: Builder) -> NDArray[Any]:
        """Return a quantity, a number or an array of numbers as scalars of a graph."""
        if isinstance(operand, Quantity):
            operand.check_model(self.model)
            return operand.scalars_in(builder, self.graph)
        given = Given(operand, self.name, raises=RunError)
        if not isinstance(operand, int | float | Fraction | np.ndarray | np.number | Sequence):
            raise given.expected("a number, an array of numbers or a quantity")
        numbers = np.asarray(operand, dtype=object)

        def scalar(value: object) -> Scalar:
            return builder.number(exact_number(Given(value, self.name, raises=RunError)))

        return np.asarray(np.frompyfunc(scalar, 1, 1)(numbers), dtype=object)

    def scalars_in(self, builder: Builder, graph: Graph | None = None) -> NDArray[Any]:
        """Return the entries as scalars of a builder, which may hold the graph of the quantity."""
        flat = self.variables.ravel().tolist()
        if graph is self.graph:
            scalars = [builder.scalar(v) for v in flat]
        else:
            block = Block(RESULT, (len(flat),), tuple(flat), tuple(map(str, range(len(flat)))))
            whole = replace(self.graph, outputs={RESULT: block}, quantities={}, aliases={})
            scalars = list(include(builder, whole, {}, [RESULT])[RESULT])
        array = np.empty(len(scalars), dtype=object)
        array[:] = scalars
        return array.reshape(self.shape)

    def check_model(self, model: QuantityModel) -> None:
        """Refuse a quantity of another mechanism, whose inputs of the same names are others."""
        own = self.model
        same = own.mechanism is model.mechanism or own.mechanism == model.mechanism
        if not same or own.wrenches != model.wrenches:
            raise RunError(
                f"{self.name} is a quantity of another model, {own.title}",
                element=self.name,
                remedy=f"take all quantities from one model, here {model.title}",
            )

    def sparsity(self) -> Sparsity:
        """Return where entries are that are not zero for every state."""
        return sparsity_of(self.graph, self.variables)

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


def _shown(operand: Any) -> str:
    return operand.text if isinstance(operand, Quantity) else str(np.asarray(operand).tolist())
