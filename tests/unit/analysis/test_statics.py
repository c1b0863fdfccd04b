"""Forces that hold poses: inverse dynamics at rest, virtual work, wrenches; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import complete, drives
from chainform.simulation import assemble
from zoo import loaded_tree

EXAMPLES = Path(__file__).parents[3] / "examples"


def four_bar() -> cf.Mechanism:
    return cf.read(EXAMPLES / "four_bar.toml")


def test_drives_are_those_of_inverse_dynamics_at_rest() -> None:
    tree = loaded_tree(3)
    rng = np.random.default_rng(1)
    q = np.array([assemble(tree, rng.uniform(-1, 1, tree.nq)) for _ in range(5)])
    found = cf.statics(tree, q, time=0.7)
    still = np.zeros((5, tree.nv))
    model = cf.derive(tree, ["inverse_dynamics"])
    wanted = model.evaluate(q=q, qd=still, qdd=still, t=0.7)["inverse_dynamics"]
    assert np.allclose(found["tau"], wanted, atol=1e-9)
    assert found.facts["kind"] == "exact"
    assert "t = 0.7 s" in found.report[-1]


def test_the_drive_of_a_closed_linkage_does_the_work_of_its_energy() -> None:
    # tau d(crank) = dV along the motion that the loop allows.
    linkage = four_bar()
    crank = np.linspace(0.2, 1.2, 6)
    h = 1e-5
    start = [0, 0.5, 1.2]
    poses = complete(linkage, {"crank": crank}, t=crank, start=start).q
    energy = cf.derive(linkage, ["potential_energy"])
    sides = [
        energy.evaluate(q=complete(linkage, {"crank": crank + side}, t=crank, start=start).q)
        for side in (h, -h)
    ]
    slope = (sides[0]["potential_energy"] - sides[1]["potential_energy"]) / (2 * h)
    found = cf.statics(linkage, poses)
    assert np.allclose(found["tau"][:, 0], slope, atol=1e-7)
    assert np.all(found["tau"][:, 1:] == 0)
    same = drives(linkage, poses, np.zeros((6, 3)), np.zeros((6, 3)))
    assert np.allclose(found["sigma"], same.sigma)


def test_too_many_drives_have_the_least_norm_and_too_few_leave_something() -> None:
    both = cf.statics(four_bar(), {"crank": 0.4}, ["crank", "rocker"])
    one = cf.statics(four_bar(), {"crank": 0.4})
    assert (both.facts["kind"], one.facts["kind"]) == ("least norm", "exact")
    assert np.linalg.norm(both["tau"]) < np.linalg.norm(one["tau"])
    arm = cf.read(EXAMPLES / "six_axis_arm.toml")
    few = cf.statics(arm, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], ["elbow"])
    assert few.facts["kind"] == "least squares"
    assert np.abs(few["residual"]).max() > 1
    assert "is left over" in few.report[0]


def test_a_wrench_on_the_tool_holds_the_arm_without_drives() -> None:
    arm = cf.read(EXAMPLES / "six_axis_arm.toml")
    q = np.array([0.3, -0.5, 0.8, 0.2, -0.4, 0.6])
    found = cf.statics(arm, q, wrenches=["gripper"])
    assert np.abs(found["residual"]).max() < 1e-9
    model = cf.derive(arm, ["inverse_dynamics"], wrenches=["gripper"])
    still = np.zeros(6)
    left = model.evaluate(q=q, qd=still, qdd=still, wrench=found["wrench"][0])
    assert np.abs(left["inverse_dynamics"]).max() < 1e-9
    assert found.facts["names"][0] == "gripper.fx"
    reactions = found.run.reactions[0]
    axes = np.array([[float(x) for x in segment.joint.axis] for segment in arm.segments])
    assert np.abs(np.sum(reactions[:, 3:] * axes, axis=1)).max() < 1e-9, "no drive holds a joint"
    lifted = found["wrench"][0, 2] + reactions[0, 2]
    assert lifted == pytest.approx(9.81 * 14)


def test_an_unknown_force_is_in_the_reactions() -> None:
    held = cf.statics(pushed_bar(), [0.0])
    # 3 kg at 2 m, held at 4 m by half of it.
    assert held["forces"][0, 0] == pytest.approx(15)
    assert np.allclose(held.run.reactions[0, 0], [0, 0, 15, 0, 0, 0])


def pushed_bar() -> cf.Mechanism:
    """Return a bar in a hinge whose end is held by a force that is to be found."""
    builder = cf.Mechanism.builder("bar", gravity=(0, 0, -10)).unknowns("F")
    builder.segment("bar", axis="y", mass=3, com=[2, 0, 0], inertia=[1, 1, 1]).frame(
        "end", "bar", [4, 0, 0]
    )
    return builder.element(kind="force", force=[0, 0, "F"], at="end").build()


def test_the_unknown_force_of_a_crane_is_the_slope_of_its_energy() -> None:
    crane = cf.read(EXAMPLES / "portal_crane.toml")
    s = np.array([[3.0], [4.0], [5.0]])
    found = cf.statics(crane, s)
    assert np.all(found["tau"] == 0)
    energy = cf.derive(crane, ["potential_energy"])
    up, down = (energy.evaluate(q=s + h)["potential_energy"] for h in (1e-5, -1e-5))
    # The pinion draws the rack: its force shortens or lengthens s with the same power.
    assert np.allclose(np.abs(found["forces"][:, 0]), np.abs((up - down) / 2e-5), rtol=1e-5)


def test_reactions_and_other_quantities_come_from_the_run() -> None:
    builder = cf.Mechanism.builder("beam", gravity=(0, 0, -10))
    builder.segment("beam", axis="y", mass=3, com=[2, 0, 0], inertia=[1, 1, 1])
    found = cf.statics(builder.build(), [0.0])
    # Up by its weight, and the moment of the drive: 3 kg at 2 m about -y.
    assert np.allclose(found.run.reactions[0, 0], [0, 0, 30, 0, -60, 0])
    assert found["tau"][0, 0] == pytest.approx(-60)
    held = cf.statics(builder.build(), [0.0], forces={"beam": "-20"}, values={"m_1": 4})
    assert held["tau"][0, 0] == pytest.approx(-80 + 20)


def test_a_held_pose_is_an_equilibrium_of_the_linearisation() -> None:
    pose = cf.statics(four_bar(), {"crank": 0.4})
    assert cf.linearise(four_bar(), q=pose["q"][0], tau=pose["tau"][0]).is_equilibrium


REFUSED = [
    ({"q": [1, 2]}, "a pose has 3 numbers"),
    ({"q": np.zeros((0, 3))}, "0 poses"),
    ({"q": [1, 2, np.nan]}, "not finite"),
    ({"q": [1, 2, 3]}, "the pose does not fit 'linkage x'"),
    ({"q": {"crnk": 1}}, "no coordinate named 'crnk'"),
    ({"q": {"crank": 1, "rocker": 3}}, "cannot be assembled"),
    ({"q": {"crank": 1}, "driven": ["crnk"]}, "no rate named 'crnk'"),
    ({"q": {"crank": 1}, "wrenches": ["tool"]}, "no frame or segment named 'tool'"),
    ({"q": {"crank": 1}, "forces": {"crnk": 1}}, "no rate named 'crnk'"),
    ({"q": {"crank": 1}, "values": {"crankmass": 1}}, "did you mean 'crank_mass'"),
    ({"q": {"crank": 1}, "without": ["gravity"]}, "gravity"),
    ({"q": {"crank": 1}, "time": "now"}, "expected a number"),
    (
        {"q": {"crank": 1}, "forces": {"crank": "t"}, "time": -1e308, "wrenches": ["coupler"]},
        "no finite value",
    ),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_wrong_arguments_are_refused_with_a_remedy(given: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error) as caught:
        cf.statics(four_bar(), **given)
    assert message in str(caught.value)
    assert caught.value.remedy


def test_what_a_law_of_time_moves_does_not_rest() -> None:
    builder = cf.Mechanism.builder("pulled").segment("slide", joint="prismatic", axis="x", mass=1)
    pulled = builder.constraint("holonomic", "slide - t/5", name="rope").build()
    with pytest.raises(cf.Error) as caught:
        cf.statics(pulled, [0.0])
    assert "rest does not fit 'rope'" in str(caught.value)
    assert "inverse_dynamics" in str(caught.value.remedy)


def test_several_poses_by_name_are_closed_one_after_the_other() -> None:
    linkage = cf.read(Path(__file__).parents[3] / "examples" / "four_bar.toml")
    angles = [0.2, 0.4, 0.6]
    found = cf.statics(linkage, {"crank": angles})
    np.testing.assert_array_equal(found["q"][:, 0], angles)
    assert np.abs(np.diff(found["q"], axis=0)).max() < 0.5
    by_array = cf.statics(linkage, found["q"])
    np.testing.assert_allclose(found["tau"], by_array["tau"])
    alone = cf.statics(linkage, {"crank": 0.2})
    np.testing.assert_allclose(found["tau"][0], alone["tau"][0])
    with pytest.raises(cf.Error, match="different lengths"):
        cf.statics(linkage, {"crank": [0.1, 0.2], "rocker": [1, 2, 3]})
