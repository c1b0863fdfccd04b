"""The words of procedures: types, operators, functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

Floats: TypeAlias = Any
"""An array of floats: of numpy where a procedure runs in Python, an address in machine code."""
Ints: TypeAlias = Any
"""An array of integers of 64 bits."""
Number: TypeAlias = float
"""A number that is the same in all lanes; with one lane it is a float."""
Numbers: TypeAlias = Any
"""An array of such numbers."""

Value: TypeAlias = tuple[str, str]
"""The text of a value and its type."""

FLOAT, INT, BOOL, FLOATS, INTS, NONE = "float", "int", "bool", "floats", "ints", "none"
NUMBER, NUMBERS, CONSTANT = "number", "numbers", "float constant"

ANNOTATIONS = {
    "float": FLOAT,
    "int": INT,
    "Floats": FLOATS,
    "Ints": INTS,
    "Number": NUMBER,
    "Numbers": NUMBERS,
    "None": NONE,
}

ENTRIES = {FLOATS: FLOAT, INTS: INT, NUMBERS: NUMBER}
"""What stands in an array."""

WITH_ONE_LANE = {NUMBER: FLOAT, NUMBERS: FLOATS}
"""What is the same in all lanes is like anything else if there is one."""

ARITHMETIC: dict[tuple[type, str], str] = {
    (ast.Add, FLOAT): "fadd contract",
    (ast.Sub, FLOAT): "fsub contract",
    (ast.Mult, FLOAT): "fmul contract",
    (ast.Div, FLOAT): "fdiv contract",
    (ast.Add, NUMBER): "fadd contract",
    (ast.Sub, NUMBER): "fsub contract",
    (ast.Mult, NUMBER): "fmul contract",
    (ast.Div, NUMBER): "fdiv contract",
    (ast.Add, INT): "add",
    (ast.Sub, INT): "sub",
    (ast.Mult, INT): "mul",
    (ast.FloorDiv, INT): "sdiv",
}

FOLDED: dict[type, Callable[[float, float], float]] = {
    ast.Add: float.__add__,
    ast.Sub: float.__sub__,
    ast.Mult: float.__mul__,
    ast.Div: float.__truediv__,
}
"""What is done with two constants at once."""

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


def integers(x: Floats) -> Ints:
    """Return the integers that stand in the memory of an array of floats."""
    return x.view("int64")
