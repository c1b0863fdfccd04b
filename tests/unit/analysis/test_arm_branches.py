"""Closed forms of arms: they give back random poses, and as many branches as a search finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
import zoo
from robots import example_robot
from unit.analysis.arms import PARALLEL, SHOULDERS, WRIST, P, R, X, Y, Z, chain, planar, poses


def random_poses(mechanism: cf.Mechanism, count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (count, mechanism.nq))


def check(
    mechanism: cf.Mechanism, frame: str, part: str = "pose", searched: int = 3
) -> cf.Mechanism:
    """Check branches of random targets: exact, different, as many as a search finds."""
    q = random_poses(mechanism, 40)
    T = poses(mechanism, frame, q)
    values = {"pose": T, "position": T[:, :3, 3], "rotation": T[:, :3, :3]}[part]
    targets = {frame: values if part == "pose" else {part: values}}
    found = cf.inverse_kinematics(
        mechanism, targets, method="closed_form", branches="all", limits=False
    )
    assert found["position_error"].max() < 1e-10
    assert found["rotation_error"].max() < 1e-10
    for k in range(len(q)):
        own = found["q"][found["target"] == k + 1]
        turns = np.array(
            [s.joint.kind == "revolute" for s in mechanism.segments if s.rate is not None]
        )
        apart = own[:, None] - own[None]
        apart = np.where(turns, np.angle(np.exp(1j * apart)), apart)
        assert np.abs(apart).max(axis=2)[np.triu_indices(len(own), 1)].min(initial=1.0) > 1e-6
        away = np.where(turns, np.angle(np.exp(1j * (own - q[k]))), own - q[k])
        assert np.abs(away).max(axis=1).min() < 1e-7
    counts = np.bincount(found["target"].astype(int), minlength=len(q) + 1)[1:]
    some = {frame: values[:searched] if part == "pose" else {part: values[:searched]}}
    search = cf.inverse_kinematics(mechanism, some, branches="all", limits=False, starts=300)
    assert list(np.bincount(search["target"].astype(int))[1:]) == list(counts[:searched])
    return mechanism


@pytest.mark.parametrize("shoulder", SHOULDERS)
def test_arms_with_a_spherical_wrist(shoulder: str) -> None:
    check(chain([*SHOULDERS[shoulder], *WRIST]), "tip")


@pytest.mark.parametrize("shoulder", ["puma", "general slide", "cylinder"])
def test_three_joints_bring_a_point_to_its_place(shoulder: str) -> None:
    check(chain(SHOULDERS[shoulder]), "tip", "position")


def test_arms_with_three_parallel_axes() -> None:
    check(chain(PARALLEL), "tip")


def test_a_spherical_shoulder_is_a_wrist_seen_from_the_tip() -> None:
    joints = [
        *WRIST,
        (R, Z, ["0.1", "0.2", "0.3"]),
        (R, Y, ["0.15", 0, 0]),
        (R, Y, ["0.43", 0, "0.02"]),
    ]
    check(chain(joints), "tip")


def test_smaller_arms() -> None:
    check(chain([(R, Z, [0, 0, 0]), (R, Y, [0, 0, 0]), (R, Z, [0, 0, 0])]), "tip", "rotation")
    check(planar(2), "tip", "position")
    check(planar(3), "tip")
    check(chain([(R, X, [0, 0, 0]), (R, Z, [0, 0, 0])], [0, "0.25", 0]), "tip", "position")
    check(chain([(R, Z, [0, 0, 0]), (R, X, ["0.1", "0.3", 0])]), "tip", "position")


@pytest.mark.parametrize("method", ["newton", "closed_form"])
def test_a_singular_target_has_its_branches(method: str) -> None:
    """Stretched, the two branches of an arm are one, and no freedom is left."""
    for reach in (1.0, 0.6):
        q = [[0.7, 0.0], [0.7, np.arccos((reach**2 - 0.5) / 0.5)]][reach < 1]
        tip = poses(stretched(), "tip", np.array(q))[:3, 3]
        targets = {"tip": {"position": tip.tolist()}}
        found = cf.inverse_kinematics(stretched(), targets, method=method, branches="all")
        assert len(found) == (1 if reach == 1 else 2)
        assert bool(found["singular_value"].max() < 1e-4) is (reach == 1)
        assert ("singular at target 1" in str(found.report)) is (reach == 1)
        one = cf.inverse_kinematics(stretched(), targets, method=method)
        assert one.facts["freedoms"] == 0


def test_a_target_has_a_branch_where_the_first_angle_that_serves_leads_nowhere() -> None:
    """The last axis is parallel to three others: any angle serves, but not all let these reach."""
    joints = [
        (R, [0, 0, -1], ["0.75", "-0.5", "-0.75"]),
        (R, X, ["-0.25", "0.5", 0]),
        (R, X, [0, "0.75", "-0.5"]),
        (R, X, [0, "-0.25", "0.5"]),
        (R, [0, -1, 0], [0, 0, 0]),
        (R, Z, [0, "0.5", 0]),
    ]
    arm = chain(joints, [1, 0, 0])
    T = poses(arm, "tip", np.pi / 2 * np.array([-1, 0, 2, 1, 1, -2]))
    found = cf.inverse_kinematics(arm, {"tip": T}, method="closed_form", branches="all")
    assert len(found)
    assert np.abs(poses(arm, "tip", found["q"]) - T).max() < 1e-10


def stretched() -> cf.Mechanism:
    """Return an arm of two links of 0.5 m in a plane."""
    builder = cf.Mechanism.builder("links")
    builder.segment("upper", axis="z", mass=1)
    builder.segment("fore", parent="upper", axis="z", position=["0.5", 0, 0], mass=1)
    return builder.frame("tip", "fore", point=["0.5", 0, 0]).build()


def test_published_arms() -> None:
    for name in ("puma560", "stanford_toolbox"):
        mechanism = zoo.reference(name)
        frame = mechanism.segments[-1].name
        T = poses(mechanism, frame, random_poses(mechanism, 20))
        found = cf.inverse_kinematics(
            mechanism, {frame: T}, method="closed_form", branches="all", limits=False
        )
        assert found.facts["branches"] == 8 * 20, name


def test_ur5_from_its_file() -> None:
    check(cf.read(example_robot("ur5_robot.urdf")), "tool0", searched=2)


def test_branches_outside_the_limits_are_left_out() -> None:
    wide, narrow = planar(2), planar(2, "-0.5", "2")
    T = poses(wide, "tip", [0.3, 1.2])
    both = cf.inverse_kinematics(wide, {"tip": T[:3, 3]}, method="closed_form", branches="all")
    one = cf.inverse_kinematics(narrow, {"tip": T[:3, 3]}, method="closed_form", branches="all")
    assert len(both) == 2
    assert one["q"].shape == (1, 2)
    assert one["q"][0] == pytest.approx([0.3, 1.2])
    free = cf.inverse_kinematics(
        narrow, {"tip": T[:3, 3]}, method="closed_form", branches="all", limits=False
    )
    assert len(free) == 2


def test_held_joints_leave_an_arm_of_six() -> None:
    mechanism = zoo.reference("seven_axis")
    frame, names = mechanism.segments[-1].name, mechanism.coordinates
    q = random_poses(mechanism, 1, seed=3)[0]
    target = {frame: poses(mechanism, frame, q)}
    options: dict[str, Any] = {"redundancy": {names[2]: q[2]}, "branches": "all", "limits": False}
    found = cf.inverse_kinematics(mechanism, target, method="closed_form", **options)
    search = cf.inverse_kinematics(mechanism, target, starts=300, **options)
    assert len(found) == len(search) > 1
    assert np.abs(found["q"] - q).max(axis=1).min() < 1e-8
    assert np.all(found["q"][:, 2] == pytest.approx(q[2], abs=1e-12))


@pytest.mark.parametrize(
    ("joints", "reason"),
    [
        (
            [(R, X, [0, 0, 0]), *SHOULDERS["offset"], (R, X, ["0.2", 0, 0]), (R, Z, ["0.1", 0, 0])],
            "meet",
        ),
        (SHOULDERS["puma"], "3 joints"),
        (
            [(R, Z, [0, 0, 0]), (R, Z, ["0.1", 0, 0]), (R, Z, ["0.2", 0, 0]), *WRIST],
            "independently",
        ),
        ([(P, Z, [0, 0, 0])], "1 joint"),
    ],
)
def test_what_has_no_closed_form_is_refused_with_a_remedy(
    joints: list[object], reason: str
) -> None:
    mechanism = chain(joints)  # pyright: ignore[reportArgumentType]
    with pytest.raises(cf.Error, match=reason) as refusal:
        cf.inverse_kinematics(mechanism, {"tip": np.eye(4)}, method="closed_form")
    assert 'method="newton"' in str(refusal.value.remedy)


def test_loops_and_several_frames_have_no_closed_form() -> None:
    bar = cf.read("examples/four_bar.toml")
    with pytest.raises(cf.Error, match="loops"):
        cf.inverse_kinematics(bar, {"coupler": [0.1, 0.2, 0]}, method="closed_form")
    arm = planar(3)
    with pytest.raises(cf.Error, match="2 frames"):
        cf.inverse_kinematics(arm, {"tip": [1, 1, 0], "j2": [0.5, 0.5, 0]}, method="closed_form")
    with pytest.raises(cf.Error, match="components"):
        cf.inverse_kinematics(arm, {"tip": {"x": 1}}, method="closed_form")
