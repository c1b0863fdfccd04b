"""Models: graphs with the mechanism they came from, the quantities people ask for, and numbers."""

from chainform.model.model import Model, Origin
from chainform.model.names import output_of
from chainform.model.opening import open_store, open_store_file
from chainform.model.quantity import Expanded, Quantity
from chainform.model.stored_runs import StoredRun
from chainform.model.user_data import default_url

__all__ = [
    "Expanded",
    "Model",
    "Origin",
    "Quantity",
    "StoredRun",
    "default_url",
    "open_store",
    "open_store_file",
    "output_of",
]
