"""Sums of terms that change in place: what reductions work on."""

from chainform.algebra.convert import SumSystem, graph_of, system_of
from chainform.algebra.expansion import multiply_out
from chainform.algebra.extract import Settler
from chainform.algebra.residues import is_same
from chainform.algebra.sums import STANDARD, Prices, Sums
from chainform.algebra.tidy import substitute

__all__ = [
    "STANDARD",
    "Prices",
    "Settler",
    "SumSystem",
    "Sums",
    "graph_of",
    "is_same",
    "multiply_out",
    "substitute",
    "system_of",
]
