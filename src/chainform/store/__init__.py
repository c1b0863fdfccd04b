"""Models whole in a database: each variable, term and factor a row, with the model's history."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.store.database import Database, Objects
    from chainform.store.difference import (
        EntryChange,
        ParameterChange,
        ParameterState,
        RevisionDifference,
    )
    from chainform.store.query import Candidate
    from chainform.store.records import (
        MechanismFile,
        ModelEntry,
        ParameterEntry,
        Revision,
        RevisionRecord,
        Swept,
        mapping_of,
        text_of,
        texts_of,
    )
    from chainform.store.repository import Repository
    from chainform.store.runs import RunEntry, check_run_name
    from chainform.store.transfer import chosen_names, import_models, remove_unused, write_portable

__all__ = [
    "Candidate",
    "Database",
    "EntryChange",
    "MechanismFile",
    "ModelEntry",
    "Objects",
    "ParameterChange",
    "ParameterEntry",
    "ParameterState",
    "Repository",
    "Revision",
    "RevisionDifference",
    "RevisionRecord",
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

lazy.door(__name__)
