"""Gibbs-Appell: links that turn and slide, quasi-velocities, and S itself, exactly."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis.comparison import exact_state
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.steps import AppellStep, steps_of
from chainform.formulations.shared.tree import Skeleton
from chainform.graph import EXACT, Builder, Graph, differentiate, evaluate
from chainform.mechanism import BaseMotion, JointKind
from sliding_chains import CHAINS, sliding_chain, sliding_tree
from zoo import random_tree, rational, reference, rotation

ROOT = Path(__file__).parents[2]
MINE = "gibbs_appell"
TREES = range(5000, 5010)


def mechanisms() -> list[Any]:
    trees = {f"tree{seed}": partial(random_tree, seed, quaternions=True) for seed in TREES}
    sliding = {f"sliding{seed}": partial(sliding_tree, seed) for seed in range(10)}
    chains = {f"3 {kind}": partial(sliding_chain, 3, kind) for kind in CHAINS}
    return [pytest.param(m, id=name) for name, m in {**trees, **sliding, **chains}.items()]


def values(mechanism: cf.Mechanism, outputs: list[str], formulation: str, **more: Any) -> Any:
    graph = cf.derive(mechanism, outputs, formulation=formulation, **more).graph
    return evaluate(graph, exact_state(mechanism, graph.inputs.values(), 1), EXACT)


def slopes(mechanism: cf.Mechanism, graph: Graph, state: dict[str, Any]) -> list[Any]:
    """Return dS/dqdd, differentiated in the graph."""
    found: list[Any] = []
    for i in range(mechanism.nv):
        extended, (slope,) = differentiate(
            graph, graph.outputs["acceleration_energy"].variables, f"qdd{i + 1}"
        )
        builder = Builder()
        builder.resume(extended)
        builder.output("slope", (), [("slope", builder.scalar(slope))])
        found.append(evaluate(builder.finish(), state, EXACT, ["slope"])["slope"].item())
    return found


@pytest.mark.parametrize("mechanism", mechanisms(), indirect=True)
def test_equal_to_the_other_recursions(mechanism: cf.Mechanism) -> None:
    # Symbols and numbers in turn: each is met by about half of the mechanisms.
    parameters = "symbolic" if len(mechanism.segments) % 2 else "numeric"
    efforts = ["inverse_dynamics", "bias", "gravity"]
    mine = values(mechanism, [*efforts, "mass_matrix"], MINE, parameters=parameters)
    theirs = values(mechanism, efforts, "newton_euler")
    theirs |= values(mechanism, ["mass_matrix"], "composite_body")
    for output, value in theirs.items():
        assert (mine[output] == value).all(), output


@pytest.mark.parametrize("mechanism", mechanisms(), indirect=True)
def test_forward_dynamics_undoes_inverse_dynamics(mechanism: cf.Mechanism) -> None:
    graph = cf.derive(mechanism, ["inverse_dynamics"], formulation=MINE).graph
    state = exact_state(mechanism, graph.inputs.values(), 2)
    tau = evaluate(graph, state, EXACT)["inverse_dynamics"]
    state |= {f"tau{i + 1}": value for i, value in enumerate(tau)}
    if is_singular(mechanism, state):
        with pytest.raises(cf.Error, match="singular"):
            cf.derive(mechanism, ["forward_dynamics"], formulation=MINE)
        return
    forward = cf.derive(mechanism, ["forward_dynamics"], formulation=MINE).graph
    qdd = evaluate(forward, state, EXACT)["forward_dynamics"]
    assert qdd.tolist() == [state[f"qdd{i + 1}"] for i in range(mechanism.nv)]


def is_singular(mechanism: cf.Mechanism, state: dict[str, Any]) -> bool:
    graph = cf.derive(mechanism, ["mass_matrix"], formulation="composite_body").graph
    matrix = evaluate(graph, state, EXACT)["mass_matrix"].astype(float)
    return bool(np.linalg.matrix_rank(matrix, tol=1e-9) < mechanism.nv)


# --- the acceleration energy ----------------------------------------------------------------


@pytest.mark.parametrize("mechanism", mechanisms(), indirect=True)
def test_derivatives_of_the_acceleration_energy_are_the_efforts(mechanism: cf.Mechanism) -> None:
    """dS/dqdd is tau without gravity, for coordinates and for quasi-velocities."""
    graph = cf.derive(mechanism, ["acceleration_energy"], formulation=MINE).graph
    state = exact_state(mechanism, graph.inputs.values(), 1)
    weightless = replace(mechanism, gravity=(Fraction(0),) * 3)
    tau = values(weightless, ["inverse_dynamics"], "newton_euler")["inverse_dynamics"]
    assert slopes(mechanism, graph, state) == tau.tolist()


def test_acceleration_energy_is_that_of_the_particles() -> None:
    """A body of particles has S = sum m a . a / 2, each a the acceleration of a frame."""
    spots = [(1, 0, 0, 2), (-1, 2, 1, 1), (0, -1, 3, 3)]
    total = sum(m for *_, m in spots)
    com = [Fraction(sum(m * p[i] for *p, m in spots), total) for i in range(3)]
    tensor = [[Fraction(0)] * 3 for _ in range(3)]
    for *p, m in spots:
        r = [p[i] - com[i] for i in range(3)]
        for i in range(3):
            for k in range(3):
                square = sum(x * x for x in r) if i == k else 0
                tensor[i][k] += m * (square - r[i] * r[k])
    body: dict[str, Any] = {"mass": total, "com": com, "inertia": tensor}
    builder = cf.Mechanism.builder("particles")
    builder.segment("a", joint="free", **body)
    builder.segment("b", parent="a", joint="revolute", axis="x", position=[1, 2, 3], **body)
    two_axes = {"type": "revolute_prismatic", "axes": ["z", "x"]}
    builder.segment("c", parent="b", joint=two_axes, position=[0, 1, 0], **body)
    builder.segment("d", parent="c", joint="spherical", position=[0, 0, 1], **body)
    for name in "abcd":
        for number, (*p, _) in enumerate(spots):
            builder.frame(f"{name}{number}", name, p)
    mechanism = builder.build()
    frames = [f"acceleration({name}{k})" for name in "abcd" for k in range(len(spots))]
    found = values(mechanism, ["acceleration_energy", *frames], MINE)
    expected = sum(
        m * sum(x * x for x in found[f"acceleration({name}{k})"][:3]) / 2
        for name in "abcd"
        for k, (*_, m) in enumerate(spots)
    )
    assert found["acceleration_energy"].item() == expected


# --- what else enters -----------------------------------------------------------------------


def test_a_base_that_moves() -> None:
    rng = random.Random(4)
    motions: list[Any] = [tuple(rational(rng) for _ in range(3)) for _ in range(5)]
    turned: Any = tuple(tuple(row) for row in rotation(rng))
    base = BaseMotion(motions[0], turned, *motions[1:])
    mechanism = replace(sliding_tree(2), base=base)
    outputs = ["inverse_dynamics", "bias", "gravity"]
    mine, theirs = (values(mechanism, outputs, name) for name in (MINE, "newton_euler"))
    still = values(sliding_tree(2), outputs, MINE)
    for output in outputs:
        assert (mine[output] == theirs[output]).all(), output
    assert (mine["bias"] != still["bias"]).any()
    graph = cf.derive(mechanism, ["acceleration_energy"], formulation=MINE).graph
    moved = slopes(mechanism, graph, exact_state(mechanism, graph.inputs.values(), 1))
    assert moved == (mine["inverse_dynamics"] - mine["gravity"]).tolist()


def test_rotors_friction_springs_and_forces() -> None:
    builder = cf.Mechanism.builder("driven")
    drive: dict[str, Any] = {
        "rotor_inertia": "0.01",
        "gear_ratio": 10,
        "friction": {"viscous": "0.3"},
    }
    body: dict[str, Any] = {"mass": 1, "com": [1, 2, 3], "inertia": [1, 1, 1]}
    builder.segment("a", axis="z", **body, **drive)
    builder.segment("b", parent="a", joint="prismatic", axis="x", **body, **drive)
    builder.spring_table({"joint": "b", "stiffness": 7, "rest": "0.2"})
    mechanism = builder.build().with_forces({"a": "3*t - b*der(a)"})
    for left_out in ((), ("rotors",), ("friction", "springs"), ("forces",)):
        mine = values(mechanism, ["inverse_dynamics", "mass_matrix"], MINE, without=left_out)
        theirs = values(mechanism, ["inverse_dynamics"], "newton_euler", without=left_out)
        theirs |= values(mechanism, ["mass_matrix"], "composite_body", without=left_out)
        assert all((mine[name] == theirs[name]).all() for name in theirs)
        graph = cf.derive(
            mechanism, ["acceleration_energy"], formulation=MINE, without=left_out
        ).graph
        state = exact_state(mechanism, graph.inputs.values(), 1)
        rest = ["friction", "springs", "forces", *left_out]
        tau = values(mechanism, ["inverse_dynamics", "gravity"], MINE, without=rest)
        assert (
            slopes(mechanism, graph, state) == (tau["inverse_dynamics"] - tau["gravity"]).tolist()
        )


@pytest.mark.parametrize("file", ["four_bar", "squeezer"])
def test_reactions_of_loops(file: str) -> None:
    mechanism = cf.read(f"{ROOT}/examples/{file}.toml")
    mine, theirs = (
        values(mechanism, ["inverse_dynamics"], name) for name in (MINE, "newton_euler")
    )
    assert (mine["inverse_dynamics"] == theirs["inverse_dynamics"]).all()


@pytest.mark.parametrize("output", ["inverse_dynamics", "forward_dynamics"])
def test_wrenches(output: str) -> None:
    """One wrench on a link that turns and slides, one on what it carries."""
    mechanism = sliding_chain(2, CHAINS[3])
    frames = {"wrenches": ["link1", "link2"]}
    other = "newton_euler" if output == "inverse_dynamics" else "composite_body"
    mine, theirs = (values(mechanism, [output], name, **frames) for name in (MINE, other))
    assert (mine[output] == theirs[output]).all()


# --- steps ----------------------------------------------------------------------------------


def steps(mechanism: cf.Mechanism) -> list[AppellStep]:
    return steps_of(Skeleton(Kinematics(mechanism, Builder())))


def test_a_turn_and_a_slide_are_one_step() -> None:
    for kind in CHAINS:
        found = steps(sliding_chain(3, kind))
        assert [(len(s.turning), len(s.sliding)) for s in found] == [(1, 1)] * 3
    found = steps(reference("sliding_links_3"))
    assert [(len(s.turning), len(s.sliding)) for s in found] == [(1, 1)] * 3


def test_a_slide_may_begin_anywhere_at_any_angle() -> None:
    """Of the random trees above some have a slide that is inclined, with steps beyond it."""
    pairs = [
        step
        for seed in range(10)
        for found in [steps(sliding_tree(seed))]
        for step in found
        if step.turning and step.sliding and step.kind == JointKind.REVOLUTE
        if any(other.parent == found.index(step) for other in found)
    ]
    inclined = [s for s in pairs if sum(x != 0 for x in s.sliding[0].direction) > 1]
    assert len(pairs) >= 4
    assert len(inclined) >= 2


def test_a_piece_that_has_mass_or_carries_more_is_a_step_of_its_own() -> None:
    builder = cf.Mechanism.builder("two")
    builder.segment("heavy", axis="z", mass=1)
    builder.segment("rod", parent="heavy", joint="prismatic", axis="x", mass=1)
    builder.segment("fork", parent="rod", axis="y")
    builder.segment("left", parent="fork", joint="prismatic", axis="x", mass=1)
    builder.segment("right", parent="fork", joint="prismatic", axis="z", mass=1)
    found = steps(builder.build())
    assert [s.kind for s in found] == [
        JointKind.REVOLUTE,
        JointKind.PRISMATIC,
        JointKind.REVOLUTE,
        JointKind.PRISMATIC,
        JointKind.PRISMATIC,
    ]
    assert [s.parent for s in found] == [-1, 0, 1, 2, 2]
