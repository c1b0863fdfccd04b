"""Laws of the equations of motion, in exact arithmetic: no tolerance anywhere."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import EXACT, evaluate, evaluate_variables
from zoo import exact_state, random_tree, reference

pytestmark = pytest.mark.any_processor

TREES = range(24)
REFERENCES = ("rackovic_2_1", "rackovic_4_1", "manipulator_5dof", "stanford_arm", "sliding_links_3")


def mechanisms() -> list[Any]:
    trees = [pytest.param(partial(random_tree, seed), seed, id=f"tree{seed}") for seed in TREES]
    return [*trees, *(pytest.param(partial(reference, name), 1, id=name) for name in REFERENCES)]


@cache
def model_of(mechanism: cf.Mechanism) -> cf.Model:
    """Return H, C, gravity and inverse dynamics, derived once for all these tests."""
    return cf.derive(mechanism)


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_h_and_c_are_symmetric(mechanism: cf.Mechanism, seed: int) -> None:
    graph, state = model_of(mechanism).graph, exact_state(mechanism, seed)
    values = evaluate(graph, state, EXACT, ["mass_matrix", "coriolis"])
    h, c = values["mass_matrix"], values["coriolis"]
    assert (h == h.T).all()
    assert (c == c.transpose(0, 2, 1)).all()


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_c_holds_the_christoffel_symbols_of_h(mechanism: cf.Mechanism, seed: int) -> None:
    model = model_of(mechanism)
    state = exact_state(mechanism, seed)
    n = mechanism.nv
    slope = np.empty((n, n, n), dtype=object)
    for k in range(n):
        derivative = model["mass_matrix"].diff(f"q{k + 1}")
        slope[k] = exact_values(derivative, state)
    c = evaluate(model.graph, state, EXACT, ["coriolis"])["coriolis"]
    for i in range(n):
        for k in range(n):
            for l in range(n):
                symbol = (slope[l, i, k] + slope[k, i, l] - slope[i, k, l]) / 2
                assert c[i, k, l] == symbol


def exact_values(quantity: Any, state: dict[str, Any]) -> Any:
    known = evaluate_variables(quantity.graph, state, EXACT, quantity.variables.ravel().tolist())
    values = np.empty(quantity.variables.size, dtype=object)
    values[:] = [known[int(v)] for v in quantity.variables.flat]
    return values.reshape(quantity.shape)


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_inverse_dynamics_is_the_sum_of_its_parts(mechanism: cf.Mechanism, seed: int) -> None:
    model = model_of(mechanism)
    state = exact_state(mechanism, seed)
    values = evaluate(model.graph, state, EXACT)
    n = mechanism.nv
    qd = np.array([state[f"qd{i + 1}"] for i in range(n)], dtype=object)
    qdd = np.array([state[f"qdd{i + 1}"] for i in range(n)], dtype=object)
    expected = values["mass_matrix"] @ qdd + (values["coriolis"] @ qd) @ qd + values["gravity"]
    assert (values["inverse_dynamics"] == expected).all()


@pytest.mark.parametrize("seed", TREES)
def test_numeric_and_symbolic_models_agree(seed: int) -> None:
    mechanism = random_tree(seed)
    state = exact_state(mechanism, seed)
    numeric = evaluate(model_of(mechanism).graph, state, EXACT)
    symbolic = evaluate(cf.derive(mechanism, parameters="symbolic").graph, state, EXACT)
    mixed = evaluate(cf.derive(mechanism, parameters=["m_*", "g"]).graph, state, EXACT)
    for name, values in numeric.items():
        assert (values == symbolic[name]).all()
        assert (values == mixed[name]).all()


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_rate_of_h_less_twice_the_coriolis_matrix_is_skew(
    mechanism: cf.Mechanism, seed: int
) -> None:
    model = cf.derive(mechanism, ["mass_matrix", "coriolis_matrix"])
    state = exact_state(mechanism, seed)
    rate = sum(
        exact_values(model["mass_matrix"].diff(f"q{k + 1}"), state) * state[f"qd{k + 1}"]
        for k in range(mechanism.nv)
    )
    c = evaluate(model.graph, state, EXACT)["coriolis_matrix"]
    assert np.array_equal(np.asarray(rate), c + c.T)


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_power_is_the_rate_of_energy(mechanism: cf.Mechanism, seed: int) -> None:
    """tau . qd = d(T + V)/dt, the derivative taken by q and qd separately."""
    model = cf.derive(mechanism, ["kinetic_energy", "potential_energy", "inverse_dynamics"])
    state = exact_state(mechanism, seed)
    tau = evaluate(model.graph, state, EXACT, ["inverse_dynamics"])["inverse_dynamics"]
    power = rate = 0
    for i in range(1, mechanism.nv + 1):
        power += tau[i - 1] * state[f"qd{i}"]
        for energy in ("kinetic_energy", "potential_energy"):
            rate += exact_values(model[energy].diff(f"q{i}"), state)[()] * state[f"qd{i}"]
        rate += exact_values(model["kinetic_energy"].diff(f"qd{i}"), state)[()] * state[f"qdd{i}"]
    assert power == rate
