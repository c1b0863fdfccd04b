"""Models: graphs with the mechanism they came from, the quantities people ask for, and numbers."""

from chainform.model.model import Model
from chainform.model.quantity import Expanded, Quantity
from chainform.model.store import Store, open_store, open_store_file
from chainform.model.user_data import default_url

__all__ = [
    "Expanded",
    "Model",
    "Quantity",
    "Store",
    "default_url",
    "open_store",
    "open_store_file",
]
