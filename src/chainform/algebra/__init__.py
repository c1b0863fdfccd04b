"""Sums of terms that change in place: what reductions work on."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.algebra.convert import SumSystem, graph_of, system_of
    from chainform.algebra.dependencies import Needs, needs_more
    from chainform.algebra.expansion import Expansions, multiply_out
    from chainform.algebra.extract import Settler
    from chainform.algebra.finite_field import field_for, is_same, residues
    from chainform.algebra.formula_forms import formulas, is_equal, short_formulas
    from chainform.algebra.simplification import substitute
    from chainform.algebra.sums import STANDARD, Prices, Sum, Sums
    from chainform.algebra.windows import Windows

__all__ = [
    "STANDARD",
    "Expansions",
    "Needs",
    "Prices",
    "Settler",
    "Sum",
    "SumSystem",
    "Sums",
    "Windows",
    "field_for",
    "formulas",
    "graph_of",
    "is_equal",
    "is_same",
    "multiply_out",
    "needs_more",
    "residues",
    "short_formulas",
    "substitute",
    "system_of",
]

lazy.door(__name__)
