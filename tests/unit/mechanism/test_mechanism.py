"""The mechanism itself: coordinates, orders, paths, tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import ReadError
from chainform.mechanism import GROUND, BaseMotion, JointKind, Mechanism
from chainform.readers import read_text


def branched() -> Mechanism:
    """Return a trunk with two arms, the coordinates in an order of their own."""
    return (
        Mechanism.builder("branched")
        .parameter("m", "1.5", unit="kg", note="mass of an arm")
        .segment("trunk", joint={"type": "prismatic", "name": "lift", "dof": 3}, axis="z", mass=4)
        .segment("left", parent="trunk", axis="y", position=[0, "0.2", 0], mass="m", dof=1)
        .segment("plate", parent="trunk", joint="fixed", mass="1/2")
        .segment("right", parent="plate", axis="-y", position=[0, "-0.2", 0], mass="2*m", dof=2)
        .build()
    )


def test_coordinates_follow_dof() -> None:
    mechanism = branched()
    assert mechanism.coordinates == ("left", "right", "lift")
    assert (mechanism.nq, mechanism.nv) == (3, 3)
    assert [segment.coordinate for segment in mechanism.segments] == [2, 0, None, 1]
    assert [record.segment for record in mechanism.coordinate_records] == [1, 3, 0]


def test_some_segments_have_ids() -> None:
    """A segment without one has none, and is named instead."""
    text = """
        segments = [
            {name = "a", id = 7, joint = "revolute", axis = "z", mass = 1},
            {name = "b", parent = 7, joint = "revolute", axis = "z", mass = 1},
            {name = "c", parent = "b", id = 1, joint = "revolute", axis = "z", mass = 1},
            {name = "d", parent = 1, joint = "revolute", axis = "z", mass = 1},
        ]"""
    assert [segment.parent for segment in read_text(text, "toml").segments] == [GROUND, 0, 1, 2]
    with pytest.raises(ReadError, match="no segment with the id 2"):
        read_text(text.replace("parent = 1", "parent = 2"), "toml")


def test_children_and_paths() -> None:
    mechanism = branched()
    assert mechanism.children == ((1, 2), (), (3,), ())
    assert mechanism.path_to(3) == (0, 2, 3)
    assert mechanism.path_to(GROUND) == ()


def test_coordinate_index_knows_names_and_numbers() -> None:
    mechanism = branched()
    assert mechanism.coordinate_index("lift") == 2
    assert mechanism.coordinate_index("q3") == 2
    for name in ("q4", "q0", "lif", "trunk", ""):
        with pytest.raises(ReadError) as caught:
            mechanism.coordinate_index(name)
        assert caught.value.remedy


def test_permutation_leads_to_another_order_and_back() -> None:
    mechanism = branched()
    order = mechanism.permutation(["lift", "left", "right"])
    q = np.array([1.0, 2.0, 3.0])
    assert order.tolist() == [2, 0, 1]
    assert q[order].tolist() == [3.0, 1.0, 2.0]
    assert q[order][np.argsort(order)].tolist() == q.tolist()
    for names in (["lift"], ["lift", "lift", "left"], ["lift", "left", "wrong"]):
        with pytest.raises(ReadError):
            mechanism.permutation(names)


@pytest.mark.parametrize("wrong", [3, None, "", ["left"], "lift "])
def test_names_that_mean_nothing_are_refused(wrong: Any) -> None:
    mechanism = branched()
    for method in (mechanism.coordinate_index, mechanism.rate_index, mechanism.frame):
        with pytest.raises(ReadError, match=r"there is no .* named"):
            method(wrong)
    with pytest.raises(ReadError):
        mechanism.permutation([wrong, "left", "right"])


def test_describe_gives_plain_tables() -> None:
    description = branched().describe()
    table = description["mechanism"]
    assert description["total_mass"] == pytest.approx(9.0)
    assert [s["parent"] for s in table["segments"]] == ["ground", "trunk", "trunk", "plate"]
    assert table["segments"][3]["mass"] == "2*m"
    assert "axis" not in table["segments"][2]["joint"]
    kinds = [row["kind"] for row in description["coordinates"]]
    assert kinds == ["revolute", "revolute", "prismatic"]
    assert [row["unit"] for row in description["coordinates"]] == ["rad", "rad", "m"]
    assert [row["unit"] for row in description["rates"]] == ["rad/s", "rad/s", "m/s"]
    assert [row["motion"] for row in description["joints"]] == ["q3", "q1", "", "q2"]
    assert table["parameters"]["m"]["value"] == 1.5
    assert description["values"]["2*m"] == 3
    assert table["gravity"] == [0, 0, -9.81]
    short = branched().describe(short=True)["mechanism"]
    assert short["gravity"] == ["0", "0", "-9.81"]


def test_describe_has_quaternions_couplings_and_frames() -> None:
    builder = Mechanism.builder().parameter("k", "0.5")
    builder.segment("base", joint="free", mass=1).segment("a", parent="base", axis="z", mass=1)
    for name, ratio, offset in (("b", -1, 0), ("c", "1/3", "k"), ("d", 2, "-0.1")):
        mimic = {"joint": "a", "ratio": ratio, "offset": offset}
        builder.segment(name, parent="base", axis="z", mass=1, mimic=mimic)
    mechanism = builder.frame("tool", "d", ["k", 0, 0]).frame("eye", "ground").build()
    description = mechanism.describe()
    motions = [row["motion"] for row in description["joints"]]
    assert motions == ["q1 ... q7", "q8", "-q8", "1/3*q8 + k", "2*q8 + -0.1"]
    joints = [segment["joint"] for segment in description["mechanism"]["segments"]]
    assert ["axis" in joint for joint in joints] == [False] + [True] * 4
    assert [row["unit"] for row in description["coordinates"]] == [*"mmm", *"1111", "rad"]
    assert [row["unit"] for row in description["rates"]] == ["m/s"] * 3 + ["rad/s"] * 4
    assert [row["name"] for row in description["rates"][:2]] == ["base_vx", "base_vy"]
    assert (description["nq"], description["nv"]) == (8, 7)
    assert description["mechanism"]["frames"] == [
        {"name": "tool", "segment": "d", "point": ["k", 0, 0]},
        {"name": "eye", "segment": "ground"},
    ]


def test_total_mass_needs_all_values() -> None:
    mechanism = Mechanism.builder().parameter("m").segment("a", axis="z", mass="m").build()
    description = mechanism.describe()
    assert description["total_mass"] is None
    assert description["mechanism"]["parameters"] == {"m": {}}


def test_a_mechanism_may_stand_still() -> None:
    mechanism = Mechanism.builder().segment("plate", joint="fixed", mass=1).build()
    assert mechanism.nq == 0
    assert mechanism.segments[0].joint.kind is JointKind.FIXED
    assert mechanism.permutation([]).tolist() == []


def test_the_base_moves_when_something_differs_from_zero() -> None:
    assert not BaseMotion().is_moving
    assert not BaseMotion(position=(Fraction(1), Fraction(0), Fraction(0))).is_moving
    zero, one = Fraction(0), Fraction(1)
    assert BaseMotion(angular_acceleration=(zero, zero, one)).is_moving
    builder = Mechanism.builder().parameter("a").base(acceleration=["a", 0, 0])
    assert builder.segment("s", axis="z", mass=1).build().base.is_moving


def test_mechanisms_are_values() -> None:
    assert branched() == branched()
    assert hash(branched()) == hash(branched())


def test_repr_is_one_line() -> None:
    builder = Mechanism.builder("arm").segment("a", axis="z", mass=1, com=[1, 0, 0])
    assert repr(builder.build()) == "<Mechanism arm: 1 freedom, 1 segment>"
    bar = cf.read(Path(__file__).parents[3] / "examples" / "four_bar.toml")
    assert repr(bar) == "<Mechanism four_bar: 3 freedoms, 3 segments, 1 loop>"


@pytest.mark.parametrize("unit", ["kg\nend", "kg\r", "kg\x1b[0m"])
def test_a_unit_is_one_line(unit: str) -> None:
    """It stands in comments of exported sources, where a second line would be code."""
    with pytest.raises(ReadError, match="printable") as caught:
        Mechanism.builder("a").parameter("k", 1, unit=unit).segment("s", axis="z", mass="k").build()
    assert caught.value.remedy
