"""The floor, the way up, and whether everything is in the picture."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.pictures.film import Film, film_of
from chainform.pictures.frames import Track
from chainform.pictures.scene import Scene
from chainform.pictures.view import camera_of, cloud_of, floor_axes, grid_step
from unit.pictures.runs import EXAMPLES, arm, given, pendulum, sliding, swinging
from zoo import random_tree


def film(mechanism: cf.Mechanism) -> Film:
    return film_of(swinging(mechanism, 2.0), 30, 200)


@pytest.mark.parametrize("size", [(800, 600), (300, 900), (1200, 300)])
@pytest.mark.parametrize("seed", range(8))
def test_everything_is_in_the_picture_and_fills_it(seed: int, size: tuple[int, int]) -> None:
    drawn = film(random_tree(seed, quaternions=True))
    camera = camera_of(drawn.view, drawn.bounds, np.zeros(3), size)
    places, depths = camera.project(cloud_of(drawn.scene, drawn.track))
    if drawn.view.follow:
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
        view = drawn.view
        assert view.floor <= (cloud_of(drawn.scene, drawn.track) @ view.normal).min() + 1e-2
        gravity = np.array(mechanism.gravity, dtype=float)
        assert view.up == pytest.approx(-gravity / np.linalg.norm(gravity))
        assert view.light @ view.normal > 0.3


def test_an_arm_stands_on_the_floor() -> None:
    drawn = film(arm())
    assert abs(drawn.view.floor) < 4 * drawn.scale.rod


def test_the_floor_is_the_ground_under_who_stands() -> None:
    """Also where the motion goes far below it; what hangs or slides has its floor below."""
    fallen = given(arm(), lambda t: [0, 3.0 * t, 0.2, 0, 0, 0])
    drawn = film_of(fallen, 30, 200)
    assert (cloud_of(drawn.scene, drawn.track) @ drawn.view.up).min() < -0.3
    assert abs(drawn.view.floor) < 4 * drawn.scale.rod
    upside_down = given(pendulum(), lambda t: [3.0 - 3.0 * t])
    assert film_of(upside_down, 30, 200).view.floor < -0.5
    stanford = cf.read(EXAMPLES / "stanford_elements.toml")
    assert abs(film_of(given(stanford, lambda t: [t, 1.0, 0.5]), 30, 200).view.floor) < 1e-9


def test_who_stands_above_the_floor_has_a_column() -> None:
    """The first joint of the element model is above the ground."""
    stanford = cf.read(EXAMPLES / "stanford_elements.toml")
    drawn = film_of(given(stanford, lambda t: [t, 1.0, 0.5]), 30, 200)
    held = [part for part in drawn.scene.parts if part.layer == "ground"]
    still = Track(np.eye(3)[None, None], np.zeros((1, 1, 3)))
    heights = cloud_of(Scene(parts=held), still)[0, 1:] @ drawn.view.up
    assert heights.min() == pytest.approx(0, abs=2 * drawn.scale.rod)
    assert heights.max() > 0.2


@pytest.mark.parametrize("value", [1e300, -1e16, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["q", "qd"])
@pytest.mark.filterwarnings("error")
def test_what_is_too_far_away_is_not_drawn(name: str, value: float) -> None:
    for mechanism in (arm(), sliding()):
        run = swinging(mechanism)
        getattr(run, name)[7, 0] = value
        with pytest.raises(RunError, match=r"numbers that can be drawn at t = 0.175 s") as caught:
            film_of(run, 30, 200)
        assert caught.value.remedy


@pytest.mark.parametrize("size", ["1e300", "1e30"])
@pytest.mark.filterwarnings("error")
def test_bodies_that_are_too_large_are_not_drawn(size: str) -> None:
    far = cf.Mechanism.builder("far").segment("a", axis="y", mass=1, com=[0, 0, 1])
    far.segment("b", parent="a", axis="y", position=[0, 0, size], mass=1, com=[0, 0, 1])
    wide = cf.Mechanism.builder("wide").segment("a", axis="y", mass=1, inertia=[size] * 3)
    for builder in (far, wide):
        with pytest.raises(RunError, match="drawn"):
            film(builder.build())
    heavy = cf.Mechanism.builder("heavy", gravity=(0, size, 0)).segment("a", axis="x", mass=1)
    assert film(heavy.build()).view.up == pytest.approx([0, -1, 0])


def test_a_plane_motion_is_seen_from_the_front() -> None:
    view = film(pendulum_of_two()).view
    # The plane is x-z; x runs to the right when one looks along y.
    assert view.direction @ [0, -1, 0] > 0.8
    assert view.front == pytest.approx(-np.pi / 2)


def pendulum_of_two() -> cf.Mechanism:
    builder = cf.Mechanism.builder("two").segment("a", axis="y", mass=1, com=[0, 0, -1])
    return builder.segment(
        "b", parent="a", axis="y", position=[0, 0, -1], mass=1, com=[0, 0, -1]
    ).build()


def test_without_gravity_the_floor_stands_behind_a_plane_motion() -> None:
    squeezer = cf.read(EXAMPLES / "squeezer.toml")
    drawn = film(squeezer)
    assert abs(drawn.view.normal[2]) == pytest.approx(1.0)
    assert drawn.view.up == pytest.approx([0, 1, 0])
    assert drawn.view.direction @ drawn.view.normal > 0.9
    assert np.cross(drawn.view.up, drawn.view.normal)[0] > 0.9


def test_the_eye_follows_who_wanders() -> None:
    builder = cf.Mechanism.builder("car")
    car = builder.segment("car", joint="prismatic", axis="x", mass=1, inertia=[1, 2, 3]).build()
    near = film_of(given(car, lambda t: [t]), 20, 100)
    far = film_of(given(car, lambda t: [500 * t]), 20, 100)
    assert not near.view.follow
    assert far.view.follow
    assert far.offset(0)[0] == pytest.approx(0)
    assert far.offset(len(far.times) - 1)[0] == pytest.approx(500)


def test_the_view_may_be_given() -> None:
    view = film_of(swinging(arm()), 20, 100, (0, 0)).view
    assert view.direction == pytest.approx([1, 0, 0])
    view = film_of(swinging(arm()), 20, 100, (90, 30)).view
    assert view.direction == pytest.approx([0, np.cos(np.pi / 6), 0.5])
    drawn = film_of(swinging(arm()), 20, 100, (0, 90))
    above = camera_of(drawn.view, drawn.bounds, np.zeros(3), (80, 60))
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
