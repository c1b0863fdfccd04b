"""Reactions in the joints against Pinocchio, and against the drives of every formulation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from bases import exact_values, on_moving_base, state_of
from chainform.analysis.comparison import exact_state
from chainform.formulations import FORMULATIONS
from chainform.graph import EXACT, evaluate
from chainform.mechanism import LOOP_ROWS, Joint, JointKind
from chainform.pipeline import available_outputs
from loop_kinds import KINDS
from pinocchio_oracle import Oracle, pin
from robots import UrdfOracle, example_robot
from zoo import loaded_tree, random_tree, reference

Array = NDArray[np.float64]

ROOT = Path(__file__).parents[2]
ROBOTS = (
    ("ur5_robot.urdf", "fixed"),
    ("panda.urdf", "fixed"),
    ("kinova.urdf", "fixed"),
    ("anymal.urdf", "floating"),
    ("talos_reduced.urdf", "floating"),
)


def six(force: Any) -> Array:
    return np.concatenate([force.linear, force.angular])


def close(got: Array, expected: Array, relative: float = 1e-9) -> bool:
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return float(np.abs(got - expected).max(initial=0.0)) <= relative * scale


# --- Pinocchio ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2200, 2212))
def test_random_trees(seed: int) -> None:
    mechanism = random_tree(seed, quaternions=True)
    oracle = Oracle(mechanism)
    q, (qd, qdd) = (
        oracle.random_q(seed),
        np.random.default_rng(seed).uniform(-1, 1, (2, oracle.model.nv)),
    )
    tip = mechanism.segments[-1].name
    names = ["reactions", f"reaction({tip})", f"reaction({tip},world)", f"reaction({tip},mixed)"]
    model = cf.derive(mechanism, [*names, f"pose({tip})"])
    got = model.evaluate(q=q, qd=qd, qdd=qdd)
    oracle.inverse_dynamics(q, qd, qdd)
    for j, segment in enumerate(mechanism.segments):
        if segment.coordinate is not None:
            assert close(got["reactions"][j], six(oracle.data.f[oracle.places[j][0]]), 1e-12)
    force, moment = np.split(got["reactions"][-1], 2)
    turn = got[f"pose({tip})"][:3, :3]
    assert close(got[names[1]], got["reactions"][-1], 1e-14)
    assert close(got[names[2]], np.concatenate([turn @ force, turn @ moment]), 1e-12)
    assert close(got[names[3]], np.concatenate([turn @ force, moment]), 1e-12)


@pytest.mark.parametrize(("name", "base"), ROBOTS)
def test_robots(name: str, base: str) -> None:
    path = example_robot(name)
    mechanism, oracle = cf.read(path, base=base, snap=0, mimic="free"), UrdfOracle(path, base)
    oracle.match(mechanism)
    rng = np.random.default_rng(5)
    q, theirs = oracle.state(rng)
    qd, qdd = rng.uniform(-1, 1, (2, mechanism.nv))
    reactions = cf.derive(mechanism, ["reactions"]).evaluate(q=q, qd=qd, qdd=qdd)["reactions"]
    oracle.rnea(theirs, qd, qdd)
    compared = 0
    for j, segment in enumerate(mechanism.segments):
        if segment.coordinate is not None:
            joint = oracle.model.getJointId(segment.joint.name)
            assert close(reactions[j], six(oracle.data.f[joint])), segment.name
            compared += 1
    assert compared == oracle.model.njoints - 1


@pytest.mark.parametrize("seed", range(2300, 2306))
def test_external_wrenches(seed: int) -> None:
    mechanism = random_tree(seed, quaternions=seed % 2 == 0)
    oracle = Oracle(mechanism)
    rng = np.random.default_rng(seed)
    q, (qd, qdd) = oracle.random_q(seed), rng.uniform(-1, 1, (2, mechanism.nv))
    named = [s.name for s in mechanism.segments if s.coordinate is not None][-2:]
    wrench = rng.uniform(-5, 5, 6 * len(named))
    outputs = ["reactions", *(f"pose({name})" for name in named)]
    got = cf.derive(mechanism, outputs, wrenches=named).evaluate(q=q, qd=qd, qdd=qdd, wrench=wrench)
    outer = [pin.Force.Zero() for _ in range(oracle.model.njoints)]
    for k, name in enumerate(named):
        back = got[f"pose({name})"][:3, :3].T
        force, moment = wrench[6 * k : 6 * k + 3], wrench[6 * k + 3 : 6 * k + 6]
        joint = oracle.places[mechanism.frame(name).segment][0]
        outer[joint] = pin.Force(back @ force, back @ moment)
    pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd), outer)
    for j, segment in enumerate(mechanism.segments):
        if segment.coordinate is not None:
            assert close(got["reactions"][j], six(oracle.data.f[oracle.places[j][0]]), 1e-12)


# --- drives -------------------------------------------------------------------------------------


def along_the_freedoms(mechanism: cf.Mechanism, reactions: Any) -> list[Any]:
    """Return what the reactions do on unit rates: their components along the joints' freedoms."""
    drives: list[Any] = [0] * mechanism.nv
    for segment, row in zip(mechanism.segments, reactions, strict=True):
        kind, rate = segment.joint.kind, segment.rate
        if rate is None:
            continue
        if kind in (JointKind.SPHERICAL, JointKind.FREE):
            for k in range(kind.rates):
                drives[rate + k] += row[k + 6 - kind.rates]
            continue
        part = row[:3] if kind == JointKind.PRISMATIC else row[3:]
        drives[rate] += segment.ratio * sum(
            x * e for x, e in zip(part, segment.joint.axis, strict=True)
        )
    return drives


@pytest.mark.parametrize("seed", range(600, 612))
def test_the_drive_is_the_component_along_the_axis(seed: int) -> None:
    mechanism = random_tree(seed, quaternions=seed % 2 == 0)
    named = [mechanism.segments[0].name, mechanism.segments[-1].name]
    model = cf.derive(mechanism, ["reactions", "inverse_dynamics"], wrenches=named)
    state = exact_state(mechanism, model.graph.inputs.values(), seed)
    got = evaluate(model.graph, state, EXACT)
    assert along_the_freedoms(mechanism, got["reactions"]) == got["inverse_dynamics"].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_springs_between_bodies_are_in_the_reactions(seed: int) -> None:
    """Friction, drives and springs of a joint are in what it transmits, so they are left out."""
    loaded = loaded_tree(seed)
    ties = tuple(spring for spring in loaded.springs if spring.ends is not None)
    mechanism = replace(loaded, springs=ties)
    options = {"without": ["friction", "rotors", "forces"]}
    state = state_of(mechanism, seed)
    reactions = exact_values(mechanism, "reactions", state, **options)
    own = exact_values(mechanism, "reactions", state, formulation="kinetostatic", **options)
    assert (own == reactions).all()
    for formulation in ("newton_euler", "kinetostatic"):
        tau = exact_values(mechanism, "inverse_dynamics", state, formulation=formulation, **options)
        assert along_the_freedoms(mechanism, reactions) == tau.tolist()


@pytest.mark.parametrize(
    ("name", "closure"),
    [
        *(("four_bar", "complete"), ("four_bar", "basic"), ("biped", "complete")),
        *(("biped", "basic"), ("squeezer", "complete")),
    ],
)
def test_loops(name: str, closure: str) -> None:
    """All formulations take sigma alike; the reactions hold it as a force on both bodies.

    A loop of the squeezer has no basic joints, without which there is no basic closure.
    """
    mechanism = cf.read(ROOT / "examples" / f"{name}.toml")
    first: Any = None
    for formulation, method in FORMULATIONS.items():
        if "inverse_dynamics" not in method.outputs or formulation in ("auto", "lagrange"):
            continue
        model = cf.derive(mechanism, ["inverse_dynamics"], formulation=formulation, closure=closure)
        state = exact_state(mechanism, model.graph.inputs.values(), 3)
        got = evaluate(model.graph, state, EXACT)["inverse_dynamics"]
        first = got if first is None else first
        assert (got == first).all(), formulation
    model = cf.derive(mechanism, ["reactions"], closure=closure)
    state = exact_state(mechanism, model.graph.inputs.values(), 3)
    drives = along_the_freedoms(mechanism, evaluate(model.graph, state, EXACT)["reactions"])
    assert (drives == first.tolist()) == (closure == "complete")


@pytest.mark.any_processor
@pytest.mark.parametrize("kind", KINDS)
def test_loops_of_every_kind(kind: str) -> None:
    """Forces act on the target where they act on the closing body, whatever the method."""
    mechanism = short_chain(kind)
    methods = [
        name
        for name, method in FORMULATIONS.items()
        if "inverse_dynamics" in method.outputs and name != "lagrange"
    ]
    found: list[Any] = []
    for formulation in methods:
        model = cf.derive(mechanism, ["inverse_dynamics"], formulation=formulation)
        state = exact_state(mechanism, model.graph.inputs.values(), 3)
        found.append(evaluate(model.graph, state, EXACT)["inverse_dynamics"])
        assert (found[-1] == found[0]).all(), formulation
    for formulation in ("auto", "kinetostatic"):
        model = cf.derive(mechanism, ["reactions"], formulation=formulation)
        state = exact_state(mechanism, model.graph.inputs.values(), 3)
        reactions = evaluate(model.graph, state, EXACT)["reactions"]
        assert along_the_freedoms(mechanism, reactions) == found[0].tolist()


def short_chain(kind: str) -> cf.Mechanism:
    """Return two hinges and a slide, and apart from them a slide and a hinge, closed by a loop."""
    builder = cf.Mechanism.builder(kind)
    body: dict[str, Any] = {"mass": 1, "com": ["0.1", "0.2", "-0.1"], "inertia": [1, 2, "2.5"]}
    for name, parent, joint, axis in (
        ("a", "ground", "revolute", [0, 3, 4]),
        ("b", "a", "revolute", "z"),
        ("c", "b", "prismatic", "x"),
        ("d", "ground", "prismatic", "y"),
        ("e", "d", "revolute", "x"),
    ):
        place: dict[str, Any] = {"joint": joint, "axis": axis, "position": ["0.3", "-0.2", "0.5"]}
        builder.segment(name, parent=parent, **place, **body)
    c, e = {"segment": "c", "point": [1, 2, 3]}, {"segment": "e", "quaternion": [2, -4, 1, 2]}
    if LOOP_ROWS[kind].has_axes:
        c, e = {**c, "axis": [2, 3, 6]}, {**e, "axis": [2, 3, 6]}
    return builder.loop("L", kind, c, e, length="0.7" if kind == "distance" else None).build()


@pytest.mark.parametrize("seed", range(640, 650))
def test_two_ways_to_the_reactions(seed: int) -> None:
    """World axes and equilibrium, or axes of the bodies and recursion: equal, on a moving base."""
    mechanism = on_moving_base(random_tree(seed, quaternions=seed % 2 == 0), seed)
    options: dict[str, Any] = {"wrenches": [mechanism.segments[-1].name]}
    model = cf.derive(mechanism, ["reactions"], **options)
    state = exact_state(mechanism, model.graph.inputs.values(), seed)
    recursive = evaluate(model.graph, state, EXACT)["reactions"]
    own = exact_values(mechanism, "reactions", state, formulation="kinetostatic", **options)
    assert (own == recursive).all()


@pytest.mark.parametrize("name", ["four_bar", "squeezer"])
def test_two_ways_to_the_reactions_of_loops(name: str) -> None:
    mechanism = cf.read(ROOT / "examples" / f"{name}.toml")
    state: dict[str, Any] = {}
    values: list[Any] = []
    for formulation in ("auto", "kinetostatic"):
        model = cf.derive(mechanism, ["reactions"], formulation=formulation, closure="basic")
        state = exact_state(mechanism, model.graph.inputs.values(), 8)
        values.append(evaluate(model.graph, state, EXACT)["reactions"])
    assert (values[0] == values[1]).all()


# --- fixed joints, frames -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", [621, 622, 628, 631, 637, 639, 643, 647])
def test_a_fixed_joint_transmits_what_a_locked_one_does(seed: int) -> None:
    mechanism = random_tree(seed, quaternions=True)
    fixed = [j for j, segment in enumerate(mechanism.segments) if segment.coordinate is None]
    assert fixed
    state = state_of(mechanism, seed)
    got = exact_values(mechanism, "reactions", state)
    for j in fixed:
        locked, at_zero = with_lock(mechanism, j, state)
        assert (got == exact_values(locked, "reactions", at_zero)).all()


def with_lock(
    mechanism: cf.Mechanism, j: int, state: dict[str, Any]
) -> tuple[cf.Mechanism, dict[str, Any]]:
    """Return the mechanism with a revolute joint in place of a fixed one, and it at rest at 0."""
    segments = list(mechanism.segments)
    joint = Joint(segments[j].joint.name, JointKind.REVOLUTE)
    nq, nv = mechanism.nq, mechanism.nv
    segments[j] = replace(segments[j], joint=joint, coordinate=nq, rate=nv)
    record = replace(mechanism.coordinate_records[0], name="lock", segment=j)
    locked = replace(
        mechanism,
        segments=tuple(segments),
        coordinate_records=(*mechanism.coordinate_records, record),
        rate_records=(*mechanism.rate_records, record),
    )
    return locked, state | {f"q{nq + 1}": 0, f"qd{nv + 1}": 0, f"qdd{nv + 1}": 0}


def test_a_frame_shows_the_same_force_and_the_moment_about_itself() -> None:
    mechanism = random_tree(601)
    last = mechanism.segments[-1]
    mechanism = mechanism.with_frame("sensor", last.name, ["0.1", "-0.2", "0.3"])
    state = state_of(mechanism, 2)
    own = exact_values(mechanism, f"reaction({last.name},world)", state)
    sensor = exact_values(mechanism, "reaction(sensor,world)", state)
    poses = [exact_values(mechanism, f"pose({name})", state) for name in (last.name, "sensor")]
    arm = poses[0][:3, 3] - poses[1][:3, 3]
    assert (sensor[:3] == own[:3]).all()
    assert (sensor[3:] == own[3:] + np.cross(arm, own[:3])).all()
    local = exact_values(mechanism, "reaction(sensor)", state)
    assert (poses[1][:3, :3] @ local[3:] == sensor[3:]).all()


def test_reactions_can_be_asked_for_by_the_name_of_a_joint() -> None:
    robot = cf.read(example_robot("ur5_robot.urdf"))
    joint, segment = robot.segments[2].joint.name, robot.segments[2].name
    assert joint != segment
    model = cf.derive(robot, [f"reaction({joint})", f"reaction({segment})"])
    values = list(model.evaluate(q=[0.1] * 6, qd=[0.2] * 6, qdd=[0.3] * 6).values())
    assert (values[0] == values[1]).all()


def test_the_ground_has_no_reaction() -> None:
    with pytest.raises(cf.Error, match="no joint carries"):
        cf.derive(reference("puma560"), ["reaction(ground)"])
    with pytest.raises(cf.Error, match="no frame or segment named"):
        cf.derive(reference("puma560"), ["reaction(nowhere)"])


def test_every_formulation_gives_reactions() -> None:
    mechanism = random_tree(603)
    state = state_of(mechanism, 603)
    values = [
        exact_values(mechanism, "reactions", state, formulation=name)
        for name in FORMULATIONS
        if name != "auto"
    ]
    assert values[0].shape == (len(mechanism.segments), 6)
    assert all((value == values[0]).all() for value in values)


def constrained(kind: str, law: str) -> cf.Mechanism:
    """Return two links on a column and one beside them, with a constraint."""
    builder = cf.Mechanism.builder("constrained", gravity=(0, 0, -10))
    builder.segment("column", axis="z", mass=1)
    builder.segment("upper", parent="column", axis="y", mass=1, com=["1/2", 0, 0])
    builder.segment(
        "lower", parent="upper", axis="y", position=[1, 0, 0], mass=1, com=["1/2", 0, 0]
    )
    builder.segment("other", parent="column", axis="y", mass=2, com=["1/3", 0, 0])
    builder.frame("tip", "lower", [1, 0, 0])
    return builder.constraint(kind, law, name="bond").build()


@pytest.mark.parametrize(
    ("law", "refused", "given"),
    [
        ("z(tip) + 1/2", ("column", "upper", "lower"), ("other",)),
        ("cos(upper) + cos(upper + lower) - 1", ("upper", "lower"), ("column", "other")),
        ("upper - 2*other - 1/10", (), ("column", "upper", "lower", "other")),
        ("upper - t", (), ("column", "upper", "lower", "other")),
    ],
)
def test_a_constraint_without_a_place_is_refused(
    law: str, refused: tuple[str, ...], given: tuple[str, ...]
) -> None:
    """Where it acts, the force of a constraint is in the reactions: nobody says where that is."""
    bound = constrained("holonomic", law)
    free = replace(bound, constraints=())
    for name in refused:
        with pytest.raises(cf.Error, match="nothing says at which place") as error:
            cf.derive(bound, [f"reaction({name})"])
        assert "bond" in str(error.value)
    state = state_of(free, 604)
    for name in given:
        values = [exact_values(m, f"reaction({name})", state) for m in (bound, free)]
        assert (values[0] == values[1]).all()
    assert ("reactions" in available_outputs(bound)) == (not refused)
    if refused:
        with pytest.raises(cf.Error, match="does not follow"):
            cf.derive(bound, ["reactions"])
