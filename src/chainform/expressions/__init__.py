"""The safe parser and printer for expressions in files (parameters, forces)."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.expressions.evaluate import (
        ExpressionArithmetic,
        evaluate_expression,
        exact_square_root,
        substitute,
        value_of,
    )
    from chainform.expressions.parser import fraction_of_decimal, parse
    from chainform.expressions.statements import ExpressionFile, parse_value, read_statements
    from chainform.expressions.symbols import (
        GREEK,
        Mark,
        Symbol,
        is_short,
        latin_name,
        parse_symbol,
        plain_symbol,
        symbol_of_name,
    )
    from chainform.expressions.types import (
        CONSTANTS,
        FUNCTIONS,
        POSITIONS,
        RATE,
        Apply,
        Binary,
        Constant,
        Expression,
        Identifier,
        Negate,
        Number,
        Operator,
        constants_of,
        format_expression,
        format_fraction,
        parts_of,
        symbols_of,
    )

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "GREEK",
    "POSITIONS",
    "RATE",
    "Apply",
    "Binary",
    "Constant",
    "Expression",
    "ExpressionArithmetic",
    "Identifier",
    "Mark",
    "Negate",
    "Number",
    "Operator",
    "ExpressionFile",
    "Symbol",
    "constants_of",
    "evaluate_expression",
    "exact_square_root",
    "format_expression",
    "format_fraction",
    "fraction_of_decimal",
    "is_short",
    "latin_name",
    "parse",
    "parse_symbol",
    "parse_value",
    "parts_of",
    "plain_symbol",
    "read_statements",
    "substitute",
    "symbol_of_name",
    "symbols_of",
    "value_of",
]

lazy.door(__name__)
