"""Models: graphs with the mechanism they came from, the quantities people ask for, and numbers."""

from chainform.model.model import Model
from chainform.model.quantity import Expanded, Quantity

__all__ = ["Expanded", "Model", "Quantity"]
