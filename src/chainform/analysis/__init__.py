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
        rounding_at,
    )
    from chainform.analysis.equilibrium.equilibrium_continuation import equilibrium_path
    from chainform.analysis.equilibrium.equilibrium_search import equilibria
    from chainform.analysis.equilibrium.static_forces import statics
    from chainform.analysis.equilibrium.static_problem import StaticOptions
    from chainform.analysis.linear.linear_variables import LinearOptions
    from chainform.analysis.linear.linearisation import Linearisation, linearise
    from chainform.analysis.motions.drives import DriveForces, drives
    from chainform.analysis.motions.known_states import is_run_file
    from chainform.analysis.motions.motion import (
        MotionOptions,
        MotionSource,
        motion_of,
    )
    from chainform.analysis.motions.motion_kinematics import kinematics
    from chainform.analysis.motions.motion_loads import inverse_dynamics
    from chainform.analysis.motions.motion_sources import table_of_file
    from chainform.analysis.motions.supplementary import PrescribedMotion, complete
    from chainform.analysis.motions.unknown_forces import UnknownForces, unknown_forces
    from chainform.analysis.optimisation.design import DesignResult, design
    from chainform.analysis.oscillations.frequency_response import frequency_response
    from chainform.analysis.oscillations.root_locus import root_locus
    from chainform.analysis.oscillations.vibration_modes import modes
    from chainform.analysis.periodic.lyapunov import lyapunov_exponents
    from chainform.analysis.periodic.periodic_motion import periodic_motion
    from chainform.analysis.periodic.stability_limit import stability_limit
    from chainform.analysis.poses.inverse_poses import inverse_kinematics
    from chainform.analysis.poses.workspace_points import workspace
    from chainform.analysis.results.interruption import Progress, TaskInterrupted
    from chainform.analysis.results.result import Result, load_result
    from chainform.analysis.tasks import OF_MOTIONS, TASKS, Task, analyse, arguments_of
    from chainform.analysis.variations.motion_variations import MotionVariations
    from chainform.analysis.variations.refinement import transitions_along
    from chainform.analysis.variations.sensitivities import sensitivities
    from chainform.analysis.variations.start import StartDeviations
    from chainform.analysis.variations.transitions import Transitions
    from chainform.analysis.variations.variational_equations import VariationalEquations

__all__ = [
    "COMPARED",
    "TASKS",
    "Comparison",
    "ComparisonRow",
    "DesignResult",
    "DriveForces",
    "LinearOptions",
    "Linearisation",
    "MotionOptions",
    "MotionSource",
    "MotionVariations",
    "OF_MOTIONS",
    "Observer",
    "PrescribedMotion",
    "Progress",
    "Result",
    "StartDeviations",
    "StaticOptions",
    "Task",
    "TaskInterrupted",
    "Transitions",
    "UnknownForces",
    "VariationalEquations",
    "agreement",
    "analyse",
    "arguments_of",
    "compare",
    "complete",
    "design",
    "drives",
    "equilibria",
    "equilibrium_path",
    "exact_values",
    "frequency_response",
    "inverse_dynamics",
    "inverse_kinematics",
    "is_run_file",
    "kinematics",
    "linearise",
    "load_result",
    "lyapunov_exponents",
    "motion_of",
    "periodic_motion",
    "modes",
    "root_locus",
    "rounding_at",
    "sensitivities",
    "stability_limit",
    "statics",
    "table_of_file",
    "transitions_along",
    "unknown_forces",
    "workspace",
]

lazy.door(__name__)
