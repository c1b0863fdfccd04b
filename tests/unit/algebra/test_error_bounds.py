"""Graphs of the same values that rounding treats differently."""

from __future__ import annotations

import json

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.graph import parse_graph
from chainform.pipeline import available_outputs
from chainform.readers import read_text
from chainform.search.reduction import loses_digits
from zoo import random_tree

pytestmark = pytest.mark.usefixtures("short_walks")

HEAD = "chainform graph 1\ninput q 0 q1\ninput q 1 q2\n"
PLAIN = HEAD + "y = q1 + 2*q2\noutput y [1]: y\n"
AWAY = HEAD + "x = q1 + 1/1000000000000*q2\nz = x - q1\ny = q1 + 2000000000000*z\noutput y [1]: y\n"


def test_a_small_difference_times_a_large_number_loses_digits() -> None:
    assert loses_digits(parse_graph(PLAIN), parse_graph(AWAY))
    assert not loses_digits(parse_graph(AWAY), parse_graph(PLAIN))
    assert not loses_digits(parse_graph(PLAIN), parse_graph(PLAIN))


def nearly_upright() -> cf.Mechanism:
    """Small angles, whose rotation is known in fractions to 15 digits."""
    joints = {"type": "cylindrical", "axis": "z"}, {"type": "prismatic", "axis": "y"}
    first = {"name": "a", "joint": {"name": "j", **joints[0]}, "mass": 0.59, "com": [0, 0, 0.35]}
    first |= {"position": [0, 0.13, 0], "rpy": [0, -0.04, 0.05], "inertia": [0.1, 0.1, 0.1]}
    second = {"name": "b", "parent": "a", "joint": {"name": "k", **joints[1]}, "mass": 1.8}
    second |= {"position": [0.13, 0, 0.16], "inertia": [0.467, 0.436, 0.387]}
    table = {"name": "near", "gravity": [0, 0, -9.81], "segments": [first, second]}
    return read_text(json.dumps(table), "json")


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [nearly_upright(), random_tree(7)])
def test_a_reduced_graph_has_as_many_digits(mechanism: cf.Mechanism) -> None:
    names = "mass_matrix gravity bias inverse_dynamics forward_dynamics kinetic_energy "
    names += "potential_energy momentum centroidal_momentum com reactions passive"
    outputs = [output for output in available_outputs(mechanism, "auto") if output in names.split()]
    plain = cf.derive(mechanism, outputs)
    model = plain.reduce()
    assert not loses_digits(model.stages[0].graph, model.graph)
    rng = np.random.default_rng(1)
    q = np.array(mechanism.neutral()) + 0.1 * rng.normal(size=mechanism.nq)
    rates = dict(zip(("qd", "qdd", "tau"), rng.normal(size=(3, mechanism.nv)), strict=True))
    derived = plain.evaluate(q=q, **rates)
    for name, value in model.evaluate(q=q, **rates).items():
        np.testing.assert_allclose(value, derived[name], rtol=1e-10, atol=1e-10)


def test_a_pass_that_loses_digits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from chainform.passes import DropUnused
    from chainform.search import effort_of, reduce_graph

    monkeypatch.setattr(DropUnused, "__call__", lambda _, __: parse_graph(AWAY))
    with pytest.raises(DeriveError, match="rounding errors"):
        reduce_graph(parse_graph(PLAIN), effort_of("drop_unused"))
