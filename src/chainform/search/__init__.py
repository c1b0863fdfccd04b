"""The fewest operations: drives reductions again and again."""

from chainform.search.budget import seconds_of
from chainform.search.deep import Progress
from chainform.search.efforts import EFFORTS, SINE_COST, Effort, effort_of, reduce_graph
from chainform.search.published import comparison
from chainform.search.sequence import parse_sequence, sequence_text
from chainform.search.stage import Observer, Stage, stage_of

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
