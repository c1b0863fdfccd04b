"""Quantities as SymPy expressions: evaluation in SymPy's own arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any

from chainform.errors import RunError
from chainform.graph.evaluate import evaluate_variables
from chainform.graph.graph import Graph


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


def sympy_expressions(graph: Graph, variables: Sequence[int]) -> list[Any]:
    """Return variables as SymPy expressions of the inputs, not multiplied out."""
    arithmetic = SymPyArithmetic()
    inputs = {
        given.name: arithmetic.sympy.Symbol(given.name, real=True)
        for given in graph.inputs.values()
    }
    results = evaluate_variables(graph, inputs, arithmetic, variables)
    return [results[int(v)] for v in variables]
