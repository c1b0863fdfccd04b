"""The safe parser and printer for expressions in files (parameters, forces)."""

from chainform.expressions.evaluate import (
    ExpressionArithmetic,
    evaluate_expression,
    exact_square_root,
)
from chainform.expressions.parser import parse
from chainform.expressions.printer import format_expression, format_fraction
from chainform.expressions.tokens import fraction_of_decimal
from chainform.expressions.types import (
    CONSTANTS,
    FUNCTIONS,
    RATE,
    Apply,
    Binary,
    Constant,
    Expression,
    Negate,
    Number,
    Operator,
    Symbol,
    constants_of,
    parts_of,
    symbols_of,
)
from chainform.expressions.values import substitute, value_of

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "RATE",
    "Apply",
    "Binary",
    "Constant",
    "Expression",
    "ExpressionArithmetic",
    "Negate",
    "Number",
    "Operator",
    "Symbol",
    "constants_of",
    "evaluate_expression",
    "exact_square_root",
    "format_expression",
    "format_fraction",
    "fraction_of_decimal",
    "parse",
    "parts_of",
    "substitute",
    "symbols_of",
    "value_of",
]
