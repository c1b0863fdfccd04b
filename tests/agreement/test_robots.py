"""A sample of real robots against Pinocchio; `benchmarks/robots.py` takes all of them."""

from __future__ import annotations

import pytest

import chainform as cf
from robots import UrdfOracle, compare, example_robot

SAMPLE = (
    ("ur5_robot.urdf", "fixed"),
    ("panda.urdf", "fixed"),
    ("anymal.urdf", "fixed"),
    ("anymal.urdf", "floating"),
    ("talos_reduced.urdf", "floating"),
    ("a1.urdf", "floating"),
    ("g1_29dof_rev_1_0.urdf", "fixed"),
    ("icub_reduced.urdf", "floating"),
    ("kinova.urdf", "fixed"),
    ("double_pendulum_continuous.urdf", "fixed"),
    ("double_pendulum_continuous.urdf", "floating"),
)
RELATIVE = 1e-9


@pytest.mark.parametrize(("name", "base"), SAMPLE)
def test_robot(name: str, base: str) -> None:
    path = example_robot(name)
    mechanism = cf.read(path, base=base, snap=0, mimic="free")
    result = compare(mechanism, UrdfOracle(path, base), states=1)
    assert result.deviations.keys() >= {"mass_matrix", "coriolis_matrix", "jacobian"}
    for quantity, deviation in result.deviations.items():
        assert deviation <= RELATIVE, quantity
