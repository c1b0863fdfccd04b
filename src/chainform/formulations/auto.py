"""The best method for each output asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from chainform.formulations.applied import world_closure
from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.composite_body import composite_body
from chainform.formulations.elements import UNKNOWN, elements
from chainform.formulations.newton_euler import newton_euler
from chainform.formulations.options import Options
from chainform.formulations.refusals import has_coupled
from chainform.formulations.scope import uses_elements
from chainform.graph import Builder, cost
from chainform.mechanism import Mechanism

Method: TypeAlias = Callable[[Builder, Mechanism, Sequence[str], Options], None]

COMPOSITE = ("mass_matrix", "coriolis", "coriolis_matrix")


def auto(builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options) -> None:
    """Build each output by the method that gives it at least cost.

    Inverse dynamics and bias come from the recursive equations. Matrices come from composite
    bodies, and with them gravity, which is nearly free there. Forward dynamics is built both by
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
        composite_body(builder, mechanism, composite, options)
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
        best = min(methods, key=lambda method: _price(method, mechanism, options))
    best(builder, mechanism, ["forward_dynamics"], options)


def _price(method: Method, mechanism: Mechanism, options: Options) -> int:
    trial = Builder()
    method(trial, mechanism, ["forward_dynamics"], options)
    count = cost(trial.finish())
    return count.multiplications + count.additions
