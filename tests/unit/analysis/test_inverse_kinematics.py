"""Inverse kinematics: forward again, exact rates, choices, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import chainform as cf
import zoo
from chainform.analysis import Result, complete
from unit.analysis.arms import SHOULDERS, WRIST, P, R, X, Z, chain, differences, planar, poses
from unit.simulation.linkages import slider_crank

PUMA = "body6"
ROOT = Path(__file__).parents[3]


def puma() -> cf.Mechanism:
    return zoo.reference("puma560")


# --- single targets ---------------------------------------------------------------------------


def test_a_hundred_poses_are_reached_again() -> None:
    q = np.random.default_rng(0).uniform(-2, 2, (100, 6))
    T = poses(puma(), PUMA, q)
    for method in ("newton", "closed_form"):
        found = cf.inverse_kinematics(puma(), {PUMA: T}, method=method)
        assert found.facts["reached"] == 100
        assert found.rows == "target"
        assert np.abs(poses(puma(), PUMA, found["q"]) - T).max() < 1e-10, method


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_any_reachable_point_is_reached(seed: int) -> None:
    random = np.random.default_rng(seed)
    arm = chain(SHOULDERS["general"])
    target = poses(arm, "tip", random.uniform(-3, 3, 3))[:3, 3]
    found = cf.inverse_kinematics(arm, {"tip": target}, seed=seed)
    assert found["reached"][0] == 1
    assert np.abs(poses(arm, "tip", found["q"][0])[:3, 3] - target).max() < 1e-10


@pytest.mark.slow
def test_thousands_of_targets_are_one_call() -> None:
    q = np.random.default_rng(7).uniform(-1, 1, (30_000, 2))
    T = poses(planar(2), "tip", q)
    found = cf.inverse_kinematics(planar(2), {"tip": {"position": T[:, :3, 3]}})
    assert found["reached"].all()
    turned = cf.inverse_kinematics(chain([(R, Z, [0, 0, 0])]), {"tip": {"rotation": T[:, :3, :3]}})
    assert np.allclose(np.cos(turned["q"][:, 0] - q.sum(axis=1)), 1)


def test_the_same_seed_gives_the_same_poses() -> None:
    T = poses(puma(), PUMA, np.random.default_rng(1).uniform(-2, 2, (20, 6)))
    first, again = (cf.inverse_kinematics(puma(), {PUMA: T}, seed=4)["q"] for _ in range(2))
    assert np.array_equal(first, again)


def test_rotations_by_angles_quaternion_and_matrix_are_one() -> None:
    turn = Rotation.from_euler("xyz", [0.3, -0.4, 0.5])
    forms = [
        [0.3, -0.4, 0.5],
        {"rpy": [0.3, -0.4, 0.5]},
        list(turn.as_quat()),
        {"quaternion": list(-2 * turn.as_quat())},
        turn.as_matrix(),
        {"matrix": turn.as_matrix().tolist()},
    ]
    target = [0.4, 0.2, 0.3]
    for form in forms:
        found = cf.inverse_kinematics(puma(), {PUMA: {"position": target, "rotation": form}})
        T = poses(puma(), PUMA, found["q"][0])
        assert np.abs(T[:3, :3] - turn.as_matrix()).max() < 1e-10, form
        assert np.abs(T[:3, 3] - target).max() < 1e-10


def test_a_half_turn_away_is_not_taken_for_the_target() -> None:
    wrist = chain([(R, Z, [0, 0, 0])])
    target = Rotation.from_euler("z", np.pi).as_matrix()
    found = cf.inverse_kinematics(wrist, {"tip": {"rotation": target}}, q0=[0.0])
    assert abs(found["q"][0, 0]) == pytest.approx(np.pi)
    other = Rotation.from_euler("x", np.pi).as_matrix()
    missed = cf.inverse_kinematics(wrist, {"tip": {"rotation": other}}, q0=[0.0])
    assert missed["reached"][0] == 0
    assert missed["rotation_error"][0] == pytest.approx(np.pi)


def test_some_components_leave_others_free() -> None:
    found = cf.inverse_kinematics(planar(3), {"tip": {"x": 1.2}}, q0=[0.1, 0.2, 0.3])
    assert poses(planar(3), "tip", found["q"][0])[0, 3] == pytest.approx(1.2, abs=1e-10)
    assert found.facts["freedoms"] == 2


def test_several_frames_at_once() -> None:
    builder = cf.Mechanism.builder("two hands")
    builder.segment("trunk", axis="z", mass=1)
    for side, y in (("left", "0.3"), ("right", "-0.3")):
        builder.segment(f"{side} arm", parent="trunk", axis="z", position=[0, y, 0], mass=1)
        builder.segment(
            f"{side} hand", parent=f"{side} arm", axis="z", position=["0.5", 0, 0], mass=1
        )
        builder.frame(side, f"{side} hand", point=["0.4", 0, 0])
    hands = builder.build()
    targets = {"left": {"x": 0.6, "y": 0.4}, "right": {"x": 0.5, "y": -0.2}}
    found = cf.inverse_kinematics(hands, targets)
    for side, target in targets.items():
        place = poses(hands, side, found["q"][0])[:2, 3]
        assert np.abs(place - [target["x"], target["y"]]).max() < 1e-10


def test_limits_are_kept_and_can_be_left_out() -> None:
    q = np.random.default_rng(5).uniform(-0.9, 0.9, (50, 6))
    joints = [*SHOULDERS["puma"], *WRIST]
    narrow = chain(joints, limits={"lower": "-1", "upper": "1"})
    T = poses(narrow, "tip", q)
    within = cf.inverse_kinematics(narrow, {"tip": T})
    assert within.facts["reached"] == 50
    assert np.abs(within["q"]).max() <= 1
    wide = cf.inverse_kinematics(narrow, {"tip": T}, limits=False)
    assert np.abs(wide["q"]).max() > 1


def test_out_of_reach_the_nearest_pose_is_given_with_its_distance() -> None:
    found = cf.inverse_kinematics(planar(2), {"tip": [2.1, 2.8, 0]}, starts=5)
    assert found["reached"][0] == 0
    assert found["position_error"][0] == pytest.approx(3.5 - 1.8, abs=1e-7)
    assert "not reached: target 1" in found.report[-1]
    inside = cf.inverse_kinematics(planar(2), {"tip": [0.1, 0, 0]}, starts=5)
    assert inside["position_error"][0] == pytest.approx(0.2 - 0.1, abs=1e-7)


def test_contradictory_targets_are_not_reached() -> None:
    found = cf.inverse_kinematics(planar(3), {"tip": [1, 1, 0], "j3": [1, -1, 0]}, starts=5)
    assert found["reached"][0] == 0
    assert found["position_error"][0] > 0.3


def test_the_nearest_pose_is_chosen_where_there_are_many() -> None:
    q0 = np.array([0.3, 0.8, -0.5])
    found = cf.inverse_kinematics(planar(3), {"tip": {"x": 1.5, "y": 0.9}}, q0=q0)["q"][0]
    middle = cf.inverse_kinematics(
        planar(3), {"tip": {"x": 1.5, "y": 0.9}}, q0=q0, redundancy="middle_range"
    )["q"][0]
    # All poses of the tip by the angle of the last link, both ways of the elbow.
    angle = np.linspace(-np.pi, np.pi, 20_001)
    wrist = np.stack([1.5 - 0.8 * np.cos(angle), 0.9 - 0.8 * np.sin(angle)], axis=1)
    reach = np.linalg.norm(wrist, axis=1)
    fine = reach < 2
    elbow = 2 * np.arccos(reach[fine] / 2)
    base = np.arctan2(wrist[fine, 1], wrist[fine, 0])
    every = [
        np.stack([base - s * elbow / 2, s * elbow, angle[fine] - base - s * elbow / 2], axis=1)
        for s in (1, -1)
    ]
    every = np.concatenate(every)
    every = np.concatenate([every + np.array([0, 0, 2 * np.pi * k]) for k in (-1, 0, 1)])
    for pose, reference in ((found, q0), (middle, np.zeros(3))):
        least = np.linalg.norm(every - reference, axis=1).min()
        assert np.linalg.norm(pose - reference) == pytest.approx(least, abs=1e-6)


def test_held_coordinates_have_their_values() -> None:
    arm = zoo.reference("seven_axis")
    frame, name = arm.segments[-1].name, arm.coordinates[2]
    q = np.random.default_rng(2).uniform(-1, 1, 7)
    found = cf.inverse_kinematics(arm, {frame: poses(arm, frame, q)}, redundancy={name: q[2]})
    assert found["q"][0, 2] == pytest.approx(q[2], abs=1e-10)
    assert found["reached"][0] == 1
    assert found.facts["freedoms"] == 0


def test_a_loop_is_closed_on_the_way() -> None:
    crank = slider_crank()
    found = cf.inverse_kinematics(crank, {"slider": {"x": 0.9}}, branches="all", starts=40)
    assert len(found) == 2
    assert np.allclose(found["q"][0], -found["q"][1] * [1, 1, -1], atol=1e-9)
    motion = complete(
        crank, {"crank": found["q"][0, 0]}, start={"rod": found["q"][0, 1], "slider": 0.9}
    )
    assert np.abs(motion.q - found["q"][0]).max() < 1e-9


def test_parameters_have_values() -> None:
    builder = cf.Mechanism.builder("arm")
    builder.parameter("length")
    builder.segment("a", axis="z", mass=1)
    builder.segment("b", parent="a", axis="z", position=["length", 0, 0], mass=1)
    builder.frame("tip", "b", point=["length", 0, 0])
    arm = builder.build()
    found = cf.inverse_kinematics(arm, {"tip": [3, 0, 0]}, values={"length": 2})
    assert abs(found["q"][0, 1]) == pytest.approx(2 * np.arccos(3 / 4))
    with pytest.raises(cf.Error, match="no value"):
        cf.inverse_kinematics(arm, {"tip": [3, 0, 0]})


# --- paths ------------------------------------------------------------------------------------


TIMES = np.linspace(0, 1, 101)
PATH = {
    "position": ["0.4 + 0.1*sin(2*t)", "0.2*cos(3*t)", "0.3 + 0.1*t^2"],
    "rotation": {"rpy": ["0.3*sin(t)", "1 + 0.4*t", "0.5*cos(2*t)"]},
}


def check_rates(found: Result, tolerance: float = 1e-7) -> None:
    """Compare rates and accelerations with differences of order six."""
    h = float(found["t"][1] - found["t"][0])
    assert found["reached"].all()
    assert np.abs(differences(found["q"], h) - found["qd"][3:-3]).max() < tolerance
    assert np.abs(differences(found["qd"], h) - found["qdd"][3:-3]).max() < 10 * tolerance


def test_laws_may_be_constant() -> None:
    targets = {"tip": {"x": "sqrt(2)", "y": "1/2"}}
    alone = cf.inverse_kinematics(planar(2), targets)
    path = cf.inverse_kinematics(planar(2), targets, [0.0, 1.0])
    assert path["reached"].all()
    assert alone["reached"].all()
    assert np.abs(path["qd"]).max() < 1e-12
    assert np.allclose(poses(planar(2), "tip", path["q"])[:, :2, 3], [2**0.5, 0.5])
    with pytest.raises(cf.Error, match="no finite value"):
        cf.inverse_kinematics(planar(2), {"tip": {"x": "log(0*t)", "y": 0}}, [0.0, 1.0])


@pytest.mark.slow
def test_rates_of_laws_are_exact() -> None:
    for rotation in (
        PATH["rotation"],
        {"quaternion": ["0.3*sin(t)", "1", "0.4*t^2", "1 + 0.2*t"]},
        {"matrix": [[0, "sin(t)", "cos(t)"], [0, "cos(t)", "-sin(t)"], [-1, 0, 0]]},
    ):
        found = cf.inverse_kinematics(puma(), {PUMA: PATH | {"rotation": rotation}}, TIMES)
        check_rates(found)
        assert np.abs(found["qd"]).max() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "redundancy", ["least_motion", "middle_range", {"L3": "-0.3 + 0.3*sin(t)"}]
)
def test_rates_of_a_redundant_arm_are_exact(redundancy: Any) -> None:
    arm = zoo.reference("seven_axis")
    frame = arm.segments[-1].name
    if isinstance(redundancy, dict):
        redundancy = {arm.coordinates[2]: redundancy["L3"]}
    start = np.array([0.2, 0.5, -0.3, 0.9, 0.2, 0.6, 0.1])
    x, y, z = poses(arm, frame, start)[:3, 3]
    law = {"position": [f"{x} + 0.05*sin(2*t)", f"{y} - 0.05*t", f"{z} + 0.04*t^2"]}
    law |= {"rotation": {"matrix": poses(arm, frame, start)[:3, :3].tolist()}}
    found = cf.inverse_kinematics(arm, {frame: law}, TIMES, q0=start, redundancy=redundancy)
    check_rates(found, 1e-6)
    J = cf.derive(arm, [f"jacobian({frame})"]).evaluate(q=found["q"])[f"jacobian({frame})"]
    if redundancy == "least_motion":
        rows = np.einsum("mij,mj->mi", np.linalg.pinv(J) @ J, found["qd"])
        assert np.abs(rows - found["qd"]).max() < 1e-9, "no part that leaves the frame alone"
        assert found.facts["freedoms"] == 1
    if redundancy == "middle_range":
        free = np.eye(7) - np.linalg.pinv(J) @ J
        assert np.abs(np.einsum("mij,mj->mi", free, found["q"])).max() < 1e-9, "no way to zero"


@pytest.mark.slow
def test_a_platform_on_six_legs_has_the_lengths_of_geometry() -> None:
    stewart = cf.read(ROOT / "examples" / "stewart.toml")
    laws = {"position": ["0.03*cos(t)", "0.03*sin(t)", "0.7 + 0.02*sin(2*t)"]}
    laws |= {"rotation": {"rpy": ["0.05*sin(t)", "0.05*cos(t)", 0]}}
    found = cf.inverse_kinematics(stewart, {"platform": laws}, TIMES, q0={"platform_z": 0.7})
    t = TIMES
    place = np.stack([0.03 * np.cos(t), 0.03 * np.sin(t), 0.7 + 0.02 * np.sin(2 * t)], axis=1)
    angles = np.stack([0.05 * np.sin(t), 0.05 * np.cos(t), 0 * t], axis=1)
    turn = Rotation.from_euler("xyz", angles).as_matrix()
    for k, loop in enumerate(stewart.loops, 1):
        ball = np.array([float(x) for x in loop.target.point])  # pyright: ignore[reportArgumentType]
        foot = next(s for s in stewart.segments if s.joint.name == f"foot{k}_r1").position
        base = np.array([float(x) for x in foot])  # pyright: ignore[reportArgumentType]
        length = np.linalg.norm(place + turn @ ball - base, axis=1) - 0.52
        leg = found["q"][:, stewart.coordinate_index(f"leg{k}")]
        assert np.abs(leg - length).max() < 1e-12
    h = t[1] - t[0]
    rate = stewart.rate_index("leg1")
    legs = found["q"][:, stewart.coordinate_index("leg1")]
    assert np.abs(differences(legs, h) - found["qd"][3:-3, rate]).max() < 1e-9
    assert np.abs(differences(found["qd"], h) - found["qdd"][3:-3]).max() < 1e-8


def test_points_are_joined_by_the_spline_that_the_report_names() -> None:
    times, points = [0.0, 0.3, 0.7, 1.0], np.array([[1, 0.5], [1.2, 0.6], [1.1, 1], [0.7, 1.1]])
    whole = np.column_stack([points, np.zeros(4)])
    path = {"tip": {"points": whole.tolist(), "times": times}}
    found = cf.inverse_kinematics(planar(2), path, TIMES, q0=[0.2, 0.9])
    spline = CubicSpline(times, points)
    J = cf.derive(planar(2), ["jacobian(tip)", "jacobian_rate(tip)"])
    at = J.evaluate(q=found["q"], qd=found["qd"])
    rows, change = (at[name][:, :2] for name in ("jacobian(tip)", "jacobian_rate(tip)"))
    assert np.abs(np.einsum("mij,mj->mi", rows, found["qd"]) - spline(TIMES, 1)).max() < 1e-9
    acceleration = np.einsum("mij,mj->mi", rows, found["qdd"])
    acceleration += np.einsum("mij,mj->mi", change, found["qd"])
    assert np.abs(acceleration - spline(TIMES, 2)).max() < 1e-8
    assert any("cubic splines" in line for line in found.report)
    samples = cf.inverse_kinematics(planar(2), {"tip": whole}, times, q0=[0.2, 0.9])
    assert len(samples) == 4
    assert np.abs(samples["q"] - found["q"][[0, 30, 70, 100]]).max() < 1e-9
    alone = cf.inverse_kinematics(planar(2), {"tip": whole}, q0=[0.2, 0.9])
    assert "qd" not in alone.arrays, "targets without times have no rates"


def test_quaternions_of_both_signs_are_one_path() -> None:
    turns = Rotation.from_euler("zyx", [[0.1 * k, 0.2, 0.05 * k] for k in range(5)])
    signs = np.array([1, -1, 1, 1, -1])[:, None]
    path = {"quaternion": {"points": (turns.as_quat() * signs).tolist(), "times": [0, 1, 2, 3, 4]}}
    wrist = chain([(R, Z, [0, 0, 0]), (R, X, [0, 0, 0]), (R, Z, [0, 0, 0])])
    start = cf.inverse_kinematics(wrist, {"tip": {"rotation": turns[0].as_matrix()}})["q"][0]
    found = cf.inverse_kinematics(wrist, {"tip": {"rotation": path}}, q0=start)
    got = poses(wrist, "tip", found["q"])[:, :3, :3]
    assert np.abs(got - turns.as_matrix()).max() < 1e-9


def test_a_moving_base_is_taken_along() -> None:
    builder = cf.Mechanism.builder("cart")
    builder.base(position=["0.1*t", 0, 0])
    builder.segment("a", axis="z", mass=1)
    builder.segment("b", parent="a", axis="z", position=[1, 0, 0], mass=1)
    builder.frame("tip", "b", point=["0.8", 0, 0])
    cart = builder.build()
    found = cf.inverse_kinematics(cart, {"tip": [1.3, 0.4, 0]}, TIMES, q0=[0.3, 0.9])
    check_rates(found)
    gap = np.stack([1.3 - 0.1 * TIMES, np.full(101, 0.4)], axis=1)
    still = poses(planar(2), "tip", found["q"])[:, :2, 3]
    assert np.abs(still - gap).max() < 1e-10


def test_results_are_stored_and_drawn_as_others(tmp_path: Path) -> None:
    found = cf.inverse_kinematics(
        planar(2), {"tip": {"x": "1+t/2", "y": 0.3}}, TIMES[::20], q0=[0, 1]
    )
    found.save(tmp_path / "path.npz")
    again = Result.load(tmp_path / "path.npz")
    assert np.array_equal(again["qdd"], found["qdd"])
    assert again.report == found.report
    assert again.facts["freedoms"] == 0


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        ({"tipp": [1, 1, 0]}, {}, "no frame or segment named 'tipp'"),
        ({}, {}, "no targets"),
        ([1, 2, 3], {}, "expected a table"),
        ({"ground": [0, 0, 0]}, {}, "stands on the ground"),
        ({"tip": [1, 1]}, {}, "got the shape"),
        ({"tip": [1, float("nan"), 0]}, {}, "not finite"),
        ({"tip": [[1, 1, 0], [1, 1]]}, {}, "not an array"),
        ({"tip": {}}, {}, "neither position nor rotation"),
        ({"tip": {"positon": [1, 1, 0]}}, {}, "unknown field"),
        ({"tip": {"position": [1, 1, 0], "x": 1}}, {}, "given twice"),
        ({"tip": {"pose": np.eye(4), "x": 1}}, {}, "given twice"),
        ({"tip": {"rotation": [0, 0, 0, 0]}}, {}, "no length"),
        ({"tip": {"rotation": np.diag([1, 1, -1])}}, {}, "not a rotation"),
        ({"tip": {"rotation": np.ones((2, 2))}}, {}, "expected a rotation"),
        ({"tip": np.diag([1, 1, 1, 2])}, {}, "last row"),
        ({"tip": ["t", 0, 0]}, {}, "need times"),
        ({"tip": ["t", 0]}, {"t": [0, 1]}, "expected 3 laws"),
        ({"tip": ["1/t", 0, 0]}, {"t": [0, 1]}, "no finite value"),
        ({"tip": ["omega*t", 0, 0]}, {"t": [0, 1]}, "omega"),
        ({"tip": [1, 1, 0]}, {"t": [0, 0]}, "do not grow"),
        ({"tip": np.zeros((3, 3))}, {"t": [0, 1]}, "3 samples and 2 times"),
        ({"tip": {"points": [[1, 1, 0]], "times": [0]}}, {}, "two or more points"),
        ({"tip": {"points": [[1, 1, 0]] * 2, "times": [1, 0]}}, {}, "growing time"),
        ({"tip": {"points": [[1, 1, 0]] * 2, "times": [0, 1]}}, {"t": [0, 2]}, "given from"),
        ({"tip": np.zeros((2, 3)), "j2": np.zeros((3, 3))}, {}, "different numbers of samples"),
        ({"tip": np.zeros((200_001, 3))}, {}, "200001 targets"),
        ({"tip": [1, 1, 0]}, {"method": "magic"}, "magic"),
        ({"tip": [1, 1, 0]}, {"branches": "some"}, "some"),
        ({"tip": [1, 1, 0]}, {"branches": 0}, "whole number"),
        ({"tip": [1, 1, 0]}, {"branches": "all", "method": "dynamic"}, "one branch"),
        ({"tip": {"x": 1}}, {"branches": "all"}, "leave 1 freedom"),
        ({"tip": [1, 1, 0]}, {"redundancy": "best"}, "best"),
        ({"tip": [1, 1, 0]}, {"redundancy": {"j9": 0}}, "j9"),
        ({"tip": [1, 1, 0]}, {"starts": 0}, "whole number"),
        ({"tip": [1, 1, 0]}, {"tolerance": 1}, "above"),
        ({"tip": [1, 1, 0]}, {"q0": [1]}, "q0"),
        ({"tip": [1, 1, 0]}, {"values": {"mass": 1}}, "mass"),
    ],
)
def test_wrong_arguments_are_refused_in_words(
    targets: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(cf.Error, match=message) as refusal:
        cf.inverse_kinematics(planar(2), targets, **options)
    assert refusal.value.remedy


def test_what_poses_do_not_determine_is_refused() -> None:
    disc = cf.read(ROOT / "examples" / "rolling_disc.toml")
    with pytest.raises(cf.Error, match="binds rates"):
        cf.inverse_kinematics(disc, {"disc": [1, 1, 0]})
    slide = chain([(P, Z, [0, 0, 0])])
    found = cf.inverse_kinematics(slide, {"tip": {"z": 1.2}})
    assert found["q"][0, 0] == pytest.approx(1.0)
