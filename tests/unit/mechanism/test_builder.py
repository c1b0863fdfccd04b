"""The builder: numbers of every kind, joints of every kind, and the checks that live here."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from chainform.errors import ReadError
from chainform.expressions import Identifier, Number, parse
from chainform.mechanism import GROUND, Friction, JointKind, Limits, Mechanism, MechanismBuilder
from chainform.readers import read
from chainform.spatial import cross, dot


def one(**fields: object) -> Mechanism:
    """Return a mechanism of one segment."""
    said = {"name": "arm", "joint": "revolute", "axis": [0, 0, 1], "mass": 1, **fields}
    return Mechanism.builder().segment_table(said).build()


@pytest.mark.parametrize(
    "mass",
    [
        0.1,
        "0.1",
        "1/10",
        Fraction(1, 10),
        Decimal("0.1"),
        np.float64(0.1),
        "sqrt(0.01)",
        Number(Fraction(1, 10)),
        parse("0.2/2"),
    ],
)
def test_one_tenth_is_one_tenth(mass: object) -> None:
    assert one(mass=mass).segments[0].body.mass == Fraction(1, 10)


def test_arrays_of_numpy_are_lists() -> None:
    body = one(com=np.array([0.1, 0.0, 2.0]), inertia=np.diag([1.0, 2.0, 2.5])).segments[0].body
    assert body.com == (Fraction(1, 10), 0, 2)
    assert body.inertia[1][1] == 2
    assert one(mass=np.int64(3)).segments[0].body.mass == 3


@pytest.mark.parametrize(
    ("inertia", "expected"),
    [
        ([1, 2, 3], (1, 0, 0, 2, 0, 3)),
        (np.array([1.0, 2.0, 3.0]), (1, 0, 0, 2, 0, 3)),
        (list(np.array([1.0, 2.0, 3.0])), (1, 0, 0, 2, 0, 3)),
        (list(np.diag([1.0, 2.0, 3.0])), (1, 0, 0, 2, 0, 3)),
        ({"xx": 1, "yy": 2, "zz": 3, "xy": "0.1"}, (1, Fraction(1, 10), 0, 2, 0, 3)),
        ([[1, 0, "0.5"], [0, 2, 0], ["0.5", 0, 3]], (1, 0, Fraction(1, 2), 2, 0, 3)),
    ],
)
def test_forms_of_inertia(inertia: object, expected: tuple[Fraction, ...]) -> None:
    (a, b, c), (d, e, f), (g, h, i) = one(inertia=inertia).segments[0].body.inertia
    assert (a, b, c, e, f, i) == expected
    assert (d, g, h) == (b, c, f)


def test_almost_symmetric_inertia_is_made_symmetric() -> None:
    mechanism = one(inertia=[[1, "0.1", 0], ["0.1000000001", 1, 0], [0, 0, 1]])
    inertia = mechanism.segments[0].body.inertia
    assert inertia[0][1] == inertia[1][0] == Fraction("0.10000000005")
    assert any("made equal" in note.text for note in mechanism.notes)


@pytest.mark.parametrize(
    ("inertia", "mass", "text"),
    [
        ([1, 1, "2.5"], 1, "one exceeds the sum"),
        ([-1, 1, 1], 1, "not all positive"),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], 1, "not all positive"),
        ([-1, 0, 0], 0, "not all positive"),
    ],
)
def test_impossible_inertias_are_warned_of(inertia: object, mass: int, text: str) -> None:
    notes = [note for note in one(inertia=inertia, mass=mass).notes if note.level == "warning"]
    assert [text in note.text for note in notes] == [True]


@pytest.mark.parametrize(("inertia", "mass"), [([0, 0, 1], 0), ([0, 0, 0], 1), ([1, 1, 2], 1)])
def test_possible_inertias_are_not(inertia: object, mass: int) -> None:
    assert one(inertia=inertia, mass=mass).notes == ()


def test_rotations_in_three_forms() -> None:
    quarter = ((1, 0, 0), (0, 0, -1), (0, 1, 0))
    assert one(rotation=quarter).segments[0].rotation == quarter
    assert one(rpy=["pi/2", 0, 0]).segments[0].rotation == quarter
    assert one(quaternion=[1, 0, 0, 1]).segments[0].rotation == quarter


def test_drive_data() -> None:
    joint = (
        one(
            limits={"lower": "-pi", "upper": 2, "effort": 10},
            friction={"viscous": "0.1"},
            rotor_inertia="1e-4",
            gear_ratio=100,
        )
        .segments[0]
        .joint
    )
    assert joint.limits == Limits(-Fraction(np.pi), Fraction(2), None, Fraction(10))
    assert joint.friction == Friction(Fraction(1, 10), Fraction(0))
    assert (joint.rotor_inertia, joint.gear_ratio) == (Fraction(1, 10000), 100)


@pytest.mark.parametrize(
    ("kind", "fields", "names", "kinds"),
    [
        ("cylindrical", {"axis": "z"}, ["j_t", "j_r"], "PR"),
        ("universal", {"axes": ["x", [0, 1, 0]]}, ["j_r1", "j_r2"], "RR"),
        ("revolute_prismatic", {"axes": ["z", "x"]}, ["j_r", "j_t"], "RP"),
        ("planar", {"axis": "z"}, ["j_t1", "j_t2", "j_r"], "PPR"),
        ("spherical", {"euler": "zyx"}, ["j_rz", "j_ry", "j_rx"], "RRR"),
        ("spherical", {"euler": "zxz"}, ["j_rz1", "j_rx", "j_rz2"], "RRR"),
        ("free", {"euler": "xyz"}, ["j_tx", "j_ty", "j_tz", "j_rx", "j_ry", "j_rz"], "PPPRRR"),
    ],
)
def test_joints_of_several_freedoms_are_chains(
    kind: str, fields: dict[str, object], names: list[str], kinds: str
) -> None:
    said = {"joint": {"type": kind, "name": "j", **fields}, "position": [1, 2, 3]}
    builder = Mechanism.builder().segment_table({"name": "b", "mass": 2, **said})
    mechanism = builder.segment("tip", parent="b", axis="z", mass=1).build()
    chain = mechanism.segments[:-1]
    letters = {JointKind.PRISMATIC: "P", JointKind.REVOLUTE: "R"}
    assert mechanism.coordinates == (*names, "tip")
    assert "".join(letters[segment.joint.kind] for segment in chain) == kinds
    assert [segment.parent for segment in mechanism.segments] == list(range(-1, len(chain)))
    assert [segment.body.is_massless for segment in chain] == [True] * (len(chain) - 1) + [False]
    assert chain[0].position == (1, 2, 3)
    assert chain[-1].name == "b"
    assert mechanism.notes == ()


def test_names_and_places_of_several_freedoms() -> None:
    mechanism = one(
        joint="cylindrical", coordinates=["slide", "turn"], dof=[2, 1], limits=[{"lower": 0}, None]
    )
    assert mechanism.coordinates == ("turn", "slide")
    assert mechanism.segments[0].joint.limits == Limits(lower=Fraction(0))
    assert mechanism.segments[1].joint.limits is None


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 2, 3], [-3, 0, 4]])
def test_the_slides_of_a_planar_joint_span_its_plane(axis: list[int]) -> None:
    first, second, turn = (s.joint.axis for s in one(joint="planar", axis=axis).segments)
    assert dot(first, first) == dot(second, second) == 1
    assert cross(first, second) == turn


def test_parents_are_numbered_first() -> None:
    builder = Mechanism.builder().segment("c", parent="b", axis="z", mass=1)
    builder.segment("a", parent="ground", axis="z").segment("b", parent="a", axis="z")
    mechanism = builder.segment("d", parent="ground", axis="z", mass=1).build()
    assert [segment.name for segment in mechanism.segments] == ["a", "b", "c", "d"]
    assert [segment.parent for segment in mechanism.segments] == [GROUND, 0, 1, GROUND]
    assert any("renumbered" in note.text for note in mechanism.notes)


def test_parents_by_id_and_by_number() -> None:
    by_id = Mechanism.builder().segment("a", axis="z", id=7)
    assert by_id.segment("b", parent=7, axis="z", mass=1, id=3).build().segments[1].parent == 0
    by_number = Mechanism.builder().segment("a", axis="z")
    assert by_number.segment("b", parent=1, axis="z", mass=1).build().segments[1].parent == 0


def test_parameters_may_depend_on_each_other() -> None:
    builder = Mechanism.builder().parameter("area", "side^2").parameter("side", "0.5")
    mechanism = builder.parameter("free").segment("a", axis="z", mass="area*free").build()
    assert [p.value for p in mechanism.parameters] == [Fraction(1, 4), Fraction(1, 2), None]
    assert mechanism.segments[0].body.mass == parse("area*free")
    assert any("does not follow" in note.text for note in mechanism.notes)
    assert any(note.element == "parameter 'side'" for note in mechanism.notes)


def test_massless_tips_are_warned_of() -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    mechanism = builder.segment("tip", parent="a", axis="z").build()
    assert [note.element for note in mechanism.notes] == ["coordinate 'tip'"]


def test_a_misleading_name_is_warned_of() -> None:
    builder = Mechanism.builder().segment("q2", axis="z", mass=1)
    mechanism = builder.segment("b", parent="q2", axis="z", mass=1).build()
    assert [note.element for note in mechanism.notes] == ["coordinate 'q2'"]
    assert mechanism.coordinate_index("q2") == 0


def test_axis_may_name_a_bound_parameter() -> None:
    builder = Mechanism.builder().parameter("u", 3).segment("a", axis=[0, "u", 4], mass=1)
    assert builder.build().segments[0].joint.axis == (0, Fraction(3, 5), Fraction(4, 5))


def test_building_twice_gives_the_same() -> None:
    builder = Mechanism.builder().parameter("unused").segment("a", axis=[0, 0, 2], mass="2")
    assert builder.build() == builder.build()
    assert len(builder.build().notes) == 2


REFERENCE = Path(__file__).parents[2] / "data" / "reference"


def rebuilt(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism built again from its own records, children before parents."""
    builder = MechanismBuilder(mechanism.name, mechanism.gravity)
    names = [segment.name for segment in mechanism.segments]
    for segment in reversed(mechanism.segments):
        joint: dict[str, object] = {"type": segment.joint.kind.value, "name": segment.joint.name}
        if segment.rate is not None:
            joint["dof"] = segment.rate + 1
        if segment.joint.kind.coordinates == 1:
            joint["axis"] = segment.joint.axis
        builder.segment(
            segment.name,
            parent="ground" if segment.parent == GROUND else names[segment.parent],
            joint=joint,
            position=segment.position,
            rotation=segment.rotation,
            mass=segment.body.mass,
            com=segment.body.com,
            inertia=segment.body.inertia,
        )
    return builder.build()


@pytest.mark.parametrize("case", ["rackovic_2_1", "manipulator_5dof", "stanford_arm", "puma560"])
def test_a_mechanism_can_be_built_again(case: str) -> None:
    mechanism = read(REFERENCE / f"{case}.json")
    again = rebuilt(mechanism)
    assert again.segments == mechanism.segments
    assert again.coordinate_records == mechanism.coordinate_records
    assert again.rate_records == mechanism.rate_records
    assert again.gravity == mechanism.gravity


def test_quaternions_can_be_built_again() -> None:
    builder = Mechanism.builder().segment("base", joint="free", mass=1)
    builder.segment("ball", parent="base", joint="spherical", position=[0, 0, 1], mass=1)
    mechanism = builder.segment("arm", parent="base", axis="z", mass=1).build()
    again = rebuilt(mechanism)
    assert {s.name: replace(s, parent=0) for s in again.segments} == {
        s.name: replace(s, parent=0) for s in mechanism.segments
    }
    assert again.coordinates == mechanism.coordinates


def test_expressions_are_kept() -> None:
    builder = MechanismBuilder("m", gravity=[0, 0, "-g"]).parameter("g", "9.81")
    mechanism = builder.parameter("l").segment("a", axis="z", mass=1, com=["l/2", 0, 0]).build()
    assert mechanism.gravity[2] == parse("-g")
    assert mechanism.segments[0].body.com[0] == parse("l/2")
    assert mechanism.segments[0].body.com[1] != Identifier("l")


def test_errors_name_file_element_and_remedy() -> None:
    builder = MechanismBuilder("m", file="arm.toml").segment("arm", axis="z", mass=-1)
    with pytest.raises(ReadError) as caught:
        builder.build()
    error = caught.value
    assert (error.file, error.element) == ("arm.toml", "segment 'arm', mass")
    assert error.remedy
