"""Models: graphs with the mechanism they came from, the quantities people ask for, and numbers."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.model.catalogue import CATALOGUE, FRAME_LETTERS, LETTERS, PER_VALUE, OutputEntry
    from chainform.model.export import NATIVE, PRECISIONS, SINES
    from chainform.model.export_notes import reading_notes
    from chainform.model.expression_model import read_expressions
    from chainform.model.formulas import (
        FormulaArray,
        FormulaOptions,
        is_whole,
        letters_in_order,
        letters_of,
        notation_of,
    )
    from chainform.model.location import default_url, open_store, open_store_file
    from chainform.model.model import Model
    from chainform.model.names import (
        EntryRequest,
        block_named,
        entry_counts,
        has_name,
        letter_of,
        output_of,
        parse_request,
        request_in,
        select_outputs,
    )
    from chainform.model.persistence import Recorded, StoredRun
    from chainform.model.quantity import Quantity
    from chainform.model.quantity_results import Expanded, Sparsity, equations
    from chainform.model.states import (
        batch_shape,
        entry_names,
        evaluate_states,
        from_names,
        group_length,
        place_of,
        state_array,
    )
    from chainform.model.store import Store
    from chainform.model.summary import Origin

__all__ = [
    "CATALOGUE",
    "FRAME_LETTERS",
    "LETTERS",
    "NATIVE",
    "PER_VALUE",
    "PRECISIONS",
    "SINES",
    "EntryRequest",
    "Expanded",
    "FormulaArray",
    "FormulaOptions",
    "Model",
    "Origin",
    "OutputEntry",
    "Quantity",
    "Sparsity",
    "Store",
    "Recorded",
    "StoredRun",
    "batch_shape",
    "block_named",
    "default_url",
    "entry_counts",
    "entry_names",
    "equations",
    "evaluate_states",
    "from_names",
    "group_length",
    "has_name",
    "is_whole",
    "letter_of",
    "letters_in_order",
    "letters_of",
    "notation_of",
    "open_store",
    "open_store_file",
    "output_of",
    "parse_request",
    "place_of",
    "read_expressions",
    "reading_notes",
    "request_in",
    "select_outputs",
    "state_array",
]

lazy.door(__name__)
