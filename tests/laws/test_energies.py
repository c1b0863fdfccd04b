"""Energies from positions alone: H from kinetic energy, hG from the potential, exactly.

The poses here come from multiplying homogeneous transformations and the velocities from
differentiating them, so that nothing of the formulations is used.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import pytest

import chainform as cf
from chainform.graph import EXACT, Builder, Graph, Scalar, differentiate, evaluate
from chainform.spatial import add, apply, dot, product, rodrigues, scale, transpose
from zoo import exact_state, random_tree, reference

pytestmark = pytest.mark.any_processor

TREES = range(24)
REFERENCES = ("rackovic_2_1", "manipulator_5dof", "stanford_arm", "sliding_links_3")


def mechanisms() -> list[Any]:
    trees = [pytest.param(partial(random_tree, seed), seed, id=f"tree{seed}") for seed in TREES]
    return [*trees, *(pytest.param(partial(reference, name), 1, id=name) for name in REFERENCES)]


def pose_graph(mechanism: cf.Mechanism) -> Graph:
    """Return mass centres and rotation matrices of all segments, and the potential."""
    builder = Builder()
    poses: dict[int, tuple[Any, Any]] = {-1: (mechanism.base.rotation, mechanism.base.position)}
    potential = builder.number(0)
    for j, segment in enumerate(mechanism.segments):
        rotation, place = poses[segment.parent]
        turn: Any = segment.rotation
        shift: Any = segment.position
        if segment.coordinate is not None:
            q = builder.input(f"q{segment.coordinate + 1}", "q", segment.coordinate)
            axis = segment.joint.axis
            if segment.joint.kind == "revolute":
                local = rodrigues(axis, builder.call("cos", q), builder.call("sin", q))
                turn = product(turn, local)
            else:
                shift = add(shift, scale(q, apply(turn, axis)))
        poses[j] = (product(rotation, turn), add(place, apply(rotation, shift)))
        com = add(poses[j][1], apply(poses[j][0], segment.body.com))
        potential = potential - segment.body.mass * dot(mechanism.gravity, com)
        flat = [x for row in poses[j][0] for x in row]
        builder.output(f"com{j}", (3,), [(f"com{j}_{i}", x) for i, x in enumerate(com)])
        builder.output(f"rotation{j}", (3, 3), [(f"R{j}_{i}", x) for i, x in enumerate(flat)])
    builder.output("potential", (), [("V", potential)])
    return builder.finish()


def slope(graph: Graph, name: str, coordinate: str, state: dict[str, Any]) -> Any:
    """Return the derivative of an output, exactly."""
    extended, variables = differentiate(graph, graph.outputs[name].variables, coordinate)
    builder = Builder()
    builder.resume(extended)
    entries = [(f"slope_{i}", builder.scalar(v)) for i, v in enumerate(variables)]
    builder.output("slope", graph.outputs[name].shape, entries)
    return evaluate(builder.finish(), state, EXACT, ["slope"])["slope"]


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_gravity_is_the_gradient_of_the_potential(mechanism: cf.Mechanism, seed: int) -> None:
    state = exact_state(mechanism, seed)
    gravity = evaluate(cf.derive(mechanism, ["gravity"]).graph, state, EXACT)["gravity"]
    graph = pose_graph(mechanism)
    for i in range(mechanism.nv):
        assert gravity[i] == slope(graph, "potential", f"q{i + 1}", state)[()]


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_mass_matrix_is_that_of_the_kinetic_energy(mechanism: cf.Mechanism, seed: int) -> None:
    state = exact_state(mechanism, seed)
    h = evaluate(cf.derive(mechanism, ["mass_matrix"]).graph, state, EXACT)["mass_matrix"]
    graph = pose_graph(mechanism)
    n = mechanism.nv
    expected = [[Fraction(0)] * n for _ in range(n)]
    for j, segment in enumerate(mechanism.segments):
        names = [f"q{i + 1}" for i in range(n)]
        rotation = evaluate(graph, state, EXACT, [f"rotation{j}"])[f"rotation{j}"]
        velocities = [slope(graph, f"com{j}", name, state) for name in names]
        turns = [body_rate(rotation, slope(graph, f"rotation{j}", name, state)) for name in names]
        for i in range(n):
            for k in range(n):
                linear = sum(velocities[i] * velocities[k])
                angular = dot(turns[i], apply(segment.body.inertia, turns[k]))
                expected[i][k] += segment.body.mass * linear + angular  # pyright: ignore[reportOperatorIssue]
    assert h.tolist() == expected


def body_rate(rotation: Any, rate: Any) -> tuple[Any, Any, Any]:
    """Return the angular velocity in body axes: R^T dR/dq is its cross-product matrix."""
    tuples = [tuple(tuple(row) for row in matrix) for matrix in (rotation, rate)]
    skew = product(transpose(tuples[0]), tuples[1])  # pyright: ignore[reportArgumentType]
    assert skew[0][1] == -skew[1][0]
    assert skew[0][0] == 0
    return (skew[2][1], skew[0][2], skew[1][0])


def test_a_scalar_is_not_a_number_in_disguise() -> None:
    """The poses above are formulas, not values: guard against a test of nothing."""
    graph = pose_graph(reference("rackovic_2_1"))
    assert len(graph.inputs) == 6
    assert isinstance(Builder().number(1), Scalar)
