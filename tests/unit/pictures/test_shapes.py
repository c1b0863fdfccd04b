"""Shapes, their surfaces, and the even solid of an inertia."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.pictures.scene import coil_between
from chainform.pictures.shapes import (
    Shape,
    Solid,
    along,
    box,
    capsule,
    cylinder,
    rings,
    solid_of,
    sphere,
    surface,
)
from chainform.spatial.rotations import rodrigues


def volume(shape: Shape, step: float = np.inf) -> float:
    """Return the volume within a surface: each face adds its cone from the origin."""
    corners, faces = surface(shape, 200, step)
    p = corners[faces]
    first = np.einsum("fi,fi->f", p[:, 0], np.cross(p[:, 1], p[:, 2]))
    second = np.einsum("fi,fi->f", p[:, 0], np.cross(p[:, 2], p[:, 3]))
    return float((first + second).sum() / 6)


def capsule_volume(a: float, b: float, length: float) -> float:
    """Return the volume of two balls and what lies between, by adding up thin slices."""
    z = np.linspace(-a, length + b, 20_001)
    share = (a - b) / length
    slope = np.sqrt(1 - share**2)
    low, high = a * share, length + b * share
    ball = np.where(z < low, a**2 - z**2, b**2 - (z - length) ** 2)
    cone = a * slope + (b - a) * slope * (z - low) / (high - low)
    square = np.where((z >= low) & (z <= high), cone**2, np.maximum(ball, 0))
    return float(np.pi * square.sum() * (z[1] - z[0]))


CASES = {
    "ball": (sphere(0.7), 4 / 3 * np.pi * 0.7**3),
    "cylinder": (cylinder(0.5, 1.5), np.pi * 0.5**2 * 3),
    "bevelled": (cylinder(0.5, 1.5, 1e-4), np.pi * 0.5**2 * 3),
    "box": (box(0.25), 2 * 2 * 0.5),
    "rod": (capsule(0.2, 0.2, 2.0), np.pi * 0.04 * 2 + 4 / 3 * np.pi * 0.008),
    "taper": (capsule(0.4, 0.15, 1.0), capsule_volume(0.4, 0.15, 1.0)),
    "growing": (capsule(0.15, 0.4, 1.0), capsule_volume(0.15, 0.4, 1.0)),
    "swallowed": (capsule(0.5, 0.1, 0.2), 4 / 3 * np.pi * 0.5**3),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("step", [np.inf, 0.1])
def test_volumes(name: str, step: float) -> None:
    shape, expected = CASES[name]
    assert volume(shape, step) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", CASES)
def test_normals_are_those_of_the_surface(name: str) -> None:
    """Along a strip the normal is a unit vector that stands across the line of the strip."""
    shape, _ = CASES[name]
    for strip in shape.strips:
        assert np.linalg.norm(strip[:, 2:], axis=1) == pytest.approx(1.0)
        middle = (strip[1:, 2:] + strip[:-1, 2:]) / 2
        lines = np.diff(strip[:, :2], axis=0)
        across = np.einsum("ij,ij->i", middle, lines)
        assert across == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_rings_reach_as_far_as_the_shape(name: str) -> None:
    shape, _ = CASES[name]
    corners, _ = surface(shape, 8, np.inf)
    widths = [np.hypot(points[:, 0], points[:, 1]).max() for points in (rings(shape), corners)]
    assert widths[0] == pytest.approx(widths[1])
    assert rings(shape)[:, 2].min() == pytest.approx(corners[:, 2].min())
    assert rings(shape)[:, 2].max() == pytest.approx(corners[:, 2].max())


@pytest.mark.parametrize("way", [[0, 0, 1], [0, 0, -2], [1, 0, 0], [0.3, -0.4, 0.1]])
def test_axes_along_a_direction(way: list[float]) -> None:
    axes = along(np.array(way, dtype=float))
    assert axes.T @ axes == pytest.approx(np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[:, 2] == pytest.approx(np.array(way) / np.linalg.norm(way))


def test_a_spring_runs_from_end_to_end() -> None:
    start, end = np.array([1.0, 0, 0]), np.array([1.0, 2, 2])
    coil = coil_between(start, end, 0.1)
    assert coil[0] == pytest.approx(start)
    assert coil[-1] == pytest.approx(end)
    way = (end - start) / np.linalg.norm(end - start)
    rest = (coil - start) - np.outer((coil - start) @ way, way)
    assert np.linalg.norm(rest, axis=1).max() == pytest.approx(0.1, rel=1e-6)
    assert coil_between(start, start, 0.1).tolist() == [start.tolist()] * 2


# --- the even solid of an inertia -------------------------------------------------------------


def inertia_of(solid: Solid, mass: float) -> np.ndarray:
    """Return the inertia of an even solid about its centre, by the formulas of textbooks."""
    a, b, c = solid.half
    match solid.kind:
        case "ball":
            moments = [0.4 * mass * a * a] * 3
        case "cylinder":
            across = mass * (a * a / 4 + c * c / 3)
            moments = [across, across, mass * a * a / 2]
        case "box":
            moments = [mass * (b * b + c * c) / 3, mass * (a * a + c * c) / 3]
            moments.append(mass * (a * a + b * b) / 3)
    return solid.axes @ np.diag(moments) @ solid.axes.T


def turned(moments: list[float], angle: float = 0.7) -> np.ndarray:
    """Return a tensor of principal moments along inclined axes."""
    axis = np.array([0.6, 0.0, 0.8])
    turn = np.array(rodrigues(tuple(axis), np.cos(angle), np.sin(angle)), dtype=float)
    return turn @ np.diag(moments) @ turn.T


sides = st.floats(0.05, 3.0)


@given(sides, sides, sides, st.floats(0.1, 50.0))
def test_a_box_comes_back(a: float, b: float, c: float, mass: float) -> None:
    moments = [mass * (b * b + c * c) / 3, mass * (a * a + c * c) / 3, mass * (a * a + b * b) / 3]
    solid = solid_of(mass, turned(moments))
    assert solid is not None
    assert np.linalg.det(solid.axes) == pytest.approx(1.0)
    if solid.kind == "box":
        assert np.sort(solid.half) == pytest.approx(sorted([a, b, c]), rel=1e-4, abs=1e-4)
    # Where two sides are nearly alike a cylinder or a ball stands for the box.
    scale = max(moments)
    assert inertia_of(solid, mass) == pytest.approx(turned(moments), abs=0.03 * scale)


@given(sides, st.floats(0.0, 3.0), st.floats(0.1, 50.0))
def test_a_cylinder_comes_back(radius: float, half: float, mass: float) -> None:
    across = mass * (radius**2 / 4 + half**2 / 3)
    moments = [across, mass * radius**2 / 2, across]
    solid = solid_of(mass, turned(moments))
    assert solid is not None
    assert inertia_of(solid, mass) == pytest.approx(turned(moments), abs=0.03 * max(moments))
    if solid.kind == "cylinder":
        assert solid.half[0] == pytest.approx(radius, rel=0.02)


def test_rods_discs_balls_and_points() -> None:
    rod = solid_of(2.0, np.diag([2 * 0.5**2 / 12, 2 * 0.5**2 / 12, 0.0]))
    assert rod is not None
    assert rod.is_rod
    assert rod.half == pytest.approx([0, 0, 0.25])
    assert abs(rod.axes[2, 2]) == pytest.approx(1.0)
    disc = solid_of(2.0, 2.0 * 0.3**2 * np.diag([0.25, 0.5, 0.25]))
    assert disc is not None
    assert not disc.is_rod
    assert disc.half == pytest.approx([0.3, 0.3, 0.0], abs=1e-6)
    assert abs(disc.axes[1, 2]) == pytest.approx(1.0)
    ball = solid_of(1.0, 0.4 * np.eye(3))
    assert ball is not None
    assert ball.kind == "ball"
    assert ball.half == pytest.approx([1, 1, 1])
    assert solid_of(1.0, np.zeros((3, 3))) is None
    assert solid_of(0.0, np.eye(3)) is None
    assert solid_of(1.0, np.full((3, 3), np.nan)) is None


def test_moments_that_no_body_has() -> None:
    """A single moment, as of a rotor in one axis, still gives a shape without numbers that fail."""
    solid = solid_of(1.0, np.diag([0.0, 0.0, 5.0]))
    assert solid is not None
    assert np.isfinite(solid.half).all()
