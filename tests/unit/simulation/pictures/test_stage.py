"""The floor, the way up, and whether everything is in the picture."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.simulation.pictures.camera import camera_of
from chainform.simulation.pictures.film import Film, film_of
from chainform.simulation.pictures.floor import floor_axes, grid_step
from chainform.simulation.pictures.stage import cloud_of
from unit.simulation.pictures.runs import EXAMPLES, arm, given, pendulum, swinging
from zoo import random_tree


def film(mechanism: cf.Mechanism) -> Film:
    return film_of(swinging(mechanism, 2.0), 30, 200)


@pytest.mark.parametrize("size", [(800, 600), (300, 900), (1200, 300)])
@pytest.mark.parametrize("seed", range(8))
def test_everything_is_in_the_picture_and_fills_it(seed: int, size: tuple[int, int]) -> None:
    drawn = film(random_tree(seed, quaternions=True))
    camera = camera_of(drawn.stage, np.zeros(3), size)
    places, depths = camera.project(cloud_of(drawn.scene, drawn.track))
    if drawn.stage.follow:
        pytest.fail("random trees stay where they are")
    assert depths.min() > 0
    low, high = places.min(axis=(0, 1)), places.max(axis=(0, 1))
    # Outmost points are taken in many directions, not in all: a few pixels may be missing.
    assert (low > -0.03 * np.array(size)).all()
    assert (high < 1.03 * np.array(size)).all()
    assert ((high - low) / size).max() > 0.75


def test_the_floor_lies_below() -> None:
    for mechanism in (pendulum(), arm(), random_tree(3), random_tree(5)):
        drawn = film(mechanism)
        stage = drawn.stage
        assert stage.floor <= (cloud_of(drawn.scene, drawn.track) @ stage.normal).min() + 1e-2
        gravity = np.array(mechanism.gravity, dtype=float)
        assert stage.up == pytest.approx(-gravity / np.linalg.norm(gravity))
        assert stage.light @ stage.normal > 0.3


def test_an_arm_stands_on_the_floor() -> None:
    drawn = film(arm())
    assert abs(drawn.stage.floor) < 4 * drawn.scale.rod


def test_a_plane_motion_is_seen_from_the_front() -> None:
    stage = film(pendulum_of_two()).stage
    # The plane is x-z; x runs to the right when one looks along y.
    assert stage.direction @ [0, -1, 0] > 0.8
    assert stage.front == pytest.approx(-np.pi / 2)


def pendulum_of_two() -> cf.Mechanism:
    builder = cf.Mechanism.builder("two").segment("a", axis="y", mass=1, com=[0, 0, -1])
    return builder.segment(
        "b", parent="a", axis="y", position=[0, 0, -1], mass=1, com=[0, 0, -1]
    ).build()


def test_without_gravity_the_floor_stands_behind_a_plane_motion() -> None:
    squeezer = cf.read(EXAMPLES / "squeezer.toml")
    drawn = film(squeezer)
    assert abs(drawn.stage.normal[2]) == pytest.approx(1.0)
    assert drawn.stage.up == pytest.approx([0, 1, 0])
    assert drawn.stage.direction @ drawn.stage.normal > 0.9
    assert np.cross(drawn.stage.up, drawn.stage.normal)[0] > 0.9


def test_the_eye_follows_who_wanders() -> None:
    builder = cf.Mechanism.builder("car")
    car = builder.segment("car", joint="prismatic", axis="x", mass=1, inertia=[1, 2, 3]).build()
    near = film_of(given(car, lambda t: [t]), 20, 100)
    far = film_of(given(car, lambda t: [500 * t]), 20, 100)
    assert not near.stage.follow
    assert far.stage.follow
    assert far.offset(0)[0] == pytest.approx(0)
    assert far.offset(len(far.times) - 1)[0] == pytest.approx(500)


def test_the_view_may_be_given() -> None:
    stage = film_of(swinging(arm()), 20, 100, view=(0, 0)).stage
    assert stage.direction == pytest.approx([1, 0, 0])
    stage = film_of(swinging(arm()), 20, 100, view=(90, 30)).stage
    assert stage.direction == pytest.approx([0, np.cos(np.pi / 6), 0.5])
    above = camera_of(film_of(swinging(arm()), 20, 100, view=(0, 90)).stage, np.zeros(3), (80, 60))
    assert above.axes @ above.axes.T == pytest.approx(np.eye(3))


@pytest.mark.parametrize("size", [1e-3, 0.07, 1.0, 2.9, 44.0])
def test_steps_of_the_grid(size: float) -> None:
    step = grid_step(size)
    assert size / 6 <= step < size / 2
    leading = step / 10.0 ** np.floor(np.log10(step) + 1e-9)
    assert round(leading, 6) in (1, 2, 5)


@pytest.mark.parametrize("normal", [[0, 0, 1], [0, 1, 0], [0.6, 0, 0.8]])
def test_axes_of_the_floor(normal: list[float]) -> None:
    x, y = floor_axes(np.array(normal, dtype=float))
    assert [x @ y, x @ normal, y @ normal] == pytest.approx([0, 0, 0])
