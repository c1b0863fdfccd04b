"""From a mechanism to a graph: one method per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chainform.formulations.accelerations import SolvedAccelerations
from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.auto import auto
from chainform.formulations.closed_form import closed_form
from chainform.formulations.complete import COMPLETE, CompleteModel
from chainform.formulations.composite_body import composite_body
from chainform.formulations.composite_derivatives import composite_derivatives
from chainform.formulations.constrained import ConstrainedEquations
from chainform.formulations.element_quantities import ElementQuantities
from chainform.formulations.elements import elements
from chainform.formulations.gibbs_appell import gibbs_appell
from chainform.formulations.jumps import seams
from chainform.formulations.kinetostatic import kinetostatic
from chainform.formulations.lagrange import lagrange
from chainform.formulations.linear_matrices import LINEAR, OF_MOTION, LinearMatrices
from chainform.formulations.newton_euler import newton_euler
from chainform.formulations.operators import (
    Operators,
    composite_slopes,
    with_derivatives,
)
from chainform.formulations.quantities import COMMON, OF_FRAME, Quantities
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
from chainform.formulations.shared.loop_rows import rows_of, turn_cosine
from chainform.formulations.shared.motion_equations import MotionEquations
from chainform.formulations.shared.options import (
    OF_ROWS,
    PART_CHOICES,
    PARTS,
    AxisChoice,
    AxisChoices,
    GraphOf,
    Method,
    Options,
    OutputRequest,
    Part,
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
from chainform.graph import Builder, Graph, base_outputs
from chainform.mechanism import GROUND, JointKind, Mechanism

MOST_RANKS = 5
"""How many other choices of axes are built."""
LARGEST = 2_000
"""The most factors of a graph that is built in other axes, too."""


@dataclass(frozen=True, slots=True)
class Formulation:
    """A method: the outputs it can give, and the function that adds them to a graph.

    The function takes a mechanism whose parameters are settled, the outputs, and options.
    `moving_base` says that a prescribed motion of the base enters all of them, however it is
    given; elements take one that follows from laws of time for the place of the base.
    """

    name: str
    outputs: tuple[str, ...]
    build: Method
    moving_base: bool = False

    def graph(
        self, mechanism: Mechanism, outputs: Sequence[str], options: Options
    ) -> tuple[Graph, AxisChoices]:
        """Return the graph of outputs, in this order, and the choices of axes for it.

        The axes are those of the options or, where there are none, the cheapest.
        """
        builder = _builder(mechanism)
        accelerations = self._accelerations(builder, mechanism, outputs, options)
        bases = list(dict.fromkeys(base for text in outputs for base in base_outputs(text)))
        requests = [parse_request(base) for base in bases if base not in builder.outputs]
        linear = LinearMatrices(builder, mechanism, self._graph_of(mechanism, options))
        for request in requests:
            if request.name in LINEAR:
                linear.declare(request)
        requests = [request for request in requests if request.name not in LINEAR]
        own = [request.name for request in requests if request.name in self.outputs]
        choices: AxisChoices = self.build(builder, mechanism, own, options) if own else {}
        others = [request for request in requests if request.name not in self.outputs]
        if others:
            kind = ElementQuantities if uses_elements(mechanism) else Quantities
            quantities = kind(builder, mechanism, options.in_axes(choices))
            for request in others:
                quantities.build(request)
            choices = {**choices, **quantities.choices}
        slopes = composite_slopes(outputs) if self.name == "auto" else []
        if slopes and not uses_elements(mechanism):
            axes = options.in_axes(choices)
            choices = {**choices, **composite_derivatives(builder, mechanism, slopes, axes)}
        operators = Operators(builder, mechanism, accelerations)
        operators.expect(outputs)
        builder.quantities |= {base: builder.outputs[base] for base in bases if base not in outputs}
        blocks = {text: replace(operators.declare(text), name=text) for text in outputs}
        return builder.finish(blocks), choices

    def _accelerations(
        self, builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
    ) -> SolvedAccelerations | None:
        """Return the accelerations where their derivatives are wanted, and the method is free."""
        wanted = any("(forward_dynamics," in text for text in outputs)
        if self.name != "auto" or not wanted:
            return None

        graph_of = self._graph_of(mechanism, options)
        self.build(builder, mechanism, ["mass_matrix"], options)
        is_flying = any(
            segment.parent == GROUND and segment.joint.kind is JointKind.FREE
            for segment in mechanism.segments
        )
        has_composites = is_flying and not uses_elements(mechanism)
        split_of = partial(_split_slopes, mechanism, options) if has_composites else None
        return SolvedAccelerations(builder, mechanism.nv, graph_of, split_of)

    def _graph_of(self, mechanism: Mechanism, options: Options) -> GraphOf:
        """Return what gives the graph of other outputs; the choices of axes are ranked once."""
        ranked: dict[Part, Sequence[AxisChoice]] = {}

        def graph_of(outputs: Sequence[str]) -> Graph:
            graph, choices = self.graph(mechanism, outputs, options.in_axes(ranked))
            ranked.update(choices)
            return graph

        return graph_of

    def graphs_in_other_axes(
        self,
        mechanism: Mechanism,
        outputs: Sequence[str],
        options: Options,
        choices: AxisChoices,
    ) -> Iterator[Graph]:
        """Yield the graph of outputs in the next choices of axes, the cheapest first."""
        count = max(map(len, choices.values()), default=1)
        for rank in range(1, min(count, MOST_RANKS + 1)):
            yield self.graph(mechanism, outputs, options.in_axes(choices, rank))[0]


def _builder(mechanism: Mechanism) -> Builder:
    """Return a builder that knows the parameters, q, qd and qdd, so that each has a name."""
    builder = Builder()
    for parameter in mechanism.parameters:
        builder.parameter(parameter.name, parameter.value)
    for group, count in (("q", mechanism.nq), ("qd", mechanism.nv), ("qdd", mechanism.nv)):
        for index in range(count):
            builder.input(f"{group}{index + 1}", group, index)
    return builder


def _split_slopes(mechanism: Mechanism, options: Options, outputs: Sequence[str]) -> Graph:
    """Return derivatives of inverse dynamics without common accelerations, and these."""
    builder = _builder(mechanism)
    composite_derivatives(builder, mechanism, outputs, options)
    return builder.finish()


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
    "turn_cosine",
    "uses_elements",
    "with_derivatives",
]
