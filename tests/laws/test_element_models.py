"""Lagrange's equations from the energies of element models, with time in their laws, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import EXACT, Builder, Graph, Scalar, Tangents, evaluate
from element_models import exact_inputs, random_model
from zoo import exact_state, loaded_tree

pytestmark = pytest.mark.any_processor

MODELS = range(10)


def state_of(model: cf.Mechanism, seed: int) -> dict[str, Any]:
    return exact_inputs(model, exact_state(model, seed))


def lagrange(graph: Graph, n: int) -> Graph:
    """Return d/dt dT/dqd - dT/dq + dV/dq as an output `forces`, and d2T/dqd2 as `inertia`."""
    builder = Builder()
    builder.resume(graph)
    names = ("kinetic_energy", "potential_energy")
    T, V = (builder.scalar(graph.outputs[name].variables[0]) for name in names)

    def q(k: int, group: str = "q") -> Scalar:
        return builder.input(f"{group}{k + 1}", group, k)

    def by(scalar: Scalar) -> Tangents:
        return Tangents(builder, {builder.variable_of(scalar): builder.number(1)})

    clock = {builder.variable_of(q(k)): q(k, "qd") for k in range(n)}
    clock |= {builder.variable_of(q(k, "qd")): q(k, "qdd") for k in range(n)}
    clock[builder.variable_of(builder.input("t", "t", 0))] = builder.number(1)
    momenta = [builder.keep(by(q(k, "qd")).of(T)) for k in range(n)]
    rates = [Tangents(builder, clock).of(p) for p in momenta]
    forces = [rates[k] - by(q(k)).of(T) + by(q(k)).of(V) for k in range(n)]
    builder.output("forces", (n,), [(f"L_{k}", force) for k, force in enumerate(forces)])
    inertia = [by(q(k, "qd")).of(p) for p in momenta for k in range(n)]
    builder.output("inertia", (n, n), [(f"I_{k}", entry) for k, entry in enumerate(inertia)])
    return builder.finish()


@pytest.mark.parametrize("seed", MODELS)
def test_lagranges_equations_follow_from_the_energies(seed: int) -> None:
    model = random_model(seed)
    n, state = model.nv, state_of(model, seed)
    energies = cf.derive(model, ["kinetic_energy", "potential_energy"]).graph
    expected = evaluate(lagrange(energies, n), state, EXACT, ["forces", "inertia"])
    names = ["mass_matrix", "bias", "passive"]
    value = evaluate(cf.derive(model, names, without=["friction"]).graph, state, EXACT)
    qdd = np.array([state[f"qdd{k + 1}"] for k in range(n)], dtype=object)
    assert (value["mass_matrix"] == expected["inertia"]).all()
    own = value["mass_matrix"] @ qdd + value["bias"] + value["passive"]
    assert (own == expected["forces"]).all()


@pytest.mark.parametrize("seed", range(6))
def test_dampers_take_energy(seed: int) -> None:
    tree = loaded_tree(seed).as_elements()
    state = state_of(tree, seed)
    damped, undamped = (
        evaluate(cf.derive(tree, ["passive"], without=left).graph, state, EXACT)["passive"]
        for left in ((), ("friction",))
    )
    qd = np.array([state[f"qd{k + 1}"] for k in range(tree.nv)], dtype=object)
    assert (damped - undamped) @ qd > 0
