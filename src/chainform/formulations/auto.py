"""The best method for each output."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.composite_body import composite_body
from chainform.formulations.elements import elements
from chainform.formulations.lagrange import lagrange
from chainform.formulations.newton_euler import newton_euler
from chainform.formulations.shared.forces import world_closure
from chainform.formulations.shared.options import AxisChoices, Method, Options
from chainform.formulations.shared.scope import UNKNOWN, has_coupled, has_quaternions, uses_elements
from chainform.graph import Builder, cost
from chainform.mechanism import Mechanism

COMPOSITE = ("mass_matrix", "coriolis", "coriolis_matrix")


def auto(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build each output by the method that gives it at least cost.

    Inverse dynamics and bias come from the recursive equations. Matrices come from composite
    bodies, or Christoffel symbols from Lagrange's equations where that is clearly cheaper, and
    with them gravity, which is nearly free there. Forward dynamics is built both by
    articulated bodies and by factorising H, and the cheaper is taken. A mechanism with elements
    has the general equation of dynamics.
    """
    if uses_elements(mechanism) or any(output in UNKNOWN for output in outputs):
        return elements(builder, mechanism, outputs, options)
    composite = [output for output in outputs if output in COMPOSITE]
    if composite and "gravity" in outputs:
        composite.append("gravity")
    recursive = [
        o for o in ("inverse_dynamics", "bias", "gravity") if o in outputs and o not in composite
    ]
    choices: AxisChoices = {}
    if composite:
        choices = _matrices(builder, mechanism, composite, options)
    if recursive:
        choices = {**choices, **newton_euler(builder, mechanism, recursive, options)}
    if "forward_dynamics" in outputs:
        choices = {**choices, **_forward_dynamics(builder, mechanism, options)}
    loops = [output for output in ("closure", "closure_jacobian") if output in outputs]
    if loops:
        closure = world_closure(builder, mechanism)
        for output in loops:
            closure.declare(output)
    return choices


CLEARLY = 0.95
"""Below this part of the price of composite bodies, the Christoffel symbols come from Lagrange."""


def _matrices(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build matrices by composite bodies, or by Lagrange's method where that is clearly cheaper.

    Only for the three-index symbols it can be: their triple products are fewer there. A small
    difference says little about what is left after a reduction.
    """
    if "coriolis" not in outputs or has_quaternions(mechanism):
        return composite_body(builder, mechanism, outputs, options)
    chosen = [options.axes.get((name, *outputs)) for name in ("composite_body", "lagrange")]
    prices = [axes.operations for axes in chosen if axes and axes.operations is not None]
    choices: AxisChoices = {}
    if len(prices) < len(chosen):
        prices, choices = _prices((composite_body, lagrange), mechanism, outputs, options)
    best = lagrange if prices[1] < CLEARLY * prices[0] else composite_body
    return {**choices, **best(builder, mechanism, outputs, options.in_axes(choices))}


LINEAR_FROM = 16
"""From this many freedoms on, the method whose cost is linear in the joints wins in any case."""


def _forward_dynamics(builder: Builder, mechanism: Mechanism, options: Options) -> AxisChoices:
    outputs = ["forward_dynamics"]
    choices: AxisChoices = {}
    best: Method = composite_body
    if mechanism.nv >= LINEAR_FROM and not has_coupled(mechanism):
        best = articulated_body
    elif not has_coupled(mechanism):
        prices, choices = _prices((composite_body, articulated_body), mechanism, outputs, options)
        best = articulated_body if prices[1] < prices[0] else composite_body
    return {**choices, **best(builder, mechanism, outputs, options.in_axes(choices))}


def _prices(
    methods: Sequence[Method], mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> tuple[list[int], AxisChoices]:
    """Return what outputs cost by each method, and the choices of axes that were ranked for it."""
    prices: list[int] = []
    choices: AxisChoices = {}
    for method in methods:
        trial = Builder()
        choices = {**choices, **method(trial, mechanism, outputs, options)}
        count = cost(trial.finish())
        prices.append(count.multiplications + count.additions)
    return prices, choices
