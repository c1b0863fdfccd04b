"""Models whole in a database: each variable, term and factor a row, with the model's history."""

from chainform.store.database import Database
from chainform.store.records import (
    Difference,
    MechanismFile,
    ModelEntry,
    Parameter,
    Record,
    Revision,
    Swept,
)
from chainform.store.runs import Run

__all__ = [
    "Database",
    "Difference",
    "MechanismFile",
    "ModelEntry",
    "Parameter",
    "Record",
    "Revision",
    "Run",
    "Swept",
]
