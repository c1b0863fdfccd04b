"""Answers that are made of models: which formulations agree, forces, small motions."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.analysis.comparison import COMPARED, Comparison, ComparisonRow, Observer, compare
    from chainform.analysis.drives import DriveForces, drives
    from chainform.analysis.forces import UnknownForces, unknown_forces
    from chainform.analysis.implicit_equations import ImplicitEquations, implicit_equations
    from chainform.analysis.independent_coordinates import (
        IndependentCoordinates,
        independent_coordinates,
    )
    from chainform.analysis.inverse_kinematics import inverse_kinematics
    from chainform.analysis.linear_variables import StateOptions
    from chainform.analysis.linearisation import Linearisation, linearise
    from chainform.analysis.motion import PrescribedMotion, complete, motion_of
    from chainform.analysis.result import Result

__all__ = [
    "COMPARED",
    "Comparison",
    "ComparisonRow",
    "DriveForces",
    "ImplicitEquations",
    "IndependentCoordinates",
    "Linearisation",
    "Observer",
    "PrescribedMotion",
    "Result",
    "StateOptions",
    "UnknownForces",
    "compare",
    "complete",
    "drives",
    "implicit_equations",
    "independent_coordinates",
    "inverse_kinematics",
    "linearise",
    "motion_of",
    "unknown_forces",
]

lazy.door(__name__)
