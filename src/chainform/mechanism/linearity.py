"""Whether a law is linear in some of its names: unknown forces, rates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from chainform.expressions import (
    Apply,
    Binary,
    Constant,
    Expression,
    Negate,
    Symbol,
    format_expression,
    symbols_of,
)
from chainform.expressions import Number as NumberExpression
from chainform.mechanism.types import Number

IsCounted: TypeAlias = Callable[[str], bool]
"""Tells whether a name is one of those in which a law shall be linear."""


def nonlinear_part(law: Number, is_counted: IsCounted) -> str | None:
    """Return the part of a law that is not linear in the names counted; None where all of it is.

    The form decides: a sum of products in each of which at most one factor has such names, never
    below a fraction bar, in a power or inside a function. A constant part may be there.
    """
    if isinstance(law, Fraction):
        return None
    try:
        _degree(law, is_counted)
    except _NotLinearError as found:
        return format_expression(found.part)
    return None


class _NotLinearError(Exception):
    """Carries the part of an expression that is not linear."""

    def __init__(self, part: Expression) -> None:
        super().__init__()
        self.part = part


def _degree(law: Expression, is_counted: IsCounted) -> int:
    """Return 1 for a linear expression and 0 for one without such names, or raise."""
    match law:
        case NumberExpression() | Constant():
            return 0
        case Symbol(name):
            return int(is_counted(name))
        case Negate(operand):
            return _degree(operand, is_counted)
        case Binary("+" | "-", left, right):
            return max(_degree(left, is_counted), _degree(right, is_counted))
        case Binary("*", left, right):
            degree = _degree(left, is_counted) + _degree(right, is_counted)
        case Binary("/", left, right):
            degree = _degree(left, is_counted) + 2 * _has(right, is_counted)
        case Binary() | Apply():
            degree = 2 * _has(law, is_counted)
    if degree > 1:
        raise _NotLinearError(law)
    return degree


def _has(law: Expression, is_counted: IsCounted) -> bool:
    return any(is_counted(name) for name in symbols_of(law))
