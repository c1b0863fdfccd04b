"""The fewest operations: drives reductions again and again.

What reduces is imported when it is first used: a model from the store is loaded, and run, without.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chainform.search.efforts import (
    EFFORTS,
    SINE_COST,
    Effort,
    Observer,
    Progress,
    Stage,
    effort_of,
    seconds_of,
    stage_of,
)

if TYPE_CHECKING:
    from chainform.search.reduction import reduce_graph
    from chainform.search.sequence import parse_sequence, sequence_text
    from chainform.search.thesis import comparison

__all__ = [
    "EFFORTS",
    "SINE_COST",
    "Effort",
    "Observer",
    "Progress",
    "Stage",
    "comparison",
    "effort_of",
    "parse_sequence",
    "reduce_graph",
    "seconds_of",
    "sequence_text",
    "stage_of",
]

_LATER = {
    "comparison": "thesis",
    "parse_sequence": "sequence",
    "reduce_graph": "reduction",
    "sequence_text": "sequence",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'chainform.search' has no attribute {name!r}")
    return getattr(import_module(f"chainform.search.{_LATER[name]}"), name)
