"""Models whole in a database: each variable, term and factor a row, with the model's history."""

from chainform.store.database import Database
from chainform.store.difference import Difference, EntryChange, ParameterChange, ParameterState
from chainform.store.records import (
    MechanismFile,
    ModelEntry,
    Parameter,
    Record,
    Revision,
    Swept,
)
from chainform.store.runs import Run, check_run_name

__all__ = [
    "Database",
    "Difference",
    "EntryChange",
    "MechanismFile",
    "ModelEntry",
    "Parameter",
    "ParameterChange",
    "ParameterState",
    "Record",
    "Revision",
    "Run",
    "Swept",
    "check_run_name",
]
