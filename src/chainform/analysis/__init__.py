"""Answers that are made of models: which formulations agree, what forces a motion needs."""

from chainform.analysis.compare import Comparison, Row, compare
from chainform.analysis.drives import Drives, drives
from chainform.analysis.forces import Forces, unknown_forces
from chainform.analysis.motion import Motion, motion_of
from chainform.analysis.supplementary import complete

__all__ = [
    "Comparison",
    "Drives",
    "Forces",
    "Motion",
    "Row",
    "compare",
    "complete",
    "drives",
    "motion_of",
    "unknown_forces",
]
