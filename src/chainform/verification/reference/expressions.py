"""Laws as text, evaluated with their first and second derivative along one direction."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Jet:
    """A value with its first and second derivative by one variable s."""

    value: float
    first: float = 0.0
    second: float = 0.0

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.first, -self.second)

    def __sub__(self, other: Jet) -> Jet:
        return self + -other

    def __mul__(self, other: Jet) -> Jet:
        a, b = self, other
        second = a.second * b.value + 2 * a.first * b.first + a.value * b.second
        return Jet(a.value * b.value, a.first * b.value + a.value * b.first, second)

    def through(self, value: float, slope: float, curvature: float) -> Jet:
        """Return f of the jet, given f, f' and f'' at its value."""
        second = slope * self.second + curvature * self.first**2
        return Jet(value, slope * self.first, second)

    def power(self, exponent: float) -> Jet:
        """Return the jet raised to a constant."""
        x, n = self.value, exponent
        if n in (0.0, 1.0):
            return Jet(1.0) if n == 0 else self
        return self.through(x**n, n * x ** (n - 1), n * (n - 1) * x ** (n - 2))


def _sign(x: float) -> float:
    return float(x > 0) - float(x < 0)


FUNCTIONS: Mapping[str, Callable[[float], tuple[float, float, float]]] = {
    "sin": lambda x: (math.sin(x), math.cos(x), -math.sin(x)),
    "cos": lambda x: (math.cos(x), -math.sin(x), -math.cos(x)),
    "tan": lambda x: (
        math.tan(x),
        1 + math.tan(x) ** 2,
        2 * math.tan(x) * (1 + math.tan(x) ** 2),
    ),
    "atan": lambda x: (math.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "log": lambda x: (math.log(x), 1 / x, -1 / (x * x)),
    "exp": lambda x: (math.exp(x), math.exp(x), math.exp(x)),
    "sqrt": lambda x: (math.sqrt(x), 0.5 / math.sqrt(x), -0.25 / x**1.5),
    "abs": lambda x: (abs(x), _sign(x), 0.0),
    "sign": lambda x: (_sign(x), 0.0, 0.0),
    "step": lambda x: (float(x >= 0), 0.0, 0.0),
}
"""Functions of laws: value, slope and curvature."""


@lru_cache(maxsize=4096)
def _tree(text: str) -> ast.expr:
    return ast.parse(text.replace("^", "**"), mode="eval").body


def law(text: object, names: Mapping[str, Jet]) -> Jet:
    """Return the value of a law; rates are named as in `der(phi)`, frames as in `x(tip)`."""
    if not isinstance(text, str):
        return Jet(float(str(text)))
    return _value(_tree(text), names)


def number(text: object, parameters: Mapping[str, float]) -> float:
    """Return a number that may be an expression of parameters."""
    return law(text, {name: Jet(value) for name, value in parameters.items()}).value


def _value(tree: ast.expr, names: Mapping[str, Jet]) -> Jet:
    match tree:
        case ast.Constant(value=int() | float() as value):
            return Jet(float(value))
        case ast.Name(id=name):
            return Jet(math.pi) if name == "pi" else names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(operator, _value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id="der" | "x" | "y" | "z")):
            return names[ast.unparse(tree)]
        case ast.Call(func=ast.Name(id="min" | "max" as function), args=arguments):
            choose = min if function == "min" else max
            return choose((_value(a, names) for a in arguments), key=lambda jet: jet.value)
        case ast.Call(func=ast.Name(id=function), args=[argument]):
            inner = _value(argument, names)
            return inner.through(*FUNCTIONS[function](inner.value))
        case _:
            raise ValueError(f"a law has {ast.dump(tree)}")


def _combined(operator: ast.operator, left: Jet, right: Jet) -> Jet:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left * right.power(-1.0)
        case ast.Pow():
            return left.power(right.value)
        case _:
            raise ValueError(f"a law has the operator {ast.dump(operator)}")
