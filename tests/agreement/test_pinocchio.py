"""Random trees against Pinocchio: mixed joints, inclined gravity, any numbering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from pinocchio_oracle import Oracle
from zoo import random_tree, reference

BLOCKS = [range(start, start + 20) for start in range(1000, 1200, 20)]
RELATIVE = 1e-10

Array = NDArray[np.float64]


def assert_close(got: Any, expected: Any, what: str) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert np.abs(got - expected).max(initial=0.0) <= RELATIVE * scale, what


def state_of(oracle: Oracle, seed: int) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    qd, qdd, tau = rng.uniform(-2, 2, (3, oracle.mechanism.nv))
    return oracle.random_q(seed), qd, qdd, tau


def compare_closed_form(mechanism: cf.Mechanism, seed: int) -> None:
    oracle = Oracle(mechanism)
    q, qd, qdd, _ = state_of(oracle, seed)
    outputs = ["mass_matrix", "coriolis", "gravity", "inverse_dynamics"]
    got = cf.derive(mechanism, outputs, formulation="closed_form").evaluate(q=q, qd=qd, qdd=qdd)
    assert_close(got["mass_matrix"], oracle.mass_matrix(q), f"H of tree {seed}")
    assert_close(got["gravity"], oracle.gravity(q), f"hG of tree {seed}")
    assert_close(got["coriolis"], oracle.coriolis(q), f"C of tree {seed}")
    tau = oracle.inverse_dynamics(q, qd, qdd)
    assert_close(got["inverse_dynamics"], tau, f"tau of tree {seed}")


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_closed_form_on_200_random_trees(block: range) -> None:
    for seed in block:
        compare_closed_form(random_tree(seed), seed)


@pytest.mark.parametrize(
    "name", ["rackovic_2_1", "rackovic_4_1", "humanoid_30", "stanford_toolbox"]
)
def test_closed_form_of_reference_mechanisms(name: str) -> None:
    compare_closed_form(reference(name), 7)


FRAME = ("pose", "jacobian", "jacobian_rate", "velocity", "acceleration")
WHOLE = (
    "mass_matrix",
    "coriolis_matrix",
    "gravity",
    "bias",
    "inverse_dynamics",
    "kinetic_energy",
    "potential_energy",
    "centroidal_momentum",
)


@pytest.mark.parametrize("seed", range(2000, 2040))
def test_trees_with_quaternion_joints(seed: int) -> None:
    """All quantities, for trees in which free and spherical joints stand anywhere."""
    mechanism = random_tree(seed, quaternions=True)
    oracle = Oracle(mechanism)
    q, qd, qdd, tau = state_of(oracle, seed)
    got = cf.derive(mechanism, WHOLE, formulation="auto").evaluate(q=q, qd=qd, qdd=qdd)
    assert_close(got["mass_matrix"], oracle.mass_matrix(q), "H")
    assert_close(got["gravity"], oracle.gravity(q), "hG")
    zero = np.zeros(mechanism.nv)
    assert_close(got["bias"], oracle.inverse_dynamics(q, qd, zero), "bias")
    assert_close(got["inverse_dynamics"], oracle.inverse_dynamics(q, qd, qdd), "tau")
    assert_close(got["coriolis_matrix"] @ qd + got["gravity"], got["bias"], "c = Cm qd")
    assert_close(got["coriolis_matrix"], oracle.coriolis_matrix(q, qd), "Cm")
    kinetic, potential = oracle.energies(q, qd)
    assert_close(got["kinetic_energy"], kinetic, "T")
    assert_close(got["potential_energy"], potential, "V")
    assert_close(got["centroidal_momentum"], oracle.centroidal_momentum(q, qd), "momentum")
    if np.linalg.cond(got["mass_matrix"]) < 1e9:
        for formulation in ("articulated_body", "composite_body"):
            model = cf.derive(mechanism, ["forward_dynamics"], formulation=formulation)
            found = model.evaluate(q=q, qd=qd, tau=tau)["forward_dynamics"]
            assert_close(got["mass_matrix"] @ found + got["bias"], tau, formulation)


@pytest.mark.parametrize("axes", ["world", "local"])
@pytest.mark.parametrize("seed", range(2100, 2112))
def test_frames(seed: int, axes: str) -> None:
    mechanism = random_tree(seed, quaternions=True)
    oracle = Oracle(mechanism)
    q, qd, qdd, _ = state_of(oracle, seed)
    segment = len(mechanism.segments) - 1
    name = mechanism.segments[segment].name
    asked = {word: f"{word}({name},{axes})" for word in FRAME}
    got = cf.derive(mechanism, list(asked.values())).evaluate(q=q, qd=qd, qdd=qdd)
    frame = oracle.frame(segment)
    assert_close(got[asked["pose"]], frame.pose(q), "pose")
    assert_close(got[asked["jacobian"]], frame.jacobian(q, axes), "jacobian")
    assert_close(got[asked["jacobian_rate"]], frame.jacobian_rate(q, qd, axes), "rate")
    velocity, acceleration = frame.motion(q, qd, qdd, axes)
    assert_close(got[asked["velocity"]], velocity, "velocity")
    assert_close(got[asked["acceleration"]], acceleration, "acceleration")
