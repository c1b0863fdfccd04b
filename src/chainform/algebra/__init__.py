"""Sums of terms that change in place: what reductions work on."""

from chainform.algebra.convert import SumSystem, graph_of, system_of
from chainform.algebra.expansion import Expansions, multiply_out
from chainform.algebra.extract import Settler
from chainform.algebra.needs import Needs, needs_more
from chainform.algebra.residues import is_same
from chainform.algebra.sums import STANDARD, Prices, Sum, Sums
from chainform.algebra.tidy import substitute

__all__ = [
    "STANDARD",
    "Expansions",
    "Needs",
    "Prices",
    "Settler",
    "Sum",
    "SumSystem",
    "Sums",
    "graph_of",
    "is_same",
    "multiply_out",
    "needs_more",
    "substitute",
    "system_of",
]
