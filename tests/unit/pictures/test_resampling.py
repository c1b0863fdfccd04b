"""Motions at other times."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.pictures.frames import Frames, Track
from chainform.pictures.resampling import aligned, frame_times, resampled, slopes_of
from unit.pictures.runs import Given, arm, brick, given, swinging


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
