"""Even solids have the mass and the inertia they were made for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.pictures.solids import Solid, solid_of
from chainform.spatial.rotations import rodrigues


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
