"""Answers that are made of models: which formulations agree, forces, small motions."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.analysis.comparison import (
        COMPARED,
        Comparison,
        ComparisonRow,
        Observer,
        agreement,
        compare,
        exact_values,
    )
    from chainform.analysis.drives import DriveForces, drives
    from chainform.analysis.equilibrium_continuation import equilibrium_path
    from chainform.analysis.equilibrium_search import equilibria
    from chainform.analysis.forces import UnknownForces, unknown_forces
    from chainform.analysis.implicit_equations import ImplicitEquations, implicit_equations
    from chainform.analysis.independent_coordinates import (
        IndependentCoordinates,
        independent_coordinates,
    )
    from chainform.analysis.interruption import Progress, TaskInterrupted, Watch
    from chainform.analysis.inverse_poses import inverse_kinematics
    from chainform.analysis.linear_variables import StateOptions
    from chainform.analysis.linearisation import Linearisation, linearise
    from chainform.analysis.motion import MotionOptions, MotionSource, motion_of
    from chainform.analysis.motion_kinematics import kinematics, workspace
    from chainform.analysis.motion_loads import inverse_dynamics
    from chainform.analysis.result import Result, load_result
    from chainform.analysis.static_forces import statics
    from chainform.analysis.static_problem import StaticOptions
    from chainform.analysis.supplementary import PrescribedMotion, complete
    from chainform.analysis.tasks import TASKS, Task, analyse, arguments_of

__all__ = [
    "COMPARED",
    "Comparison",
    "ComparisonRow",
    "DriveForces",
    "ImplicitEquations",
    "IndependentCoordinates",
    "Linearisation",
    "MotionOptions",
    "MotionSource",
    "Observer",
    "PrescribedMotion",
    "Progress",
    "Result",
    "TASKS",
    "StateOptions",
    "StaticOptions",
    "Task",
    "TaskInterrupted",
    "UnknownForces",
    "Watch",
    "agreement",
    "analyse",
    "arguments_of",
    "compare",
    "complete",
    "drives",
    "equilibria",
    "equilibrium_path",
    "exact_values",
    "implicit_equations",
    "independent_coordinates",
    "inverse_dynamics",
    "inverse_kinematics",
    "kinematics",
    "linearise",
    "load_result",
    "motion_of",
    "statics",
    "unknown_forces",
    "workspace",
]

lazy.door(__name__)
