"""Surfaces are closed, look outwards, and enclose the volume of their solid."""

from __future__ import annotations

import numpy as np
import pytest

from chainform.pictures.mesh import coil_between
from chainform.pictures.shapes import (
    Shape,
    along,
    box,
    capsule,
    cylinder,
    rings,
    sphere,
    surface,
)


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
