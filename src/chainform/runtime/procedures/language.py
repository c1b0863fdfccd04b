"""The words of procedures: types, operators, functions."""

from __future__ import annotations

import ast
from typing import Any, TypeAlias

Floats: TypeAlias = Any
"""An array of floats: of numpy where a procedure runs in Python, an address in machine code."""
Ints: TypeAlias = Any
"""An array of integers of 64 bits."""

Value: TypeAlias = tuple[str, str]
"""The text of a value and its type."""

FLOAT, INT, BOOL, FLOATS, INTS, NONE = "float", "int", "bool", "floats", "ints", "none"

ANNOTATIONS = {"float": FLOAT, "int": INT, "Floats": FLOATS, "Ints": INTS, "None": NONE}

ARITHMETIC: dict[tuple[type, str], str] = {
    (ast.Add, FLOAT): "fadd contract",
    (ast.Sub, FLOAT): "fsub contract",
    (ast.Mult, FLOAT): "fmul contract",
    (ast.Div, FLOAT): "fdiv contract",
    (ast.Add, INT): "add",
    (ast.Sub, INT): "sub",
    (ast.Mult, INT): "mul",
    (ast.FloorDiv, INT): "sdiv",
}

COMPARISONS: dict[type, str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}

INTRINSICS = {
    "sqrt": ("llvm.sqrt", 1),
    "fabs": ("llvm.fabs", 1),
    "pow": ("llvm.pow", 2),
    "floor": ("llvm.floor", 1),
    "fmin": ("llvm.minnum", 2),
    "fmax": ("llvm.maxnum", 2),
}
"""Functions of numbers, and what LLVM has for them."""


def fmin(a: float, b: float) -> float:
    """Return the smaller of two numbers."""
    return min(a, b)


def fmax(a: float, b: float) -> float:
    """Return the larger of two numbers."""
    return max(a, b)
