"""Poses in doubles against the rule written out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from chainform.errors import ReadError
from chainform.mechanism import GROUND, Mechanism, poses_of
from chainform.mechanism.closing import rotation_vector
from chainform.mechanism.pose import rotation_about


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
