"""Models: graphs with the mechanism they came from, the quantities people ask for, and numbers."""

from chainform.model.location import default_url, open_store, open_store_file
from chainform.model.model import Model, Origin
from chainform.model.persistence import StoredRun
from chainform.model.quantity import Expanded, Quantity

__all__ = [
    "Expanded",
    "Model",
    "Origin",
    "Quantity",
    "StoredRun",
    "default_url",
    "open_store",
    "open_store_file",
]
