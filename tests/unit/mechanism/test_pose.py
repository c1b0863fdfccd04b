"""Poses in doubles against the rule written out."""

from __future__ import annotations

import importlib
from fractions import Fraction

import numpy as np
import pytest

from chainform.errors import ReadError, RunError
from chainform.mechanism import GROUND, Mechanism, poses_of, with_unit_quaternions
from chainform.mechanism.loop_closure import rotation_vector
from chainform.mechanism.pose import numeric_tree, rotation_about, rotation_of_quaternion, turned


def arm() -> Mechanism:
    return (
        Mechanism.builder()
        .parameter("l", "0.5")
        .segment("turn", axis="z", position=[0, 0, 1], rpy=["pi/2", 0, 0], mass=1)
        .segment("slide", parent="turn", joint="prismatic", axis=["0.6", 0, "0.8"], mass=1)
        .segment("plate", parent="slide", joint="fixed", position=["l", 0, 0], mass=1)
        .build()
    )


def test_the_pose_rule() -> None:
    poses = poses_of(arm(), [0.3, 2.0])
    quarter = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    first = quarter @ rotation_about(np.array([0, 0, 1.0]), 0.3)
    assert poses.rotations[0] == pytest.approx(first)
    assert poses.positions[0] == pytest.approx([0, 0, 1])
    assert poses.rotations[1] == pytest.approx(first)
    slid = np.array([0, 0, 1]) + first @ np.array([1.2, 0, 1.6])
    assert poses.positions[1] == pytest.approx(slid)
    assert poses.positions[2] == pytest.approx(slid + first @ np.array([0.5, 0, 0]))
    assert poses.point(GROUND, np.ones(3)).tolist() == [1, 1, 1]
    assert poses.rotation(GROUND).tolist() == np.eye(3).tolist()


def test_values_stand_before_those_of_the_parameters() -> None:
    long = poses_of(arm(), [0.0, 0.0], {"l": Fraction(3)})
    assert long.positions[2] == pytest.approx([3, 0, 1])


def test_a_free_parameter_has_no_pose() -> None:
    builder = Mechanism.builder().parameter("l").segment("a", axis="z", position=["l", 0, 0])
    with pytest.raises(ReadError, match="'l' has no value"):
        poses_of(builder.build(), [0.0])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, 2.0, 3.0, np.pi, np.pi - 1e-9])
@pytest.mark.parametrize("axis", [[1, 0, 0], [0.6, 0.0, 0.8], [-2 / 3, 1 / 3, 2 / 3]])
def test_rotation_vectors(angle: float, axis: list[float]) -> None:
    vector = rotation_vector(rotation_about(np.array(axis), angle))
    assert np.linalg.norm(vector) == pytest.approx(angle, abs=1e-8)
    again = rotation_about(vector / (np.linalg.norm(vector) or 1), float(np.linalg.norm(vector)))
    assert again == pytest.approx(rotation_about(np.array(axis), angle), abs=1e-7)


def ball() -> Mechanism:
    """Return a free body with a ball joint, both frames turned and displaced."""
    builder = Mechanism.builder().segment(
        "body", joint="free", position=[1, 2, 3], rpy=["pi/2", 0, 0], mass=1
    )
    builder.segment("ball", parent="body", joint="spherical", position=[0, 0, 1], mass=1)
    return builder.segment("arm", parent="ball", axis="z", mass=1).build()


def test_neutral_is_the_zero_pose() -> None:
    poses = poses_of(ball(), ball().neutral())
    quarter = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert poses.rotations[0] == pytest.approx(quarter)
    assert poses.positions[0] == pytest.approx([1, 2, 3])
    assert poses.positions[1] == pytest.approx(np.array([1, 2, 3]) + quarter @ [0, 0, 1])


def test_quaternions_are_divided_by_their_length() -> None:
    q = np.array([0.1, 0.2, 0.3, 1, -2, 3, 4, 5, -6, 7, 8, 0.4], dtype=float)
    scaled = q.copy()
    scaled[3:7] *= 7
    scaled[7:11] *= 0.01
    ours, theirs = poses_of(ball(), q), poses_of(ball(), scaled)
    assert ours.rotations == pytest.approx(theirs.rotations)
    assert ours.positions == pytest.approx(theirs.positions)


def test_a_quaternion_needs_a_length() -> None:
    with pytest.raises(RunError, match="no length") as caught:
        poses_of(ball(), np.zeros(12))
    assert "neutral" in str(caught.value.remedy)


@pytest.mark.parametrize("length", [11, 13, 0])
def test_q_has_the_number_of_coordinates(length: int) -> None:
    with pytest.raises(RunError, match="12 coordinates"):
        poses_of(ball(), np.ones(length))


@pytest.mark.parametrize("seed", range(5))
def test_quaternions_turn_as_rotations_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    angle = random.uniform(0.1, 3)
    quaternion = np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))
    assert rotation_of_quaternion(quaternion) == pytest.approx(rotation_about(axis, angle))
    turn = random.normal(size=3)
    size = float(np.linalg.norm(turn))
    after = rotation_of_quaternion(quaternion) @ rotation_about(turn / size, size)
    assert rotation_of_quaternion(turned(3 * quaternion, turn)) == pytest.approx(after)
    assert turned(quaternion, np.zeros(3)) == pytest.approx(quaternion)


@pytest.mark.parametrize("seed", range(3))
def test_free_and_spherical_joints_agree_with_pinocchio(seed: int) -> None:
    pin = importlib.import_module("pinocchio")
    model = pin.Model()
    quarter = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    place = pin.SE3(quarter, np.array([1.0, 2, 3]))
    body = model.addJoint(0, pin.JointModelFreeFlyer(), place, "body")
    place = pin.SE3(np.eye(3), np.array([0.0, 0, 1]))
    joint = model.addJoint(body, pin.JointModelSpherical(), place, "ball")
    model.addJoint(joint, pin.JointModelRZ(), pin.SE3.Identity(), "arm")
    random = np.random.default_rng(seed)
    q = random.normal(size=12)
    q[3:7] /= np.linalg.norm(q[3:7])
    q[7:11] /= np.linalg.norm(q[7:11])
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    ours = poses_of(ball(), q)
    for k in range(3):
        assert ours.rotations[k] == pytest.approx(data.oMi[k + 1].rotation, abs=1e-12)
        assert ours.positions[k] == pytest.approx(data.oMi[k + 1].translation, abs=1e-12)
    # Linear and angular steps of a free joint go together there, one after the other here, which
    # is the same to first order.
    step = 1e-5 * random.normal(size=10)
    moved = numeric_tree(ball()).moved(q, step)
    assert moved == pytest.approx(pin.integrate(model, q, step), abs=1e-9)


def test_quaternions_of_a_batch_get_length_one() -> None:
    builder = Mechanism.builder().segment("base", joint="free", mass=1)
    builder.segment("arm", parent="base", axis="z", mass=1)
    mechanism = builder.segment("hand", parent="arm", joint="spherical", mass=1).build()
    assert mechanism.quaternions == (slice(3, 7), slice(8, 12))
    q = np.random.default_rng(3).uniform(-2.0, 2.0, (2, 5, mechanism.nq))
    q[0, 0, 3:7] = 0.0
    result = with_unit_quaternions(mechanism, q)
    lengths = np.linalg.norm(result[..., 8:12], axis=-1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-14)
    assert result[0, 0, 3:7].tolist() == [0.0] * 4
    rest = [0, 1, 2, 7]
    assert np.array_equal(result[..., rest], q[..., rest])
    ratio = result[1, 1, 3:7] / q[1, 1, 3:7]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-14)
