"""Models whole in a database: each variable, term and factor a row, with the model's history."""

from chainform.store.arguments import mapping_of, text_of, texts_of
from chainform.store.database import Database
from chainform.store.difference import Difference, EntryChange, ParameterChange, ParameterState
from chainform.store.objects import Objects
from chainform.store.query import Candidate
from chainform.store.records import MechanismFile, ModelEntry, Parameter, Record, Revision, Swept
from chainform.store.repository import Repository
from chainform.store.runs import RunEntry, check_run_name
from chainform.store.transfer import chosen_names, import_models, remove_unused, write_portable

__all__ = [
    "Candidate",
    "Database",
    "Difference",
    "EntryChange",
    "MechanismFile",
    "ModelEntry",
    "Objects",
    "Parameter",
    "ParameterChange",
    "ParameterState",
    "Record",
    "Repository",
    "Revision",
    "RunEntry",
    "Swept",
    "check_run_name",
    "chosen_names",
    "import_models",
    "mapping_of",
    "remove_unused",
    "text_of",
    "texts_of",
    "write_portable",
]
