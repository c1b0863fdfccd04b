"""Laws that reactions obey: rates of momentum, d'Alembert body by body, symmetry of H; exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from bases import exact_values, on_moving_base, state_of
from chainform.graph import EXACT, Builder, Tangents, evaluate
from zoo import random_tree, reference

pytestmark = pytest.mark.any_processor

TREES = range(700, 712)


def rate_by_time(mechanism: cf.Mechanism, output: str, state: dict[str, Any]) -> Any:
    """Return the derivative of an output along the motion: q' = qd, qd' = qdd."""
    graph = cf.derive(mechanism, [output]).graph
    builder = Builder()
    builder.resume(graph)
    direction = {
        variable: builder.input(f"{group}d{given.index + 1}", f"{group}d", given.index)
        for variable, given in graph.inputs.items()
        if (group := given.group) in ("q", "qd")
    }
    tangents = Tangents(builder, direction)
    rates = [tangents.of_variable(v) for v in graph.outputs[output].variables]
    entries = [(f"rate_{k}", rate) for k, rate in enumerate(rates)]
    builder.output("rate", graph.outputs[output].shape, entries)
    return evaluate(builder.finish(), state, EXACT, ["rate"])["rate"]


def weight(mechanism: cf.Mechanism) -> Any:
    """Return the weight of everything that moves."""
    moving: list[Any] = [
        segment.body.mass
        for j, segment in enumerate(mechanism.segments)
        if any(mechanism.segments[i].coordinate is not None for i in mechanism.path_to(j))
    ]
    return np.array(mechanism.gravity, dtype=object) * sum(moving, Fraction(0))


def total_on_ground(mechanism: cf.Mechanism, state: dict[str, Any]) -> tuple[Any, Any]:
    """Return force and moment about the world origin of the ground on all moving bodies."""
    force = moment = np.array([Fraction(0)] * 3, dtype=object)
    for j, segment in enumerate(mechanism.segments):
        before = mechanism.path_to(j)[:-1]
        if segment.coordinate is None or any(
            mechanism.segments[i].coordinate is not None for i in before
        ):
            continue
        own = exact_values(mechanism, f"reaction({segment.name},world)", state)
        point = exact_values(mechanism, f"pose({segment.name})", state)[:3, 3]
        force, moment = force + own[:3], moment + own[3:] + np.cross(point, own[:3])
    return force, moment


@pytest.mark.parametrize("seed", TREES)
def test_reactions_of_the_ground_change_the_momentum(seed: int) -> None:
    mechanism = random_tree(seed)
    state = state_of(mechanism, seed)
    force, moment = total_on_ground(mechanism, state)
    rate = rate_by_time(mechanism, "momentum", state)
    pull, place = weight(mechanism), exact_values(mechanism, "com", state)
    assert (rate[:3] == force + pull).all()
    assert (rate[3:] == moment + np.cross(place, pull)).all()


@pytest.mark.parametrize("seed", TREES)
def test_every_body_is_in_equilibrium_with_its_inertia_force(seed: int) -> None:
    """Force by force: reaction, those of the children, weight and - m a at the mass centre."""
    mechanism = on_moving_base(random_tree(seed, quaternions=True), seed)
    for j, segment in enumerate(mechanism.segments):
        mechanism = mechanism.with_frame(f"centre{j}", segment.name, segment.body.com)
    state = state_of(mechanism, seed)
    count = range(len(mechanism.segments))
    own = [exact_values(mechanism, f"reaction(centre{j},world)", state) for j in count]
    places = [exact_values(mechanism, f"pose(centre{j})", state) for j in count]
    for j, segment in enumerate(mechanism.segments):
        force, moment = own[j][:3], own[j][3:]
        for child in mechanism.children[j]:
            arm = places[child][:3, 3] - places[j][:3, 3]
            force = force - own[child][:3]
            moment = moment - own[child][3:] - np.cross(arm, own[child][:3])
        motion = exact_values(mechanism, f"acceleration(centre{j})", state)
        spin = exact_values(mechanism, f"velocity(centre{j})", state)[3:]
        turn = places[j][:3, :3]
        tensor = turn @ np.array(segment.body.inertia, dtype=object) @ turn.T
        felt = motion[:3] - np.array(mechanism.gravity, dtype=object)
        assert (force == segment.body.mass * felt).all()
        assert (moment == tensor @ motion[3:] + np.cross(spin, tensor @ spin)).all()


@pytest.mark.parametrize("name", ["puma560", "rackovic_4_1", "manipulator_5dof", "stanford_arm"])
def test_both_halves_of_the_mass_matrix_are_reactions(name: str) -> None:
    """H_ik is the drive i for unit qdd_k, and H_ki the drive k for unit qdd_i (V.1)."""
    mechanism = reference(name)
    n, state = mechanism.nv, state_of(mechanism, 5)
    matrix = exact_values(mechanism, "mass_matrix", state, formulation="kinetostatic")
    graph = cf.derive(mechanism, ["inverse_dynamics"], formulation="kinetostatic").graph
    still = state | {f"qdd{i + 1}": Fraction(0) for i in range(n)}
    rest = evaluate(graph, still, EXACT)["inverse_dynamics"]
    for k in range(n):
        pushed = evaluate(graph, still | {f"qdd{k + 1}": Fraction(1)}, EXACT)["inverse_dynamics"]
        assert (matrix[:, k] == pushed - rest).all()
    assert (matrix == matrix.T).all()


def test_a_hanging_chain_is_held_by_its_weight() -> None:
    """By hand: at rest each joint holds what hangs below it; a massless hook holds nothing."""
    builder = cf.Mechanism.builder("chain")
    builder.segment("top", axis="y", mass=2, com=[0, 0, -1])
    builder.segment("plate", parent="top", joint="fixed", position=[1, 0, -2], mass=3)
    builder.segment("slide", parent="plate", joint="prismatic", axis="z", mass=4, com=[0, 0, -1])
    builder.segment("hook", parent="slide", joint="fixed", position=[0, 0, -2])
    chain = builder.build()
    model = cf.derive(chain, ["reactions", "inverse_dynamics"])
    values = model.evaluate(q=[0, 0.5], qd=[0, 0], qdd=[0, 0])
    g = 9.81
    expected = np.zeros((4, 6))
    expected[:, 2] = [9 * g, 7 * g, 4 * g, 0]
    expected[0, 4] = -7 * g
    np.testing.assert_allclose(values["reactions"], expected, atol=1e-12)
    np.testing.assert_allclose(values["inverse_dynamics"], [-7 * g, 4 * g])


def test_a_spinning_rod_pulls_at_its_axis() -> None:
    """By hand: m w^2 r towards the axis, in the frame of the rod, and its weight."""
    builder = cf.Mechanism.builder("rod")
    builder.segment("rod", axis="z", mass=2, com=["0.5", 0, 0], inertia=[0, "1/6", "1/6"])
    model = cf.derive(builder.build(), ["reactions"])
    row = model.evaluate(q=[0.7], qd=[3], qdd=[2])["reactions"][0]
    inertia = 1 / 6 + 2 * 0.5**2
    expected = [-2 * 9 * 0.5, 2 * 2 * 0.5, 2 * 9.81, 0, -2 * 9.81 * 0.5, 2 * inertia]
    np.testing.assert_allclose(row, expected, rtol=1e-12, atol=1e-12)


def test_the_reaction_in_a_sliding_joint_is_at_the_sliding_body() -> None:
    """The moment is about the origin that moves along, so it does not change with q."""
    builder = cf.Mechanism.builder("slide")
    builder.segment("slide", joint="prismatic", axis="x", mass=1, com=["0.25", 0, 0])
    model = cf.derive(builder.build(), ["reactions"])
    rows = [model.evaluate(q=[q], qd=[0], qdd=[0])["reactions"][0] for q in (0, 3)]
    np.testing.assert_allclose(rows[0], [0, 0, 9.81, 0, -9.81 * 0.25, 0])
    np.testing.assert_allclose(rows[1], rows[0])
