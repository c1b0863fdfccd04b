"""The fewest operations: drives reductions again and again.

What reduces is imported when it is first used: a model from the store is loaded, and run, without.
"""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.search.efforts import (
        DEFAULT_SECONDS,
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
    from chainform.search.reduction import reduce_graph
    from chainform.search.sequence import parse_sequence, sequence_text
    from chainform.search.thesis import comparison

__all__ = [
    "DEFAULT_SECONDS",
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

lazy.door(__name__)
