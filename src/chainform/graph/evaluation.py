"""The meaning of a graph: values in any arithmetic, in SymPy, and in numpy for many states.

A `BatchPlan` evaluates many states at once in double precision, level by level. All variables of
one level depend on lower levels only, so they are computed together: gather the factors, multiply
within terms, add within variables. The work for a batch is cut into pieces so that the gathered
factors stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.graph.arithmetic import EXACT, FLOAT, Arithmetic
from chainform.graph.types import CALLS, Graph, Kind


def evaluate(
    graph: Graph,
    values: Mapping[str, Any],
    arithmetic: Arithmetic = EXACT,
    names: Iterable[str] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return outputs or quantities by name (all outputs by default) as arrays of values.

    `values` gives each input by its name, in the numbers of the arithmetic; parameters
    with a default may be left out.
    """
    wanted = list(graph.outputs if names is None else names)
    blocks = {name: graph.block(name) for name in wanted}
    results = evaluate_variables(graph, values, arithmetic, graph.output_variables(wanted))
    return {
        name: _array([results[v] for v in block.variables], block.shape)
        for name, block in blocks.items()
    }


def _array(entries: Sequence[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def evaluate_variables(
    graph: Graph,
    values: Mapping[str, Any],
    arithmetic: Arithmetic,
    wanted: Sequence[int] | NDArray[np.int32],
) -> dict[int, Any]:
    """Return the value of every variable in the cone of the wanted ones."""
    known: dict[int, Any] = {}
    pool = [arithmetic.number(k) for k in graph.coefficients]
    unit = [k == 1 for k in graph.coefficients]
    opposite = [k == -1 for k in graph.coefficients]
    zero = arithmetic.number(Fraction(0))
    term_start, factor_start = graph.term_start.tolist(), graph.factor_start.tolist()
    coefficient = graph.coefficient.tolist()
    factor, power = graph.factor.tolist(), graph.power.tolist()
    for v in np.flatnonzero(graph.cone(wanted)).tolist():
        if v in graph.inputs:
            known[v] = input_value(graph, v, values, arithmetic)
            continue
        if graph.call[v]:
            known[v] = arithmetic.call(CALLS[int(graph.call[v])], known[int(graph.argument[v])])
            continue
        total: Any = None
        for t in range(term_start[v], term_start[v + 1]):
            product: Any = None
            for f in range(factor_start[t], factor_start[t + 1]):
                value = known[factor[f]]
                for _ in range(power[f]):
                    product = value if product is None else product * value
            k = coefficient[t]
            if product is None:
                product = pool[k]
            elif opposite[k]:
                product = -product
            elif not unit[k]:
                product = pool[k] * product
            total = product if total is None else total + product
        known[v] = zero if total is None else total
    return known


def input_value(
    graph: Graph, variable: int, values: Mapping[str, Any], arithmetic: Arithmetic
) -> Any:
    """Return the given value of an input, or its default."""
    declared = graph.inputs[variable]
    if declared.name in values:
        return values[declared.name]
    if declared.default is not None:
        return arithmetic.number(declared.default)
    raise RunError(
        f"no value is given for {declared.name}",
        element=declared.name,
        remedy=f"give {declared.name} a value"
        + (" in values" if declared.group == "parameter" else f" ({declared.group})"),
    )


# --- SymPy's arithmetic ---------------------------------------------------------------------------


def sympy_module() -> ModuleType:
    """Return SymPy, or say how to get it."""
    try:
        import sympy
    except ImportError:
        raise RunError("SymPy is not installed", remedy="pip install 'chainform[sympy]'") from None
    return sympy


class SymPyArithmetic:
    """Rational numbers and functions of SymPy."""

    def __init__(self) -> None:
        self.sympy = sympy_module()

    def number(self, value: Fraction) -> Any:
        """Return an exact SymPy number."""
        return self.sympy.Rational(value.numerator, value.denominator)

    def call(self, function: str, argument: Any) -> Any:
        """Return the SymPy function of the same name."""
        if function == "reciprocal":
            return 1 / argument
        return getattr(self.sympy, {"abs": "Abs"}.get(function, function))(argument)


def sympy_expressions(
    graph: Graph,
    variables: Sequence[int],
    masses: Collection[str] = (),
    *,
    time: bool = False,
) -> list[Any]:
    """Return variables as SymPy expressions of the inputs, not multiplied out.

    The symbols are real, those of `masses` not negative. With `time` the coordinates are functions
    of the time of sympy.physics.mechanics, Symbol("t"), and rates and accelerations derivatives.
    """
    arithmetic = SymPyArithmetic()
    inputs = {
        given.name: arithmetic.sympy.Symbol(given.name, real=True, **_sign(given.name, masses))
        for given in graph.inputs.values()
    }
    if time:
        inputs |= _functions_of_time(graph, arithmetic.sympy)
    try:
        results = evaluate_variables(graph, inputs, arithmetic, variables)
    except RecursionError:
        raise RunError(
            "the formulas are nested deeper than SymPy can follow",
            remedy="take the intermediate results as well: emit('sympy')",
        ) from None
    return [results[int(v)] for v in variables]


def _sign(name: str, masses: Collection[str]) -> dict[str, bool]:
    return {"nonnegative": True} if name in masses else {}


ORDERS = {"q": 0, "qd": 1, "qdd": 2}
"""How often a coordinate is differentiated by time, by the group of inputs."""


def _functions_of_time(graph: Graph, sympy: Any) -> dict[str, Any]:
    """Return coordinates, rates and accelerations as functions of t, and t itself."""
    t = sympy.Symbol("t")
    found: dict[str, Any] = {}
    for given in graph.inputs.values():
        if given.group == "t":
            found[given.name] = t
        elif given.group in ORDERS:
            coordinate = sympy.Function(f"q{given.index + 1}", real=True)(t)
            found[given.name] = coordinate.diff(t, ORDERS[given.group])
    return found


def sympy_array(
    graph: Graph,
    variables: NDArray[np.int64],
    masses: Collection[str] = (),
    *,
    time: bool = False,
) -> Any:
    """Return an expression, a Matrix for one or two indices (a vector is a column), or an Array."""
    expressions = sympy_expressions(graph, variables.ravel().tolist(), masses, time=time)
    match variables.shape:
        case ():
            return expressions[0]
        case (rows,):
            return sympy_module().Matrix(rows, 1, expressions)
        case (rows, columns):
            return sympy_module().Matrix(rows, columns, expressions)
        case shape:
            return sympy_module().Array(expressions, shape)


# --- many states at once --------------------------------------------------------------------------

Values = NDArray[np.float64]
FUNCTIONS: dict[str, Callable[[Values], Values]] = {
    **{
        name: getattr(np, name)
        for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "abs", "sign")
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "reciprocal": lambda x: 1.0 / x,
}
_PIECE = 1 << 17
"""Gathered factors held at once: one megabyte of doubles."""
_TABLE = 1 << 23
"""Values of variables held at once: 64 megabytes of doubles."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums of one level: variables, their terms and factors, as gather indices."""

    variables: NDArray[np.int64]
    term_offsets: NDArray[np.int64]
    coefficients: Values
    factor_offsets: NDArray[np.int64]
    factors: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Calls:
    function: str
    variables: NDArray[np.int64]
    arguments: NDArray[np.int64]


class BatchPlan:
    """The order of work for the variables wanted of one graph; made once, used often."""

    def __init__(self, graph: Graph, wanted: Sequence[int] | NDArray[np.int32]) -> None:
        self.size = len(graph)
        self.wanted = np.asarray(wanted, dtype=np.int64)
        needed = graph.cone(self.wanted)
        self.inputs = [v for v in graph.inputs if needed[v]]
        empty = np.diff(graph.term_start) == 0
        is_constant = graph.kind == Kind.CONSTANT
        self.zeros = np.flatnonzero(needed & is_constant & empty)
        is_sum = (is_constant & ~empty) | (graph.kind == Kind.COMPUTED)
        pool = np.asarray([FLOAT.number(k) for k in graph.coefficients])
        self.steps: list[_Sums | _Calls] = []
        order = np.flatnonzero(needed)
        order = order[np.argsort(graph.level[order], kind="stable")]
        for rows in np.split(order, np.flatnonzero(np.diff(graph.level[order])) + 1):
            sums = rows[is_sum[rows]]
            if len(sums):
                self.steps.append(_sums_of(graph, sums, pool))
            calls = rows[graph.call[rows] > 0]
            for number in np.unique(graph.call[calls]):
                called = calls[graph.call[calls] == number]
                arguments = graph.argument[called].astype(np.int64)
                self.steps.append(_Calls(CALLS[int(number)], called, arguments))
        widest = max((len(s.factors) for s in self.steps if isinstance(s, _Sums)), default=1)
        self.piece = max(1, min(_PIECE // widest, _TABLE // (self.size + 1)))

    def run(self, inputs: Mapping[int, Any], batch: int) -> Values:
        """Return the wanted variables (rows) for a batch of states (columns).

        `inputs` gives each input variable a number, or an array with one value per state.
        """
        result = np.empty((len(self.wanted), batch))
        for first in range(0, batch, self.piece):
            last = min(first + self.piece, batch)
            result[:, first:last] = self._run_piece(inputs, first, last)
        return result

    def _run_piece(self, inputs: Mapping[int, Any], first: int, last: int) -> Values:
        # The extra row of ones stands for the empty product.
        values = np.empty((self.size + 1, last - first))
        values[self.size] = 1.0
        values[self.zeros] = 0.0
        for v in self.inputs:
            given = inputs[v]
            values[v] = given[first:last] if np.ndim(given) else given
        for step in self.steps:
            if isinstance(step, _Calls):
                values[step.variables] = FUNCTIONS[step.function](values[step.arguments])
                continue
            products = np.multiply.reduceat(values[step.factors], step.factor_offsets, axis=0)
            products *= step.coefficients[:, None]
            values[step.variables] = np.add.reduceat(products, step.term_offsets, axis=0)
        return values[self.wanted]


def _sums_of(graph: Graph, variables: NDArray[np.int64], pool: Values) -> _Sums:
    """Lay out the sums of some variables; an empty product points to the row of ones."""
    term_counts = np.diff(graph.term_start)[variables]
    terms = _ranges(graph.term_start[variables], term_counts)
    factor_counts = np.diff(graph.factor_start)[terms]
    indices = _ranges(graph.factor_start[terms], factor_counts)
    powers = graph.power[indices].astype(np.int64)
    degrees = np.bincount(
        np.repeat(np.arange(len(terms)), factor_counts), weights=powers, minlength=len(terms)
    ).astype(np.int64)
    lengths = np.maximum(degrees, 1)
    factors = np.full(int(lengths.sum()), len(graph), dtype=np.int64)
    factors[np.repeat(degrees > 0, lengths)] = np.repeat(graph.factor[indices], powers)
    return _Sums(
        variables.astype(np.int64),
        np.cumsum(term_counts) - term_counts,
        pool[graph.coefficient[terms]],
        np.cumsum(lengths) - lengths,
        factors,
    )


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return start, start + 1, ... for each start, count of them, one after another."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - counts), counts)
