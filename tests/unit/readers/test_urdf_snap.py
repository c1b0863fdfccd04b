"""Numbers from CAD, and what setting them to round values changes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainform.mechanism import IDENTITY, ZERO_VECTOR, Axis, Mechanism, Rotation
from chainform.mechanism.exact import is_rotation
from chainform.readers.urdf.snap import (
    PI,
    Snapper,
    Tolerances,
    cosine_and_sine,
    effect_of,
    rotation_of_turns,
)
from strategies import examples

OFF = Tolerances(Fraction(0), Fraction(0))
decimals = st.decimals(-7, 7, allow_nan=False, places=12).map(Fraction)


def vector(*texts: str) -> Axis:
    x, y, z = map(Fraction, texts)
    return (x, y, z)


@examples(200)
@given(decimals)
def test_sine_and_cosine(angle: Fraction) -> None:
    cosine, sine = cosine_and_sine(angle)
    assert cosine**2 + sine**2 == 1
    assert float(cosine) == pytest.approx(math.cos(angle), abs=5e-16)
    assert float(sine) == pytest.approx(math.sin(angle), abs=5e-16)


@examples(60)
@given(st.tuples(decimals, decimals, decimals))
def test_rotations_are_exact_and_right(angles: tuple[Fraction, Fraction, Fraction]) -> None:
    r, p, y = (float(angle) for angle in angles)
    stored = rotation_of_turns(*angles)
    assert is_rotation(stored)
    about_x = np.array([[1, 0, 0], [0, np.cos(r), -np.sin(r)], [0, np.sin(r), np.cos(r)]])
    about_y = np.array([[np.cos(p), 0, np.sin(p)], [0, 1, 0], [-np.sin(p), 0, np.cos(p)]])
    about_z = np.array([[np.cos(y), -np.sin(y), 0], [np.sin(y), np.cos(y), 0], [0, 0, 1]])
    np.testing.assert_allclose(
        np.array(stored, dtype=float), about_z @ about_y @ about_x, atol=2e-15
    )


@pytest.mark.parametrize(
    ("text", "quarters"),
    [
        ("1.5708", 1),
        ("-1.57079", -1),
        ("3.14159265", 2),
        ("3.1416", 2),
        ("1e-6", 0),
        ("6.28318", 4),
    ],
)
def test_quarter_turns_are_exact(text: str, quarters: int) -> None:
    snapper = Snapper()
    assert snapper.angle(Fraction(text), "here") == quarters * PI / 2
    assert [snap.kind for snap in snapper.snaps] == ["angle"]
    rotation = Snapper().angles(vector(text, "0", text), "here")
    assert {entry for row in rotation for entry in row} <= {-1, 0, 1}


def test_other_multiples_of_fifteen_degrees() -> None:
    snapper = Snapper()
    assert snapper.angle(Fraction("0.5236"), "here") == PI / 6
    assert snapper.angle(Fraction("0.7854"), "here") == PI / 4
    assert snapper.angle(Fraction("-0.261799"), "here") == -PI / 12
    assert len(snapper.snaps) == 3


def test_angles_that_stay() -> None:
    snapper = Snapper()
    for text in ("0.3", "1.57", "3.1415", "0", "0.78"):
        assert snapper.angle(Fraction(text), "here") == Fraction(text)
    assert snapper.snaps == []


def test_a_double_is_no_snap() -> None:
    """What differs from a quarter turn by less than a double can hold is one, and no news."""
    snapper = Snapper()
    assert snapper.angle(Fraction("1.5707963267948966"), "here") == PI / 2
    assert snapper.snaps == []
    literal = Snapper(OFF).angles(vector("0", "1.5707963267948966", "0"), "here")
    assert literal == Snapper().angles(vector("0", "1.5707963267948966", "0"), "here")


def test_zeros_of_a_turn_stay() -> None:
    rotation = Snapper(OFF).angles(vector("0.3", "0", "0"), "here")
    assert rotation[0] == (1, 0, 0)
    assert [row[0] for row in rotation] == [1, 0, 0]
    turned = Snapper().angles(vector("1.5708", "0", "0.3"), "here")
    assert turned[2] == (0, 1, 0)


def test_entries() -> None:
    snapper = Snapper()
    assert snapper.vector(vector("1", "1e-10", "-1e-12"), "here") == (1, 0, 0)
    assert snapper.direction(vector("0", "1e-17", "-2"), "axis") == (0, 0, -2)
    assert snapper.vector(vector("1", "1e-8", "0"), "here") == vector("1", "1e-8", "0")
    assert snapper.vector(ZERO_VECTOR, "here") == ZERO_VECTOR
    tensor: Rotation = (
        vector("0.5", "1e-11", "0"),
        vector("1e-11", "0.4", "0.01"),
        vector("0", "0.01", "0.3"),
    )
    assert snapper.tensor(tensor, "here")[0] == vector("0.5", "0", "0")
    assert {snap.where for snap in snapper.snaps} == {"here", "axis"}


def test_a_vector_that_is_nothing_beside_the_mechanism() -> None:
    tiny = vector("3e-17", "1e-17", "0")
    assert Snapper().vector(tiny, "here") == tiny
    assert Snapper(length=Fraction(1, 2)).vector(tiny, "here") == ZERO_VECTOR
    assert Snapper(length=Fraction(1, 2)).vector(vector("1e-6", "0", "0"), "here")[0] > 0


def test_off_means_off() -> None:
    snapper = Snapper(OFF, Fraction(1))
    assert snapper.angle(Fraction("1.5708"), "here") == Fraction("1.5708")
    assert snapper.vector(vector("1", "1e-30", "0"), "here")[1] == Fraction("1e-30")
    assert snapper.snaps == []


def arm(angle: str, com: str, inertia: str) -> Mechanism:
    builder = Mechanism.builder("arm")
    for name, parent in (("a", "ground"), ("b", "a")):
        builder.segment(
            name,
            parent=parent,
            joint="revolute",
            axis="z",
            position=[1, 0, 0],
            rotation=rotation_of_turns(Fraction(angle), Fraction(0), Fraction(0)),
            mass=1,
            com=[com, 0, 0],
            inertia=[inertia, 2, 2],
        )
    return (
        builder.segment("c", parent="b", joint="free")
        .segment("d", parent="c", joint="fixed")
        .build()
    )


def test_effect() -> None:
    effect = effect_of(arm("0", "0", "1"), arm("1e-3", "0", "1"))
    assert 1e-3 <= effect.orientation <= 2e-3 * 1.001
    assert 0 < effect.position < 3e-3
    assert effect.inertia == 0
    effect = effect_of(arm("0", "0", "1"), arm("0", "1e-4", "1.5"))
    assert effect.orientation == 0
    assert effect.position == pytest.approx(1e-4)
    assert effect.inertia == pytest.approx(0.25)


def test_effect_of_nothing() -> None:
    alike = arm("0.1", "0.2", "1")
    effect = effect_of(alike, alike)
    assert (effect.position, effect.orientation, effect.inertia) == (0, 0, 0)
    assert alike.segments[3].rotation == IDENTITY
