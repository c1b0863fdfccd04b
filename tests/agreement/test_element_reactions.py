"""Reactions of element models: against those of segments, virtual work, and by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import EXACT, evaluate
from chainform.mechanism import InertialElement
from chainform.pipeline import available_outputs
from element_models import exact_inputs
from zoo import REFERENCE, coupled, exact_state, loaded_tree, random_tree, rational, reference

ROOT = Path(__file__).parents[2]
G = 9.81


def exact(
    mechanism: cf.Mechanism, outputs: list[str], seed: int = 3, **options: Any
) -> dict[str, Any]:
    """Return outputs in fractions, at the state that a seed gives."""
    graph = cf.derive(mechanism, outputs, **options).graph
    state = exact_inputs(mechanism, exact_state(mechanism, seed))
    state |= {f"wrench{k}": Fraction(k, 3) for k in range(1, 7)}
    state |= {item.name: Fraction(item.index + 2, 7) for item in graph.inputs.values()} | state
    return {name: np.asarray(value) for name, value in evaluate(graph, state, EXACT).items()}


# --- segments -------------------------------------------------------------------------------------


def same_as_segments(mechanism: cf.Mechanism, seed: int, **options: Any) -> None:
    last = mechanism.segments[-1].name
    mechanism = mechanism.with_frame("sensor", last, ["0.1", "-0.2", "0.3"])
    frames = (last, f"{last},world", "sensor", "sensor,mixed")
    outputs = ["reactions", *(f"reaction({frame})" for frame in frames)]
    own, usual = (exact(m, outputs, seed, **options) for m in (mechanism.as_elements(), mechanism))
    for output in outputs:
        assert own[output].shape == usual[output].shape
        assert (own[output] == usual[output]).all(), output


@pytest.mark.parametrize("seed", range(700, 724))
def test_random_trees(seed: int) -> None:
    same_as_segments(random_tree(seed), seed)


@pytest.mark.parametrize("seed", range(16))
def test_loaded_trees_with_wrenches(seed: int) -> None:
    tree = loaded_tree(seed)
    same_as_segments(tree, seed, wrenches=[tree.segments[-1].name])
    same_as_segments(tree, seed, without=["springs", "friction"])


@pytest.mark.parametrize("seed", [0, 4, 6, 8, 18])
def test_joints_that_share_a_coordinate(seed: int) -> None:
    same_as_segments(coupled(seed, Fraction(0))[1], seed)


@pytest.mark.parametrize("name", [name for name in REFERENCE if name != "humanoid_30"])
def test_reference_cases(name: str) -> None:
    same_as_segments(reference(name), 3)


@pytest.mark.parametrize("seed", [1, 6, 13])
def test_on_a_base_that_moves_by_laws_of_time(seed: int) -> None:
    builder = cf.Mechanism.builder("carrier").segment("arm", axis="z", mass=1)
    place = {"position": ["t^2/3", "1 - t^3", "t/2"], "quaternion": ["t/5", "t^2/7", "1/3", 1]}
    same_as_segments(replace(loaded_tree(seed), base=builder.base(place).build().base), seed)


@pytest.mark.parametrize("name", ["four_bar", "squeezer", "slider_crank"])
def test_segments_and_elements_with_loops(name: str) -> None:
    """A frame among the elements changes nothing but the method; loops stay."""
    linkage = cf.read(ROOT / "examples" / f"{name}.toml")
    table = linkage.describe()["mechanism"]
    carrier = table["segments"][-1]["name"]
    pen = InertialElement("pen", "frame", carrier)
    mixed = replace(linkage, elements=(*linkage.elements, pen), source=None)
    outputs = ["reactions", f"reaction({carrier},world)"]
    joint = linkage.segments[0].joint.name
    usual, own = (exact(m, [*outputs, f"reaction({joint})"]) for m in (linkage, mixed))
    assert all((own[output] == usual[output]).all() for output in usual)
    assert (exact(mixed, ["reaction(pen)"])["reaction(pen)"] == usual["reactions"][-1]).all()


# --- virtual work ---------------------------------------------------------------------------------

LAWS: list[dict[str, Any]] = [
    {"kind": "elastic", "stiffness": 3, "deformation": "c0 - t", "rest": "1/3"},
    {"kind": "dissipative", "damping": 2, "coulomb": 1, "deformation": "c1"},
    {"kind": "inertia", "inertia": "1/50", "along": "30*c0"},
    {"kind": "force", "force": "X + 2*t", "along": "c0^3"},
]


def random_model(seed: int, *, laws: bool) -> cf.Mechanism:
    """Return bodies on chains with loads that have places; each joint has its own coordinates.

    `laws` adds springs, dampers, rotors and efforts along coordinates.
    """
    rng = random.Random(seed)
    builder = cf.Mechanism.builder(f"model{seed}", gravity=[rational(rng) for _ in range(3)])
    builder.unknowns("X", "Y")
    frames, count = ["ground"], 0
    for number in range(rng.randint(2, 5)):
        steps = [f"S({rational(rng)}, {rational(rng)}, t/3)", "Q(1, 2, 0, 2)"]
        for _ in range(rng.randint(0, 2) if number else 1):
            law, way = f"c{count}", rng.choice(("Sy", "S", "Rx", "Rz")[: 2 if count < 2 else 4])
            builder.coordinates({"name": law, "unit": "rad" if way[0] == "R" else "m"})
            moved = f"S({law}, {law}^2/3, t*{law})" if way == "S" else f"{way}({law})"
            steps.insert(rng.randint(0, len(steps)), moved)
            count += 1
        if len(steps) == 2:  # A weld: nothing in the chain moves.
            steps[0] = f"S({rational(rng)}, 1, 2)"
        masses = {"mass": rational(rng, 1, 9), "inertia": [rational(rng, 5, 9) for _ in range(3)]}
        kind: dict[str, Any] = {"kind": "frame"} if rng.random() < 0.2 else {"kind": "body"}
        kind |= masses | {"com": [rational(rng) for _ in range(3)]} if len(kind["kind"]) < 5 else {}
        builder.element(name=f"b{number}", on=rng.choice(frames), chain=", ".join(steps), **kind)
        frames.append(f"b{number}")
    for number in range(count, max(count + 1, 2)):
        builder.coordinates({"name": f"c{number}", "unit": "m"})
    builder.element(kind="point", name="p", mass=2, on=frames[1], position=[f"c{count}", "t", 1])
    place = {"on": rng.choice(frames), "point": [1, 2, "t"]}
    builder.element(kind="elastic", stiffness=3, ends=[rng.choice(frames), place])
    builder.element(kind="dissipative", damping=2, ends=["p", [1, 2, 3]])
    force: dict[str, Any] = {"kind": "force", "force": ["X", "Y - 1", "t*X"]}
    builder.element(**force, at="p", to=rng.choice(frames[1:]), axes=rng.choice(frames))
    builder.element(kind="moment", moment=["Y", 2, "c0*X"], on=rng.choice(frames), to=frames[-1])
    for table in LAWS if laws else ():
        builder.element(**table)
    return builder.build()


def powers(mechanism: cf.Mechanism, seed: int) -> tuple[Any, Any, dict[str, Any]]:
    """Return what all reactions do on unit rates, the drives, and the reactions themselves."""
    parts = [e for e in mechanism.elements if isinstance(e, InertialElement)]
    kinds = ("reaction({},world)", "jacobian({})", "pose({})")
    names = ("ground", *(part.name for part in parts))
    outputs = [kind.format(name) for kind in kinds[1:] for name in names]
    reactions = [f"reaction({part.name},world)" for part in parts]
    got = exact(mechanism, ["inverse_dynamics", *outputs, *reactions], seed)
    work: Any = 0
    for part in parts:
        arm = got[f"pose({part.name})"][:3, 3] - got[f"pose({part.on})"][:3, 3]
        outer, own = got[f"jacobian({part.on})"], got[f"jacobian({part.name})"]
        linear = own[:3] - outer[:3] - np.cross(outer[3:].T, arm).T
        reaction = got[f"reaction({part.name},world)"]
        work = work + linear.T @ reaction[:3] + (own[3:] - outer[3:]).T @ reaction[3:]
    return work, got["inverse_dynamics"], {name: got[name] for name in reactions}


@pytest.mark.parametrize("seed", range(24))
def test_reactions_do_the_work_of_the_drives(seed: int) -> None:
    """What acts along coordinates acts in the joints, so that it changes no reaction."""
    work, drives, reactions = powers(random_model(seed, laws=False), seed)
    assert (work == drives).all()
    _, others, same = powers(random_model(seed, laws=True), seed)
    assert (others != drives).any()
    assert all((same[name] == reactions[name]).all() for name in reactions)


# --- by hand --------------------------------------------------------------------------------------


def in_plane(name: str, *coordinates: Any) -> Any:
    builder = cf.Mechanism.builder(name, gravity=(0, "-9.81", 0))
    return builder.coordinates(*coordinates)


def test_a_pendulum_by_hand() -> None:
    """The rod pulls with m (l w^2 + g cos), and drives with m l (l eps + g sin)."""
    builder = in_plane("pendulum", "phi").element("rod: Rz(phi); Jz(0.1)")
    pendulum = builder.element("bob~rod: Sy(-0.7); 2").build()
    q, w, eps = 0.4, 1.3, -2.0
    got = cf.derive(pendulum, ["reactions", "reaction(rod,world)"]).evaluate(
        q=[q], qd=[w], qdd=[eps]
    )
    along, across = 2 * (0.7 * w**2 + G * np.cos(q)), 2 * (0.7 * eps + G * np.sin(q))
    expected = [[across, along, 0, 0, 0, 0.7 * across + 0.1 * eps], [across, along, 0, 0, 0, 0]]
    np.testing.assert_allclose(got["reactions"], expected, atol=1e-12)
    turned = [across * np.cos(q) - along * np.sin(q), across * np.sin(q) + along * np.cos(q)]
    np.testing.assert_allclose(got["reaction(rod,world)"][:2], turned, atol=1e-12)


def test_a_mass_on_a_point_by_hand() -> None:
    """A point by laws of its place: whatever holds it exerts m (a - g), and no moment."""
    builder = in_plane("shaken", {"name": "x", "unit": "m"})
    shaken = builder.element(kind="point", name="bob", mass=3, position=["x", "t^2", 0]).build()
    run = cf.simulate(shaken, forces={"x": 6.0}, t=1, q0=[0], qd0=[0])
    expected = [[6, 3 * (2 + G), 0, 0, 0, 0]]
    np.testing.assert_allclose(run.reactions[-1], expected, atol=1e-9)
    assert run.output("reaction(bob,world)").shape == (len(run.t), 6)


def test_springs_and_forces_act_where_they_are() -> None:
    """A weight hangs on a slide: by its joint, by a spring past it, and by both."""
    builder = in_plane("lift", {"name": "y", "unit": "m"}, {"name": "z", "unit": "m"})
    builder.element("cage: Sy(y); 5").element("load~cage: Sy(z); 2")
    builder.element(kind="elastic", stiffness=10, ends=["load", [0, 4, 0]])
    builder.element(kind="elastic", stiffness=7, ends=["cage", "load"])
    builder.element(kind="force", force=[0, 1, 3], at="load", to="cage")
    builder.element(kind="moment", moment=[4, 0, 0], on="load")
    model = cf.derive(builder.build(), ["reactions", "inverse_dynamics"])
    values = model.evaluate(q=[1, 2], qd=[0, 0], qdd=[0, 0])
    spring = 10 * (4 - 3)
    load = [0, 2 * G - spring + 7 * 2 - 1, -3, -4, 0, 0]
    cage = [0, 7 * G - spring, 0, -4 - 3 * 2, 0, 0]
    np.testing.assert_allclose(values["reactions"], [cage, load], atol=1e-12)
    np.testing.assert_allclose(values["inverse_dynamics"], [cage[1], load[1]], atol=1e-12)


def test_bodies_that_share_the_first_steps_of_their_chains() -> None:
    """An arm in three ways: on frames, by chains from the ground, and masses on one of its axes."""
    upper, fore = "Sz(1/2), Rz(a)", "Sx(2), Ry(b)"
    masses = {"upper": "; 3, 1, 2, 3", "fore": "; 2, 1, 1, 1"}
    rows: list[Any] = []
    for chain in (f"fore~upper: {fore}", f"fore: {upper}, {fore}"):
        builder = cf.Mechanism.builder("arm")
        builder.coordinates({"name": "a", "unit": "rad"}, {"name": "b", "unit": "rad"})
        builder.element(f"upper: {upper}{masses['upper']}").element(f"{chain}{masses['fore']}")
        rows.append(exact(builder.build(), ["reactions"])["reactions"])
    assert (rows[0] == rows[1]).all()
    builder = cf.Mechanism.builder("disc").coordinates("a")
    builder.element("one: Rz(a), Sx(1); 2").element("two: Rz(a), Sx(-1); 3")
    disc = cf.derive(builder.build(), ["reactions"]).evaluate(q=[0.3], qd=[0], qdd=[0])
    expected = [[0, 0, 5 * G, 0, 3 * G * 2, 0], [0, 0, 5 * G, 0, -2 * G * 2, 0]]
    np.testing.assert_allclose(disc["reactions"], expected, atol=1e-12)


# --- forces that are found ------------------------------------------------------------------------


def stanford_of_segments() -> cf.Mechanism:
    """Return the Stanford arm of examples/stanford_elements.toml with joints."""
    builder = cf.Mechanism.builder("stanford arm")

    def segment(
        name: str, parent: str, joint: str, axis: str, place: list[str], **body: Any
    ) -> None:
        builder.segment(name, parent=parent, joint=joint, axis=axis, position=place, **body)

    segment("K", "ground", "revolute", "z", ["0", "0", "0.5"], inertia=[0, 0, 5])
    body: dict[str, Any] = {"mass": 10, "inertia": [1, 2, 3]}
    segment("P", "K", "revolute", "x", ["0.25", "0", "0.25"], **body)
    body = {"mass": 2, "inertia": ["0.5", 1, 1]}
    segment("L", "P", "prismatic", "y", ["0.5", "0", "0"], **body)
    body = {"mass": 1, "inertia": ["0.1", "0.2", "0.3"]}
    builder.segment("Z", parent="L", joint="fixed", position=["0", "0.3", "0"], **body)
    body = {"mass": "0.5", "inertia": ["0.05", "0.1", "0.3"]}
    builder.segment("C", parent="Z", joint="fixed", position=["0", "0.1", "0"], **body)
    return builder.build()


MOTION = {"theta1": "0.5*sin(t)", "theta2": "-0.4 + 0.3*cos(2*t)", "d32": "0.35 + 0.15*sin(t)"}


def test_the_stanford_arm_in_both_ways() -> None:
    """Its drives have places there, so that the joints transmit all but them."""
    arm = cf.read(ROOT / "examples" / "stanford_elements.toml")
    found = cf.inverse_dynamics(arm, MOTION, np.linspace(0, 1, 201))
    states: dict[str, Any] = {name: found[name] for name in ("q", "qd", "qdd")}
    joints = cf.derive(stanford_of_segments(), ["reactions"]).evaluate(**states)["reactions"]
    for row, place, drive in ((0, 5, "M1"), (1, 3, "M2"), (2, 1, "F32")):
        joints[:, row, place] -= found[drive]
    np.testing.assert_allclose(found.run.reactions, joints, rtol=1e-9, atol=1e-9)
    assert np.abs(found.run.reactions[:, 0, 5]).max() < 1e-9
    np.testing.assert_allclose(found.simulate().reactions, joints, atol=1e-2)


# --- what is refused ------------------------------------------------------------------------------


def double(*elements: Any) -> Any:
    builder = cf.Mechanism.builder("double").coordinates("a", "b", "c")
    builder.element("upper: Ry(a); 1").element("fore~upper: Sx(1), Ry(b); 1")
    builder.element("hand~fore: Sx(1), Ry(c); 1").element("tip~hand: Sx(1)")
    for element in elements:
        builder.element(**element)
    return builder


def determined(mechanism: cf.Mechanism) -> list[str]:
    """Return the bodies whose reaction can be derived."""
    found, refused = list[str](), list[str | None]()
    for name in mechanism.body_names:
        try:
            cf.derive(mechanism, [f"reaction({name})"])
            found.append(name)
        except cf.Error as error:
            refused.append(error.remedy)
    assert ("reactions" in available_outputs(mechanism)) == (found == [*mechanism.body_names])
    assert all(refused)
    return found


ALL = ["upper", "fore", "hand"]


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ({"kind": "moment", "moment": 2, "along": "b"}, ALL),
        ({"kind": "moment", "moment": 2, "along": "b + c"}, ["upper"]),
        ({"kind": "elastic", "stiffness": 2, "deformation": "a - c"}, []),
        ({"kind": "inertia", "inertia": 2, "along": "a + b"}, ["hand"]),
        ({"kind": "dissipative", "damping": 2, "rate": "der(a)*sin(b)"}, ALL),
        ({"kind": "elastic", "stiffness": 2, "deformation": "z(fore)"}, ["hand"]),
        ({"kind": "force", "force": 2, "along": "x(tip)^2"}, []),
        ({"kind": "elastic", "stiffness": 2, "ends": ["tip", [0, "a", 0]]}, []),
        ({"kind": "elastic", "stiffness": 2, "rest": "t", "ends": ["tip", [0, "t", 0]]}, ALL),
    ],
)
def test_efforts_without_a_place(element: dict[str, Any], expected: list[str]) -> None:
    """They may act beyond a joint, or before it, but not past it."""
    assert determined(double(element).build()) == expected


@pytest.mark.parametrize(
    ("kind", "law", "expected"),
    [
        ("holonomic", "a - 2*b", ALL),
        ("holonomic", "cos(a) + cos(a + b) - 1", ["hand"]),
        ("nonholonomic", "der(b)*sin(a)", ALL),
        ("nonholonomic", "der(a) - der(c)", []),
        ("unilateral", "z(tip)", []),
        ("holonomic", "z(fore) - 1", ["hand"]),
    ],
)
def test_constraints(kind: str, law: str, expected: list[str]) -> None:
    assert determined(double().constraint(kind, law, name="tie").build()) == expected


def test_a_linkage_on_a_column() -> None:
    """Bars that formulas place hold each other at pins that nobody knows, above the column only."""
    builder = cf.Mechanism.builder("linkage").coordinates("turn", {"name": "s", "unit": "m"})
    builder.define(lift="acos(s/2)").element("column: Rz(turn); Jz(3)")
    builder.element("boom~column: Ry(lift), Sx(1); 2").element("tie~column: Sx(s), Ry(-lift); 1")
    builder.element("hook~boom: Sx(1); 1")
    assert determined(builder.build()) == ["column", "hook"]
    crane = cf.read(ROOT / "examples" / "portal_crane.toml")
    assert determined(crane) == []
    with pytest.raises(cf.Error, match="no body is named there") as caught:
        cf.derive(crane, ["reaction(load)"])
    assert caught.value.element == "element 'rack'"


def test_the_ground_carries_itself() -> None:
    builder = double().element("base: Sx(1)").element("plate: Sx(2); 3")
    model = builder.build()
    for name in ("ground", "base"):
        with pytest.raises(cf.Error, match="no joint carries"):
            cf.derive(model, [f"reaction({name})"])
    with pytest.raises(cf.Error, match="no frame named"):
        cf.derive(model, ["reaction(nowhere)"])
    plate = cf.derive(model, ["reaction(plate)"]).evaluate()["reaction(plate)"]
    np.testing.assert_allclose(plate, [0, 0, 3 * G, 0, 0, 0])
