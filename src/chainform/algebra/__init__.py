"""Sums of terms that change in place: what reductions work on."""

from chainform.algebra.convert import System, graph_of, system_of
from chainform.algebra.expansion import multiply_out
from chainform.algebra.extract import extract
from chainform.algebra.sums import Prices, Sums
from chainform.algebra.tidy import Tidier, substitute

__all__ = [
    "Prices",
    "Sums",
    "System",
    "Tidier",
    "extract",
    "graph_of",
    "multiply_out",
    "substitute",
    "system_of",
]
