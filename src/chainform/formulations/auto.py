"""The best method for each output asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from chainform.formulations.applied import world_closure
from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.composite_body import composite_body
from chainform.formulations.elements import UNKNOWN, elements
from chainform.formulations.lagrange import lagrange
from chainform.formulations.newton_euler import newton_euler
from chainform.formulations.options import Options
from chainform.formulations.refusals import has_coupled, has_quaternions
from chainform.formulations.scope import uses_elements
from chainform.graph import Builder, cost
from chainform.mechanism import Mechanism

Method: TypeAlias = Callable[[Builder, Mechanism, Sequence[str], Options], None]

COMPOSITE = ("mass_matrix", "coriolis", "coriolis_matrix")


def auto(builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options) -> None:
    """Build each output by the method that gives it at least cost.

    Inverse dynamics and bias come from the recursive equations. Matrices come from composite
    bodies, or Christoffel symbols from Lagrange's equations where that is clearly cheaper, and
    with them gravity, which is nearly free there. Forward dynamics is built both by
    articulated bodies and by factorising H, and the cheaper is taken. A mechanism with elements
    has the general equation of dynamics.
    """
    if uses_elements(mechanism) or any(output in UNKNOWN for output in outputs):
        elements(builder, mechanism, outputs, options)
        return
    composite = [output for output in outputs if output in COMPOSITE]
    if composite and "gravity" in outputs:
        composite.append("gravity")
    recursive = [
        o for o in ("inverse_dynamics", "bias", "gravity") if o in outputs and o not in composite
    ]
    if composite:
        _matrices(mechanism, composite, options)(builder, mechanism, composite, options)
    if recursive:
        newton_euler(builder, mechanism, recursive, options)
    if "forward_dynamics" in outputs:
        _forward_dynamics(builder, mechanism, options)
    if "closure" in outputs or "closure_jacobian" in outputs:
        loops = world_closure(builder, mechanism)
        if "closure" in outputs:
            loops.build_matrix()
        if "closure_jacobian" in outputs:
            loops.build_jacobian()


CLEARLY = 0.95
"""Below this part of the price of composite bodies, the Christoffel symbols come from Lagrange."""


def _matrices(mechanism: Mechanism, outputs: Sequence[str], options: Options) -> Method:
    """Return the method for matrices: composite bodies, or Lagrange where that is clearly cheaper.

    Only for the three-index symbols it can be: their triple products are fewer there. A small
    difference says little about what is left after a reduction.
    """
    if "coriolis" not in outputs or has_quaternions(mechanism):
        return composite_body
    prices = [_price(method, mechanism, outputs, options) for method in (composite_body, lagrange)]
    return lagrange if prices[1] < CLEARLY * prices[0] else composite_body


LINEAR_FROM = 16
"""From this many freedoms on, the method whose cost is linear in the joints wins in any case."""


def _forward_dynamics(builder: Builder, mechanism: Mechanism, options: Options) -> None:
    methods = [composite_body, articulated_body]
    if has_coupled(mechanism):
        methods = [composite_body]
    elif mechanism.nv >= LINEAR_FROM:
        methods = [articulated_body]
    best = methods[0]
    if len(methods) > 1:
        best = min(
            methods, key=lambda method: _price(method, mechanism, ["forward_dynamics"], options)
        )
    best(builder, mechanism, ["forward_dynamics"], options)


def _price(method: Method, mechanism: Mechanism, outputs: Sequence[str], options: Options) -> int:
    trial = Builder()
    method(trial, mechanism, outputs, options)
    count = cost(trial.finish())
    return count.multiplications + count.additions
