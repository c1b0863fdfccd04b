"""From a mechanism to a graph: one method per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chainform.formulations.articulated_body import articulated_body
from chainform.formulations.closed_form import closed_form
from chainform.formulations.composite_body import composite_body
from chainform.formulations.newton_euler import newton_euler
from chainform.graph import Graph
from chainform.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class Formulation:
    """A method: the outputs it can give, and the function that gives them.

    The function takes a mechanism whose parameters are settled, the outputs, and how
    reactions of closed loops enter inverse dynamics ("complete" or "basic").
    """

    name: str
    outputs: tuple[str, ...]
    build: Callable[[Mechanism, Sequence[str], str], Graph]


FORMULATIONS = {
    "closed_form": Formulation(
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
    "articulated_body": Formulation(
        "articulated_body", ("forward_dynamics",), articulated_body
    ),
    "composite_body": Formulation(
        "composite_body", ("mass_matrix", "coriolis", "gravity"), composite_body
    ),
    "newton_euler": Formulation(
        "newton_euler", ("inverse_dynamics", "bias", "gravity"), newton_euler
    ),
}

__all__ = ["FORMULATIONS", "Formulation"]
