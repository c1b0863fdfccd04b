"""Answers that are made of models: which formulations agree, forces, small motions."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.analysis.comparison import COMPARED, Comparison, ComparisonRow, Observer, compare
    from chainform.analysis.drives import DriveForces, drives
    from chainform.analysis.equilibria import equilibria
    from chainform.analysis.equilibrium_path import PathInterrupted, equilibrium_path
    from chainform.analysis.forces import UnknownForces, unknown_forces
    from chainform.analysis.implicit_equations import ImplicitEquations, implicit_equations
    from chainform.analysis.independent_coordinates import (
        IndependentCoordinates,
        independent_coordinates,
    )
    from chainform.analysis.linear_variables import StateOptions
    from chainform.analysis.linearisation import Linearisation, linearise
    from chainform.analysis.motion import PrescribedMotion, complete, motion_of
    from chainform.analysis.result import Result
    from chainform.analysis.static_problem import StaticOptions
    from chainform.analysis.statics import statics

__all__ = [
    "COMPARED",
    "Comparison",
    "ComparisonRow",
    "DriveForces",
    "ImplicitEquations",
    "IndependentCoordinates",
    "Linearisation",
    "Observer",
    "PathInterrupted",
    "PrescribedMotion",
    "Result",
    "StateOptions",
    "StaticOptions",
    "UnknownForces",
    "compare",
    "complete",
    "drives",
    "equilibria",
    "equilibrium_path",
    "implicit_equations",
    "independent_coordinates",
    "linearise",
    "motion_of",
    "statics",
    "unknown_forces",
]

lazy.door(__name__)
