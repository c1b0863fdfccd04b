"""Answers that are made of models: which formulations agree, what forces a motion needs."""

from chainform.analysis.compare import Comparison, Row, compare
from chainform.analysis.forces import Forces, unknown_forces
from chainform.analysis.motion import Motion, motion_of

__all__ = [
    "Comparison",
    "Forces",
    "Motion",
    "Row",
    "compare",
    "motion_of",
    "unknown_forces",
]
