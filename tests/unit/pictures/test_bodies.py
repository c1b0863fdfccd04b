"""What is drawn of a mechanism."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.pictures import colours
from chainform.pictures.film import Film, film_of
from chainform.pictures.shapes import Part, surface
from unit.pictures.runs import (
    EXAMPLES,
    arm,
    brick,
    given,
    pendulum,
    sliding,
    swinging,
)
from zoo import random_tree


def film(mechanism: cf.Mechanism) -> Film:
    return film_of(swinging(mechanism), 20, 100)


def corners(part: Part) -> np.ndarray:
    points, _ = surface(part.shape, 8, np.inf)
    return points @ part.place[:, :3].T + part.place[:, 3]


def near(drawn: Film, frame: int, layer: str, point: list[float]) -> float:
    """Return how near the parts of a frame come to a point, measured in radii of a rod."""
    parts = [part for part in drawn.scene.parts if (part.frame, part.layer) == (frame, layer)]
    gaps = [np.linalg.norm(corners(part) - point, axis=1).min() for part in parts]
    return float(min(gaps, default=np.inf)) / drawn.scale.rod


def test_a_rod_is_drawn_in_its_length() -> None:
    drawn = film(pendulum())
    assert near(drawn, 1, "body", [0, 0, -0.5]) < 1.2
    lowest = min(corners(p)[:, 2].min() for p in drawn.scene.parts if p.layer == "body")
    assert lowest == pytest.approx(-0.5, abs=1.2 * drawn.scale.rod)
    centre = next(part for part in drawn.scene.parts if part.layer == "centre")
    assert centre.place[:, 3] == pytest.approx([0, 0, -0.25])
    assert drawn.scene.points[-1].name == "rod"
    assert np.linalg.norm(drawn.scene.points[-1].local) == pytest.approx(0.5)


def test_rods_run_from_joint_to_joint() -> None:
    mechanism = arm()
    drawn = film(mechanism)
    for segment in mechanism.segments:
        place = np.array(segment.position, dtype=float).tolist()
        if segment.parent >= 0 and np.linalg.norm(place) > 0.01:
            assert near(drawn, segment.parent + 1, "body", place) < 1.2
    assert drawn.traced(True) is drawn.traced("tool")


def test_joints_turn_about_their_axes() -> None:
    mechanism = arm()
    drawn = film(mechanism)
    for i, segment in enumerate(mechanism.segments):
        drums = [p for p in drawn.scene.parts if (p.frame, p.layer) == (i + 1, "joint")]
        axis = [float(entry) for entry in segment.joint.axis]
        assert len(drums) == 2
        for drum in drums:
            assert drum.place[:, 2] == pytest.approx(axis)
            assert drum.place[:, 3] == pytest.approx([0, 0, 0])


def test_a_body_has_the_colour_of_its_coordinate() -> None:
    drawn = film(arm())
    for part in drawn.scene.parts:
        if part.layer == "body":
            assert part.colour == colours.SERIES[part.frame - 1]


def test_slides_on_the_ground_have_a_rail_as_long_as_the_motion() -> None:
    run = given(sliding(), lambda t: [2 * t - 0.5, 0.0])
    drawn = film_of(run, 50, 100)
    rail = next(p for p in drawn.scene.parts if p.layer == "ground")
    assert corners(rail)[:, 0].min() < -0.5
    assert corners(rail)[:, 0].max() > 1.5
    spring = next(span for span in drawn.scene.spans if span.kind == "spring")
    assert (spring.first.frame, spring.last.frame) == (0, 1)
    assert spring.first.local.tolist() == [-1, 0, 0]


def telescope() -> cf.Mechanism:
    builder = cf.Mechanism.builder("telescope").segment("a", axis="z", mass=1, com=[1, 0, 0])
    builder.segment("b", parent="a", joint="prismatic", axis="x", position=[1, 0, 0], mass=1)
    return builder.build()


def test_slides_on_a_body_run_through_a_sleeve() -> None:
    drawn = film_of(given(telescope(), lambda t: [t, t]), 50, 100)
    assert near(drawn, 1, "joint", [1, 0, 0]) < 3
    # The rod reaches from its end back to the sleeve when it is farthest out.
    assert near(drawn, 2, "body", [-1, 0, 0]) < 1.2
    assert near(drawn, 2, "body", [0, 0, 0]) < 1.2
    assert not drawn.scene.spans


@pytest.mark.parametrize("side", [1, -1])
def test_a_slide_that_stays_on_one_side_has_a_strut_to_its_sleeve(side: int) -> None:
    drawn = film_of(given(telescope(), lambda t: [t, side * (0.5 + t)]), 50, 100)
    (strut,) = drawn.scene.spans
    assert (strut.kind, strut.first.frame, strut.last.frame) == ("strut", 1, 2)
    assert strut.first.local.tolist() == [1, 0, 0]
    assert strut.last.local.tolist() == [0, 0, 0]


def test_loops_are_closed_by_a_pin() -> None:
    drawn = film(cf.read(EXAMPLES / "four_bar.toml"))
    assert near(drawn, 2, "joint", [0.5, 0, 0]) < 1.2
    assert near(drawn, 2, "body", [0.5, 0, 0]) < 1.2
    assert near(drawn, 3, "body", [0.4, 0, 0]) < 1.2


def test_a_loop_that_keeps_a_distance_is_a_strut() -> None:
    builder = cf.Mechanism.builder("thread").segment("bob", joint="prismatic", axis="z", mass=1)
    ends = {"segment": "bob", "point": [0, 1, 0]}, {"segment": "ground", "point": [1, 1, 0]}
    (span,) = film(builder.loop("thread", "distance", *ends, length=1).build()).scene.spans
    assert (span.kind, span.first.frame, span.last.frame) == ("strut", 1, 0)
    assert (span.first.local.tolist(), span.last.local.tolist()) == ([0, 1, 0], [1, 1, 0])


def test_a_free_body_shows_its_even_solid() -> None:
    run = given(brick(), lambda t: [t, 0, 0, 0, 0, 0, 1])
    drawn = film_of(run, 20, 100)
    (body,) = [part for part in drawn.scene.parts if part.layer == "body"]
    sizes = sorted(np.ptp(corners(body), axis=0))
    # a^2 = 1.5 (I_y + I_z - I_x) / m for the half sizes.
    expected = [np.sqrt(1.5 * x / 2) * 2 for x in (0.01, 0.03, 0.09)]
    assert sizes == pytest.approx(expected, rel=1e-6)


def test_a_large_inertia_does_not_hide_the_mechanism() -> None:
    builder = cf.Mechanism.builder("rotors").segment("a", axis="z", mass=1, com=["0.1", 0, 0])
    builder.segment("b", parent="a", axis="z", position=["0.5", 0, 0], mass=1, inertia=[9, 9, 9])
    drawn = film(builder.build())
    assert drawn.scale.size < 1
    assert all(np.ptp(corners(part), axis=0).max() < 1 for part in drawn.scene.parts)


def test_points_on_bodies_get_signs() -> None:
    drawn = film(arm())
    frames = [part for part in drawn.scene.parts if part.layer == "frame"]
    assert [part.colour for part in frames] == list(colours.AXES)
    assert {part.frame for part in frames} == {6}


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.toml")))
def test_every_example_can_be_drawn(name: str) -> None:
    try:
        mechanism = cf.read(EXAMPLES / f"{name}.toml")
    except cf.Error as error:
        pytest.fail(f"{name} is not a mechanism: {error}")
    start = [4.5] if name == "portal_crane" else mechanism.neutral()
    run = given(mechanism, lambda t: start + 0.05 * np.sin(t + np.arange(mechanism.nq)))
    drawn = film_of(run, 20, 100)
    assert drawn.scene.parts
    assert drawn.scene.points
    for part in drawn.scene.parts:
        assert np.isfinite(corners(part)).all()


@pytest.mark.parametrize("seed", range(15))
def test_random_trees_can_be_drawn(seed: int) -> None:
    drawn = film(random_tree(seed, quaternions=True))
    assert all(np.isfinite(corners(part)).all() for part in drawn.scene.parts)


def test_a_massless_frame_alone_can_be_drawn() -> None:
    mechanism = cf.Mechanism.builder("frame").segment("a", joint="free").build()
    run = given(mechanism, lambda t: [t, 0, 0, 0, 0, 0, 1])
    assert film_of(run, 20, 100).scene.points[-1].name == "a"


def test_a_point_to_trace_must_exist() -> None:
    drawn = film(arm())
    assert drawn.traced(False) is None
    with pytest.raises(RunError, match="no frame or segment named 'paw'") as e:
        drawn.traced("paw")
    assert "tool" in str(e.value.remedy)


def test_a_motion_without_numbers() -> None:
    run = swinging(arm())
    run.q[20, 2] = np.nan
    with pytest.raises(RunError, match=r"can be drawn at t = 0\.5 s"):
        film_of(run, 20, 100)


def test_a_pose_that_does_not_exist() -> None:
    crane = cf.read(EXAMPLES / "portal_crane.toml")
    with pytest.raises(RunError, match=r"no pose that can be drawn at t = 0\.\d+ s"):
        film_of(given(crane, lambda t: [4.5 + 2 * t]), 20, 100)


def test_a_motion_needs_times_that_grow() -> None:
    run = swinging(arm())
    run.t = run.t[::-1]
    with pytest.raises(RunError, match="do not grow"):
        film_of(run, 20, 100)
    run.t, run.q, run.qd = run.t[:0], run.q[:0], run.qd[:0]
    with pytest.raises(RunError, match="no time at all"):
        film_of(run, 20, 100)
