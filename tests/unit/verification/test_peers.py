"""Models against Pinocchio and MuJoCo: right ones agree, wrong ones are found, others are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import chainform as cf
from chainform.mechanism import Segment
from chainform.pipeline import available_outputs
from chainform.verification import Check, check_peers
from chainform.verification.peers import ALLOWED, PEERS
from chainform.verification.peers.peer_values import BY_RESIDUAL, OF_FRAMES, OF_MECHANISM
from zoo import coupled, loaded_tree, random_tree, reference

TITLES = [peer.title for peer, *_ in PEERS.values()]
AXES = ("world", "local", "mixed")


def with_tool(tree: cf.Mechanism) -> cf.Mechanism:
    turn = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    return tree.with_frame("tool", tree.segments[-1].name, ["0.1", "-0.2", "0.3"], turn)


def checks_of(model: cf.Model, **options: Any) -> dict[str, Check]:
    """Return the checks that were made, by the law."""
    return {check.law: check for check in check_peers(model, **options) if check.states > 1}


def failures(model: cf.Model) -> list[str]:
    return [law for law, check in checks_of(model).items() if check.holds is not True]


def everything(tree: cf.Mechanism) -> list[str]:
    """Return all outputs that other programs know, of a mechanism with a frame `tool`."""
    known = available_outputs(tree)
    frames = [f"{name}(tool,{axes})" for name in sorted(OF_FRAMES - {"pose"}) for axes in AXES]
    return [o for o in (*OF_MECHANISM, *BY_RESIDUAL) if o in known] + ["pose(tool)", *frames]


def derived(tree: cf.Mechanism, **options: Any) -> cf.Model:
    """Return the model of all outputs, without those that need an inverse where there is none."""
    try:
        return cf.derive(tree, everything(tree), **options)
    except cf.Error:
        rest = [output for output in everything(tree) if output not in BY_RESIDUAL]
        return cf.derive(tree, rest, **options)


def test_programs_are_installed() -> None:
    """Guard: all below would hold without them."""
    found = list(check_peers(cf.derive(random_tree(2001), ["gravity"])))
    assert [check.law for check in found] == [f"{t} gives the same gravity" for t in TITLES]
    assert all(check.holds for check in found)


@pytest.mark.parametrize("seed", range(2000, 2016))
def test_trees_of_all_joints_hold(seed: int) -> None:
    tree = with_tool(random_tree(seed, quaternions=True))
    model = derived(tree)
    found = checks_of(model, seed=seed)
    assert [law for law, check in found.items() if check.holds is not True] == []
    assert all(check.deviation is not None and check.deviation < 1e-11 for check in found.values())
    for title, left in zip(TITLES, (0, 3), strict=True):
        made = [law for law in found if law.startswith(title)]
        known = [name for name in model.outputs if "coriolis_matrix" in name or "rate" in name]
        assert len(made) >= len(model.outputs) - min(left, len(known))


@pytest.mark.parametrize(
    "mechanism",
    [
        reference("puma560"),
        reference("stanford_toolbox"),
        loaded_tree(0),
        loaded_tree(3),
        coupled(0)[1],
        coupled(3)[1],
    ],
    ids=lambda m: m.name,
)
def test_arms_loads_and_coupled_joints_hold(mechanism: cf.Mechanism) -> None:
    """Rotors and friction are compared; springs and laws of forces are added to what is given."""
    model = derived(with_tool(mechanism))
    assert failures(model) == []
    words = checks_of(model)["Pinocchio gives the same inverse_dynamics"].compared
    loads = bool(mechanism.forces or mechanism.springs)
    assert ("laws of forces are those of chainform" in words) is loads


@pytest.mark.parametrize("name", ["four_bar", "stewart", "driven_arm"])
def test_loops_and_actuators_leave_the_tree_as_it_is(name: str) -> None:
    mechanism = cf.read(f"examples/{name}.toml")
    outputs = ["mass_matrix", "inverse_dynamics", "bias", "kinetic_energy"]
    found = checks_of(cf.derive(mechanism, outputs))
    assert len(found) == 2 * len(outputs)
    assert all(check.holds for check in found.values())
    words = found["MuJoCo gives the same inverse_dynamics"].compared
    assert ("forces in loops are zero" in words) is bool(mechanism.loops)


@pytest.mark.parametrize("parameters", ["symbolic", ["m_*", "g"], "base"])
def test_parameters_take_values(parameters: Any) -> None:
    arm = cf.read("examples/six_axis_arm.toml")
    model = cf.derive(arm, ["inverse_dynamics", "gravity"], parameters=parameters)
    assert model.free_parameters
    assert failures(model) == []


def test_a_parameter_without_a_value_is_drawn() -> None:
    builder = cf.Mechanism.builder("rod").parameter("m").parameter("l", "1/2")
    builder.segment("rod", axis="y", mass="m", com=[0, 0, "-l"], inertia=[0, "m*l^2/12", 0])
    model = cf.derive(builder.build(), ["mass_matrix", "gravity"], parameters=["m", "l"])
    assert model.free_parameters["m"] is None
    assert failures(model) == []


def test_wrenches_and_parts_left_out_hold() -> None:
    tree = with_tool(random_tree(2003, quaternions=True))
    assert failures(cf.derive(tree, ["inverse_dynamics"], wrenches=["tool", "s1"])) == []
    bare = cf.derive(loaded_tree(3), ["inverse_dynamics", "mass_matrix"], without=["rotors"])
    assert failures(bare) == []
    assert failures(derived(with_tool(random_tree(2005)), reduce="fast")) == []


def test_a_turned_base_holds() -> None:
    builder = cf.Mechanism.builder("arm").parameter("a", "1/3")
    builder.segment("one", axis="y", mass=2, com=["0.1", "0.2", "-0.5"], inertia=[1, 2, 3])
    outputs = ["gravity", "pose(one)", "potential_energy"]
    for base in ({"rpy": ["a", "2*a", 1]}, {"quaternion": ["a", 1, "-a", 2]}):
        model = cf.derive(builder.base(**base, position=[1, 2, "a"]).build(), outputs)
        assert failures(model) == []


# --- planted errors -----------------------------------------------------------------------------


def changed(mechanism: cf.Mechanism, index: int, **parts: Any) -> cf.Mechanism:
    """Return a mechanism with another joint or body of one segment."""
    segments = list(mechanism.segments)
    segments[index] = replace(segments[index], **parts)
    return replace(mechanism, segments=tuple(segments))


def moving(mechanism: cf.Mechanism) -> tuple[int, Segment]:
    """Return the last segment that turns."""
    turning = [(i, s) for i, s in enumerate(mechanism.segments) if s.joint.kind == "revolute"]
    return turning[-1]


def turned_gravity(mechanism: cf.Mechanism) -> cf.Mechanism:
    x, y, z = (-entry if isinstance(entry, Fraction) else entry for entry in mechanism.gravity)
    return replace(mechanism, gravity=(x, y, z))


def swapped_axis(mechanism: cf.Mechanism) -> cf.Mechanism:
    i, segment = moving(mechanism)
    x, y, z = segment.joint.axis
    return changed(mechanism, i, joint=replace(segment.joint, axis=(y, z, x)))


def turned_axis(mechanism: cf.Mechanism) -> cf.Mechanism:
    i, segment = moving(mechanism)
    x, y, z = segment.joint.axis
    return changed(mechanism, i, joint=replace(segment.joint, axis=(-x, -y, -z)))


def other_inertia(mechanism: cf.Mechanism) -> cf.Mechanism:
    """Change one product of inertia by a millionth of a kg m^2."""
    i, segment = moving(mechanism)
    (a, b, c), (d, e, f), rest = segment.body.inertia
    assert isinstance(b, Fraction)
    b = b + Fraction(1, 10**6)
    del d
    return changed(mechanism, i, body=replace(segment.body, inertia=((a, b, c), (b, e, f), rest)))


@pytest.mark.parametrize("name", ["six_axis_arm"])
@pytest.mark.parametrize(
    ("change", "output"),
    [
        (turned_gravity, "gravity"),
        (turned_gravity, "potential_energy"),
        (swapped_axis, "jacobian(gripper)"),
        (turned_axis, "inverse_dynamics"),
        (other_inertia, "mass_matrix"),
        (other_inertia, "forward_dynamics"),
    ],
)
def test_a_planted_error_is_found(
    name: str, change: Callable[[cf.Mechanism], cf.Mechanism], output: str
) -> None:
    right = cf.read(f"examples/{name}.toml")
    wrong = replace(cf.derive(change(right), [output]), mechanism=right)
    assert failures(cf.derive(right, [output])) == []
    assert failures(wrong) == [f"{title} gives the same {output}" for title in TITLES]


@pytest.mark.parametrize("output", ["velocity(tool)", "pose(tool)", "inverse_dynamics"])
def test_an_error_in_axes_of_a_frame_or_a_load_is_found(output: str) -> None:
    """An output in the axes of the body in place of the world; friction of the other sign."""
    loaded = output == "inverse_dynamics"
    tree = with_tool(loaded_tree(3) if loaded else cf.read("examples/six_axis_arm.toml"))
    if loaded:
        other = cf.derive(tree, [output], without=["friction"])
        wrong = replace(other, without=())
    else:
        moved = replace(
            tree, frames=tuple(replace(f, point=(f.point[1],) * 3) for f in tree.frames)
        )
        wrong = replace(cf.derive(moved, [output]), mechanism=tree)
    assert len(failures(wrong)) == len(TITLES)


def test_a_number_that_is_not_finite_is_no_agreement() -> None:
    tree = random_tree(2005)
    model = cf.derive(tree, ["kinetic_energy"]).with_outputs({"other": "sqrt(-1 - q1^2)"})
    graph = model.graph
    swapped = {"kinetic_energy": graph.outputs["other"]}
    broken = replace(model.with_graph(replace(graph, outputs=swapped)), defined={})
    assert [check.holds for check in checks_of(broken).values()] == [False, False]


# --- what cannot be compared ----------------------------------------------------------------


def reasons(model: cf.Model) -> Sequence[str]:
    found = list(check_peers(model))
    assert [check.holds for check in found] == [None] * len(found)
    return [check.figure for check in found]


def test_what_others_do_not_know_is_told() -> None:
    elements = cf.read("examples/portal_crane.toml")
    assert "no elements" in reasons(cf.derive(elements, ["mass_matrix"]))[0]
    arm = cf.read("examples/six_axis_arm.toml")
    assert reasons(cf.derive(arm, ["reactions"]))[0] == "it gives no reactions"
    builder = cf.Mechanism.builder("lift")
    builder.segment("arm", axis="y", mass=2, com=[1, 0, 0])
    lift = builder.base(acceleration=[0, 0, 1]).build()
    assert "moves as prescribed" in reasons(cf.derive(lift, ["inverse_dynamics"]))[0]
    still = cf.Mechanism.builder("still").segment("a", joint="fixed", mass=1).build()
    assert reasons(cf.derive(still, ["potential_energy"]))[0] == "nothing moves"


def test_a_program_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    build, remedy, without = PEERS["pinocchio"]
    monkeypatch.setattr(
        "chainform.verification.peers.PEERS", {"no_such_program": (build, remedy, without)}
    )
    (check,) = check_peers(cf.derive(random_tree(2001), ["gravity"]))
    assert (check.holds, check.figure) == (None, f"it is not installed: {remedy}")


def test_a_mass_below_zero_is_told() -> None:
    tree = random_tree(2005)
    negative = changed(tree, 0, body=replace(tree.segments[0].body, mass=Fraction(-1)))
    assert "negative mass" in reasons(cf.derive(negative, ["gravity"]))[0]


def test_states_and_seed_are_heeded() -> None:
    model = cf.derive(cf.read("examples/six_axis_arm.toml"), ["inverse_dynamics"])
    one, two = (next(iter(check_peers(model, seed=seed, states=4))) for seed in (1, 2))
    assert one.states == two.states == 4
    assert one.allowed == ALLOWED
    assert one != two
