"""Random trees against Pinocchio: 200 of them, mixed joints, inclined gravity, any numbering."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from pinocchio_oracle import Oracle
from zoo import random_tree, reference

BLOCKS = [range(start, start + 20) for start in range(1000, 1200, 20)]
RELATIVE = 1e-10


def assert_close(got: np.ndarray, expected: np.ndarray, what: str) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert np.abs(got - expected).max(initial=0.0) <= RELATIVE * scale, what


def compare(mechanism: cf.Mechanism, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, mechanism.nv))
    got = cf.derive(mechanism).evaluate(q=q, qd=qd, qdd=qdd)
    oracle = Oracle(mechanism)
    assert_close(got["mass_matrix"], oracle.mass_matrix(q), f"H of tree {seed}")
    assert_close(got["gravity"], oracle.gravity(q), f"hG of tree {seed}")
    assert_close(got["coriolis"], oracle.coriolis(q), f"C of tree {seed}")
    assert_close(
        got["inverse_dynamics"], oracle.inverse_dynamics(q, qd, qdd), f"tau of tree {seed}"
    )


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_random_trees(block: range) -> None:
    for seed in block:
        compare(random_tree(seed), seed)


@pytest.mark.parametrize(
    "name", ["rackovic_2_1", "rackovic_4_1", "humanoid_30", "stanford_toolbox"]
)
def test_reference_mechanisms(name: str) -> None:
    compare(reference(name), 7)
