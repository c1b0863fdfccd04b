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
        effort_of,
        seconds_of,
    )
    from chainform.search.published import JOINTS, OUTPUTS, PUBLISHED, PublishedStage, comparison
    from chainform.search.reduction import reduce_graph
    from chainform.search.sequence import PassEntry, parse_sequence, pass_entries, sequence_text
    from chainform.search.stages import Observer, Progress, Stage, path_of, stage_of

__all__ = [
    "DEFAULT_SECONDS",
    "EFFORTS",
    "JOINTS",
    "OUTPUTS",
    "PUBLISHED",
    "SINE_COST",
    "Effort",
    "Observer",
    "PassEntry",
    "Progress",
    "PublishedStage",
    "Stage",
    "comparison",
    "effort_of",
    "parse_sequence",
    "pass_entries",
    "path_of",
    "reduce_graph",
    "seconds_of",
    "sequence_text",
    "stage_of",
]

lazy.door(__name__)
