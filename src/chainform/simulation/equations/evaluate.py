"""Numbers of graphs and laws along a motion, for many times at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.expressions import (
    Apply,
    Binary,
    Expression,
    Identifier,
    evaluate_expression,
    parts_of,
    symbols_of,
)
from chainform.formulations import Kinematics, Laws
from chainform.graph import BatchPlan, Builder, Graph
from chainform.mechanism import Mechanism, Number, frame_coordinate_of, known_values, meaning_of
from chainform.runtime import LruCache

Array = NDArray[np.float64]
PLANS: LruCache[tuple[Graph, BatchPlan, NDArray[np.intp]]] = LruCache(16)


def values_along(
    graph: Graph,
    output: str,
    columns: Mapping[str, Array],
    values: Mapping[str, float] | None = None,
) -> Array:
    """Return an output (m, k), given all groups of inputs (m, n) that it needs; t is (m,).

    `values` are those of parameters, which otherwise have the values of the graph.
    """
    # The graph stands in the entry, so that no other one can have its place in memory.
    _, plan, places = PLANS.get((id(graph), output), lambda: _plan(graph, output))
    size = len(columns["t"])
    if not size:
        return np.zeros((0, len(places)))
    inputs: dict[int, Array | float] = {}
    for v in plan.inputs:
        item = graph.inputs[v]
        if item.group == "parameter":
            default = np.nan if item.default is None else float(item.default)
            inputs[v] = (values or {}).get(item.name, default)
        else:
            column = columns[item.group]
            inputs[v] = np.ascontiguousarray(column if item.group == "t" else column[:, item.index])
    # Where a law has no value there is none, and the caller sees that.
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(plan.run(inputs, size)[places].T)


def _plan(graph: Graph, output: str) -> tuple[Graph, BatchPlan, NDArray[np.intp]]:
    """Return the order of work for an output, and the places of its entries."""
    variables = np.asarray(graph.block(output).variables, dtype=np.int32)
    wanted, places = np.unique(variables, return_inverse=True)
    return graph, BatchPlan(graph, wanted), places


# --- laws of time -----------------------------------------------------------------------------


INSTANTS = 4001
"""At how many times of a motion a law is looked at."""
SWITCHES = 20
"""The most changes of sign that are looked at in one argument."""
NEAR = 1e-5
"""How near to such a time, as a share of the motion, a law is compared on both sides."""
JUMP = 1e-3
"""The share of a value or a rate that is a jump, and no rounding."""


class LawValues:
    """The values of the laws of one mechanism at the coordinates q (m, nq) and times t (m,).

    Where a law has no value, as the root of a negative number, the result is NaN.
    """

    def __init__(self, mechanism: Mechanism, q: Array, t: Array) -> None:
        self.mechanism = mechanism
        self.q = q
        self.t = t
        self._known = known_values(mechanism)
        self._definitions = {one.name: one.law for one in mechanism.definitions}
        self._definition = cache(self._value_of_definition)

    def value(self, law: Number) -> Array:
        """Return a law at all times, (m,)."""
        if isinstance(law, Fraction):
            return np.full(len(self.q), float(law))
        symbols = {name: self._symbol(name) for name in symbols_of(law)}
        with np.errstate(all="ignore"):
            value = evaluate_expression(law, symbols, _Arrays(len(self.q)))
        return np.asarray(value, dtype=np.float64)

    def _value_of_definition(self, name: str) -> Array:
        return self.value(self._definitions[name])

    def _symbol(self, name: str) -> Array:
        if name in self._definitions:
            return self._definition(name)
        if frame_coordinate_of(name) is not None:
            return self._frame_coordinate(name)
        meaning = meaning_of(name, self.mechanism.coordinates, self.mechanism.rates)
        if meaning is None:
            return self._parameter(name)
        if meaning.group == "q":
            return self.q[:, meaning.index]
        if meaning.group == "t":
            return self.t
        raise RunError(
            "it is a rate, and positions are laws of coordinates and time",
            file=self.mechanism.file,
            element=name,
            remedy="write the law without rates",
        )

    def _frame_coordinate(self, name: str) -> Array:
        builder = Builder()
        value = Laws(Kinematics(self.mechanism, builder)).scalar(Identifier(name))
        builder.output("position", (1,), [("position_1", value)])
        columns = {"q": self.q, "t": self.t}
        return values_along(builder.finish(), "position", columns)[:, 0]

    def _parameter(self, name: str) -> Array:
        if name not in self._known:
            raise RunError(
                f"the parameter {name!r} has no value",
                file=self.mechanism.file,
                element=name,
                remedy="give it a value in the mechanism",
            )
        return np.full(len(self.q), float(self._known[name]))


def check_rates_of_time(
    mechanism: Mechanism, span: tuple[float, float], without: Collection[str] = ()
) -> None:
    """Refuse a base, or a holonomic constraint, whose rate jumps at a time within a motion.

    Constraints in `without` are not looked at.
    """
    base = mechanism.base
    places = (*base.position, *(base.rpy or ()), *(base.quaternion or ()))
    holonomic = [one for one in mechanism.constraints if one.kind == "holonomic"]
    laws = [("base", law, 1) for law in places]
    laws += [("base", law, 0) for law in (*base.velocity, *base.angular_velocity)]
    laws += [(f"constraint {c.name!r}", c.law, 1) for c in holonomic if c.name not in without]
    for element, law, order in laws:
        check_rate_of_time(mechanism, element, law, span, order)


def check_rate_of_time(
    mechanism: Mechanism, element: str, law: Number, span: tuple[float, float], order: int = 1
) -> None:
    """Refuse a law that jumps at a time within a motion, or with order 1 one whose rate does.

    No finite force follows such a law. Looked at are the times at which the argument of a function
    with a kink, a law of time alone, changes its sign.
    """
    for time in _switch_times(mechanism, law, span):
        if _jumps(mechanism, law, time, (span[1] - span[0]) * NEAR, order):
            raise RunError(
                f"its rate jumps at t = {time:.9g} s, which takes an infinite force",
                file=mechanism.file,
                element=element,
                remedy="write a law whose rate is continuous; a corner may be rounded as in "
                "sqrt((t - 1)^2 + 1e-6) for abs(t - 1)",
            )


def _switch_times(mechanism: Mechanism, law: Number, span: tuple[float, float]) -> list[float]:
    """Return when arguments of functions with a kink, as far as they are laws of time, are zero."""
    names = {parameter.name for parameter in mechanism.parameters}
    times: Array = np.linspace(*span, INSTANTS, dtype=np.float64)
    found: list[float] = []
    for argument in () if isinstance(law, Fraction) else _switching(law):
        if "t" not in symbols_of(argument) or not symbols_of(argument) <= {"t", *names}:
            continue
        signs = np.sign(_at(mechanism, argument, times))
        for place in np.flatnonzero(signs[:-1] * signs[1:] <= 0).tolist()[:SWITCHES]:
            low, high = times[place], times[place + 1]
            for _ in range(60):
                middle = (low + high) / 2
                is_left = np.sign(_at(mechanism, argument, np.array([middle]))[0]) == signs[place]
                low, high = (middle, high) if is_left else (low, middle)
            found.append(float(high))
    margin = 4 * NEAR * (span[1] - span[0])
    return [time for time in found if span[0] + margin < time < span[1] - margin]


def _switching(law: Expression) -> Iterator[Expression]:
    """Yield what decides which branch of a function with a kink holds."""
    if isinstance(law, Apply) and law.function in ("abs", "sign", "step"):
        yield law.arguments[0]
    if isinstance(law, Apply) and law.function in ("min", "max"):
        yield from (Binary("-", a, b) for a, b in combinations(law.arguments, 2))
    for part in parts_of(law):
        yield from _switching(part)


def _jumps(mechanism: Mechanism, law: Number, time: float, h: float, order: int) -> bool:
    """Tell whether a law, or with order 1 its rate, differs on the two sides of a time."""
    sides = [_at(mechanism, law, time + side * h * np.arange(1.0, 4.0)) for side in (-1, 1)]
    values = [3 * f[0] - 3 * f[1] + f[2] for f in sides]
    slopes = [
        side * (-2.5 * f[0] + 4 * f[1] - 1.5 * f[2]) / h
        for side, f in zip((-1, 1), sides, strict=True)
    ]
    pairs = (values, slopes)[: order + 1]
    return any(abs(b - a) > JUMP * max(1.0, abs(a), abs(b)) for a, b in pairs)


def _at(mechanism: Mechanism, law: Number, times: Array) -> Array:
    q = np.tile(mechanism.neutral(), (len(times), 1))
    return LawValues(mechanism, q, times).value(law)


class _Arrays:
    """The arithmetic of arrays of one length."""

    def __init__(self, count: int) -> None:
        self.count = count

    def number(self, value: Fraction) -> Array:
        return np.full(self.count, float(value))

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        return _FUNCTIONS[function](*arguments)


def _step(x: Array) -> Array:
    return np.where(x >= 0, 1.0, 0.0)


def _least(*arguments: Array) -> Array:
    return np.min(arguments, axis=0)


def _greatest(*arguments: Array) -> Array:
    return np.max(arguments, axis=0)


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "abs": np.abs,
    "sign": np.sign,
    "step": _step,
    "min": _least,
    "max": _greatest,
    "reciprocal": np.reciprocal,
    "sqrt": np.sqrt,
    "pow": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
}
