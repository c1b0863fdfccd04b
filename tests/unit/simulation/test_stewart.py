"""A platform on six legs: freedoms, forces of the legs, and motion under them."""

from __future__ import annotations

import numpy as np
import pytest

from chainform.analysis import drives
from chainform.simulation import simulate
from chainform.simulation.equations.assembly import assemble
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from unit.simulation.linkages import LEGS, rough_platform, stewart

pytestmark = pytest.mark.any_processor


def test_legs_without_mass_carry_the_platform() -> None:
    """Along each leg there is one force; together they balance weight and its moment."""
    mechanism = stewart(1e-9)
    rough = rough_platform() | {"platform_x": 0.1, "platform_qx": 0.1}
    q = assemble(mechanism, rough, fixed=["platform_x"])
    still = np.zeros(mechanism.nv)
    found = drives(mechanism, q, still, still, LEGS)
    assert found.kind == "exact"
    assert found.report == "6 drives for 6 freedoms: the drives are determined"
    gaps = ConstraintResiduals(mechanism)
    poses = gaps.tree.poses(q)
    tops = np.array([loop.closing.position(poses) for loop in gaps.loops])
    feet = np.array([poses.positions[k] for k in range(len(mechanism.segments))])
    below = feet[[i for i, s in enumerate(mechanism.segments) if s.name.startswith("lower")][1::2]]
    along = (tops - below) / np.linalg.norm(tops - below, axis=1, keepdims=True)
    centre = poses.point(0, np.array([0, 0, 0.05]))
    wrench = np.concatenate([along.T, np.cross(tops - centre, along).T])
    force = np.linalg.solve(wrench, [0, 0, 20 * 9.81, 0, 0, 0])
    assert np.abs(found.tau[[mechanism.rate_index(leg) for leg in LEGS]] - force).max() < 1e-5


@pytest.mark.slow
def test_the_platform_stays_under_the_forces_found_for_it() -> None:
    mechanism = stewart()
    q = assemble(mechanism, rough_platform(), fixed=["platform_z"])
    still = np.zeros(mechanism.nv)
    tau = drives(mechanism, q, still, still, LEGS).tau
    forces = {leg: float(tau[mechanism.rate_index(leg)]) for leg in LEGS}
    run = simulate(mechanism, q0=q, t=0.2, forces=forces)
    assert run.report == ()
    assert np.abs(run.q - q).max() < 1e-9
    assert np.abs(run.qdd).max() < 1e-9
    gaps = ConstraintResiduals(mechanism)
    assert max(np.abs(gaps.at(pose)).max() for pose in run.q) < 1e-13
