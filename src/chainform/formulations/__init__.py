"""From a mechanism to a graph: one method per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.auto import auto
from chainform.formulations.closed_form import closed_form
from chainform.formulations.composite_body import composite_body
from chainform.formulations.newton_euler import newton_euler
from chainform.formulations.options import Options
from chainform.formulations.quantities import COMMON, OF_FRAME, Quantities, Request, parse_request
from chainform.formulations.refusals import has_coupled, has_quaternions, refuse_moving_base
from chainform.graph import Builder
from chainform.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class Formulation:
    """A method: the outputs it can give, and the function that adds them to a graph.

    The function takes a mechanism whose parameters are settled, the outputs, and options.
    """

    name: str
    outputs: tuple[str, ...]
    build: Callable[[Builder, Mechanism, Sequence[str], Options], None]


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
        ),
        auto,
    ),
    Formulation("newton_euler", ("inverse_dynamics", "bias", "gravity"), newton_euler),
    Formulation(
        "composite_body",
        ("mass_matrix", "coriolis", "coriolis_matrix", "gravity", "forward_dynamics"),
        composite_body,
    ),
    Formulation("articulated_body", ("forward_dynamics",), articulated_body),
    Formulation(
        "closed_form",
        (
            "mass_matrix",
            "coriolis",
            "gravity",
            "closure",
            "closure_jacobian",
            "inverse_dynamics",
        ),
        closed_form,
    ),
)

FORMULATIONS = {method.name: method for method in _METHODS}

__all__ = [
    "COMMON",
    "FORMULATIONS",
    "OF_FRAME",
    "Formulation",
    "Options",
    "Quantities",
    "Request",
    "has_coupled",
    "has_quaternions",
    "parse_request",
    "refuse_moving_base",
]
