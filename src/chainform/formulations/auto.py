"""The best method for each output asked."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.closed_form import closed_form
from chainform.formulations.composite_body import composite_body
from chainform.formulations.newton_euler import newton_euler
from chainform.graph import Builder, cost
from chainform.mechanism import Mechanism

COMPOSITE = ("mass_matrix", "coriolis", "coriolis_matrix")
CLOSURE = ("closure", "closure_jacobian")


def auto(builder: Builder, mechanism: Mechanism, outputs: Sequence[str], closure: str) -> None:
    """Build each output by the method that gives it at least cost.

    Inverse dynamics and bias come from the recursive equations. Matrices come from composite
    bodies, and with them gravity, which is nearly free there. Forward dynamics is built both by
    articulated bodies and by factorising H, and the cheaper is taken.
    """
    composite = [output for output in outputs if output in COMPOSITE]
    if composite and "gravity" in outputs:
        composite.append("gravity")
    recursive = [
        o for o in ("inverse_dynamics", "bias", "gravity") if o in outputs and o not in composite
    ]
    if composite:
        composite_body(builder, mechanism, composite, closure)
    if recursive:
        newton_euler(builder, mechanism, recursive, closure)
    if "forward_dynamics" in outputs:
        _forward_dynamics(builder, mechanism, closure)
    closing = [output for output in outputs if output in CLOSURE]
    if closing:
        closed_form(builder, mechanism, closing, closure)


def _forward_dynamics(builder: Builder, mechanism: Mechanism, closure: str) -> None:
    methods = [composite_body]
    if len({s.coordinate for s in mechanism.segments if s.coordinate is not None}) == sum(
        s.coordinate is not None for s in mechanism.segments
    ):
        methods.append(articulated_body)
    prices: list[int] = []
    for method in methods:
        trial = Builder()
        method(trial, mechanism, ["forward_dynamics"], closure)
        count = cost(trial.finish())
        prices.append(count.multiplications + count.additions)
    methods[prices.index(min(prices))](builder, mechanism, ["forward_dynamics"], closure)
