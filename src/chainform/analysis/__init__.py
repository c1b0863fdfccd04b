"""Answers that are made of models: which formulations agree, what forces a motion needs."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.analysis.comparison import COMPARED, Comparison, ComparisonRow, Observer, compare
    from chainform.analysis.drives import DriveForces, drives
    from chainform.analysis.forces import UnknownForces, unknown_forces
    from chainform.analysis.motion import PrescribedMotion, complete, motion_of

__all__ = [
    "COMPARED",
    "Comparison",
    "ComparisonRow",
    "DriveForces",
    "Observer",
    "PrescribedMotion",
    "UnknownForces",
    "compare",
    "complete",
    "drives",
    "motion_of",
    "unknown_forces",
]

lazy.door(__name__)
