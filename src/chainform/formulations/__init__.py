"""From a mechanism to a graph: one method per file, one line each in the table."""

from __future__ import annotations

from functools import partial

from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.auto import auto
from chainform.formulations.closed_form import closed_form
from chainform.formulations.complete import COMPLETE, CompleteModel
from chainform.formulations.composite_body import composite_body
from chainform.formulations.constrained import ConstrainedEquations
from chainform.formulations.element_quantities import has_reactions
from chainform.formulations.elements import elements
from chainform.formulations.formulation import LARGEST, Formulation
from chainform.formulations.gibbs_appell import gibbs_appell
from chainform.formulations.jumps import seams
from chainform.formulations.kinetostatic import kinetostatic
from chainform.formulations.lagrange import lagrange
from chainform.formulations.linear_matrices import LINEAR, OF_MOTION
from chainform.formulations.newton_euler import newton_euler
from chainform.formulations.operators import with_derivatives
from chainform.formulations.quantities import COMMON, OF_FRAME
from chainform.formulations.shared.actuators import (
    Actuated,
    Share,
    coordinate_of,
    entry_of,
    rest_places,
    shares_of,
)
from chainform.formulations.shared.closure_jacobian import basic_rates, has_basic_joints
from chainform.formulations.shared.constraints import ConstraintLaws, ConstraintRow
from chainform.formulations.shared.drives import Drive
from chainform.formulations.shared.forces import generalised_forces, passive_forces
from chainform.formulations.shared.independent_rates import is_bound
from chainform.formulations.shared.kinematics import BuilderArithmetic, Kinematics
from chainform.formulations.shared.laws import Laws
from chainform.formulations.shared.loop_rows import rows_of, turn_cosines
from chainform.formulations.shared.motion_equations import MotionEquations
from chainform.formulations.shared.options import (
    OF_ROWS,
    PART_CHOICES,
    PARTS,
    AxisChoices,
    Method,
    Options,
    OutputRequest,
    extended,
    parse_request,
)
from chainform.formulations.shared.outputs import solve
from chainform.formulations.shared.scope import (
    CONSTRAINED,
    QUASI,
    REGRESSORS,
    UNILATERAL,
    UNKNOWN,
    UNMOVED,
    WHOLE_BODIES,
    check_frame,
    has_coupled,
    has_quaternions,
    of_base_bodies,
    outputs_in_scope,
    refusal,
    refuse_base_bodies,
    refuse_base_without_laws,
    refuse_elements,
    refuse_in_base,
    refuse_massless,
    refuse_moving_base,
    uses_elements,
)
from chainform.formulations.shared.world import WorldColumns

CONSTRAINTS = (*CONSTRAINED, *UNILATERAL, *QUASI)
_with_actuators = partial(extended, outputs=COMPLETE, extension=CompleteModel)
_with_constraints = partial(extended, outputs=CONSTRAINTS, extension=ConstrainedEquations)


def _constraints_from(method: Method, *gives: str) -> Method:
    """Return a method with the outputs of constraints, from equations that it gives."""
    return extended(method, CONSTRAINTS, partial(ConstrainedEquations, gives=gives))


_METHODS = (
    Formulation(
        "auto",
        (
            "inverse_dynamics",
            "forward_dynamics",
            "mass_matrix",
            "coriolis",
            "coriolis_matrix",
            "gravity",
            "bias",
            "closure",
            "closure_jacobian",
            *COMPLETE,
            *UNKNOWN,
            *CONSTRAINTS,
            *LINEAR,
        ),
        _with_constraints(_with_actuators(auto)),
        moving_base=True,
    ),
    Formulation(
        "newton_euler",
        ("inverse_dynamics", "bias", "gravity", *CONSTRAINTS),
        _constraints_from(newton_euler, "inverse_dynamics"),
        moving_base=True,
    ),
    Formulation(
        "composite_body",
        (
            "mass_matrix",
            "coriolis",
            "coriolis_matrix",
            "gravity",
            "forward_dynamics",
            *CONSTRAINTS,
        ),
        _constraints_from(composite_body, "mass_matrix", "forward_dynamics"),
        moving_base=True,
    ),
    Formulation(
        "articulated_body",
        ("forward_dynamics", *CONSTRAINED, *UNILATERAL),
        _constraints_from(articulated_body, "forward_dynamics"),
        moving_base=True,
    ),
    Formulation(
        "kinetostatic",
        (
            "inverse_dynamics",
            "forward_dynamics",
            "mass_matrix",
            "gravity",
            "bias",
            "reactions",
            *COMPLETE,
            *CONSTRAINTS,
        ),
        _with_constraints(_with_actuators(kinetostatic)),
        moving_base=True,
    ),
    Formulation(
        "closed_form",
        (
            "mass_matrix",
            "coriolis",
            "gravity",
            "closure",
            "closure_jacobian",
            "inverse_dynamics",
            *CONSTRAINTS,
        ),
        _with_constraints(closed_form),
    ),
    Formulation(
        "lagrange",
        (
            "mass_matrix",
            "metric_derivative",
            "coriolis",
            "coriolis_matrix",
            "gravity",
            "bias",
            "inverse_dynamics",
            "forward_dynamics",
            *CONSTRAINTS,
        ),
        _with_constraints(lagrange),
    ),
    Formulation(
        "gibbs_appell",
        (
            "inverse_dynamics",
            "forward_dynamics",
            "mass_matrix",
            "gravity",
            "bias",
            "acceleration_energy",
            *CONSTRAINTS,
        ),
        _with_constraints(gibbs_appell),
        moving_base=True,
    ),
    Formulation(
        "elements",
        (
            "mass_matrix",
            "coriolis",
            "coriolis_matrix",
            "gravity",
            "bias",
            "inverse_dynamics",
            "forward_dynamics",
            "closure",
            "closure_jacobian",
            *UNKNOWN,
            *CONSTRAINTS,
        ),
        _with_constraints(elements),
    ),
)

FORMULATIONS = {method.name: method for method in _METHODS}


__all__ = [
    "COMMON",
    "COMPLETE",
    "CONSTRAINTS",
    "OF_MOTION",
    "FORMULATIONS",
    "LARGEST",
    "LINEAR",
    "OF_FRAME",
    "OF_ROWS",
    "PARTS",
    "PART_CHOICES",
    "REGRESSORS",
    "UNMOVED",
    "WHOLE_BODIES",
    "Actuated",
    "AxisChoices",
    "BuilderArithmetic",
    "ConstraintLaws",
    "ConstraintRow",
    "Drive",
    "Formulation",
    "Kinematics",
    "Laws",
    "MotionEquations",
    "Options",
    "OutputRequest",
    "Share",
    "WorldColumns",
    "basic_rates",
    "check_frame",
    "coordinate_of",
    "entry_of",
    "generalised_forces",
    "has_basic_joints",
    "has_coupled",
    "has_quaternions",
    "has_reactions",
    "is_bound",
    "outputs_in_scope",
    "parse_request",
    "passive_forces",
    "refuse_base_without_laws",
    "refuse_elements",
    "of_base_bodies",
    "refuse_base_bodies",
    "refuse_in_base",
    "refuse_massless",
    "refuse_moving_base",
    "refusal",
    "rest_places",
    "rows_of",
    "seams",
    "shares_of",
    "solve",
    "turn_cosines",
    "uses_elements",
    "with_derivatives",
]
