"""Robots as their makers describe them: what we read is what Pinocchio reads."""

from __future__ import annotations

import importlib
import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.mechanism import GROUND, Mechanism, Segment, poses_of
from chainform.readers import read, read_text, urdf_text

pin: Any = importlib.import_module("pinocchio")

ROBOTS = [
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "kinova_description/robots/kinova.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "z1_description/urdf/z1.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "solo_description/robots/solo12.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "romeo_description/urdf/romeo.urdf",
    "tiago_description/robots/tiago.urdf",
    "baxter_description/urdf/baxter.urdf",
    "asr_twodof_description/urdf/TwoDofs.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
]
"""Arms, hands, legs; continuous, prismatic and mimicking joints; inclined inertias."""


def file_of(robot: str) -> Path:
    """Return a robot file of the package example-robot-data."""
    try:
        installed = files("example-robot-data") or []
    except PackageNotFoundError:
        pytest.fail("the package example-robot-data is not installed")
    return next(Path(str(f.locate())) for f in installed if str(f).endswith(robot))


def floats(values: Any) -> np.ndarray:
    return np.array(values, dtype=float)


class Pair:
    """A mechanism and the Pinocchio model of the same file, at the same random state."""

    def __init__(self, path: Path, base: str, **options: Any) -> None:
        text = path.read_text("utf-8")
        root = [pin.JointModelFreeFlyer()] if base == "floating" else []
        self.model = pin.buildModelFromXML(text, *root)
        self.mechanism = read(path, base=base, mimic="free", side_file=False, **options)
        self.rng = np.random.default_rng(7)
        self.q = np.zeros(self.mechanism.nq)
        self.their_q = pin.neutral(self.model)
        for segment in self.mechanism.segments:
            if segment.coordinate is not None:
                self.draw(segment, segment.coordinate)

    def draw(self, segment: Segment, place: int) -> None:
        joint = self.model.joints[self.model.getJointId(segment.joint.name)]
        values = self.rng.uniform(-1, 1, segment.joint.kind.coordinates)
        if len(values) == 7:
            values[3:] /= np.linalg.norm(values[3:])
        theirs = values
        if joint.nq == 2:  # Pinocchio keeps the cosine and sine of a continuous joint
            theirs = np.array([np.cos(values[0]), np.sin(values[0])])
        self.q[place : place + len(values)] = values
        self.their_q[joint.idx_q : joint.idx_q + joint.nq] = theirs


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_places_of_all_links(robot: str, base: str) -> None:
    pair = Pair(file_of(robot), base, snap=0)
    assert pair.mechanism.nv == pair.model.nv
    data = pair.model.createData()
    pin.framesForwardKinematics(pair.model, data, pair.their_q)
    poses = poses_of(pair.mechanism, pair.q)
    for index, segment in enumerate(pair.mechanism.segments):
        name = segment.name.removesuffix("_link") if segment.name == "ground_link" else segment.name
        place = data.oMf[pair.model.getFrameId(name, pin.FrameType.BODY)]
        np.testing.assert_allclose(poses.rotations[index], place.rotation, atol=1e-12)
        np.testing.assert_allclose(poses.positions[index], place.translation, atol=1e-12)


def rigid_bodies(mechanism: Mechanism) -> dict[str, Any]:
    """Return the inertias of what moves as one, in the frame of the joint that moves it."""
    places: list[tuple[int, Any]] = []
    bodies: dict[str, Any] = {}
    for index, segment in enumerate(mechanism.segments):
        carrier, place = index, pin.SE3.Identity()
        if segment.coordinate is None:
            carrier, above = GROUND, pin.SE3.Identity()
            if segment.parent != GROUND:
                carrier, above = places[segment.parent]
            place = above * pin.SE3(floats(segment.rotation), floats(segment.position))
        places.append((carrier, place))
        if carrier == GROUND:
            continue
        body = segment.body
        mass = float(floats(body.mass))
        inertia = pin.Inertia(mass, floats(body.com), floats(body.inertia))
        name = mechanism.segments[carrier].joint.name
        bodies[name] = bodies.get(name, pin.Inertia.Zero()) + place.act(inertia)
    return bodies


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_masses_and_inertias(robot: str, base: str) -> None:
    pair = Pair(file_of(robot), base, snap=0)
    for joint, body in rigid_bodies(pair.mechanism).items():
        theirs = pair.model.inertias[pair.model.getJointId(joint)].matrix()
        size = max(float(np.max(np.abs(theirs))), 1e-30)
        np.testing.assert_allclose(body.matrix(), theirs, atol=1e-13 * size, rtol=1e-12)


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_effect_of_snapping_is_what_the_report_says(robot: str) -> None:
    path = file_of(robot)
    snapped, literal = read(path), read(path, snap=0)
    assert snapped.coordinates == literal.coordinates
    said = [note.text for note in snapped.notes if note.element == "snapping"]
    if not said:
        assert snapped.segments == literal.segments
        return
    (effect,) = re.findall(r"largest effect: (\S+) m, (\S+) rad, (\S+) of", said[0])
    metres, radians, _ = (float(value) for value in effect)
    q = np.random.default_rng(1).uniform(-1, 1, snapped.nq)
    here, there = poses_of(snapped, q), poses_of(literal, q)
    assert np.max(np.abs(here.positions - there.positions)) <= 2 * metres + 1e-13
    assert np.max(np.abs(here.rotations - there.rotations)) <= 2 * radians + 1e-13


@pytest.mark.parametrize("robot", ROBOTS)
def test_round_trip(robot: str) -> None:
    mechanism = read(file_of(robot))
    text = urdf_text(mechanism)
    again = read_text(text, "urdf", snap=0)
    assert again.coordinates == mechanism.coordinates
    assert [s.joint.limits for s in again.segments] == [s.joint.limits for s in mechanism.segments]
    q = np.random.default_rng(2).uniform(-1, 1, mechanism.nq)
    here, there = poses_of(mechanism, q), poses_of(again, q)
    np.testing.assert_allclose(there.positions, here.positions, atol=1e-12)
    np.testing.assert_allclose(there.rotations, here.rotations, atol=1e-12)
    for one, other in zip(mechanism.segments, again.segments, strict=True):
        size = float(np.max(np.abs(floats(one.body.inertia)))) or 1.0
        np.testing.assert_allclose(
            floats(other.body.inertia), floats(one.body.inertia), atol=1e-12 * size
        )
        assert one.joint.friction == other.joint.friction
    model = pin.buildModelFromXML(text)
    assert model.nv >= mechanism.nv
