"""Inverse dynamics with every inertial parameter symbolic, beside published counts."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.graph import Graph, parameter_only
from modified_dh import ARMS, arm

pytestmark = pytest.mark.usefixtures("cheapest_axes")

PUBLISHED = {
    "puma560": ((345, 296), (301, 240), 36),
    "stanford": ((324, 279), (262, 211), 33),
    "rx90": ((331, 282), (287, 226), 36),
}
"""OpenSYMORO: all parameters, base parameters, and the number of base parameters."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_are_not_above_the_published_ones(name: str) -> None:
    model = cf.derive(arm(name), ["inverse_dynamics"], parameters="symbolic")
    count = model.count()
    _, (multiplications, additions), _ = PUBLISHED[name]
    assert count.multiplications <= multiplications
    assert count.additions <= additions


DIAGONAL = {"puma560": (231, 175), "stanford": (206, 159), "rx90": (217, 161)}
"""OpenSYMORO: base parameters, of which no inertia lies off the diagonal."""


def in_base(name: str) -> cf.Model:
    """Return inverse dynamics in base parameters, lengths and g symbols as well."""
    lengths = [*ARMS[name].d.values(), *ARMS[name].r.values()]
    return cf.derive(arm(name), ["inverse_dynamics"], parameters=["base", "g", *lengths])


OFF_DIAGONAL = ("Ixy", "Ixz", "Iyz")


def with_diagonal_inertias(model: cf.Model, of: str = "base parameters") -> cf.Model:
    """Return the model without inertia off the diagonal: of base parameters, or of the bodies.

    Masses of bodies at a distance leave some in the base parameters where the bodies have none.
    """
    base = model.mechanism.base_parameters("symbolic")
    gone = [
        entry.name
        for entry in base
        if entry.name[:3] in OFF_DIAGONAL
        and (of == "base parameters" or all(term[:3] in OFF_DIAGONAL for term in entry.formula))
    ]
    return model.bind(dict.fromkeys(gone, 0))


@pytest.mark.parametrize("of", ["base parameters", "bodies"])
@pytest.mark.parametrize("name", DIAGONAL)
def test_base_parameters_with_diagonal_inertias(name: str, of: str) -> None:
    model = in_base(name)
    lengths = {*ARMS[name].d.values(), *ARMS[name].r.values()}
    assert len(model.free_parameters.keys() - {"g"} - lengths) == PUBLISHED[name][2]
    count = with_diagonal_inertias(model, of).reduce("fast").count()
    assert count.multiplications < DIAGONAL[name][0]
    assert count.additions < DIAGONAL[name][1]


@pytest.mark.parametrize("name", PUBLISHED)
def test_number_of_base_parameters(name: str) -> None:
    model = cf.derive(arm(name), ["inverse_dynamics"], parameters="symbolic")
    assert len(inertial_combinations(model.graph)) == PUBLISHED[name][2]


def inertial_combinations(graph: Graph) -> set[str]:
    """Return the combinations of inertial parameters that the moving part of a graph uses."""
    constant = parameter_only(graph)
    needed = graph.cone(graph.output_variables())
    used: set[int] = set()
    for v in np.flatnonzero(needed & ~constant):
        first, last = graph.factor_start[graph.term_start[v : v + 2]]
        used |= {int(f) for f in graph.factor[first:last] if constant[f]}
    return {graph.names[v] for v in used if graph.names[v][0] in "MhS" and "_" in graph.names[v]}
