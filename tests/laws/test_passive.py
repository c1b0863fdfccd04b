"""Springs have a potential, and friction takes power: exactly, on random trees."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import EXACT, Builder, Graph, differentiate, evaluate
from zoo import exact_state, loaded_tree

pytestmark = pytest.mark.any_processor

TREES = (0, 1, 3, 5, 7, 9)


def slopes(graph: Graph, output: str, inputs: list[str], state: dict[str, Any]) -> Any:
    """Return the derivatives of a scalar output, exactly."""
    found: list[Any] = []
    for name in inputs:
        extended, (variable,) = differentiate(graph, graph.outputs[output].variables, name)
        builder = Builder()
        builder.resume(extended)
        builder.output("slope", (), [("slope", builder.scalar(variable))])
        found.append(evaluate(builder.finish(), state, EXACT)["slope"].item())
    return np.array(found, dtype=object)


def vector(state: dict[str, Any], letter: str, n: int) -> Any:
    return np.array([state[f"{letter}{i + 1}"] for i in range(n)], dtype=object)


@pytest.mark.parametrize("seed", TREES)
def test_spring_forces_are_slopes_of_their_energy(seed: int) -> None:
    loaded = loaded_tree(seed)
    undamped = tuple(replace(spring, damping=Fraction(0)) for spring in loaded.springs)
    mechanism = replace(loaded, springs=undamped)
    state = exact_state(mechanism, seed)
    model = cf.derive(mechanism, ["potential_energy", "gravity", "passive"], without=["friction"])
    values = evaluate(model.graph, state, EXACT)
    inputs = [f"q{i + 1}" for i in range(mechanism.nq)]
    energy = slopes(model.graph, "potential_energy", inputs, state)
    assert (energy == values["gravity"] + values["passive"]).all()
    assert np.any(values["passive"])


@pytest.mark.parametrize("seed", TREES)
def test_power_is_the_rate_of_energy_and_what_friction_takes(seed: int) -> None:
    mechanism = replace(loaded_tree(seed), forces=())
    n = mechanism.nv
    state = exact_state(mechanism, seed)
    model = cf.derive(mechanism, ["kinetic_energy", "potential_energy", "inverse_dynamics"])
    tau = evaluate(model.graph, state, EXACT)["inverse_dynamics"]
    qd, qdd = vector(state, "qd", n), vector(state, "qdd", n)
    rate = 0
    for energy in ("kinetic_energy", "potential_energy"):
        rate += slopes(model.graph, energy, [f"q{i + 1}" for i in range(n)], state) @ qd
        rate += slopes(model.graph, energy, [f"qd{i + 1}" for i in range(n)], state) @ qdd
    loss = dissipation(mechanism, state) @ qd
    assert qd @ tau == rate + loss
    assert loss > 0


def dissipation(mechanism: cf.Mechanism, state: dict[str, Any]) -> Any:
    """Return the passive forces of friction and damping, without stiffness."""
    springs = tuple(replace(spring, stiffness=Fraction(0)) for spring in mechanism.springs)
    model = cf.derive(replace(mechanism, springs=springs), ["passive"])
    return evaluate(model.graph, state, EXACT)["passive"]
