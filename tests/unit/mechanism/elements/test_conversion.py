"""Mechanisms written as elements, and parts of mechanisms with elements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.expressions import Identifier
from chainform.mechanism import (
    DissipativeElement,
    ElasticElement,
    InertiaElement,
    InertialElement,
    TurnStep,
)
from chainform.readers import native_text, read_text
from chainform.readers.urdf.write import export_urdf
from zoo import REFERENCE, loaded_tree, random_tree, reference


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_mechanisms_are_written_and_read(name: str) -> None:
    found = reference(name).as_elements()
    again = read_text(native_text(found), "json")
    assert replace(again, notes=(), source=None) == replace(found, notes=(), file=None)
    assert not found.segments
    assert found.coordinates == reference(name).coordinates


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_are_written_and_read(seed: int) -> None:
    found = loaded_tree(seed).as_elements()
    again = read_text(native_text(found), "json")
    assert replace(again, notes=(), source=None) == replace(found, notes=(), file=None)


def test_what_becomes_of_the_parts() -> None:
    builder = cf.Mechanism.builder("arm")
    joint = {"name": "elbow joint", "type": "revolute", "friction": {"viscous": 2, "coulomb": 1}}
    builder.segment("arm", parent="ground", joint=joint, axis="z", mass=1, rotor_inertia="1/10")
    builder.segment("palm", parent="arm", joint="prismatic", axis="x")
    mimic = {"joint": "elbow joint", "ratio": 2, "offset": "1/3"}
    builder.segment("wheel", parent="arm", joint="revolute", axis="y", mass=1, mimic=mimic)
    builder.frame("tool", "palm", point=[1, 0, 0])
    builder.spring_table({"name": "arm spring", "joint": "palm", "stiffness": 3, "damping": 1})
    found = builder.build().as_elements()
    kinds = [(element.name, type(element)) for element in found.elements]
    assert kinds == [
        ("arm", InertialElement),
        ("palm", InertialElement),
        ("wheel", InertialElement),
        ("tool", InertialElement),
        ("arm spring", ElasticElement),
        ("arm spring_damper", DissipativeElement),
        ("elbow joint_friction", DissipativeElement),
        ("elbow joint_rotor", InertiaElement),
    ]
    rows = found.describe()["mechanism"]
    # A coordinate whose name cannot stand in an expression goes by its index.
    assert rows["elements"][0]["chain"] == "Rz(q1)"
    assert (rows["elements"][2]["on"], rows["elements"][2]["chain"]) == ("arm", "Ry(2*q1 + 1/3)")
    assert [record.unit for record in found.coordinate_records] == ["rad", "m"]
    palm = found.elements[1]
    assert isinstance(palm, InertialElement)
    assert (palm.kind, palm.mass) == ("body", 0)


def test_quaternions_are_refused_and_loops_are_left_out() -> None:
    floating = random_tree(0, quaternions=True)
    seeds = (random_tree(seed, quaternions=True) for seed in range(1, 20))
    while floating.nq == floating.nv:
        floating = next(seeds)
    with pytest.raises(DeriveError, match="has a quaternion"):
        floating.as_elements()
    opened = cf.read("examples/four_bar.toml").as_elements()
    assert not opened.loops
    assert any(note.element == "loops" and note.level == "warning" for note in opened.notes)


def test_a_model_of_elements_is_itself() -> None:
    model = cf.read("examples/portal_crane.toml")
    assert model.as_elements() is model


def arm_with_elements() -> cf.Mechanism:
    builder = cf.Mechanism.builder("arm").parameter("k", 3)
    for name, parent in (("a", "ground"), ("b", "a"), ("c", "b"), ("side", "a")):
        builder.segment(name, parent=parent, joint="revolute", axis="z", mass=1)
    builder.define(bend="b - 2*c", other="side + bend")
    builder.unknowns("F", "G")
    builder.element(kind="point", name="bob", on="c", position=["bend", 0, 0], mass=1)
    builder.element(kind="elastic", name="tie", stiffness="k", ends=["a", "bob"])
    builder.element(kind="elastic", name="to ground", stiffness=1, ends=["ground", "bob"])
    builder.element(kind="elastic", name="both", stiffness=1, deformation="other")
    builder.element(kind="force", name="push", force=["F", 0, 0], at="bob", axes="b")
    builder.element(kind="force", name="side push", force=["G", 0, 0], at="side")
    builder.constraint("holonomic", "q2 - q3", name="equal")
    builder.constraint("holonomic", "side - a", name="gone")
    return builder.build()


def test_a_part_keeps_the_elements_on_it() -> None:
    whole = arm_with_elements()
    part = whole.subtree("a", tips=["c"])
    assert [element.name for element in part.elements] == ["bob", "tie", "push"]
    tie = part.elements[1]
    assert isinstance(tie, ElasticElement)
    assert tie.ends is not None
    assert tie.ends[0].on == "ground"
    assert part.unknowns == ("F",)
    assert [definition.name for definition in part.definitions] == ["bend"]
    (equal,) = part.constraints
    assert equal.name == "equal"
    described = part.describe()["mechanism"]
    assert described["constraints"][0]["law"] == "q1 - q2"
    said = " ".join(note.text for note in part.notes)
    assert "element 'to ground'" in said
    assert "constraint 'gone'" in said
    # What was kept can be written and read, so it is whole.
    assert read_text(native_text(part), "json").elements == part.elements


def test_a_part_from_the_ground_keeps_more() -> None:
    whole = arm_with_elements()
    part = whole.subtree(tips=["c"])
    names = [element.name for element in part.elements]
    assert names == ["bob", "tie", "to ground", "push"]


def test_axes_that_point_backwards() -> None:
    builder = cf.Mechanism.builder("arm")
    builder.segment("a", joint="revolute", axis="-y", mass=1, com=[1, 0, 0])
    (body,) = builder.build().as_elements().elements
    assert isinstance(body, InertialElement)
    (turn,) = body.chain
    assert isinstance(turn, TurnStep)
    assert turn.axis == (0, Fraction(-1), 0)


def test_urdf_has_no_elements() -> None:
    with pytest.raises(cf.Error, match="a model of elements"):
        export_urdf(cf.read("examples/portal_crane.toml"))
    left_out = export_urdf(arm_with_elements()).left_out
    assert "elements: left out; URDF has no such" in left_out
    assert "constraints: left out; URDF has no such" in left_out


def test_actuators_drive_the_coordinates_of_elements() -> None:
    arm = cf.read("examples/driven_arm.toml")
    found = arm.as_elements()
    again = read_text(native_text(found), "json")
    assert again.actuators == arm.actuators
    state: dict[str, Any] = {"x": [0.1 * k for k in range(len(arm.states))], "u": [6.0, -30.0, 2.0]}
    rates = [
        cf.derive(m, ["complete_model"], reduce="none").evaluate(**state)["complete_model"]
        for m in (arm, again)
    ]
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)


def test_a_joint_named_like_time_is_called_by_its_place() -> None:
    builder = cf.Mechanism.builder("arm").segment("t", axis="z", mass=1, com=[1, 0, 0])
    found = builder.build().as_elements()
    assert isinstance(found.elements[0], InertialElement)
    assert found.elements[0].chain == (
        TurnStep((Fraction(0), Fraction(0), Fraction(1)), Identifier("q1")),
    )
    assert read_text(native_text(found), "json").elements == found.elements


def test_a_coordinate_that_no_law_can_name_is_refused() -> None:
    """The place q2 of the second joint is the name of the first."""
    builder = cf.Mechanism.builder("arm")
    builder.segment("q2", axis="z", mass=1, com=[0.5, 0, 0])
    builder.segment("left-arm", parent="q2", axis="y", mass=1, com=[0.5, 0, 0])
    with pytest.raises(DeriveError, match="no law can name the coordinate 'left-arm'") as caught:
        cf.derive(builder.build(), ["inverse_dynamics"], formulation="elements")
    assert caught.value.remedy


def test_a_joint_called_like_a_number_is_refused_where_laws_name_both() -> None:
    builder = cf.Mechanism.builder("arm")
    arm = builder.segment("com_1_x", axis="z", mass=1, com=[0.5, 0, 0]).build()
    with pytest.raises(DeriveError, match="'com_1_x' has the name that is given to a number"):
        cf.derive(arm, ["inverse_dynamics"], formulation="elements", parameters="symbolic")
    for formulation in ("elements", "newton_euler"):
        model = cf.derive(arm, ["inverse_dynamics"], formulation=formulation)
        value = model.evaluate(q=[0], qd=[0], qdd=[4])["inverse_dynamics"]
        assert value == pytest.approx([1])
