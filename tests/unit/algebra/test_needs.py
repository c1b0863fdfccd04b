"""A reduction lets no output need inputs that it did not need before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.algebra import system_of
from chainform.algebra.dependencies import Needs, groups_needed, needs_more
from chainform.graph import Builder
from zoo import random_tree

pytestmark = pytest.mark.usefixtures("short_walks")

PAIRS = [
    ["forward_dynamics", "inverse_dynamics"],
    ["forward_dynamics", "mass_matrix", "inverse_dynamics"],
    ["gravity", "bias", "inverse_dynamics", "kinetic_energy"],
]


def chain(count: int) -> cf.Mechanism:
    builder, parent = cf.Mechanism.builder("chain", gravity=(0, 0, "-9.81")), "ground"
    for i in range(count):
        builder.segment(
            f"s{i}",
            parent=parent,
            joint={"type": "revolute", "friction": {"viscous": "0.1"}},
            axis="yxz"[i % 3],
            position=[0, 0, "-0.3"] if i else [0, 0, 0],
            mass=1,
            com=["0.02", "0.01", "-0.15"],
            inertia=["0.02", "0.03", "0.015"],
        )
        parent = f"s{i}"
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "outputs", "steps"),
    [(2, PAIRS[0], 300), (2, PAIRS[1], 100), (2, PAIRS[2], 100), (3, PAIRS[1], 0)],
)
def test_outputs_need_what_they_needed(count: int, outputs: list[str], steps: int) -> None:
    plain = cf.derive(chain(count), outputs)
    reduced = [plain.reduce("fast")]
    if steps:
        reduced += [plain.reduce("thesis"), plain.reduce("deep", steps=steps, cores=1)]
    assert not any(needs_more(plain.graph, model.graph) for model in reduced)


@pytest.mark.parametrize("seed", range(6))
def test_forward_dynamics_takes_no_accelerations(seed: int) -> None:
    mechanism = random_tree(seed)
    model = cf.derive(mechanism, PAIRS[1])
    assert "qdd" not in groups_needed(model.graph)["forward_dynamics"]
    rng = np.random.default_rng(seed)
    state: dict[str, Any] = {name: rng.normal(size=mechanism.nv) for name in ("qd", "tau")}
    q = mechanism.neutral()
    found = model.evaluate(q=q, **state, outputs=["forward_dynamics"])["forward_dynamics"]
    assert np.all(np.isfinite(found))


def test_groups_are_found_through_sums_and_calls() -> None:
    builder = Builder()
    q, qd = builder.input("q1", "q", 0), builder.input("qd1", "qd", 0)
    m = builder.input("m", "parameter", 0)
    builder.output("a", (1,), [("a", builder.call("sin", q) * m)])
    builder.output("b", (1,), [("b", builder.call("cos", q + qd) - 2)])
    builder.output("c", (1,), [("c", builder.number(3))])
    found = groups_needed(builder.finish())
    assert found == {"a": {"q", "parameter"}, "b": {"q", "qd"}, "c": set()}


def test_a_sum_needs_what_its_terms_need() -> None:
    builder = Builder()
    q, qd = builder.input("q1", "q", 0), builder.input("qd1", "qd", 0)
    moving = builder.keep(q * qd + q)
    builder.output("one", (), [("one", moving + moving * q)])
    builder.output("two", (), [("two", q * q + 1)])
    system = system_of(builder.finish())
    needs, found = Needs(system), {}
    for name, block in system.graph.outputs.items():
        found[name] = needs.of(system.to_sums[block.variables[0]])
    given = [needs.of(system.to_sums[system.graph.input_variable(name)]) for name in ("q1", "qd1")]
    assert given[0] & given[1] == 0 != given[0]
    assert found == {"one": given[0] | given[1], "two": given[0]}
    one, two = (system.to_sums[system.graph.outputs[name].variables[0]] for name in found)
    assert needs.allow(one, two)
    assert not needs.allow(two, one)
