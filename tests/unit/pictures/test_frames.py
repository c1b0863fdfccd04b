"""Frames at many times against poses that are computed in other ways, and states between states."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.mechanism import poses_of
from chainform.mechanism.pose import rotation_about, rotation_of_quaternion
from chainform.pictures.frames import Frames, Track, aligned, frame_times, resampled, slopes_of
from element_models import everything, random_model
from unit.pictures.runs import EXAMPLES, Given, arm, brick, given, swinging
from zoo import random_tree


def states(mechanism: cf.Mechanism, seed: int, count: int = 5) -> np.ndarray:
    """Return random coordinates with quaternions of length one, as a model wants them."""
    q = np.random.default_rng(seed).normal(size=(count, mechanism.nq))
    for segment in mechanism.segments:
        if segment.coordinate is not None and segment.joint.kind.has_quaternion:
            end = segment.coordinate + segment.joint.kind.coordinates
            q[:, end - 4 : end] /= np.linalg.norm(q[:, end - 4 : end], axis=1, keepdims=True)
    return q


@pytest.mark.parametrize("seed", range(12))
def test_segments_have_the_poses_of_their_mechanism(seed: int) -> None:
    """`poses_of` computes them from numbers alone, without a graph."""
    tree = random_tree(seed, quaternions=seed % 2 == 1)
    q = states(tree, seed)
    rotations, positions = Frames(tree).track(q, np.zeros(len(q)))
    expected = [poses_of(tree, row) for row in q]
    assert rotations[:, 1:] == pytest.approx(np.array([p.rotations for p in expected]), abs=1e-12)
    assert positions[:, 1:] == pytest.approx(np.array([p.positions for p in expected]), abs=1e-12)


BASES = {
    "still": {"position": [1, 2, 3], "rpy": [0.1, 0.2, 0.3]},
    "angles": {"position": ["t", "sin(t)", 0], "rpy": ["t", "t/2", "1 - t"]},
    "quaternion": {"position": [0, 0, "t^2"], "quaternion": ["t", 1, 0, "2 + t"]},
}


def base_rotation(name: str, t: float) -> np.ndarray:
    """Return the rotation of the base at a time, from its angles or its quaternion."""
    if name == "quaternion":
        return rotation_of_quaternion(np.array([t, 1.0, 0.0, 2.0 + t]))
    angles = (0.1, 0.2, 0.3) if name == "still" else (t, t / 2, 1 - t)
    x, y, z = (rotation_about(np.eye(3)[k], angle) for k, angle in enumerate(angles))
    return z @ y @ x


def base_origin(name: str, t: float) -> np.ndarray:
    """Return the position of the base at a time."""
    places = {"still": [1, 2, 3], "angles": [t, np.sin(t), 0], "quaternion": [0, 0, t**2]}
    return np.array(places[name], dtype=float)


@pytest.mark.parametrize("name", BASES)
def test_the_base_may_stand_anywhere_and_move(name: str) -> None:
    builder = cf.Mechanism.builder().base(BASES[name])
    builder.segment("a", axis="z", position=[1, 0, 0], mass=1)
    mechanism = builder.segment("b", parent="a", axis="x", position=[0, 1, 0], mass=1).build()
    q, t = states(mechanism, 3), np.linspace(0.0, 2.0, 5)
    track = Frames(mechanism).track(q, t)
    for k, time in enumerate(t):
        rotation = base_rotation(name, float(time))
        origin = base_origin(name, float(time))
        inner = poses_of(mechanism, q[k])
        assert track.rotations[k, 0] == pytest.approx(rotation, abs=1e-12)
        assert track.positions[k, 0] == pytest.approx(origin, abs=1e-12)
        assert track.rotations[k, 2] == pytest.approx(rotation @ inner.rotations[1], abs=1e-12)
        expected = origin + rotation @ inner.positions[1]
        assert track.positions[k, 2] == pytest.approx(expected, abs=1e-12)


def test_names_of_segments_may_look_like_axes() -> None:
    builder = cf.Mechanism.builder().segment("arm, local", axis="z", mass=1)
    mechanism = builder.build()
    rotations, _ = Frames(mechanism).track(np.array([[np.pi / 2]]), np.zeros(1))
    assert rotations[0, 1] == pytest.approx(rotation_about(np.array([0, 0, 1.0]), np.pi / 2))


def test_a_quaternion_needs_a_length() -> None:
    with pytest.raises(RunError, match="has the length 0") as e:
        Frames(brick()).track(np.zeros((2, 7)), np.zeros(2))
    assert e.value.element == "q"


def world_pose(frames: Frames, track: Track, name: str) -> tuple[np.ndarray, np.ndarray]:
    place, point, axes = frames.place(name)
    rotation = track.rotations[:, place]
    return rotation @ axes, track.positions[:, place] + rotation @ point


@pytest.mark.parametrize("seed", range(4))
def test_frames_of_elements_stand_where_the_model_says(seed: int) -> None:
    model = random_model(seed)
    names = [element.name for element in model.elements if hasattr(element, "chain")]
    q, t = states(model, seed), np.linspace(0.0, 1.0, 5)
    frames = Frames(model)
    track = frames.track(q, t)
    derived = cf.derive(model, [f"pose({name})" for name in names])
    values = derived.evaluate(q=q, t=t)
    for name in names:
        rotation, origin = world_pose(frames, track, name)
        assert rotation == pytest.approx(values[f"pose({name})"][:, :3, :3], abs=1e-12)
        assert origin == pytest.approx(values[f"pose({name})"][:, :3, 3], abs=1e-12)


def test_frames_of_elements_follow_definitions() -> None:
    """The crane closes: the tie, from its foot on the tower, ends at the rear of the jib."""
    crane = cf.read(EXAMPLES / "portal_crane.toml")
    frames = Frames(crane)
    track = frames.track(np.linspace(4.2, 5.0, 4)[:, None], np.zeros(4))
    tie, head = (frames.names.index(name) for name in ("tie", "head"))
    foot = np.array([-2.0, 10.0, 0.0])
    end = foot + 2 * (track.positions[:, tie] - foot)
    rear = track.positions[:, head] - 4.0 * track.rotations[:, head, :, 0]
    assert end == pytest.approx(rear, abs=1e-9)


def test_turns_of_a_chain_have_frames() -> None:
    builder = cf.Mechanism.builder("chain").coordinates({"name": "phi", "unit": "rad"})
    builder.element("a: Sz(1), Rz(phi), Sx(2), Rx(0.5); 1, 1, 1, 1")
    frames = Frames(builder.build())
    assert len(frames.turns["a"].frames) == 1
    joint = frames.turns["a"].frames[0]
    assert frames.track(np.zeros((2, 1)), np.zeros(2)).positions[0, joint].tolist() == [0, 0, 1]
    assert frames.turns["a"].axes[0].tolist() == [0, 0, 1]


def test_a_frame_in_a_chain_takes_no_name_of_another_one() -> None:
    builder = cf.Mechanism.builder("chain").coordinates({"name": "phi", "unit": "rad"})
    builder.element("a: Sz(1), Rz(phi), Sx(2); 1, 1, 1, 1").element("a': Sy(3); 1, 1, 1, 1")
    frames = Frames(builder.build())
    assert len(set(frames.names)) == len(frames.names) == 4
    positions = frames.track(np.zeros((1, 1)), np.zeros(1)).positions[0]
    assert positions[frames.names.index("a'")].tolist() == [0, 3, 0]
    assert positions[frames.turns["a"].frames[0]].tolist() == [0, 0, 1]


def test_an_end_that_moves_on_its_body_has_a_frame() -> None:
    builder = cf.Mechanism.builder("sliding").parameter("h", 2).coordinates("x")
    builder.element("a: Sz(1); 1, 1, 1, 1")
    ends = [{"on": "a", "point": [0, "x", 0]}, {"on": "a", "point": ["h", 0, 0]}]
    frames = Frames(builder.element(kind="elastic", name="s", stiffness=5, ends=ends).build())
    track = frames.track(np.array([[0.25], [0.5]]), np.zeros(2))
    moving, fixed = frames.ends["s"]
    assert track.path(*moving).tolist() == [[0, 0.25, 1], [0, 0.5, 1]]
    assert moving[0] == 2
    assert (fixed[0], fixed[1].tolist()) == (1, [2, 0, 0])


def test_a_turn_by_a_constant_is_no_joint() -> None:
    builder = cf.Mechanism.builder("chain").coordinates({"name": "phi", "unit": "rad"})
    builder.parameter("tilt", "1/2").define(bend="2*tilt", swing="2*phi")
    builder.element("a: Rx(bend), Rx(tilt), Rz(swing); 1, 1, 1, 1")
    frames = Frames(builder.build())
    assert [axis.tolist() for axis in frames.turns["a"].axes] == [[0, 0, 1]]


def test_a_length_needs_a_value_and_a_mass_does_not() -> None:
    builder = cf.Mechanism.builder().parameter("l").coordinates("x")
    with pytest.raises(RunError, match="has no value") as e:
        Frames(builder.element("a: Sz(l); 1, 1, 1, 1").build())
    assert e.value.element == "l"
    pendulum = cf.Mechanism.builder().parameter("m").segment("a", axis="z", mass="m").build()
    assert Frames(pendulum).track(np.zeros((2, 1)), np.zeros(2)).positions.shape == (2, 2, 3)
    assert Frames(everything()).track(np.zeros((2, 3)), np.zeros(2)).positions.shape[0] == 2


# --- states between states --------------------------------------------------------------------


def track(q: np.ndarray) -> Track:
    """Return the frames of a free body."""
    return Frames(brick()).track(q, np.zeros(len(q)))


def tumbling(count: int) -> Given:
    """Return a free body that turns about a fixed axis and flies on a parabola."""
    axis, spin = np.array([0.6, 0.0, 0.8]), 3.0
    t = np.linspace(0.0, 2.0, count)
    half = spin * t / 2
    turn = np.concatenate([np.sin(half)[:, None] * axis, np.cos(half)[:, None]], axis=1)
    place = np.stack([t, 2 * t, -4.9 * t**2], axis=1)
    q = np.concatenate([place, turn], axis=1)
    speed = np.stack([np.ones_like(t), 2 + 0 * t, -9.8 * t], axis=1)
    rotations = track(q).rotations[:, 1]
    linear = np.einsum("mji,mj->mi", rotations, speed)
    qd = np.concatenate([linear, np.tile(spin * axis, (count, 1))], axis=1)
    return Given(brick(), t, q, qd)


def test_between_states_it_is_of_fourth_order() -> None:
    """Half the distance of the states leaves a sixteenth of the error."""
    times = np.linspace(0.05, 0.95, 50)
    mechanism = arm()
    exact = swinging(mechanism, 1.0, 4001)
    errors: list[float] = []
    for count in (11, 21, 41):
        coarse = resampled(swinging(mechanism, 1.0, count), times)
        errors.append(float(np.abs(coarse - resampled(exact, times)).max()))
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(16, rel=0.2)


def test_quaternions_keep_their_length_and_order() -> None:
    times = np.linspace(0.0, 2.0, 77)
    exact = tumbling(4001)
    errors: list[float] = []
    for count in (21, 41):
        q = resampled(tumbling(count), times)
        assert np.linalg.norm(q[:, 3:], axis=1) == pytest.approx(1.0, abs=1e-12)
        ours, theirs = (track(rows) for rows in (q, resampled(exact, times)))
        errors.append(float(np.abs(ours.rotations - theirs.rotations).max()))
        assert ours.positions == pytest.approx(theirs.positions, abs=1e-4)
    assert errors[1] < errors[0] / 10


def test_a_quaternion_may_change_its_sign() -> None:
    run = tumbling(41)
    run.q[7:20, 3:] *= -1
    times = np.linspace(0.0, 2.0, 77)
    ours = track(resampled(run, times)).rotations
    theirs = track(resampled(tumbling(41), times)).rotations
    assert ours == pytest.approx(theirs, abs=1e-12)
    steps = np.diff(aligned(brick(), run.q)[:, 3:], axis=0)
    assert np.abs(steps).max() < 0.2


def test_slopes_are_those_of_the_coordinates() -> None:
    run = tumbling(4001)
    slopes = slopes_of(run.mechanism, run.q, run.qd)
    assert slopes == pytest.approx(np.gradient(run.q, run.t, axis=0, edge_order=2), abs=1e-4)


def test_states_stay_where_they_are() -> None:
    run = swinging(arm(), 1.0, 11)
    assert resampled(run, run.t) == pytest.approx(run.q, abs=1e-14)


def test_two_states_at_one_time() -> None:
    """As at an impact: the rate jumps, and the later state counts."""
    mechanism = cf.Mechanism.builder().segment("a", axis="z", mass=1).build()
    t = np.array([0.0, 1.0, 1.0, 2.0])
    q = np.array([[0.0], [1.0], [1.0], [0.0]])
    qd = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    run = Given(mechanism, t, q, qd)
    got = resampled(run, np.array([0.5, 1.0, 1.5, 2.0]))[:, 0]
    assert got == pytest.approx([0.5, 1.0, 0.5, 0.0])


def test_one_state() -> None:
    run = given(arm(), lambda _: [0.1] * 6, count=1)
    assert resampled(run, np.array([0.0, 0.0])).shape == (2, 6)


@pytest.mark.parametrize(
    ("start", "end", "rate", "most", "count"),
    [(0, 2, 60, 10_000, 121), (1, 1, 60, 10, 1), (0, 1e-3, 60, 10, 2), (0, 1e6, 60, 500, 500)],
)
def test_even_times(start: float, end: float, rate: float, most: int, count: int) -> None:
    times = frame_times(start, end, rate, most)
    assert len(times) == count
    assert (times[0], times[-1]) == (start, end)
