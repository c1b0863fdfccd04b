"""Regressors: exactly inverse dynamics per parameter, and those of Pinocchio on robots."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from bases import on_moving_base
from chainform.graph import EXACT, evaluate
from chainform.mechanism import parametrise, with_unit_quaternions
from pinocchio_oracle import pin
from robots import UrdfOracle, example_robot
from zoo import exact_state, loaded_tree, random_tree

RELATIVE = 1e-9
ROBOTS = (
    ("ur5_robot.urdf", "fixed"),
    ("panda.urdf", "fixed"),
    ("kinova.urdf", "fixed"),
    ("double_pendulum_continuous.urdf", "fixed"),
    ("anymal.urdf", "floating"),
    ("a1.urdf", "floating"),
    ("solo12.urdf", "floating"),
    ("icub_reduced.urdf", "floating"),
    ("talos_reduced.urdf", "floating"),
    ("g1_29dof_rev_1_0.urdf", "floating"),
)


def values_of(parameters: Any) -> Any:
    return np.array([parameter.value for parameter in parameters], dtype=object)


def mechanisms() -> dict[str, cf.Mechanism]:
    found = {f"loaded {seed}": replace(loaded_tree(seed), forces=()) for seed in (0, 1, 3, 5, 7)}
    found |= {f"moving base {seed}": on_moving_base(random_tree(seed), seed) for seed in (2, 4)}
    return found | {f"coupled {seed}": coupled(seed, Fraction(2)) for seed in (103, 160)}


def coupled(seed: int, ratio: Fraction, offset: Fraction = Fraction(0)) -> cf.Mechanism:
    """Return a tree whose last joint is driven by its first."""
    free = next(m for s in range(50) if (m := random_tree(seed + s)).nv >= 3)
    follower, records = free.coordinate_records[-1].segment, free.coordinate_records[:-1]
    tie = {"coordinate": 0, "rate": 0, "ratio": ratio, "offset": offset}
    segments = [replace(s, **tie) if k == follower else s for k, s in enumerate(free.segments)]
    return replace(free, segments=tuple(segments), coordinate_records=records, rate_records=records)


EXACT_CASES = mechanisms()


@pytest.mark.parametrize("name", EXACT_CASES)
def test_regressor_times_parameters_is_inverse_dynamics_exactly(name: str) -> None:
    mechanism = EXACT_CASES[name]
    parameters = mechanism.dynamic_parameters()
    graph = cf.derive(mechanism, ["regressor", "inverse_dynamics"]).graph
    for seed in range(2):
        state = exact_state(mechanism, seed)
        found = evaluate(graph, state, EXACT)
        assert (found["regressor"] @ values_of(parameters) == found["inverse_dynamics"]).all()
        assert np.any(found["inverse_dynamics"])


@pytest.mark.parametrize("parameters", ["numeric", "symbolic"])
def test_loops_have_the_regressor_of_their_tree(parameters: str) -> None:
    mechanism = cf.read(Path(__file__).parents[2] / "examples" / "four_bar.toml")
    model = cf.derive(mechanism, ["regressor", "inverse_dynamics"], parameters=parameters)
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 5, mechanism.nv))
    found = model.evaluate(q, qd, qdd, sigma=np.zeros(3))
    known = parametrise(mechanism, "numeric").dynamic_parameters()
    values = [float(p.value) for p in known if isinstance(p.value, Fraction)]
    np.testing.assert_allclose(found["regressor"] @ values, found["inverse_dynamics"], rtol=1e-12)
    assert len(mechanism.base_parameters()) == 9


FLOAT_CASES = {
    **EXACT_CASES,
    "mixed": coupled(220, Fraction(-3, 2), Fraction(1, 5)),
    **{f"quaternions {s}": random_tree(s, quaternions=True) for s in (0, 1, 2, 3, 4)},
}


@pytest.mark.parametrize("name", FLOAT_CASES)
def test_all_columns_follow_from_those_of_the_base_parameters(name: str) -> None:
    mechanism = FLOAT_CASES[name]
    base = mechanism.base_parameters()
    model = cf.derive(mechanism, ["regressor", "base_regressor", "inverse_dynamics"])
    rng = np.random.default_rng(1)
    q = [with_unit_quaternions(mechanism, q) for q in rng.uniform(-1, 1, (40, mechanism.nq))]
    qd, qdd = rng.uniform(-1, 1, (2, 40, mechanism.nv))
    found = model.evaluate(q=q, qd=qd, qdd=qdd)
    scale = np.abs(found["regressor"]).max()
    difference = found["regressor"] - found["base_regressor"] @ base.matrix()
    assert np.abs(difference).max() <= 1e-12 * scale
    tau = found["inverse_dynamics"]
    assert np.abs(found["base_regressor"] @ base.vector() - tau).max() <= 1e-12 * np.abs(tau).max()
    assert numeric_rank(found["base_regressor"]) == len(base)


def numeric_rank(regressor: Any) -> int:
    """Return the rank of the columns over all states, each column scaled to length one."""
    rows = regressor.reshape(-1, regressor.shape[-1])
    sizes = np.linalg.norm(rows, axis=0)
    singular = np.linalg.svd(rows / sizes, compute_uv=False)
    return int(np.sum(singular > 1e-9 * singular[0]))


@pytest.mark.parametrize(("file", "base"), ROBOTS)
def test_regressors_of_robots_are_those_of_pinocchio(file: str, base: str) -> None:
    assert deviation(file, base) <= RELATIVE


def deviation(file: str, base: str) -> float:
    """Return the largest difference from Pinocchio, relative to the columns of each body."""
    path = example_robot(file)
    mechanism = cf.read(path, base=base, snap=0, mimic="free")
    model = cf.derive(mechanism, ["regressor"], without=["friction"])
    oracle = UrdfOracle(path, base)
    oracle.match(mechanism)
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(2):
        q, theirs = oracle.state(rng)
        qd, qdd = rng.uniform(-1, 1, (2, mechanism.nv))
        expected = pinocchio_regressor(oracle, theirs, qd, qdd)
        found = model.evaluate(q, qd, qdd)["regressor"]
        for joint, columns in collected(mechanism, found).items():
            first = 10 * (oracle.model.getJointId(joint) - 1)
            own = expected[:, first : first + 10]
            scale = max(1.0, float(np.abs(own).max()))
            worst = max(worst, float(np.abs(columns - own).max()) / scale)
    return worst


@pytest.mark.parametrize(("file", "base"), ROBOTS)
def test_base_parameters_of_robots_are_as_many_as_the_numeric_rank(file: str, base: str) -> None:
    count, rank, rest = ranked(file, base)
    assert count == rank
    assert rest <= RELATIVE


def ranked(file: str, base: str) -> tuple[int, int, float]:
    """Return the number of base parameters, the rank of all columns, and what is not explained."""
    mechanism = cf.read(example_robot(file), base=base, mimic="free")
    grouped = mechanism.base_parameters()
    model = cf.derive(mechanism, ["regressor", "base_regressor"])
    rng = np.random.default_rng(0)
    size = 2 * len(grouped) // mechanism.nv + 20
    q = [with_unit_quaternions(mechanism, q) for q in rng.uniform(-1, 1, (size, mechanism.nq))]
    found = model.evaluate(q, *rng.uniform(-1, 1, (2, size, mechanism.nv)))
    every = found["regressor"]
    sizes = np.abs(every).max(axis=(0, 1))
    rest = every - found["base_regressor"] @ grouped.matrix()
    rank = numeric_rank(every[..., sizes > 1e-9 * sizes.max()])
    return len(grouped), rank, float(np.abs(rest).max() / sizes.max())


def pinocchio_regressor(oracle: UrdfOracle, q: Any, qd: Any, qdd: Any) -> Any:
    args = (oracle.model, oracle.data, q, oracle.v(qd), oracle.v(qdd))
    return np.array(pin.computeJointTorqueRegressor(*args))[oracle.v_order]


def collected(mechanism: cf.Mechanism, regressor: Any) -> dict[str, Any]:
    """Return the ten columns of each moving segment with a body."""
    places = {(p.place, p.kind): k for k, p in enumerate(mechanism.dynamic_parameters())}
    kinds = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    return {
        segment.joint.name: regressor[:, [places[j, kind] for kind in kinds]]
        for j, segment in enumerate(mechanism.segments)
        if segment.rate is not None and (j, "m") in places
    }
