"""Poses for many times against those of formulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.simulation.pictures import poses
from chainform.simulation.pictures.frames import Frames
from element_models import everything, random_model
from unit.simulation.pictures.runs import EXAMPLES, arm, brick, pendulum
from zoo import random_tree


def states(mechanism: cf.Mechanism, seed: int, count: int = 5) -> np.ndarray:
    """Return random coordinates with quaternions of length one, as a model wants them."""
    q = np.random.default_rng(seed).normal(size=(count, mechanism.nq))
    for segment in mechanism.segments:
        if segment.coordinate is not None and segment.joint.kind.has_quaternion:
            end = segment.coordinate + segment.joint.kind.coordinates
            q[:, end - 4 : end] /= np.linalg.norm(q[:, end - 4 : end], axis=1, keepdims=True)
    return q


def of_model(mechanism: cf.Mechanism, names: list[str], q: Any, **more: Any) -> tuple[Any, Any]:
    """Return rotations and positions of named frames as a derived model gives them."""
    model = cf.derive(mechanism, [f"pose({name})" for name in names])
    values = model.evaluate(q=q, **more)
    stack = np.stack([values[f"pose({name})"] for name in names], axis=-3)
    return stack[..., :3, :3], stack[..., :3, 3]


@pytest.mark.parametrize("seed", range(12))
def test_segments_stand_where_the_model_says(seed: int) -> None:
    tree = random_tree(seed, quaternions=seed % 2 == 1)
    q = states(tree, seed)
    rotations, positions = poses(tree, q)
    expected = of_model(tree, [segment.name for segment in tree.segments], q)
    assert rotations == pytest.approx(expected[0], abs=1e-12)
    assert positions == pytest.approx(expected[1], abs=1e-12)


BASES = {
    "still": {"position": [1, 2, 3], "rpy": [0.1, 0.2, 0.3]},
    "angles": {"position": ["t", "sin(t)", 0], "rpy": ["t", "t/2", "1 - t"]},
    "quaternion": {"position": [0, 0, "t^2"], "quaternion": ["t", 1, 0, "2 + t"]},
}


@pytest.mark.parametrize("name", BASES)
def test_the_base_may_stand_anywhere_and_move(name: str) -> None:
    builder = cf.Mechanism.builder().base(BASES[name])
    builder.segment("a", axis="z", position=[1, 0, 0], mass=1)
    mechanism = builder.segment("b", parent="a", axis="x", position=[0, 1, 0], mass=1).build()
    q, t = states(mechanism, 3), np.linspace(0.0, 2.0, 5)
    rotations, positions = poses(mechanism, q, t)
    more = {} if name == "still" else {"t": t}
    expected = of_model(mechanism, ["a", "b"], q, **more)
    assert rotations == pytest.approx(expected[0], abs=1e-12)
    assert positions == pytest.approx(expected[1], abs=1e-12)


def test_a_law_of_time_needs_times() -> None:
    mechanism = cf.Mechanism.builder().base(BASES["angles"]).segment("a", axis="z", mass=1).build()
    with pytest.raises(RunError, match="need the times") as e:
        poses(mechanism, np.zeros((3, 1)))
    assert "give t" in str(e.value.remedy)


def test_any_leading_dimensions() -> None:
    mechanism = arm()
    q = states(mechanism, 1, 12)
    rotations, positions = poses(mechanism, q.reshape(3, 4, -1))
    assert rotations.shape == (3, 4, len(mechanism.segments), 3, 3)
    assert positions.shape == (3, 4, len(mechanism.segments), 3)
    one = poses(mechanism, q[5])
    assert rotations[1, 1] == pytest.approx(one.rotations)
    assert positions[1, 1] == pytest.approx(one.positions)


def test_q_must_have_all_coordinates() -> None:
    with pytest.raises(RunError, match="1 coordinates"):
        poses(pendulum(), np.zeros((4, 2)))


def test_a_quaternion_needs_a_length() -> None:
    with pytest.raises(RunError, match="no length"):
        poses(brick(), np.zeros((2, 7)))


def world_pose(mechanism: cf.Mechanism, frames: Frames, name: str) -> tuple[np.ndarray, np.ndarray]:
    place, point, axes = frames.place(name)
    track = frames.track
    rotation = track.rotations[:, place]
    return rotation @ axes, track.positions[:, place] + rotation @ point


@pytest.mark.parametrize("seed", range(4))
def test_frames_of_elements_stand_where_the_model_says(seed: int) -> None:
    model = random_model(seed)
    names = [element.name for element in model.elements if hasattr(element, "chain")]
    q, t = states(model, seed), np.linspace(0.0, 1.0, 5)
    frames = Frames(model, q, t)
    derived = cf.derive(model, [f"pose({name})" for name in names])
    values = derived.evaluate(q=q, t=t)
    for name in names:
        rotation, origin = world_pose(model, frames, name)
        assert rotation == pytest.approx(values[f"pose({name})"][:, :3, :3], abs=1e-12)
        assert origin == pytest.approx(values[f"pose({name})"][:, :3, 3], abs=1e-12)


def test_frames_of_elements_follow_definitions() -> None:
    """The crane closes: the tie, from its foot on the tower, ends at the rear of the jib."""
    crane = cf.read(EXAMPLES / "portal_crane.toml")
    frames = Frames(crane, np.linspace(4.2, 5.0, 4)[:, None], np.zeros(4))
    track = frames.track
    tie, head = (frames.names.index(name) for name in ("tie", "head"))
    foot = np.array([-2.0, 10.0, 0.0])
    end = foot + 2 * (track.positions[:, tie] - foot)
    rear = track.positions[:, head] - 4.0 * track.rotations[:, head, :, 0]
    assert end == pytest.approx(rear, abs=1e-9)


def test_turns_of_a_chain_are_kept() -> None:
    builder = cf.Mechanism.builder("chain").coordinates({"name": "phi", "unit": "rad"})
    builder.element("a: Sz(1), Rz(phi), Sx(2), Rx(0.5); 1, 1, 1, 1")
    frames = Frames(builder.build(), np.zeros((2, 1)), np.zeros(2))
    assert len(frames.joints["a"].frames) == 1
    joint = frames.joints["a"].frames[0]
    assert frames.track.positions[0, joint].tolist() == [0, 0, 1]
    assert frames.joints["a"].axes[0].tolist() == [0, 0, 1]


def test_a_free_parameter_has_no_place() -> None:
    model = everything()
    with pytest.raises(RunError, match="has no value") as e:
        Frames(
            cf.Mechanism.builder()
            .parameter("l")
            .coordinates("x")
            .element("a: Sz(l); 1, 1, 1, 1")
            .build(),
            np.zeros((1, 1)),
            np.zeros(1),
        )
    assert e.value.element == "l"
    assert Frames(model, np.zeros((2, 3)), np.zeros(2)).track.positions.shape[0] == 2
